import { SkeinError } from '#shared/error.ts';
import { DataType, Precision, type Data } from 'apache-arrow';
import { broken, countOf, rawBytes, rowAt, type Room, type Rows } from './column-rows.ts';

/** The values of a type whose values have one length. */
export function fixedValues(data: Data, rows: Rows, room: Room): Uint8Array {
  const { type } = data;
  room(countOf(rows) * widthOf(data));
  if (DataType.isFloat(type) && type.precision === Precision.HALF) return halves(data, rows);
  if (DataType.isDecimal(type) && type.bitWidth !== 128) return decimals(data, rows, type.bitWidth / 8);
  return picked(rawBytes(data.values as ArrayBufferView), widthOf(data), rows);
}

const widthOf = ({ type, stride, values }: Data): number => {
  const { BYTES_PER_ELEMENT: bytes = 1 } = values as { readonly BYTES_PER_ELEMENT?: number };
  if (DataType.isFixedSizeBinary(type)) return type.byteWidth;
  return DataType.isDecimal(type) ? type.bitWidth / 8 : stride * bytes;
};

function picked(bytes: Uint8Array, width: number, rows: Rows): Uint8Array {
  const count = countOf(rows);
  if (!(rows instanceof Int32Array)) {
    const end = (rows.from + count) * width;
    if (end > bytes.length) throw broken('a buffer is too short');
    return bytes.subarray(rows.from * width, end);
  }
  const taken = new Uint8Array(count * width);
  for (let i = 0; i < count; i += 1) {
    const row = rowAt(rows, i);
    if (row < 0) continue;
    if ((row + 1) * width > bytes.length) throw broken('a buffer is too short');
    taken.set(bytes.subarray(row * width, (row + 1) * width), i * width);
  }
  return taken;
}

/** Nanoseconds as microseconds. @throws NUMERIC_OVERFLOW when a value has more than microseconds */
export function microseconds(data: Data, rows: Rows, room: Room): Uint8Array {
  room(countOf(rows) * 8);
  const given = picked(rawBytes(data.values as ArrayBufferView), 8, rows);
  const view = new DataView(given.buffer, given.byteOffset, given.byteLength);
  const values = new BigInt64Array(countOf(rows));
  for (let i = 0; i < values.length; i += 1) {
    const row = rowAt(rows, i);
    if (row < 0 || !data.getValid(row)) continue;
    const nanoseconds = view.getBigInt64(8 * i, true);
    if (nanoseconds % 1_000n !== 0n) throw new SkeinError('NUMERIC_OVERFLOW', NANOSECONDS);
    values[i] = nanoseconds / 1_000n;
  }
  return rawBytes(values);
}

const NANOSECONDS =
  'a timestamp of the rows has nanoseconds, and its column microseconds: cut them, or make a table with TIMESTAMP_NS before ' +
  "(no time zone, WITH ('format-version' = '3')) and append to it";

/** Numbers of 16 bits as those of 32. */
function halves(data: Data, rows: Rows): Uint8Array {
  const words = picked(rawBytes(data.values as ArrayBufferView), 2, rows).slice();
  const view = new DataView(words.buffer);
  const values = new Float32Array(countOf(rows));
  for (let i = 0; i < values.length; i += 1) values[i] = halfOf(view.getUint16(2 * i, true));
  return rawBytes(values);
}

function halfOf(bits: number): number {
  const sign = bits >> 15 === 1 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1_023;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1_024) * 2 ** (exponent - 15);
}

/** Decimals of another width as those of 16 bytes: whole numbers in two's complement, the least byte first. */
function decimals(data: Data, rows: Rows, width: number): Uint8Array {
  const given = picked(rawBytes(data.values as ArrayBufferView), width, rows);
  const values = new Uint8Array(16 * countOf(rows));
  for (let i = 0; i < countOf(rows); i += 1) {
    const value = given.subarray(i * width, (i + 1) * width);
    const sign = ((value[Math.min(width, 16) - 1] ?? 0) & 128) === 0 ? 0 : 255;
    values.fill(sign, 16 * i, 16 * (i + 1));
    values.set(value.subarray(0, 16), 16 * i);
    if (value.subarray(16).some((byte) => byte !== sign)) throw broken('a decimal has more digits than its type');
  }
  return values;
}
