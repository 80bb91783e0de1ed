import { isPresent, type ArrowColumn } from './arrow-columns.ts';
import type { Cells } from './data-rows.ts';
import { GrowingBytes } from './growing-bytes.ts';

/** How the values of arrays are made. `oid`: the number of their type. */
type Elements = {
  readonly elements: (from: number, to: number) => Cells;
  readonly oid: number;
  readonly isBinary: boolean;
};

/** The lists of some rows as arrays of one dimension. */
export function arrayCells(
  { nulls, offsets: places }: ArrowColumn,
  { elements: elementsOf, oid, isBinary }: Elements,
  from: number,
  to: number,
): Omit<Cells, 'isPresent'> {
  const [first, last] = [places[from] ?? 0, places[to] ?? 0];
  const elements = elementsOf(first, last);
  const write = isBinary ? writeBinary : writeText;
  const out = new GrowingBytes();
  const offsets = new Int32Array(to - from + 1);
  for (let row = from; row < to; row += 1) {
    if (isPresent(nulls, row)) {
      write(out, elements, (places[row] ?? 0) - first, (places[row + 1] ?? 0) - first, oid);
    }
    offsets[row - from + 1] = out.length;
  }
  return { width: null, offsets, bytes: out.written };
}

/** Dimensions, whether there is a NULL, the type; length and lower bound of the one dimension; the values. */
function writeBinary(out: GrowingBytes, elements: Cells, begin: number, end: number, oid: number): void {
  const count = end - begin;
  let hasNull = 0;
  for (let i = begin; i < end; i += 1) if (!elements.isPresent(i)) hasNull = 1;
  out.int32(count === 0 ? 0 : 1);
  out.int32(hasNull);
  out.int32(oid);
  if (count === 0) return;
  out.int32(count);
  out.int32(1);
  for (let i = begin; i < end; i += 1) {
    if (!elements.isPresent(i)) {
      out.int32(-1);
      continue;
    }
    const [at, until] = placeOf(elements, i);
    out.int32(until - at);
    out.copy(elements.bytes, at, until);
  }
}

const [OPEN, CLOSE, COMMA, QUOTE, BACKSLASH] = [0x7b, 0x7d, 0x2c, 0x22, 0x5c];

/** `{1,NULL,"a b"}` */
function writeText(out: GrowingBytes, elements: Cells, begin: number, end: number): void {
  out.byte(OPEN);
  for (let i = begin; i < end; i += 1) {
    if (i > begin) out.byte(COMMA);
    if (!elements.isPresent(i)) {
      out.ascii('NULL');
      continue;
    }
    const [at, until] = placeOf(elements, i);
    if (needsQuotes(elements.bytes, at, until)) writeQuoted(out, elements.bytes, at, until);
    else out.copy(elements.bytes, at, until);
  }
  out.byte(CLOSE);
}

function writeQuoted(out: GrowingBytes, bytes: Buffer, begin: number, end: number): void {
  out.byte(QUOTE);
  for (let at = begin; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE || byte === BACKSLASH) out.byte(BACKSLASH);
    out.byte(byte);
  }
  out.byte(QUOTE);
}

/** Whether a value is empty, the word NULL, or has a character that means something within an array. */
function needsQuotes(bytes: Buffer, begin: number, end: number): boolean {
  if (begin === end) return true;
  if (end - begin === 4 && bytes.toString('latin1', begin, end).toUpperCase() === 'NULL') return true;
  for (let at = begin; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    const isSpace = byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);
    if (isSpace || [OPEN, CLOSE, COMMA, QUOTE, BACKSLASH].includes(byte)) return true;
  }
  return false;
}

const placeOf = ({ width, offsets }: Cells, i: number): readonly [number, number] =>
  width === null ? [offsets[i] ?? 0, offsets[i + 1] ?? 0] : [i * width, (i + 1) * width];
