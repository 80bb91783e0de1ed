import { BufferRegion, FieldNode, Message, RecordBatch } from 'apache-arrow/ipc/metadata/message';

/** A column of a small batch: the nodes and buffers of its type and of those below it, as an Arrow record batch holds them. */
export type ColumnData = { readonly nodes: readonly FieldNode[]; readonly buffers: readonly Buffer[] };

/** A record batch: the metadata of an IPC message, and its body. */
type RecordBatchData = { readonly rows: number; readonly header: Buffer; readonly body: Buffer };

type Values<T> = readonly (T | null)[];

/** Alignment of buffers in a body, as the Arrow format recommends. */
const ALIGNMENT = 64;

/** A record batch of columns that are all as long. */
export function columnBatch(rows: number, columns: readonly ColumnData[]): RecordBatchData {
  const regions: BufferRegion[] = [];
  const parts: Buffer[] = [];
  let bytes = 0;
  for (const buffer of columns.flatMap(({ buffers }) => buffers)) {
    const padding = Buffer.alloc(Math.ceil(buffer.length / ALIGNMENT) * ALIGNMENT - buffer.length);
    regions.push(new BufferRegion(bytes, buffer.length));
    parts.push(buffer, padding);
    bytes += buffer.length + padding.length;
  }
  const nodes = columns.flatMap((column) => column.nodes);
  const message = Message.from(new RecordBatch(rows, nodes, regions, null), bytes);
  return { rows, header: Buffer.from(Message.encode(message)), body: Buffer.concat(parts) };
}

export const texts = (values: Values<string>): ColumnData =>
  bytes(values.map((value) => (value === null ? null : Buffer.from(value))));

export function bytes(values: Values<Uint8Array>): ColumnData {
  const data = values.map((value) => value ?? new Uint8Array());
  return { nodes: [nodeOf(values)], buffers: [validityOf(values), offsetsOf(data), Buffer.concat(data)] };
}

export const int16s = (values: Values<number>): ColumnData =>
  fixed(values, 2, (b, value, at) => b.writeInt16LE(value, at));

export const floats = (values: Values<number>): ColumnData =>
  fixed(values, 4, (b, value, at) => b.writeFloatLE(value, at));

export const int32s = (values: Values<number>): ColumnData =>
  fixed(values, 4, (b, value, at) => b.writeInt32LE(value, at));

export const uint32s = (values: Values<number>): ColumnData =>
  fixed(values, 4, (b, value, at) => b.writeUInt32LE(value, at));

export const int64s = (values: Values<number | bigint>): ColumnData =>
  fixed(values, 8, (b, value, at) => b.writeBigInt64LE(BigInt(value), at));

export const doubles = (values: Values<number>): ColumnData =>
  fixed(values, 8, (b, value, at) => b.writeDoubleLE(value, at));

export const booleans = (values: Values<boolean>): ColumnData => ({
  nodes: [nodeOf(values)],
  buffers: [validityOf(values), bitsOf(values.map((value) => value === true))],
});

/** Lists of values; `items` makes the column of all of them, one list after the other. */
export function lists<T>(values: Values<readonly T[]>, items: (all: readonly T[]) => ColumnData): ColumnData {
  const present = values.map((value) => value ?? []);
  const { nodes, buffers } = items(present.flat());
  return { nodes: [nodeOf(values), ...nodes], buffers: [validityOf(values), offsetsOf(present), ...buffers] };
}

/** Lists of so many values each, of the column of all of them; null = the list is. */
export function listsOf(lengths: Values<number>, { nodes, buffers }: ColumnData): ColumnData {
  const offsets = offsetsOf(lengths.map((length) => ({ length: length ?? 0 })));
  return { nodes: [nodeOf(lengths), ...nodes], buffers: [validityOf(lengths), offsets, ...buffers] };
}

/** Structs of `count` values, none of them NULL. */
export const structs = (count: number, fields: readonly ColumnData[]): ColumnData => ({
  nodes: [new FieldNode(count, 0), ...fields.flatMap(({ nodes }) => nodes)],
  buffers: [Buffer.alloc(0), ...fields.flatMap(({ buffers }) => buffers)],
});

/** A dense union: the number of its member for each value, and the members' columns, in which the values stand in their order. */
export function denseUnion(members: readonly number[], columns: readonly ColumnData[]): ColumnData {
  const offsets = Buffer.alloc(4 * members.length);
  const lengths = columns.map(() => 0);
  for (const [i, member] of members.entries()) {
    const at = lengths[member] ?? 0;
    offsets.writeInt32LE(at, 4 * i);
    lengths[member] = at + 1;
  }
  return {
    nodes: [new FieldNode(members.length, 0), ...columns.flatMap(({ nodes }) => nodes)],
    buffers: [Buffer.from(members), offsets, ...columns.flatMap(({ buffers }) => buffers)],
  };
}

function fixed<T>(values: Values<T>, width: number, write: (buffer: Buffer, value: T, at: number) => void): ColumnData {
  const data = Buffer.alloc(width * values.length);
  for (const [i, value] of values.entries()) if (value !== null) write(data, value, i * width);
  return { nodes: [nodeOf(values)], buffers: [validityOf(values), data] };
}

const nodeOf = (values: Values<unknown>): FieldNode =>
  new FieldNode(values.length, values.filter((value) => value === null).length);

const validityOf = (values: Values<unknown>): Buffer => bitsOf(values.map((value) => value !== null));

function bitsOf(bits: readonly boolean[]): Buffer {
  const buffer = Buffer.alloc((bits.length + 7) >> 3);
  for (const [i, bit] of bits.entries()) if (bit) buffer[i >> 3] = (buffer[i >> 3] ?? 0) | (1 << (i & 7));
  return buffer;
}

function offsetsOf(values: readonly { readonly length: number }[]): Buffer {
  const offsets = Buffer.alloc(4 * (values.length + 1));
  let end = 0;
  for (const [i, { length }] of values.entries()) offsets.writeInt32LE((end += length), 4 * (i + 1));
  return offsets;
}
