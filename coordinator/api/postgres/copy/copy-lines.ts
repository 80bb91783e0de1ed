import type { ValueKind } from '../../../arrival/postgres/value-kind.ts';
import { isSameColumn } from './copy-statement.ts';
import type { CopyForm } from './copy-options.ts';
import type { Cells } from '../value/data-rows.ts';
import { GrowingBytes } from '../value/growing-bytes.ts';
import type { PostgresColumn } from '../message/postgres-type.ts';

/** Rows of COPY TO STDOUT as lines of text or CSV, made column by column. */

const COPY_DATA = 0x64;
const HEAD_BYTES = 5;
const LINE_FEED = 0x0a;
const BACKSLASH = 0x5c;
/** Bytes up to which a loop is quicker than a call that copies. */
const SHORT_BYTES = 24;

/** How the values of a column become those of a line. */
export type LineForm = {
  /** A byte that has another form, and the letter that it becomes behind a backslash; 0 = none. Of CSV: 1 = wants quotes. */
  readonly special: Uint8Array;
  readonly isQuoted: boolean;
  /** No value has a special byte, or is the text of NULL. */
  readonly isPlain: boolean;
};

/** Kinds whose text may have any character. */
const FREE: ReadonlySet<ValueKind> = new Set(['text', 'jsonb', 'array', 'bytea']);
/** Delimiters that no number or date has. */
const NEVER_IN_NUMBERS = new Set(['\t', ',', '|', ';']);

export function lineForms(columns: readonly PostgresColumn[], options: CopyForm): readonly LineForm[] {
  const { forceQuote } = options;
  const special = specialBytes(options);
  const isUsual = NEVER_IN_NUMBERS.has(options.delimiter) && options.quote === '"' && options.escape === '"';
  const mayBePlain = isUsual && (options.format === 'text' || options.null === '');
  return columns.map(({ name, kind }) => {
    const isQuoted = forceQuote === '*' || forceQuote.some((one) => isSameColumn(one, name));
    return { special, isQuoted, isPlain: mayBePlain && !isQuoted && !FREE.has(kind) };
  });
}

const LETTERS: readonly (readonly [number, string])[] = [
  [0x08, 'b'],
  [0x09, 't'],
  [0x0a, 'n'],
  [0x0b, 'v'],
  [0x0c, 'f'],
  [0x0d, 'r'],
];

function specialBytes({ format, delimiter, quote }: CopyForm): Uint8Array {
  const special = new Uint8Array(256);
  if (format === 'csv') {
    for (const char of [delimiter, quote, '\n', '\r']) special[char.charCodeAt(0)] = 1;
    return special;
  }
  for (const char of [delimiter, '\\']) special[char.charCodeAt(0)] = char.charCodeAt(0);
  for (const [byte, letter] of LETTERS) special[byte] = letter.charCodeAt(0);
  return special;
}

/** The line of the names of columns, as a message. */
export function headerLine(columns: readonly PostgresColumn[], options: CopyForm): Buffer {
  const form: LineForm = { special: specialBytes(options), isQuoted: false, isPlain: false };
  const cells = columns.map(({ name }) => {
    const bytes = Buffer.from(name);
    return { isPresent: () => true, width: null, offsets: new Int32Array([0, bytes.length]), bytes };
  });
  return copyLines(cells, 1, { forms: columns.map(() => form), options });
}

type Lines = { readonly forms: readonly LineForm[]; readonly options: CopyForm };

/** The messages CopyData of some rows: each has one line. */
export function copyLines(columns: readonly Cells[], rows: number, { forms, options }: Lines): Buffer {
  const isCsv = options.format === 'csv';
  const formed = columns.map((cells, i) => {
    const form = forms[i];
    if (form === undefined || form.isPlain) return cells;
    return isCsv ? quoted(cells, rows, { form, options, isOnly: columns.length === 1 }) : escaped(cells, rows, form);
  });
  const nothing = Buffer.from(options.null);
  const places = new Int32Array(rows).fill(HEAD_BYTES + Math.max(1, columns.length));
  for (const { isPresent, width, offsets } of formed) {
    for (let row = 0; row < rows; row += 1) {
      const length = isPresent(row) ? (width ?? (offsets[row + 1] ?? 0) - (offsets[row] ?? 0)) : nothing.length;
      places[row] = (places[row] ?? 0) + length;
    }
  }
  const out = withHeads(places);
  const delimiter = options.delimiter.charCodeAt(0);
  formed.forEach((cells, i) => {
    writeColumn(out, places, { cells, nothing, end: i + 1 === formed.length ? LINE_FEED : delimiter });
  });
  return out;
}

