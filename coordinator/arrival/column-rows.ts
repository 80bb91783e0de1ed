import { SkeinError } from '#shared/error.ts';
import type { Data } from 'apache-arrow';

/** Rows of a column: those from one on, or those of these numbers in turn, of which -1 is NULL. */
export type Rows = { readonly from: number; readonly count: number } | Int32Array;

export const countOf = (rows: Rows): number => (rows instanceof Int32Array ? rows.length : rows.count);
export const rowAt = (rows: Rows, i: number): number => (rows instanceof Int32Array ? (rows[i] ?? -1) : rows.from + i);

/** Bytes of the offset of a text, list or row number. */
export const OFFSET_BYTES = 4;

/** Is told of bytes before they are allocated. @throws TooManyBytes */
export type Room = (bytes: number) => void;

export const rawBytes = (values: ArrayBufferView | null | undefined): Uint8Array =>
  values === null || values === undefined
    ? NOTHING
    : new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

export const NOTHING = new Uint8Array(0);

export const broken = (what: string): SkeinError =>
  new SkeinError('INVALID_REQUEST', `the rows are no Arrow batches: ${what}`);

export function requireRows(data: Data, rows: Rows): void {
  if (rows instanceof Int32Array) return;
  if (rows.from + rows.count > data.length) throw broken('a column is too short');
}

/** The bits of some rows. */
export function bitsOf(bits: Uint8Array, offset: number, rows: Rows): Uint8Array {
  const count = countOf(rows);
  if (!(rows instanceof Int32Array)) {
    const start = offset + rows.from;
    if (start + count > bits.length * 8) throw broken('a buffer is too short');
    if (start % 8 === 0) return bits.subarray(start / 8, start / 8 + ((count + 7) >> 3));
  }
  const taken = new Uint8Array((count + 7) >> 3);
  for (let i = 0; i < count; i += 1) {
    const row = rowAt(rows, i);
    if (row < 0) continue;
    const at = offset + row;
    if (at >= bits.length * 8) throw broken('a buffer is too short');
    if ((((bits[at >> 3] ?? 0) >> (at & 7)) & 1) === 1) taken[i >> 3] = (taken[i >> 3] ?? 0) | (1 << (i & 7));
  }
  return taken;
}

/** Which rows there are. */
export function presenceOf(rows: Rows): Uint8Array {
  const bits = new Uint8Array((countOf(rows) + 7) >> 3);
  for (let i = 0; i < countOf(rows); i += 1) {
    if (rowAt(rows, i) >= 0) bits[i >> 3] = (bits[i >> 3] ?? 0) | (1 << (i & 7));
  }
  return bits;
}

export function ones(bits: Uint8Array, count: number): number {
  let found = 0;
  for (let i = 0; i < count; i += 1) found += ((bits[i >> 3] ?? 0) >> (i & 7)) & 1;
  return found;
}
