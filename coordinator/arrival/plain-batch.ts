import { isUtf8 } from 'node:buffer';
import { DataType, Precision, Type, type Data, type RecordBatch } from 'apache-arrow';
import { BufferRegion, FieldNode, Message, RecordBatch as BatchMetadata } from 'apache-arrow/ipc/metadata/message';
import { SkeinError } from '#shared/error.ts';
import { isNarrowed, isText, type Precise } from './arrived-type.ts';

/** Rows of a column: those from one on, or those of these numbers in turn, of which -1 is NULL. */
type Rows = { readonly from: number; readonly count: number } | Int32Array;

const countOf = (rows: Rows): number => (rows instanceof Int32Array ? rows.length : rows.count);
const rowAt = (rows: Rows, i: number): number => (rows instanceof Int32Array ? (rows[i] ?? -1) : rows.from + i);

/** Alignment of buffers in a body, as the Arrow format recommends. */
const ALIGNMENT = 64;

const broken = (what: string): SkeinError =>
  new SkeinError('INVALID_REQUEST', `the rows are no Arrow batches: ${what}`);

/**
 * Rows of a client's record batch in the types that `arrivedType` gives: the metadata of an IPC message, and its body. All that
 * a reader takes for granted is looked at here: the lengths of buffers, offsets, keys of dictionaries, UTF-8.
 * @throws INVALID_REQUEST, NUMERIC_OVERFLOW for nanoseconds where there are only microseconds
 */
export function plainBatch(
  batch: RecordBatch,
  rows: { readonly from: number; readonly count: number },
  precise: Precise,
): { header: Buffer; body: Buffer } {
  const writer = new PlainWriter(precise);
  for (const column of batch.data.children) {
    if (column.length !== batch.numRows) throw broken('a column has another number of rows than its batch');
    writer.write(column, rows);
  }
  return writer.message(rows.count);
}

/** Writes columns, each with the nodes and buffers of its plain type. */
class PlainWriter {
  readonly #precise: Precise;
  readonly #nodes: FieldNode[] = [];
  readonly #regions: BufferRegion[] = [];
  readonly #parts: Uint8Array[] = [];
  #bytes = 0;

  constructor(precise: Precise) {
    this.#precise = precise;
  }

