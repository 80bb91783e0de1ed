import { SkeinError } from '#shared/error.ts';
import type { FlightData } from '#shared/flight/flight-data.ts';
import type { BatchReader, ResultBatch } from './result-sink.ts';

/** Arrow format, Schema.fbs and Message.fbs: union tags, and the slots of the tables' fields. */
const HEADER_SCHEMA = 1;
const HEADER_RECORD_BATCH = 3;
const TYPE_UTF8 = 5;
const TYPE_LARGE_UTF8 = 20;

const invalid = (what: string): never => {
  throw new SkeinError('INTERNAL_ERROR', `a worker sent a result that is not one text column: ${what}`);
};

/**
 * Reads a Flight stream whose schema is one utf8 column, message by message, and gives each batch's texts as one piece of memory:
 * rows are neither decoded nor looped over. A text column without NULLs lies as all its texts one after the other.
 */
export class TextColumnReader implements BatchReader {
  #offsetBytes = 0;

  /** The batch of a message; undefined for the schema and for messages without data. */
  read(message: FlightData<Buffer>): ResultBatch | undefined {
    try {
      return this.#read(message);
    } catch (error) {
      if (error instanceof RangeError) return invalid('cut short');
      throw error;
    }
  }

  #read(message: FlightData<Buffer>): ResultBatch | undefined {
    if (message.header.length === 0) return undefined;
    const root = Table.root(message.header);
    const kind = root.uint8(1);
    const header = root.table(2) ?? invalid('no header');
    if (kind === HEADER_SCHEMA) {
      this.#offsetBytes = offsetBytes(header);
      return undefined;
    }
    if (kind !== HEADER_RECORD_BATCH) return invalid(`header ${kind}`);
    if (this.#offsetBytes === 0) return invalid('no schema');
    if (header.table(3) !== undefined) return invalid('compressed');
    const rows = header.int64(0);
    if (rows === 0) return { rows, header: null, body: message.body.subarray(0, 0) };
    const offsets = header.struct(2, 1, 16);
    const data = header.struct(2, 2, 16);
    const at = (index: number): number => {
      const position = offsets.int64(0) + index * this.#offsetBytes;
      return this.#offsetBytes === 4
        ? message.body.readInt32LE(position)
        : Number(message.body.readBigInt64LE(position));
    };
    const start = data.int64(0);
    const [from, to] = [at(0), at(rows)];
    if (start < 0 || from < 0 || to < from || start + to > message.body.length) return invalid('offsets');
    return { rows, header: null, body: message.body.subarray(start + from, start + to) };
  }
}

function offsetBytes(schema: Table): number {
  if (schema.vectorLength(1) !== 1) return invalid('columns');
  const type = schema.vectorTable(1, 0).uint8(2);
  if (type === TYPE_UTF8) return 4;
  return type === TYPE_LARGE_UTF8 ? 8 : invalid(`type ${type}`);
}

/** A minimal flatbuffer table reader, for the two messages only. Out-of-range positions throw RangeError from Buffer. */
class Table {
  readonly #bytes: Buffer;
  readonly #at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  static root(bytes: Buffer): Table {
    return new Table(bytes, bytes.readUInt32LE(0));
  }

  /** Position of the field in `slot`; 0 when it is absent. */
  #field(slot: number): number {
    const vtable = this.#at - this.#bytes.readInt32LE(this.#at);
    const entry = 4 + slot * 2;
    if (entry >= this.#bytes.readUInt16LE(vtable)) return 0;
    const offset = this.#bytes.readUInt16LE(vtable + entry);
    return offset === 0 ? 0 : this.#at + offset;
  }

  #indirect(slot: number): number {
    const at = this.#field(slot);
    return at === 0 ? 0 : at + this.#bytes.readUInt32LE(at);
  }

  uint8(slot: number): number {
    const at = this.#field(slot);
    return at === 0 ? 0 : this.#bytes.readUInt8(at);
  }

  /** int64 of a table's field; lengths and offsets of a batch are far below 2^53. */
  int64(slot: number): number {
    const at = this.#field(slot);
    return at === 0 ? 0 : Number(this.#bytes.readBigInt64LE(at));
  }

  table(slot: number): Table | undefined {
    const at = this.#indirect(slot);
    return at === 0 ? undefined : new Table(this.#bytes, at);
  }

  vectorLength(slot: number): number {
    const at = this.#indirect(slot);
    return at === 0 ? 0 : this.#bytes.readUInt32LE(at);
  }

  vectorTable(slot: number, index: number): Table {
    const at = this.#indirect(slot) + 4 + index * 4;
    return new Table(this.#bytes, at + this.#bytes.readUInt32LE(at));
  }

  /** Element of a vector of structs of `size` bytes. */
  struct(slot: number, index: number, size: number): { int64(offset: number): number } {
    if (index >= this.vectorLength(slot)) return invalid('buffers');
    const at = this.#indirect(slot) + 4 + index * size;
    return { int64: (offset) => Number(this.#bytes.readBigInt64LE(at + offset)) };
  }
}
