import { SkeinError } from '#shared/error.ts';
import type { CsvFormat } from '#shared/stage/file-format.ts';
import { CsvWalk, type CsvRecord, type NewLine } from './csv-walk.ts';

/** Longest record of a CSV file, and longest JSON document, in bytes: DuckDB holds two in memory for each thread. */
export const RECORD_BYTES_MAX = 8 * 2 ** 20;

/**
 * A file's first record, empty for an empty file, and how its lines end: DuckDB would take the first end of a line for that of all, also
 * within quotes. @throws INVALID_INPUT_FILE
 */
export async function readFirstRecord(text: AsyncIterable<Uint8Array>, format: CsvFormat): Promise<FirstRecord> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let first: CsvRecord | undefined;
  const walk = new CsvWalk(format, (record) => {
    first = record;
    return false;
  });
  for await (const chunk of text) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (!walk.take(chunk)) break;
    if (bytes > RECORD_BYTES_MAX) throw new SkeinError('INVALID_INPUT_FILE', 'the first record of a file is too long');
  }
  if (first === undefined) walk.finish();
  const record = Buffer.concat(chunks).subarray(0, first?.end ?? 0);
  return { record: record.toString().replace(/^\uFEFF/, ''), newLine: first?.newLine ?? '\n' };
}

export type FirstRecord = { readonly record: string; readonly newLine: NewLine };

/** An option of `read_csv`, whose values are spelt with backslashes. */
export const newLineOption = (newLine: NewLine): string =>
  newLine === '\n' ? "new_line = '\\n'" : "new_line = '\\r\\n'";
