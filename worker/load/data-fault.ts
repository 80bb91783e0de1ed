import type { RecordFault } from '#shared/task/load-rules.ts';
import { isRaised } from '#shared/duckdb-error.ts';
import { SkeinError, type ErrorCode } from '#shared/error.ts';
import { placeOfJson } from '../staged/json-place.ts';

/** Errors that the data of a file may cause, by the way in which it is read or in an expression over its values. */
const DATA_CODES: ReadonlySet<ErrorCode> = new Set([
  'COLUMN_NOT_FOUND',
  'DIVISION_BY_ZERO',
  'INVALID_ARGUMENT',
  'INVALID_CAST',
  'INVALID_INPUT_FILE',
  'INVALID_TABLE_DATA',
  'NOT_NULL_VIOLATION',
  'NUMERIC_OVERFLOW',
  'TABLE_DATA_TOO_COMPLEX',
  'TYPE_MISMATCH',
]);

export const isOfData = (error: unknown): boolean => DATA_CODES.has(SkeinError.of(error).code);

/** DuckDB's messages about a file name the path on the server, and say how to read it in DuckDB. No pattern takes more than linear time. */
const IN_CSV = /^CSV Error on Line: \d+\n/;
const CSV_REASON =
  /\n(Expected Number of Columns: [^\n]*|Error when converting column [^\n]*|Invalid unicode[^\n]*|[^\n]*quote[^\n]*)/;

/** Describes the fault of a file as a whole. @throws the error itself when it is not the data's */
export function dataFault(thrown: unknown): RecordFault {
  const error = SkeinError.of(thrown);
  if (!isOfData(error)) throw error;
  const isOfFile = placeOfJson(error.message) !== undefined || IN_CSV.test(error.message);
  const isFile = error.code === 'INVALID_TABLE_DATA' || (isOfFile && !isRaised(error));
  const code = isFile ? 'INVALID_INPUT_FILE' : error.code;
  return { code, message: withoutPath(error.message), line: null, column: null, record: null };
}

function withoutPath(message: string): string {
  const place = placeOfJson(message);
  if (place !== undefined) return place.kind === 'Malformed JSON' ? `${place.kind}: ${place.reason}` : place.reason;
  if (IN_CSV.test(message)) return CSV_REASON.exec(message)?.[1] ?? 'it is no CSV file as its format says';
  // The lines that follow repeat the value.
  return message.slice(0, MESSAGE_CHARACTERS_MAX).split('\n', 1)[0] ?? '';
}

const MESSAGE_CHARACTERS_MAX = 1_000;
