import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import { SkeinError } from '#shared/error.ts';
import type { CsvFormat } from '#shared/stage/file-format.ts';
import type { OpenScanned } from '../scan/readable-path.ts';
import { textOf } from './file-text.ts';
import { readFirstRecord } from './first-record.ts';

/** The names in the first line of a whole file, whichever part of it is read; none of an empty one. @throws INVALID_INPUT_FILE */
export async function headerOf(
  signal: AbortSignal,
  open: OpenScanned,
  { path }: ScanFile,
  format: CsvFormat,
): Promise<readonly string[]> {
  const text = textOf(signal, open, { location: path, compression: format.compression });
  const record = await readFirstRecord(text, format);
  return record === null ? [] : namesOf(record, format);
}

/** Names of a header, at most: DuckDB is told of each of them. */
const NAMES_MAX = 10_000;

/** The names in a header. @throws INVALID_INPUT_FILE for more than `NAMES_MAX` */
export function namesOf(record: string, { delimiter, quote, escape }: CsvFormat): readonly string[] {
  const fields: string[] = [];
  let field = '';
  let isQuoted = false;
  for (let at = 0; at < record.length; at += 1) {
    const character = record.charAt(at);
    const next = record.charAt(at + 1);
    if (isQuoted && character === escape && (next === quote || next === escape)) {
      field += next;
      at += 1;
    } else if (character === quote && (isQuoted || field === '')) isQuoted = !isQuoted;
    else if (!isQuoted && record.startsWith(delimiter, at)) {
      fields.push(field);
      if (fields.length === NAMES_MAX) {
        throw new SkeinError('INVALID_INPUT_FILE', `the header of a file has more than ${NAMES_MAX} names`);
      }
      field = '';
      at += delimiter.length - 1;
    } else field += character;
  }
  return [...fields, field];
}
