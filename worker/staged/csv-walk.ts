import type { CsvFormat } from '#shared/stage/file-format.ts';

const [NEWLINE, RETURN, SPACE] = [0x0a, 0x0d, 0x20];

/** Where the next byte stands in its field. */
const [BEGIN, BEHIND_SPACE, IN_FIELD, BEHIND_QUOTE] = [0, 1, 2, 3];
type Place = number;

/** A record: bytes `[start, end)` of the text, without the line's end, and the line on which it begins, from 1. */
export type CsvRecord = {
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly newLine: NewLine;
};
export type NewLine = '\n' | '\r\n';

/**
 * Walks over the records of a text, the header's and empty ones included, until `visit` returns false. A quote opens a field where the field
 * begins, or one space later, as DuckDB has it; within quotes the escape takes the meaning from the byte behind it. It takes 1.3 s for a
 * gigabyte of short quoted fields, and 0.4 s where nothing is quoted.
 */
export class CsvWalk {
  readonly #quote: number;
  readonly #escape: number;
  readonly #delimiter: Uint8Array;
  readonly #visit: (record: CsvRecord) => boolean;
  /** Bytes of the text before the chunk. */
  #at = 0;
  #line = 1;
  #start = 0;
  #startLine = 1;
  /** The byte before the chunk. */
  #before = NEWLINE;
  #isQuoted = false;
  #isEscaped = false;
  #place: Place = BEGIN;
  /** Bytes of the delimiter that the last bytes are. */
  #matched = 0;
  #isSure = true;

  constructor(
    { quote, escape, delimiter }: Pick<CsvFormat, 'quote' | 'escape' | 'delimiter'>,
    visit: (record: CsvRecord) => boolean,
  ) {
    this.#quote = quote?.charCodeAt(0) ?? -1;
    // A doubled quote ends a field and begins it again, which is the same.
    this.#escape = escape === quote ? -1 : (escape?.charCodeAt(0) ?? -1);
    this.#delimiter = Buffer.from(delimiter);
    this.#visit = visit;
  }

  /** Takes the bytes that follow; false when no more are wanted. */
  take(chunk: Uint8Array): boolean {
    if (chunk.length === 0) return true;
    const hasQuote = this.#quote !== -1 && chunk.includes(this.#quote);
    const isPlain = !this.#isQuoted && !hasQuote && this.#place !== BEHIND_QUOTE && this.#delimiter.length === 1;
    if (!(isPlain ? this.#takeLines(chunk) : this.#takeQuoted(chunk))) return false;
    this.#at += chunk.length;
    this.#before = chunk.at(-1) ?? NEWLINE;
    return true;
  }

  /**
   * Whether all quotes so far stand where RFC 4180 has them: around whole fields, and doubled or escaped within. Behind others readers differ
   * in where a record begins.
   */
  get isSure(): boolean {
    return this.#isSure;
  }

  /** The last record, when no line end follows it. */
  finish(): void {
    if (this.#at > this.#start) this.#end(this.#at, this.#before);
  }

  /** Takes a chunk without a quote, which begins in no quotes. */
  #takeLines(chunk: Uint8Array): boolean {
    for (let i = chunk.indexOf(NEWLINE); i !== -1; i = chunk.indexOf(NEWLINE, i + 1)) {
      this.#line += 1;
      if (!this.#end(this.#at + i, chunk[i - 1] ?? this.#before)) return false;
    }
    const last = chunk.at(-1);
    this.#place = last === NEWLINE || last === this.#delimiter[0] ? BEGIN : IN_FIELD;
    return true;
  }

  /** Takes turns: a loop within quotes, and one outside, all state in variables. To divide it into methods makes it half as fast. */
  #takeQuoted(chunk: Uint8Array): boolean {
    const { length } = chunk;
    const quote = this.#quote;
    const escape = this.#escape;
    const delimiter = this.#delimiter;
    const base = this.#at;
    let isQuoted = this.#isQuoted;
    let isEscaped = this.#isEscaped;
    let place = this.#place;
    let matched = this.#matched;
    let lines = 0;
    for (let i = 0; i < length; i += 1) {
      if (isQuoted) {
        for (; i < length; i += 1) {
          const byte = chunk[i];
          if (byte === NEWLINE) lines += 1;
          if (isEscaped) isEscaped = false;
          else if (byte === quote) break;
          else if (byte === escape) isEscaped = true;
        }
        if (i === length) break;
        isQuoted = false;
        place = BEHIND_QUOTE;
        matched = 0;
      } else {
        for (; i < length; i += 1) {
          const byte = chunk[i] ?? 0;
          if (byte === quote) {
            if (matched > 0) place = IN_FIELD;
            if (place === BEHIND_SPACE || place === IN_FIELD) this.#isSure = false;
            if (place !== IN_FIELD) {
              isQuoted = true;
              break;
            }
          }
          if (byte === delimiter[matched]) matched += 1;
          else matched = byte === delimiter[0] ? 1 : 0;
          if (matched === delimiter.length) {
            matched = 0;
            place = BEGIN;
          } else if (byte === NEWLINE) {
            this.#line += lines + 1;
            lines = 0;
            if (!this.#end(base + i, chunk[i - 1] ?? this.#before)) return false;
            place = BEGIN;
          } else if (byte === SPACE && place !== IN_FIELD) {
            if (place === BEHIND_QUOTE) this.#isSure = false;
            place = place === BEHIND_SPACE ? IN_FIELD : place === BEGIN ? BEHIND_SPACE : place;
          } else if (matched === 0) {
            if (place === BEHIND_QUOTE && byte !== RETURN) this.#isSure = false;
            place = IN_FIELD;
          }
        }
      }
    }
    this.#line += lines;
    this.#isQuoted = isQuoted;
    this.#isEscaped = isEscaped;
    this.#place = place;
    this.#matched = matched;
    return true;
  }

  /** A record ends; `before` is the byte before its end. */
  #end(at: number, before: number): boolean {
    const isTwo = before === RETURN && at > this.#start;
    const record: CsvRecord = {
      start: this.#start,
      end: isTwo ? at - 1 : at,
      line: this.#startLine,
      newLine: isTwo ? '\r\n' : '\n',
    };
    this.#start = at + 1;
    this.#startLine = this.#line;
    return this.#visit(record);
  }
}
