import type { TaskSpec } from '#shared/task/task.ts';
import { isRaised } from '#shared/duckdb-error.ts';
import { SkeinError } from '#shared/error.ts';
import { baseName } from '../scan/plan-file.ts';
import { placeOfJson } from './json-place.ts';
import { linesBefore, type RangeFiles } from './range-files.ts';
import { openScanned } from '../scan/readable-path.ts';

// DuckDB 1.5's messages about files of CSV. They hold parts of the file: no pattern takes more than linear time.
const CSV = /^CSV Error on Line: (\d+)\n/;
const CSV_REASON = /\n(Expected Number of Columns: [^\n]*|Error when converting column [^\n]*|Invalid unicode[^\n]*)/;
const CSV_FILE = /\n  file = ([^\n]+)\n/;
const SNIFFED = /^Error when sniffing file "([^\n]*)/;

/** Begins the error of a text that reads a column which cannot be read. */
export const INVALID_FILE = 'invalid file: ';

/**
 * Says in the stage's words which file is wrong, and where: DuckDB's text names the path on the server. An error that is about no file of a
 * stage stays as it is. A CSV record's number counts the header's, and one with line breaks in it counts once; DuckDB's line of a JSON
 * document may be that behind it.
 */
export async function stagedError(
  error: SkeinError,
  { scans }: Pick<TaskSpec, 'scans'>,
  ranges: Pick<RangeFiles, 'find'>,
): Promise<SkeinError> {
  const staged = scans.filter((scan) => scan.staged !== undefined);
  if (staged.length === 0 || isRaised(error)) return error;
  const text = error.message;
  const titleOf = (path: string | undefined): string => {
    const scan = staged.find(({ files }) => files.some((file) => file.path.endsWith(path ?? '\n')));
    const file = ranges.find(path ?? '')?.file ?? scan?.files.find((one) => one.path.endsWith(path ?? '\n'));
    return file === undefined ? 'a file of the stage' : `the file ${baseName(file.path)} of the stage`;
  };
  const refusal = (message: string): SkeinError =>
    new SkeinError('INVALID_INPUT_FILE', message, { cause: error.cause ?? error });
  /** The number of a line in the file, of which a part was read. */
  const lineOf = async (path: string | undefined, line: string | undefined): Promise<number> => {
    const part = ranges.find(path ?? '');
    const scan = staged.find(({ files }) => part !== undefined && files.includes(part.file));
    const before = part === undefined || scan === undefined ? 0 : await linesBefore(part, openScanned(scan));
    return Number(line) + before;
  };
  if (text.startsWith(INVALID_FILE)) return refusal(text.slice(INVALID_FILE.length));
  const record = CSV.exec(text)?.[1];
  if (record !== undefined) {
    const reason = CSV_REASON.exec(text)?.[1] ?? 'it does not fit its format';
    const path = CSV_FILE.exec(text)?.[1];
    return refusal(`${titleOf(path)}, record ${await lineOf(path, record)}: ${reason}`);
  }
  const document = placeOfJson(text);
  if (document !== undefined) {
    const { path, line, reason } = document;
    return refusal(`${titleOf(path)}, near line ${await lineOf(path, line)}: ${reason}`);
  }
  const sniffed = SNIFFED.exec(text)?.[1]?.replace(/"\.?$/, '');
  if (sniffed !== undefined) return refusal(`${titleOf(sniffed)} is no CSV file as its format says`);
  return error.code === 'INVALID_TABLE_DATA' ? refusal(text) : error;
}
