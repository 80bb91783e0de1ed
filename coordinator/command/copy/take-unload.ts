import { SkeinError } from '#shared/error.ts';
import { OptionReader } from '../../stage/option-reader.ts';
import { takeOptions } from '../../stage/take-options.ts';
import { parseStageReference } from '../../stage/stage-reference.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';
import type { TextSpan } from '../../statement/statement.ts';
import { takeTableQuery } from '../../unload/take-table-query.ts';
import { unloadFormatOf } from '../../unload/unload-format.ts';
import type { Unload } from '../../operation/unload.ts';

/** Size of a file: of text as Snowflake has it. A file of Parquet is larger, because each end of a file cuts a group of rows short. */
const FILE_BYTES = { csv: 16 * 2 ** 20, json: 16 * 2 ** 20, parquet: 128 * 2 ** 20 } as const;
/** Least size: a statement of much smaller files would fill the storage with their names. */
const FILE_BYTES_MIN = 2 ** 20;
const FILE_BYTES_MAX = 5 * 2 ** 30;

/**
 * `@stage/path FROM table | (query) [FILE_FORMAT = (TYPE = CSV | JSON | PARQUET ...)] [HEADER = TRUE] [SINGLE = TRUE]
 * [MAX_FILE_SIZE = bytes] [OVERWRITE = TRUE]` @param found the stage, which is taken already
 */
export function takeUnload(reader: StatementReader, found: TextSpan): Unload {
  const stage = parseStageReference(found.text, found.offset);
  const isFolder = stage.path === '' || found.text.endsWith('/');
  if (!reader.takeWord('FROM')) throw reader.expected('FROM');
  const query = takeTableQuery(reader);
  return { stage, isFolder, query, ...takeUnloadOptions(reader, isFolder ? null : stage.path) };
}

/** @param path of the one file, if the options ask for one */
function takeUnloadOptions(
  reader: StatementReader,
  path: string | null,
): Pick<Unload, 'format' | 'fileBytes' | 'overwrite'> {
  if (reader.peekWord() === 'PARTITION') throw reader.error('NOT_SUPPORTED', 'PARTITION BY of an unload is not served');
  const options = new OptionReader(takeOptions(reader), 'COPY INTO a stage');
  reader.end();
  const isSingle = options.boolean('SINGLE', false);
  const fileBytes = options.integer('MAX_FILE_SIZE', { least: FILE_BYTES_MIN, most: FILE_BYTES_MAX });
  if (isSingle && fileBytes !== undefined) {
    throw refused('MAX_FILE_SIZE', 'is not given with SINGLE = TRUE, which writes one file of any size', options);
  }
  const hasHeader = options.positionOf('HEADER') !== undefined;
  const header = options.boolean('HEADER', false);
  const around = { header, fileName: isSingle ? path : null };
  const format = unloadFormatOf(options.options('FILE_FORMAT') ?? [], around);
  if (hasHeader && !header && format.kind !== 'csv') {
    throw refused('HEADER', 'is not FALSE: files of this type always name their columns', options);
  }
  const overwrite = options.boolean('OVERWRITE', false);
  options.end();
  return { format, fileBytes: isSingle ? null : (fileBytes ?? FILE_BYTES[format.kind]), overwrite };
}

const refused = (name: string, what: string, options: OptionReader): SkeinError =>
  new SkeinError('SYNTAX_ERROR', `${name} ${what}`, { position: options.positionOf(name) });