/** Room for all messages, with their heads; lengths become the places behind them. */
function withHeads(places: Int32Array): Buffer {
  let total = 0;
  for (let row = 0; row < places.length; row += 1) {
    const length = places[row] ?? 0;
    places[row] = total;
    total += length;
  }
  const out = Buffer.allocUnsafe(total);
  for (let row = 0; row < places.length; row += 1) {
    const at = places[row] ?? 0;
    const end = row + 1 < places.length ? (places[row + 1] ?? 0) : total;
    out[at] = COPY_DATA;
    out.writeInt32BE(end - at - 1, at + 1);
  }
  for (let row = 0; row < places.length; row += 1) places[row] = (places[row] ?? 0) + HEAD_BYTES;
  return out;
}

type Column = { readonly cells: Cells; readonly nothing: Buffer; readonly end: number };

function writeColumn(out: Buffer, places: Int32Array, { cells, nothing, end }: Column): void {
  const { isPresent, width, offsets, bytes } = cells;
  for (let row = 0; row < places.length; row += 1) {
    let at = places[row] ?? 0;
    if (isPresent(row)) {
      const begin = width === null ? (offsets[row] ?? 0) : row * width;
      const length = width ?? (offsets[row + 1] ?? 0) - begin;
      if (length <= SHORT_BYTES) for (let i = 0; i < length; i += 1) out[at + i] = bytes[begin + i] ?? 0;
      else bytes.copy(out, at, begin, begin + length);
      at += length;
    } else {
      nothing.copy(out, at);
      at += nothing.length;
    }
    out[at] = end;
    places[row] = at + 1;
  }
}

const placeOf = ({ width, offsets }: Cells, row: number): readonly [number, number] =>
  width === null ? [offsets[row] ?? 0, offsets[row + 1] ?? 0] : [row * width, (row + 1) * width];

function hasSpecial(bytes: Buffer, special: Uint8Array, begin: number, end: number): boolean {
  for (let at = begin; at < end; at += 1) if (special[bytes[at] ?? 0] !== 0) return true;
  return false;
}

/** Text: a backslash before what would mean something else. */
function escaped(cells: Cells, rows: number, { special }: LineForm): Cells {
  const [begin, end] = [placeOf(cells, 0)[0], placeOf(cells, rows - 1)[1]];
  if (!hasSpecial(cells.bytes, special, begin, end)) return cells;
  return rewritten(cells, rows, (out, from, to) => {
    for (let at = from; at < to; at += 1) {
      const byte = cells.bytes[at] ?? 0;
      const letter = special[byte] ?? 0;
      if (letter !== 0) out.byte(BACKSLASH);
      out.byte(letter === 0 ? byte : letter);
    }
  });
}

type Quoting = { readonly form: LineForm; readonly options: CopyForm; readonly isOnly: boolean };

/** CSV: quotes around what would mean something else, and around all values of a column that wants them. */
function quoted(cells: Cells, rows: number, { form, options, isOnly }: Quoting): Cells {
  const { bytes } = cells;
  const nothing = Buffer.from(options.null);
  const [quote, escape] = [options.quote.charCodeAt(0), options.escape.charCodeAt(0)];
  const isAmbiguous = (from: number, to: number): boolean =>
    bytes.compare(nothing, 0, nothing.length, from, to) === 0 ||
    (isOnly && bytes.toString('latin1', from, to) === '\\.');
  return rewritten(cells, rows, (out, from, to) => {
    if (!form.isQuoted && !hasSpecial(bytes, form.special, from, to) && !isAmbiguous(from, to)) {
      out.copy(bytes, from, to);
      return;
    }
    out.byte(quote);
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte === quote || byte === escape) out.byte(escape);
      out.byte(byte);
    }
    out.byte(quote);
  });
}

function rewritten(cells: Cells, rows: number, write: (out: GrowingBytes, from: number, to: number) => void): Cells {
  const out = new GrowingBytes();
  const offsets = new Int32Array(rows + 1);
  for (let row = 0; row < rows; row += 1) {
    if (cells.isPresent(row)) write(out, ...placeOf(cells, row));
    offsets[row + 1] = out.length;
  }
  return { isPresent: cells.isPresent, width: null, offsets, bytes: out.written };
}
