import { RowError, type RowsInput } from './row-format.ts';

/** A row of fields, and where the next one begins; `isEnd`: nothing follows by the rows' own end. Null = it is not whole. */
export type TakenRow = {
  /** One more than there are columns at most. */
  readonly fields: readonly (Buffer | null)[];
  /** How many there are. */
  readonly count: number;
  readonly next: number;
  /** Lines that it has. */
  readonly lines: number;
  readonly isEnd: boolean;
};

const [LINE_FEED, RETURN, BACKSLASH] = [0x0a, 0x0d, 0x5c];
const [ZERO, SEVEN] = [0x30, 0x37];
const LETTERS: Readonly<Record<string, number>> = { b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };
const HEX = /^[\da-fA-F]$/;

type Input = Pick<RowsInput, 'isLast' | 'format' | 'columns'>;

/** Reads a line of the text form: fields between delimiters, in which a backslash gives the next character another meaning. */
export function takeTextRow(bytes: Buffer, from: number, { isLast, format, columns }: Input): TakenRow | null {
  const delimiter = format.delimiter.charCodeAt(0);
  const nothing = format.null;
  const fields: (Buffer | null)[] = [];
  const whole = lineEnd(bytes, from, isLast);
  if (whole === null) return null;
  const { end, next, lines } = whole;
  if (end - from === 2 && bytes[from] === BACKSLASH && bytes[from + 1] === 0x2e) {
    return { fields: [], count: 0, next, lines, isEnd: true };
  }
  let count = 0;
  let first = from;
  let hasEscape = false;
  for (let at = from; at <= end; at += 1) {
    const byte = at === end ? delimiter : bytes[at];
    if (at < end && byte === BACKSLASH) {
      hasEscape = true;
      at += 1;
      continue;
    }
    if (byte !== delimiter) continue;
    count += 1;
    if (count > columns.length + 1) continue;
    const raw = bytes.subarray(first, at);
    const isNull = raw.length === nothing.length && raw.toString('latin1') === Buffer.from(nothing).toString('latin1');
    fields.push(isNull ? null : hasEscape ? unescaped(raw) : raw);
    first = at + 1;
    hasEscape = false;
  }
  return { fields, count, next, lines, isEnd: false };
}

/** The end of the line: a line feed that no backslash stands before. */
function lineEnd(
  bytes: Buffer,
  from: number,
  isLast: boolean,
): { readonly end: number; readonly next: number; readonly lines: number } | null {
  let lines = 1;
  for (let at = from; ; lines += 1) {
    const found = bytes.indexOf(LINE_FEED, at);
    if (found < 0) {
      if (!isLast) return null;
      return { end: bytes.length, next: bytes.length, lines };
    }
    let backslashes = 0;
    while (found - 1 - backslashes >= from && bytes[found - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) {
      const hasReturn = found > from && bytes[found - 1] === RETURN;
      return { end: hasReturn ? found - 1 : found, next: found + 1, lines };
    }
    at = found + 1;
  }
}

/** @throws nothing: a backslash before any other character means that character */
function unescaped(raw: Buffer): Buffer {
  const out = Buffer.allocUnsafe(raw.length);
  let length = 0;
  for (let at = 0; at < raw.length; at += 1) {
    const byte = raw[at] ?? 0;
    if (byte !== BACKSLASH || at + 1 === raw.length) {
      out[length] = byte;
      length += 1;
      continue;
    }
    at += 1;
    const next = raw[at] ?? 0;
    const char = String.fromCharCode(next);
    let value = LETTERS[char] ?? next;
    if (next >= ZERO && next <= SEVEN) {
      value = next - ZERO;
      for (let i = 0; i < 2 && (raw[at + 1] ?? 0) >= ZERO && (raw[at + 1] ?? 0) <= SEVEN; i += 1) {
        at += 1;
        value = value * 8 + ((raw[at] ?? 0) - ZERO);
      }
    } else if (char === 'x' && HEX.test(String.fromCharCode(raw[at + 1] ?? 0))) {
      let digits = '';
      while (digits.length < 2 && HEX.test(String.fromCharCode(raw[at + 1] ?? 0))) {
        at += 1;
        digits += String.fromCharCode(raw[at] ?? 0);
      }
      value = Number.parseInt(digits, 16);
    }
    out[length] = value & 0xff;
    length += 1;
  }
  return out.subarray(0, length);
}

/** Reads a line of CSV; a field in quotes may have lines of its own. @throws RowError */
export function takeCsvRow(bytes: Buffer, from: number, { isLast, format, columns }: Input): TakenRow | null {
  const [delimiter, quote, escape] = [
    format.delimiter.charCodeAt(0),
    format.quote.charCodeAt(0),
    format.escape.charCodeAt(0),
  ];
  const nothing = Buffer.from(format.null);
  const fields: (Buffer | null)[] = [];
  let out = Buffer.allocUnsafe(64);
  let length = 0;
  let count = 0;
  let lines = 1;
  let inQuotes = false;
  let hasQuotes = false;
  const push = (byte: number): void => {
    if (length === out.length) out = Buffer.concat([out, Buffer.allocUnsafe(out.length)]);
    out[length] = byte;
    length += 1;
  };
  const endField = (): void => {
    count += 1;
    if (count > columns.length + 1) {
      [length, hasQuotes] = [0, false];
      return;
    }
    const column = columns[fields.length];
    const value = Buffer.from(out.subarray(0, length));
    const mayBeNull = hasQuotes ? column?.nullInQuotes === true : column?.neverNull !== true;
    fields.push(mayBeNull && value.equals(nothing) ? null : value);
    [length, hasQuotes] = [0, false];
  };
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === LINE_FEED && inQuotes) lines += 1;
    if (inQuotes) {
      const next = bytes[at + 1];
      // The last byte may be the first of two that belong together.
      if (next === undefined && !isLast) return null;
      if (byte === escape && next !== undefined && (next === quote || next === escape)) {
        push(next);
        at += 1;
      } else if (byte === quote) inQuotes = false;
      else push(byte);
    } else if (byte === quote) [inQuotes, hasQuotes] = [true, true];
    else if (byte === delimiter) endField();
    else if (byte === LINE_FEED) {
      if (length > 0 && out[length - 1] === RETURN) length -= 1;
      endField();
      return { fields, count, next: at + 1, lines, isEnd: false };
    } else push(byte);
  }
  if (!isLast) return null;
  if (inQuotes) throw new RowError('unterminated CSV quoted field');
  endField();
  return { fields, count, next: bytes.length, lines, isEnd: false };
}
