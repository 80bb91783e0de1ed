import type { DuckDBConnection } from '@duckdb/node-api';
import { SkeinError } from '#shared/error.ts';
import { readParquet } from '#shared/sql/read-parquet.ts';
import type { NewDataFile } from '#shared/iceberg/write/data-file.ts';
import type { Schema } from '#shared/iceberg/schema.ts';
import { must } from '#shared/must.ts';
import type { TableFileWriter, WriteDatabase } from '#worker/write/table-file-writer.ts';
import { findCorrupt, firstLine, type InputFile } from './parquet-input.ts';
import { planParts, type Part } from './plan-parts.ts';
import { selectColumns } from './select-columns.ts';

export type InputOptions = {
  readonly schema: Schema;
  readonly dataFileBytes: number;
  readonly signal: AbortSignal;
  /** Share of the input that is written, 0 to 1. */
  readonly onProgress: (share: number) => void;
};

const PROGRESS_INTERVAL_MS = 100;

/**
 * Writes input files as data files of one table, in the order of the input (within each partition).
 * @throws INVALID_INPUT_FILE naming the file, QUERY_CANCELLED, OUT_OF_MEMORY, STORAGE_ERROR
 */
export async function writeInputs(
  connection: DuckDBConnection,
  writer: Pick<TableFileWriter, 'write'>,
  inputs: readonly InputFile[],
  { schema, dataFileBytes, signal, onProgress }: InputOptions,
): Promise<readonly NewDataFile[]> {
  const columns = selectColumns(schema, must(inputs[0], 'there is an input'));
  const parts = planParts(inputs, dataFileBytes);
  const total = parts.reduce((sum, part) => sum + part.bytes, 0);
  const files: NewDataFile[] = [];
  let done = 0;
  const timer = setInterval(() => {
    if (signal.aborted) connection.interrupt();
  }, PROGRESS_INTERVAL_MS);
  try {
    for (const part of parts) {
      const base = done;
      const report = (share: number): void => onProgress(total === 0 ? 1 : (base + share * part.bytes) / total);
      using _progress = watchProgress(connection, report);
      signal.throwIfAborted();
      files.push(
        ...(await writer.write(`SELECT ${columns} FROM ${printSource(part)}`).catch(explain(connection, part, signal))),
      );
      done += part.bytes;
      report(1);
    }
  } finally {
    clearInterval(timer);
  }
  return files;
}

function watchProgress(connection: DuckDBConnection, onShare: (share: number) => void): Disposable {
  const timer = setInterval(() => {
    const { percentage } = connection.progress;
    if (percentage >= 0) onShare(percentage / 100);
  }, PROGRESS_INTERVAL_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Maps the error of a failed COPY, and finds the corrupt input, because a decoder's message does not name its file. */
const explain =
  (connection: DuckDBConnection, part: Part, signal: AbortSignal) =>
  async (error: unknown): Promise<never> => {
    if (signal.aborted) throw new SkeinError('QUERY_CANCELLED', 'the load was cancelled', { cause: error });
    const message = firstLine(error);
    if (message.startsWith('Out of Memory')) throw new SkeinError('OUT_OF_MEMORY', message, { cause: error });
    const corrupt = await findCorrupt(connection, part.inputs);
    if (corrupt !== undefined) throw corrupt;
    if (message.startsWith('IO Error')) throw new SkeinError('STORAGE_ERROR', message, { cause: error });
    const names = part.inputs.map(({ path }) => path).slice(0, 3);
    throw new SkeinError('INVALID_INPUT_FILE', `${names.join(', ')}: ${message}`, { cause: error });
  };

function printSource({ inputs, rows }: Part): string {
  const paths = inputs.map(({ path }) => path);
  if (rows === null) return readParquet(paths);
  const { start, end } = rows;
  return `${readParquet(paths, ', file_row_number = true')} WHERE file_row_number >= ${start} AND file_row_number < ${end}`;
}

/** The load's own DuckDB. */
export const writeDatabase = (connection: DuckDBConnection): WriteDatabase => ({
  copy: async (sql) => {
    const rows = (await connection.runAndReadAll(sql)).getRowObjectsJson() as unknown as readonly CopyRow[];
    return rows.map(({ filename, count, file_size_bytes, column_statistics }) => ({
      path: filename,
      rows: Number(count),
      bytes: Number(file_size_bytes),
      statistics: new Map(
        column_statistics.map(({ key, value }) => [key, new Map(value.map((one) => [one.key, one.value]))]),
      ),
    }));
  },
  texts: async (sql) => (await connection.runAndReadAll(sql)).getRows().map(([text]) => String(text)),
});

type CopyRow = {
  readonly filename: string;
  readonly count: string;
  readonly file_size_bytes: string;
  readonly column_statistics: readonly {
    readonly key: string;
    readonly value: readonly { readonly key: string; readonly value: string }[];
  }[];
};
