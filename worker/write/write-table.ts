import type { TableSink, WrittenFile } from '#shared/task/task.ts';
import { encodeWrittenFile } from '#shared/task/written-file.ts';
import { SkeinError } from '#shared/error.ts';
import { withinRoots } from '#shared/iceberg/allowed-roots.ts';
import { parsePartitionSpec } from '#shared/iceberg/partition-spec.ts';
import { parseSchema } from '#shared/iceberg/schema.ts';
import { partitionTypes } from '#shared/iceberg/write/manifest-rows.ts';
import { printPositions } from '#shared/iceberg/print-positions.ts';
import { parseJson } from '#shared/json.ts';
import type { StorageUse } from '#shared/storage/storage-use.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import type { Connection } from '../duckdb/instance.ts';
import { duckdb, type Address } from '../duckdb/library.ts';
import { readCounts, readMaps, readTexts } from '../duckdb/read-values.ts';
import type { StatementKind } from '../duckdb/statement.ts';
import { HASH_MACROS } from './hash-macros.ts';
import { writingPlace } from './writing-place.ts';
import { TableFileWriter, type CopiedFile, type WriteDatabase } from './table-file-writer.ts';
import type { OutputWriter } from '../duckdb/chunk-writer.ts';

/** Most files that a task may write: each has a writer with buffers of its own, and takes its place in the task's report. */
export const TASK_FILES_MAX = 10_000;
/** Largest description of a task's files. */
const REPORT_BYTES_MAX = 32 * 2 ** 20;

/** The files that a task has written, and the addresses of the rows that theirs replace. */
export type WrittenTable = { readonly files: readonly WrittenFile[]; readonly replaced: readonly string[] };

/** Runs a statement by quanta, as a part of the task; its chunks go to `take`. The first one loads the task's inputs. */
export type RunStatement = (sql: string, mayBe: StatementKind, take: (chunk: Address) => void) => Promise<void>;

/** The tools that write the files of a task. `signal` aborts when the task is cancelled. */
export type WriteTools = {
  readonly connection: Connection;
  readonly run: RunStatement;
  readonly signal: AbortSignal;
  /** Local folder for files that go to a bucket. */
  readonly workFolder: string;
  /** The signal, keys and repeats that the task lends to its storages. */
  readonly use: StorageUse;
};

/**
 * Writes the rows of a task's text as data files of a table. After a failure its files are deleted.
 * @throws the errors of DuckDB, STATEMENT_TOO_COMPLEX for too many files
 */
export async function writeTable(
  sql: string,
  sink: TableSink,
  { connection, run, signal, workFolder, use }: WriteTools,
): Promise<WrittenTable> {
  const schema = parseSchema(parseJson(sink.schema));
  const spec = parsePartitionSpec(parseJson(sink.spec));
  if (spec.fields.some(({ transform }) => transform.kind === 'bucket')) connection.run(HASH_MACROS.join(';'));
  connection.run(`SET preserve_insertion_order = ${sink.keepsOrder}`);
  const database = {
    copy: async (copy: string): Promise<readonly CopiedFile[]> => {
      const files: CopiedFile[] = [];
      await run(copy, 'copy', (chunk) => {
        files.push(...readCopied(chunk));
        if (files.length > TASK_FILES_MAX) throw tooMany(`more than ${TASK_FILES_MAX} files`);
      });
      return files;
    },
    texts: async (query: string): Promise<readonly string[]> => {
      const texts: string[] = [];
      await run(query, 'query', (chunk) => void texts.push(...readChunkTexts(chunk)));
      return texts;
    },
  };
  if (!withinRoots(sink.allowedRoots)(sink.folder)) {
    throw new SkeinError('INVALID_TABLE_DATA', 'the folder of a write lies outside of the locations of its table');
  }
  const { rowGroupRows, fileBytes } = sink;
  const format = { codec: sink.codec ?? undefined, level: sink.codecLevel ?? undefined, rowGroupRows, fileBytes };
  const place = writingPlace(sink, { workFolder, use });
  const writer = new TableFileWriter(database, place.storage, { schema, spec, folder: place.folder }, format);
  try {
    const types = partitionTypes(schema, spec);
    const { query, replaced } = await stage(sql, sink, { database, writer });
    const written = await place.publish(signal, await writer.write(query));
    const lost = place.mayHaveLostUpload ? { mayHaveLostUpload: true as const } : {};
    const files = written.map((file) => ({ ...encodeWrittenFile(file, types), ...lost }));
    if (JSON.stringify(files).length > REPORT_BYTES_MAX) throw tooMany(`${files.length} files, too many to report`);
    if (place.isApart) await writer.remove();
    else await writer.clear();
    return { files, replaced };
  } catch (error) {
    // Best effort: whatever stays is deleted when the coordinator has ended the write.
    await writer.remove().catch(() => undefined);
    await place.takeBack();
    throw error;
  }
}

