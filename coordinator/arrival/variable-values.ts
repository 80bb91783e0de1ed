import { isUtf8 } from 'node:buffer';
import type { Data } from 'apache-arrow';
import { SkeinError } from '#shared/error.ts';
import { broken, countOf, rawBytes, rowAt, type Room, type Rows } from './column-rows.ts';

/** Where the elements of each row begin and end. */
export function boundsOf(
  data: Data,
  rows: Rows,
  limit: number,
): { readonly from: Int32Array; readonly to: Int32Array } {
  const offsets = data.valueOffsets as unknown as ArrayLike<number | bigint>;
  const count = countOf(rows);
  const from = new Int32Array(count);
  const to = new Int32Array(count);
  for (let i = 0; i < count; i += 1) {
    const row = rowAt(rows, i);
    if (row < 0) continue;
    const [start, end] = [Number(offsets[row] ?? Number.NaN), Number(offsets[row + 1] ?? Number.NaN)];
    if (!(start >= 0 && start <= end && end <= limit)) throw broken('an offset is out of range');
    from[i] = start;
    to[i] = end;
  }
  return { from, to };
}

/** Whether each row's elements begin where those of the row before end. */
export function isRun(from: Int32Array, to: Int32Array): boolean {
  for (let i = 1; i < from.length; i += 1) if (from[i] !== to[i - 1]) return false;
  return true;
}

/** The offsets of texts or lists that lie one behind the other. @param room is told of their total */
export function offsetsOf(from: Int32Array, to: Int32Array, room: Room): Int32Array {
  const offsets = new Int32Array(from.length + 1);
  let total = 0;
  for (let i = 0; i < from.length; i += 1) {
    total += (to[i] ?? 0) - (from[i] ?? 0);
    room(total);
    offsets[i + 1] = total;
  }
  return offsets;
}

export function variable(data: Data, rows: Rows, room: Room): readonly [Int32Array, Uint8Array] {
  const bytes = rawBytes(data.values as ArrayBufferView);
  const { from, to } = boundsOf(data, rows, bytes.length);
  const offsets = offsetsOf(from, to, room);
  if (isRun(from, to)) return [offsets, bytes.subarray(from[0] ?? 0, to.at(-1) ?? 0)];
  const taken = new Uint8Array(offsets.at(-1) ?? 0);
  for (let i = 0; i < from.length; i += 1) taken.set(bytes.subarray(from[i], to[i]), offsets[i]);
  return [offsets, taken];
}

const VIEW_BYTES = 16;
/** Texts of up to so many bytes stand in their view. */
const INLINE_BYTES = 12;

/** A view is a length, and then the bytes, or four of them and the number of a buffer and the place in it. */
export function viewed(data: Data, rows: Rows, room: Room): readonly [Int32Array, Uint8Array] {
  const raw = rawBytes(data.values as ArrayBufferView);
  const views = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
  const buffers = data.variadicBuffers;
  const parts: Uint8Array[] = [];
  const offsets = new Int32Array(countOf(rows) + 1);
  let total = 0;
  for (let i = 0; i < offsets.length - 1; i += 1) {
    const row = rowAt(rows, i);
    const at = row * VIEW_BYTES;
    if (at + VIEW_BYTES > raw.length) throw broken('a buffer is too short');
    const length = row < 0 || !data.getValid(row) ? 0 : views.getInt32(at, true);
    total += length;
    room(total);
    if (length > 0)
      parts.push(length <= INLINE_BYTES ? raw.subarray(at + 4, at + 4 + length) : longText(views, at, length, buffers));
    else if (length < 0) throw broken('a text has a length below zero');
    offsets[i + 1] = total;
  }
  return [offsets, Buffer.concat(parts)];
}

function longText(views: DataView, at: number, length: number, buffers: readonly Uint8Array[]): Uint8Array {
  const buffer = buffers[views.getInt32(at + 8, true)];
  const start = views.getInt32(at + 12, true);
  if (buffer === undefined || start < 0 || start + length > buffer.length) throw broken('a text is out of range');
  return buffer.subarray(start, start + length);
}

/** Requires that every text is UTF-8: all bytes together are, and none begins within a character. */
export function requireUtf8(offsets: Int32Array, bytes: Uint8Array): void {
  if (!isUtf8(bytes)) throw new SkeinError('INVALID_REQUEST', 'a text of the rows is not UTF-8');
  for (const offset of offsets) {
    if (((bytes[offset] ?? 0) & 0xc0) === 0x80)
      throw new SkeinError('INVALID_REQUEST', 'a text of the rows is not UTF-8');
  }
}
