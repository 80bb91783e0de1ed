import { DataType, Type, type Data, type RecordBatch } from 'apache-arrow';
import { BufferRegion, FieldNode, Message, RecordBatch as BatchMetadata } from 'apache-arrow/ipc/metadata/message';
import { SkeinError } from '#shared/error.ts';
import { isNarrowed, isText, type Precise } from './arrived-type.ts';
import {
  bitsOf,
  broken,
  countOf,
  NOTHING,
  OFFSET_BYTES,
  ones,
  presenceOf,
  rawBytes,
  requireRows,
  rowAt,
  type Room,
  type Rows,
} from './column-rows.ts';
import { fixedValues, microseconds } from './fixed-values.ts';
import { boundsOf, isRun, offsetsOf, requireUtf8, variable, viewed } from './variable-values.ts';

/** Alignment of buffers in a body, as the Arrow format recommends. */
const ALIGNMENT = 64;

/** The metadata of an IPC message, and its body in pieces, most of which are views of what has come in. */
export type PlainBatch = { readonly header: Buffer; readonly body: readonly Uint8Array[]; readonly bodyBytes: number };

/** Some rows of a batch. */
export type BatchRows = {
  readonly batch: RecordBatch;
  readonly from: number;
  readonly count: number;
  /** Bytes that they may take. */
  readonly bytesMax: number;
  readonly precise: Precise;
};

/**
 * Rows of a client's record batch in the types that `arrivedType` gives; undefined when they take more than `bytesMax`: a few bytes may
 * stand for many rows, such as those of a dictionary's only text. All that a reader takes for granted is looked at here: the lengths of
 * buffers, offsets, keys of dictionaries, UTF-8.
 * @throws INVALID_REQUEST, NUMERIC_OVERFLOW for nanoseconds where there are only microseconds
 */
export function plainBatch(rows: BatchRows): PlainBatch | undefined {
  try {
    return written(rows);
  } catch (error) {
    if (error instanceof TooManyBytes) return undefined;
    throw error;
  }
}

function written({ batch, from, count, bytesMax, precise }: BatchRows): PlainBatch {
  const writer = new PlainWriter(bytesMax, precise);
  for (const column of batch.data.children) {
    if (column.length !== batch.numRows) throw broken('a column has another number of rows than its batch');
    writer.write(column, { from, count });
  }
  return writer.message(count);
}

class TooManyBytes extends Error {}

/** Writes columns, each with the nodes and buffers of its plain type. */
class PlainWriter {
  readonly #nodes: FieldNode[] = [];
  readonly #regions: BufferRegion[] = [];
  readonly #parts: Uint8Array[] = [];
  readonly #bytesMax: number;
  readonly #precise: Precise;
  #bytes = 0;

  constructor(bytesMax: number, precise: Precise) {
    this.#bytesMax = bytesMax;
    this.#precise = precise;
  }

  readonly #room: Room = (bytes) => {
    if (this.#bytes + bytes > this.#bytesMax) throw new TooManyBytes();
  };

  message(rows: number): PlainBatch {
    const message = Message.from(new BatchMetadata(rows, this.#nodes, this.#regions, null), this.#bytes);
    return { header: Buffer.from(Message.encode(message)), body: this.#parts, bodyBytes: this.#bytes };
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
      else if (isNarrowed(type, this.#precise)) this.#buffer(microseconds(data, rows, this.#room));
      else this.#buffer(fixedValues(data, rows, this.#room));
    }
  }

  #buffer(bytes: Uint8Array): void {
    const padding = -bytes.length & (ALIGNMENT - 1);
    this.#room(bytes.length + padding);
    this.#regions.push(new BufferRegion(this.#bytes, bytes.length));
    if (bytes.length > 0) this.#parts.push(bytes);
    if (padding > 0) this.#parts.push(PADDING.subarray(0, padding));
    this.#bytes += bytes.length + padding;
  }

  /** A text that is NULL everywhere. */
  #nulls(count: number): void {
    this.#room(OFFSET_BYTES * (count + 1));
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
    const [offsets, bytes] = isView(type) ? viewed(data, rows, this.#room) : variable(data, rows, this.#room);
    if (isText(type)) requireUtf8(offsets, bytes);
    this.#buffer(rawBytes(offsets));
    this.#buffer(bytes);
  }

  #lists(data: Data, rows: Rows): void {
    const [child] = childrenOf(data);
    if (child === undefined) throw broken('a list without elements');
    const { from, to } = boundsOf(data, rows, child.length);
    const offsets = offsetsOf(from, to, (total) => this.#room(total * OFFSET_BYTES));
    this.#buffer(rawBytes(offsets));
    const count = countOf(rows);
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
    this.#room(rows.length * size * OFFSET_BYTES);
    const picked = new Int32Array(rows.length * size);
    for (let i = 0; i < picked.length; i += 1) {
      const row = rowAt(rows, Math.floor(i / size));
      picked[i] = row < 0 ? -1 : row * size + (i % size);
    }
    this.write(child, picked);
  }
}

const PADDING = new Uint8Array(ALIGNMENT);

const isView = ({ typeId }: DataType): boolean => typeId === Type.Utf8View || typeId === Type.BinaryView;
const isBytes = (type: DataType): boolean =>
  DataType.isBinary(type) || DataType.isLargeBinary(type) || type.typeId === Type.BinaryView;

const childrenOf = (data: Data): readonly Data[] => data.children as readonly Data[];