type Staging = { readonly database: WriteDatabase; readonly writer: TableFileWriter };

/**
 * Rows that replace others are computed once, into a file of their own; their addresses are read from it, and then the rows themselves.
 * @throws STATEMENT_TOO_COMPLEX for too many addresses
 */
async function stage(
  sql: string,
  { addresses }: TableSink,
  { database, writer }: Staging,
): Promise<{ readonly query: string; readonly replaced: readonly string[] }> {
  if (addresses === undefined) return { query: sql, replaced: [] };
  const [file, pos, row] = [addresses.file, addresses.pos, addresses.row].map(quoteIdentifier);
  const staged = await writer.stage(sql);
  const [before, after] = printPositions({ file: file ?? '', pos: pos ?? '', isReplaced: row ?? '' });
  const replaced = await database.texts(`${before}FROM ${staged} WHERE ${file} IS NOT NULL${after}`);
  if (replaced.reduce((bytes, { length }) => bytes + length, 0) > REPORT_BYTES_MAX) {
    throw new SkeinError('STATEMENT_TOO_COMPLEX', 'a task of the statement changes too many rows to report them');
  }
  return { query: `SELECT * EXCLUDE (${[file, pos, row].join(', ')}) FROM ${staged} WHERE ${row}`, replaced };
}

const tooMany = (what: string): SkeinError =>
  new SkeinError('STATEMENT_TOO_COMPLEX', `a task of the statement wrote ${what}: its rows have too many partitions`);

/** The receiver of a statement's chunks. */
export const chunkTaker = (take: (chunk: Address) => void): OutputWriter => ({
  append: take,
  finish: () => undefined,
  [Symbol.dispose]: () => undefined,
});

/** Reads rows of `COPY ... (RETURN_STATS)`: filename, count, file_size_bytes, footer_size_bytes, column_statistics, partition_keys. */
function readCopied(chunk: Address): readonly CopiedFile[] {
  const rows = rowsOf(chunk);
  const paths = readTexts(vectorOf(chunk, 0), rows);
  const counts = readCounts(vectorOf(chunk, 1), rows);
  const bytes = readCounts(vectorOf(chunk, 2), rows);
  const statistics = readMaps(vectorOf(chunk, 4), rows, (columns, count) => readMaps(columns, count, readTexts));
  return paths.map((path, i) => ({
    path,
    rows: counts[i] ?? 0,
    bytes: bytes[i] ?? 0,
    statistics: statistics[i] ?? new Map(),
  }));
}

/** The values of a chunk's one column, which is text. */
export const readChunkTexts = (chunk: Address): readonly string[] => readTexts(vectorOf(chunk, 0), rowsOf(chunk));

const vectorOf = (chunk: Address, column: number): Address => duckdb.data_chunk_get_vector(chunk, column);
const rowsOf = (chunk: Address): number => Number(duckdb.data_chunk_get_size(chunk));
