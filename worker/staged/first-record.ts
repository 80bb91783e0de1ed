import { SkeinError } from '#shared/error.ts';
import type { CsvFormat } from '#shared/stage/file-format.ts';
import { CsvWalk, type CsvRecord } from './csv-walk.ts';

/** Longest record of a CSV file, and longest JSON document, in bytes: DuckDB holds two in memory for each thread. */
export const RECORD_BYTES_MAX = 8 * 2 ** 20;

/** A file's first record; null for an empty file. @throws INVALID_INPUT_FILE */
export async function readFirstRecord(text: AsyncIterable<Uint8Array>, format: CsvFormat): Promise<string | null> {
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
  if (first === undefined) return null;
  const record = Buffer.concat(chunks).subarray(0, first.end);
  return record.toString().replace(/^\uFEFF/, '');
}
