import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import type { StagedSource } from '#shared/task/task.ts';
import { cutText } from '#shared/cut-text.ts';
import { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { unreachable } from '#shared/must.ts';
import type { ReadFooter } from '../scan/footer.ts';
import { baseName } from '../scan/plan-file.ts';
import type { OpenScanned } from '../scan/readable-path.ts';
import { textOf, unlessBroken } from './file-text.ts';
import { headerOf } from './header-names.ts';
import { memberNames } from './json-members.ts';

/** Names that a message shows of each list, and characters of each. */
const [SHOWN_MAX, NAME_LENGTH_MAX] = [20, 100];

type Tools = { readonly open: OpenScanned; readonly readFooter: ReadFooter; readonly signal: AbortSignal };

/** How names of columns are compared. Members of JSON are read as the source spells them. */
export const nameKey = ({
  matchesCase,
  format,
}: Pick<StagedSource, 'matchesCase' | 'format'>): ((name: string) => string) =>
  matchesCase === true || format.kind === 'json' ? (name) => name : foldIdentifier;

/**
 * Refuses a file that is loaded by the names of its columns when none of them is asked for: all its rows would be NULL. A file without any
 * name has no rows, or documents without members. A file that cannot be read is left to the load.
 * @returns the names of the file, of JSON as far as they had to be read; none for a source that finds columns by place
 * @throws INVALID_ARGUMENT, with the names of the file and those that are asked for; INVALID_INPUT_FILE, INVALID_TABLE_DATA
 */
export async function requireSomeColumn(
  source: StagedSource,
  file: ScanFile,
  tools: Tools,
): Promise<readonly string[]> {
  if (source.byName !== true) return [];
  const wanted = source.columns.map(({ name }) => name);
  const key = nameKey(source);
  const keys = new Set(wanted.map(key));
  const given = (await unlessBroken(tools.signal, () => namesIn(source, file, { ...tools, keys }))) ?? [];
  if (given.length === 0 || wanted.length === 0 || given.some((name) => keys.has(key(name)))) return given;
  throw new SkeinError(
    'INVALID_ARGUMENT',
    `no column of the file ${baseName(file.path)} is one of the table: the file has ${listOf(given)}, the table ${listOf(wanted)}`,
  );
}

/** The names of a file's columns; of JSON those that its documents have, as far as the first of `keys`. */
async function namesIn(
  { format }: StagedSource,
  file: ScanFile,
  { open, readFooter, signal, keys }: Tools & { readonly keys: ReadonlySet<string> },
): Promise<readonly string[]> {
  switch (format.kind) {
    case 'csv':
      return headerOf(signal, open, file, format);
    case 'json': {
      const text = textOf(signal, open, { location: file.path, compression: format.compression });
      return memberNames(text, format, { wanted: keys, namesMax: SHOWN_MAX + 1 });
    }
    case 'parquet':
      return (await readFooter(file)).fields.map(({ name }) => name);
    default:
      return unreachable(format);
  }
}

const listOf = (names: readonly string[]): string => {
  const shown = names.slice(0, SHOWN_MAX).map((name) => (name === '' ? '""' : cutText(name, NAME_LENGTH_MAX)));
  return `(${shown.join(', ')}${names.length > SHOWN_MAX ? ', ...' : ''})`;
};