  message(rows: number): { header: Buffer; body: Buffer } {
    const message = Message.from(new BatchMetadata(rows, this.#nodes, this.#regions, null), this.#bytes);
    return { header: Buffer.from(Message.encode(message)), body: Buffer.concat(this.#parts) };
  }

  write(data: Data, rows: Rows): void {
    const { type } = data;
    if (DataType.isDictionary(type)) this.#dictionary(data, rows);
    else if (DataType.isNull(type)) this.#nulls(countOf(rows));
    else {
      this.#validity(data, rows);
      if (isText(type) || isBytes(type)) this.#texts(data, rows);
      else if (DataType.isBool(type)) this.#buffer(bitsOf(rawBytes(data.values), 0, rows));
      else if (DataType.isStruct(type)) for (const child of childrenOf(data)) this.write(child, rows);
      else if (DataType.isFixedSizeList(type)) this.#fixedLists(data, rows, type.listSize);
      else if (data.children.length > 0) this.#lists(data, rows);
      else if (isNarrowed(type, this.#precise)) this.#buffer(microseconds(data, rows));
      else this.#buffer(fixedValues(data, rows));
    }
  }

  #buffer(bytes: Uint8Array): void {
    const padding = -bytes.length & (ALIGNMENT - 1);
    this.#regions.push(new BufferRegion(this.#bytes, bytes.length));
    this.#parts.push(bytes, PADDING.subarray(0, padding));
    this.#bytes += bytes.length + padding;
  }

  /** A text that is NULL everywhere. */
  #nulls(count: number): void {
    this.#nodes.push(new FieldNode(count, count));
    this.#buffer(new Uint8Array((count + 7) >> 3));
    this.#buffer(new Uint8Array(4 * (count + 1)));
    this.#buffer(NOTHING);
  }

  #validity(data: Data, rows: Rows): void {
    const count = countOf(rows);
    const { nullBitmap } = data;
    const hasNulls = nullBitmap !== null && nullBitmap !== undefined && nullBitmap.length > 0 && data.nullCount > 0;
    if (!hasNulls && !(rows instanceof Int32Array)) {
      requireRows(data, rows);
      this.#nodes.push(new FieldNode(count, 0));
      this.#buffer(NOTHING);
      return;
    }
    const valid = hasNulls ? bitsOf(nullBitmap, data.offset, rows) : presenceOf(rows);
    requireRows(data, rows);
    this.#nodes.push(new FieldNode(count, count - ones(valid, count)));
    this.#buffer(valid);
  }

  /** The values that the keys stand for. */
  #dictionary(data: Data, rows: Rows): void {
    requireRows(data, rows);
    const chunks = data.dictionary?.data ?? [];
    const [values] = chunks;
    if (values === undefined || chunks.length > 1) {
      throw new SkeinError('NOT_SUPPORTED', 'a dictionary comes whole, in one batch of its own');
    }
    const keys = data.values as ArrayLike<number | bigint>;
    const picked = new Int32Array(countOf(rows));
    for (let i = 0; i < picked.length; i += 1) {
      const row = rowAt(rows, i);
      if (row < 0 || !data.getValid(row)) picked[i] = -1;
      else {
        const key = Number(keys[row] ?? -1);
        if (!(key >= 0 && key < values.length)) throw broken('a key of a dictionary is out of range');
        picked[i] = key;
      }
    }
    this.write(values, picked);
  }

  /** Texts and bytes: offsets of four bytes, then the bytes. */
  #texts(data: Data, rows: Rows): void {
    const { type } = data;
    const [offsets, bytes] = isView(type) ? viewed(data, rows) : variable(data, rows);
    if (isText(type)) requireUtf8(offsets, bytes);
    this.#buffer(rawBytes(offsets));
    this.#buffer(bytes);
  }

  #lists(data: Data, rows: Rows): void {
    const [child] = childrenOf(data);
    if (child === undefined) throw broken('a list without elements');
    const { from, to } = boundsOf(data, rows, child.length);
    const count = countOf(rows);
    const offsets = new Int32Array(count + 1);
    for (let i = 0; i < count; i += 1) offsets[i + 1] = (offsets[i] ?? 0) + (to[i] ?? 0) - (from[i] ?? 0);
    this.#buffer(rawBytes(offsets));
    const total = offsets[count] ?? 0;
    if (!(rows instanceof Int32Array) && isRun(from, to)) {
      this.write(child, { from: from[0] ?? 0, count: total });
      return;
    }
    const picked = new Int32Array(total);
    for (let i = 0, at = 0; i < count; i += 1)
      for (let row = from[i] ?? 0; row < (to[i] ?? 0); row += 1) picked[at++] = row;
    this.write(child, picked);
  }

  #fixedLists(data: Data, rows: Rows, size: number): void {
    const [child] = childrenOf(data);
    if (child === undefined || child.length < data.length * size) throw broken('a list is too short');
    if (!(rows instanceof Int32Array)) {
      this.write(child, { from: rows.from * size, count: rows.count * size });
      return;
    }
    const picked = new Int32Array(rows.length * size);
    for (let i = 0; i < picked.length; i += 1) {
      const row = rowAt(rows, Math.floor(i / size));
      picked[i] = row < 0 ? -1 : row * size + (i % size);
    }
    this.write(child, picked);
  }
}

const NOTHING = new Uint8Array(0);
const PADDING = new Uint8Array(ALIGNMENT);

const isView = ({ typeId }: DataType): boolean => typeId === Type.Utf8View || typeId === Type.BinaryView;
const isBytes = (type: DataType): boolean =>
  DataType.isBinary(type) || DataType.isLargeBinary(type) || type.typeId === Type.BinaryView;

const childrenOf = (data: Data): readonly Data[] => data.children as readonly Data[];

