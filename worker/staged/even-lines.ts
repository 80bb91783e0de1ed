import { SkeinError } from '#shared/error.ts';
import type { CsvFormat } from '#shared/stage/file-format.ts';
import { BYTE_ORDER_MARK, CsvWalk, isMarked, type CsvRecord, type NewLine } from './csv-walk.ts';
import { readFirstRecord, RECORD_BYTES_MAX } from './first-record.ts';

/**
 * DuckDB's reader of CSV knows one end of a line for a whole file, and takes the first that it meets, also within quotes. A file in which
 * others stand it misreads, or refuses without a place. So each file is looked at first, and an uneven one is copied.
 */

const [NEWLINE, RETURN] = [0x0a, 0x0d];

/** A text that can be read from its begin as often as it takes. */
type Text = () => AsyncIterable<Uint8Array>;

/**
 * How the lines of a text end outside of quotes; `uneven` when not all end in one way of the two that DuckDB tells well. It takes a search for
 * carriage returns; only where they do not tell, a walk over the quotes.
 * @throws INVALID_INPUT_FILE for an uneven text with a quote of which readers think differently
 */
export async function lineEnds(text: Text, format: CsvFormat): Promise<EvenLine | 'uneven'> {
  const { feeds, returns, pairs } = await count(text());
  if (returns === 0) return '\n';
  if (feeds === pairs && returns === pairs) return '\r\n';
  let first: EvenLine | undefined;
  let other: CsvRecord | undefined;
  const walk = new CsvWalk(format, (record) => {
    const { newLine } = record;
    if (newLine === null || newLine === first) return true;
    if (newLine === '\r' || first !== undefined) other ??= record;
    else first = newLine;
    return true;
  });
  for await (const chunk of text()) {
    walk.take(chunk);
    if (other !== undefined && !walk.isSure) break;
  }
  walk.finish();
  if (other === undefined) return first ?? '\n';
  if (walk.isSure) return 'uneven';
  const message = `line ${other.line} ends in another way than others, and the file has a quote within a field`;
  throw new SkeinError('INVALID_INPUT_FILE', message);
}

/** The end of all lines of a text. */
export type EvenLine = Exclude<NewLine, '\r'>;

/** An option of `read_csv`, whose values are spelt with backslashes. */
export const newLineOption = (newLine: EvenLine): string =>
  newLine === '\n' ? "new_line = '\\n'" : "new_line = '\\r\\n'";

async function count(
  text: AsyncIterable<Uint8Array>,
): Promise<Readonly<Record<'feeds' | 'returns' | 'pairs', number>>> {
  let [feeds, returns, pairs] = [0, 0, 0];
  let isReturned = false;
  for await (const chunk of text) {
    if (isReturned && chunk[0] === NEWLINE) pairs += 1;
    isReturned = chunk.at(-1) === RETURN;
    for (let at = chunk.indexOf(RETURN); at !== -1; at = chunk.indexOf(RETURN, at + 1)) {
      returns += 1;
      if (chunk[at + 1] === NEWLINE) pairs += 1;
    }
    // Line feeds are of use only beside carriage returns.
    if (returns === 0 && chunk.includes(NEWLINE)) feeds += 1;
    else for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) feeds += 1;
  }
  return { feeds, returns, pairs };
}

/** The text with a line feed behind each record, and without a byte-order mark. @param change makes other bytes of a record's @throws INVALID_INPUT_FILE */
export async function* evenLines(
  text: AsyncIterable<Uint8Array>,
  format: CsvFormat,
  change = (record: Uint8Array): Uint8Array => record,
): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = Buffer.alloc(0);
  /** Bytes of the text before `rest`. */
  let base = 0;
  let records: CsvRecord[] = [];
  const walk = new CsvWalk(format, (record) => {
    records.push(record);
    return true;
  });
  const take = (): Uint8Array => {
    const pieces = records.flatMap(({ start, end }) => [
      change(withoutMark(start, rest.subarray(start - base, end - base))),
      LINE_FEED,
    ]);
    const { end = base, newLine = null } = records.at(-1) ?? {};
    const done = end + (newLine ?? '').length - base;
    base += done;
    rest = rest.subarray(done);
    records = [];
    return Buffer.concat(pieces);
  };
  for await (const chunk of text) {
    rest = Buffer.concat([rest, chunk]);
    walk.take(chunk);
    if (records.length > 0) yield take();
    if (rest.length > RECORD_BYTES_MAX) throw new SkeinError('INVALID_INPUT_FILE', 'a record of a file is too long');
  }
  walk.finish();
  if (records.length > 0) yield take();
}

const withoutMark = (start: number, record: Uint8Array): Uint8Array =>
  start === 0 && isMarked(record) ? record.subarray(BYTE_ORDER_MARK.length) : record;

/**
 * Whether a text begins with a byte-order mark and a record that has line ends in quotes: DuckDB's reader ends it at the first of them where it
 * skips it as the header.
 */
export async function hasMarkedHeader(text: Text, format: CsvFormat): Promise<boolean> {
  const isSkipped = format.header.kind === 'names' || format.header.count > 0;
  if (!isSkipped || format.quote === null) return false;
  for await (const chunk of text())
    return isMarked(chunk) && /[\r\n]/.test((await readFirstRecord(text(), format)) ?? '');
  return false;
}

const LINE_FEED = Buffer.from([NEWLINE]);
