import { SkeinError } from '#shared/error.ts';
import type { CsvFormat } from '#shared/stage/file-format.ts';
import { RECORD_BYTES_MAX } from '../scan/print-staged.ts';

/** Finds the records of CSV files by their bytes, for the numbers of lines and the names in a header. */

const [NEWLINE, RETURN] = [0x0a, 0x0d];

/** A record: bytes `[start, end)` of the text, without the line's end, and the line on which it begins, from 1. */
type CsvRecord = { readonly start: number; readonly end: number; readonly line: number; readonly newLine: NewLine };
type NewLine = '\n' | '\r\n';

/**
 * Walks over the records of a text, the header's and empty ones included, until `visit` returns false. A quote opens a field only where a
 * field begins; within quotes the escape takes the meaning from the byte behind it.
 */
class CsvWalk {
  readonly #quote: number;
  readonly #escape: number;
  readonly #delimiterEnd: number;
  readonly #visit: (record: CsvRecord) => boolean;
  #at = 0;
  #line = 1;
  #start = 0;
  #startLine = 1;
  #before = NEWLINE;
  #isQuoted = false;
  #isEscaped = false;

  constructor(
    { quote, escape, delimiter }: Pick<CsvFormat, 'quote' | 'escape' | 'delimiter'>,
    visit: (record: CsvRecord) => boolean,
  ) {
    this.#quote = quote?.charCodeAt(0) ?? -1;
    // A doubled quote ends a field and begins it again, which is the same.
    this.#escape = escape === quote ? -1 : (escape?.charCodeAt(0) ?? -1);
    this.#delimiterEnd = delimiter.charCodeAt(delimiter.length - 1);
    this.#visit = visit;
  }

  /** Takes the bytes that follow; false when no more are wanted. */
  take(chunk: Uint8Array): boolean {
    for (const byte of chunk) {
      const at = this.#at;
      this.#at += 1;
      if (byte === NEWLINE) this.#line += 1;
      if (this.#isEscaped) this.#isEscaped = false;
      else if (this.#isQuoted && byte === this.#escape) this.#isEscaped = true;
      else if (byte === this.#quote && (this.#isQuoted || this.#mayOpen())) this.#isQuoted = !this.#isQuoted;
      else if (byte === NEWLINE && !this.#isQuoted) {
        if (!this.#end(at)) return false;
        this.#start = at + 1;
        this.#startLine = this.#line;
      }
      this.#before = byte;
    }
    return true;
  }

  /** The last record, when no line end follows it. */
  finish(): void {
    if (this.#at > this.#start) this.#end(this.#at);
  }

  #mayOpen(): boolean {
    return this.#at - 1 === this.#start || this.#before === this.#delimiterEnd || this.#before === this.#quote;
  }

  #end(at: number): boolean {
    const isTwo = this.#before === RETURN && at > this.#start;
    const newLine = isTwo ? '\r\n' : '\n';
    return this.#visit({ start: this.#start, end: isTwo ? at - 1 : at, line: this.#startLine, newLine });
  }
}

/**
 * The lines of the records at some places among those that DuckDB has read, by their places; none for a place that the text does not have.
 * One pass over the text, as far as the last of them.
 * @param places ascending
 * @param rejected where the records begin that it has not read, sorted: there, or at the end of the line before or at an empty line between
 * @param isOne the file has one column: an empty line is a record
 */
export async function linesOfCsvRecords(
  text: AsyncIterable<Uint8Array>,
  format: CsvFormat,
  { places, rejected, isOne }: CsvPlaces,
): Promise<ReadonlyMap<number, number>> {
  const lines = new Map<number, number>();
  const wanted = new Set(places);
  const last = places.at(-1);
  if (last === undefined) return lines;
  const headerLines = format.header.kind === 'names' ? 1 : format.header.count;
  let count = 0;
  let records = 0;
  let at = 0;
  const walk = new CsvWalk(format, ({ start, end, line }) => {
    records += 1;
    if (records <= headerLines || (end === start && !isOne)) return true;
    const next = rejected[at] ?? Infinity;
    if (next <= start) {
      while ((rejected[at] ?? Infinity) <= start) at += 1;
      return true;
    }
    count += 1;
    if (wanted.has(count)) lines.set(count, line);
    return count < last;
  });
  for await (const chunk of text) if (!walk.take(chunk)) return lines;
  walk.finish();
  return lines;
}

type CsvPlaces = { readonly places: readonly number[]; readonly rejected: readonly number[]; readonly isOne: boolean };

/**
 * The lines of the records that DuckDB has found at some offsets, by their offsets: each behind empty lines that it has passed over. One pass
 * over the text.
 * @param offsets ascending
 * @param isOne the file has one column: an empty line is a record
 */
export async function linesOfBytes(
  text: AsyncIterable<Uint8Array>,
  offsets: readonly number[],
  isOne: boolean,
): Promise<ReadonlyMap<number, number>> {
  const lines = new Map<number, number>();
  if (offsets.length === 0) return lines;
  const left = offsets.values();
  let offset = left.next();
  let line = 1;
  let base = 0;
  for await (const chunk of text) {
    let at = 0;
    while (offset.done !== true) {
      const to = Math.max(at, Math.min(offset.value - base, chunk.length));
      line += newlines(chunk.subarray(at, to));
      at = to;
      const begin = isOne ? at : behindLineEnds(chunk, at);
      line += newlines(chunk.subarray(at, begin));
      at = begin;
      if (at === chunk.length) break;
      lines.set(offset.value, line);
      offset = left.next();
    }
    if (offset.done === true) return lines;
    base += chunk.length;
  }
  for (; offset.done !== true; offset = left.next()) lines.set(offset.value, line);
  return lines;
}

function behindLineEnds(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at] === NEWLINE || bytes[at] === RETURN) at += 1;
  return at;
}

function newlines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}

/**
 * A file's first record, empty for an empty file, and how its lines end: DuckDB would take the first end of a line for that of all, also
 * within quotes. @throws INVALID_INPUT_FILE
 */
export async function readFirstRecord(
  text: AsyncIterable<Uint8Array>,
  format: CsvFormat,
): Promise<{ readonly record: string; readonly newLine: NewLine }> {
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

/** An option of `read_csv`, whose values are spelt with backslashes. */
export const newLineOption = (newLine: NewLine): string =>
  newLine === '\n' ? "new_line = '\\n'" : "new_line = '\\r\\n'";

/** Names of a header, at most: DuckDB is told of each of them. */
const NAMES_MAX = 10_000;

/** The names in a header, none when it is empty. @throws INVALID_INPUT_FILE for more than `NAMES_MAX` */
export function namesOf(record: string, { delimiter, quote, escape }: CsvFormat): readonly string[] {
  if (record === '') return [];
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
