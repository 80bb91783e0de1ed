import { SkeinError } from '#shared/error.ts';
import type { UnloadFormat } from '#shared/stage/file-format.ts';
import { stageFileNames } from '#shared/stage/stage-path.ts';
import type { Unload } from '../operation/unload.ts';

/** The names of unloaded files: `data_<task>_0_<number>.csv.gz`, as Snowflake has them. */
export type UnloadNames = {
  /** The folder in which they lie; empty = the stage's own. */
  readonly folder: string;
  /** The path of a task's file. */
  readonly path: (task: number, number: number) => string;
  /** Whether an unload like this one may give a file this path. */
  readonly mayBe: (path: string) => boolean;
};

/** Stands for the largest number of a task or a file. */
const NUMBER_MAX = 99_999;
const NUMBERS = /^\d+_0_\d+$/;

/** @throws INVALID_REQUEST when the names would be too long; with the position of the stage */
export function unloadNames({ stage, isFolder, format, fileBytes }: Unload): UnloadNames {
  const given = isFolder ? [stage.path, 'data'].filter((part) => part !== '').join('/') : stage.path;
  const ending = endingOf(format);
  const whole = isFolder ? `${given}${ending}` : given;
  const prefix = given.endsWith('_') ? given : `${given}_`;
  const path = (task: number, number: number): string =>
    fileBytes === null ? whole : `${prefix}${task}_0_${number}${ending}`;
  try {
    stageFileNames(path(NUMBER_MAX, NUMBER_MAX));
  } catch (error) {
    throw SkeinError.of(error).at(stage.position);
  }
  return {
    folder: given.slice(0, Math.max(0, given.lastIndexOf('/'))),
    path,
    mayBe: (found) => {
      if (fileBytes === null) return found === whole;
      const isAlike = found.startsWith(prefix) && found.endsWith(ending);
      return isAlike && NUMBERS.test(found.slice(prefix.length, -ending.length));
    },
  };
}

function endingOf({ kind, compression }: UnloadFormat): string {
  const packed = ENDINGS[compression];
  return kind === 'parquet' ? `${packed.parquet}.parquet` : `.${kind}${packed.text}`;
}

const ENDINGS = {
  none: { text: '', parquet: '' },
  gzip: { text: '.gz', parquet: '.gz' },
  zstd: { text: '.zst', parquet: '.zstd' },
  snappy: { text: '', parquet: '.snappy' },
} as const satisfies Readonly<Record<UnloadFormat['compression'], { readonly text: string; readonly parquet: string }>>;