const rawBytes = (values: ArrayBufferView | null | undefined): Uint8Array =>
  values === null || values === undefined
    ? NOTHING
    : new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

function requireRows(data: Data, rows: Rows): void {
  if (rows instanceof Int32Array) return;
  if (rows.from + rows.count > data.length) throw broken('a column is too short');
}

/** The bits of some rows. */
function bitsOf(bits: Uint8Array, offset: number, rows: Rows): Uint8Array {
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
function presenceOf(rows: Rows): Uint8Array {
  const bits = new Uint8Array((countOf(rows) + 7) >> 3);
  for (let i = 0; i < countOf(rows); i += 1) {
    if (rowAt(rows, i) >= 0) bits[i >> 3] = (bits[i >> 3] ?? 0) | (1 << (i & 7));
  }
  return bits;
}

function ones(bits: Uint8Array, count: number): number {
  let found = 0;
  for (let i = 0; i < count; i += 1) found += ((bits[i >> 3] ?? 0) >> (i & 7)) & 1;
  return found;
}

/** The values of a type whose values have one length. */
function fixedValues(data: Data, rows: Rows): Uint8Array {
  const { type } = data;
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
function microseconds(data: Data, rows: Rows): Uint8Array {
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

/** Where the elements of each row begin and end. */
function boundsOf(data: Data, rows: Rows, limit: number): { readonly from: Int32Array; readonly to: Int32Array } {
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
function isRun(from: Int32Array, to: Int32Array): boolean {
  for (let i = 1; i < from.length; i += 1) if (from[i] !== to[i - 1]) return false;
  return true;
}

function variable(data: Data, rows: Rows): readonly [Int32Array, Uint8Array] {
  const bytes = rawBytes(data.values as ArrayBufferView);
  const { from, to } = boundsOf(data, rows, bytes.length);
  const offsets = new Int32Array(from.length + 1);
  for (let i = 0; i < from.length; i += 1) offsets[i + 1] = (offsets[i] ?? 0) + (to[i] ?? 0) - (from[i] ?? 0);
  if (isRun(from, to)) return [offsets, bytes.subarray(from[0] ?? 0, to.at(-1) ?? 0)];
  const taken = new Uint8Array(offsets.at(-1) ?? 0);
  for (let i = 0; i < from.length; i += 1) taken.set(bytes.subarray(from[i], to[i]), offsets[i]);
  return [offsets, taken];
}

const VIEW_BYTES = 16;
/** Texts of up to so many bytes stand in their view. */
const INLINE_BYTES = 12;

/** A view is a length, and then the bytes, or four of them and the number of a buffer and the place in it. */
function viewed(data: Data, rows: Rows): readonly [Int32Array, Uint8Array] {
  const raw = rawBytes(data.values as ArrayBufferView);
  const views = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
  const buffers = data.variadicBuffers;
  const parts: Uint8Array[] = [];
  const offsets = new Int32Array(countOf(rows) + 1);
  for (let i = 0; i < offsets.length - 1; i += 1) {
    const row = rowAt(rows, i);
    const at = row * VIEW_BYTES;
    if (at + VIEW_BYTES > raw.length) throw broken('a buffer is too short');
    const length = row < 0 || !data.getValid(row) ? 0 : views.getInt32(at, true);
    if (length > 0)
      parts.push(length <= INLINE_BYTES ? raw.subarray(at + 4, at + 4 + length) : longText(views, at, length, buffers));
    else if (length < 0) throw broken('a text has a length below zero');
    offsets[i + 1] = (offsets[i] ?? 0) + length;
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
function requireUtf8(offsets: Int32Array, bytes: Uint8Array): void {
  if (!isUtf8(bytes)) throw new SkeinError('INVALID_REQUEST', 'a text of the rows is not UTF-8');
  for (const offset of offsets) {
    if (((bytes[offset] ?? 0) & 0xc0) === 0x80)
      throw new SkeinError('INVALID_REQUEST', 'a text of the rows is not UTF-8');
  }
}
