import { SkeinError } from '#shared/error.ts';
import type { Steps } from '#shared/iceberg/decode-limits.ts';

export const corrupt = (what: string): SkeinError => new SkeinError('INVALID_TABLE_DATA', what);

/** Types of Thrift's compact protocol (apache/thrift, thrift-compact-protocol.md). In a struct the type encodes a boolean's value. */
export const THRIFT = {
  true: 1,
  false: 2,
  byte: 3,
  int16: 4,
  int32: 5,
  int64: 6,
  double: 7,
  binary: 8,
  list: 9,
  set: 10,
  map: 11,
  struct: 12,
  uuid: 13,
} as const;

/** Bytes of the longest varint, which holds 64 bits. */
const VARINT_BYTES_MAX = 10;
/** Limit of nesting of lists and structs; Parquet's own definitions need half of it. */
const DEPTH_MAX = 16;
/** Steps charged for a struct from which a reader builds an object. */
const STRUCT_STEPS = 10;

/**
 * Reads Thrift's compact protocol from untrusted bytes: a length beyond the remaining bytes is rejected, every value is charged to `steps`,
 * and unwanted fields are skipped without allocation. @throws INVALID_TABLE_DATA; TABLE_DATA_TOO_COMPLEX from `steps`
 */
export class ThriftCursor {
  readonly bytes: Buffer;
  readonly #steps: Steps;
  #depth = 0;
  #delta = 0;
  offset: number;

  constructor(bytes: Buffer, offset: number, steps: Steps) {
    this.bytes = bytes;
    this.offset = offset;
    this.#steps = steps;
  }

  /** Calls `read` with every field of a struct, and skips the field if `read` returns false. */
  readStruct(read: (id: number, type: number) => boolean): void {
    this.#enter();
    let id = 0;
    for (let type = this.#readType(); type !== 0; type = this.#readType()) {
      id = this.#delta === 0 ? this.readInt() : id + this.#delta;
      if (!read(id, type)) this.skip(type);
    }
    this.#depth -= 1;
  }

  /** Reads the header of the next field after field `lastId`; undefined at the struct's end. */
  readField(lastId: number): { readonly id: number; readonly type: number } | undefined {
    const type = this.#readType();
    if (type === 0) return undefined;
    return { id: this.#delta === 0 ? this.readInt() : lastId + this.#delta, type };
  }

  /** Reads the type of the next field, and sets `#delta` to the increment of its number (0: the number is written out). */
  #readType(): number {
    this.#steps.spend(1);
    const head = this.#readByte();
    this.#delta = head >> 4;
    return head & 0x0f;
  }

  /** Reads a list's header: type and number of the elements that follow. */
  #readList(): { readonly type: number; readonly size: number } {
    const head = this.#readByte();
    const size = head >> 4 === 15 ? this.#readVarint() : head >> 4;
    // Every element takes at least one byte, booleans too.
    if (size > this.bytes.length - this.offset) throw corrupt('a list is longer than the bytes that are left');
    this.#steps.spend(size);
    return { type: head & 0x0f, size };
  }

  /** Reads the number of structs that follow, which the caller then reads. @param type of the field, which must be a list */
  readStructList(type: number): number {
    if (type !== THRIFT.list) throw corrupt('a list of structs is no list');
    const list = this.#readList();
    if (list.type !== THRIFT.struct && list.size > 0) throw corrupt('a list of structs has other elements');
    this.#steps.spend(list.size * STRUCT_STEPS);
    return list.size;
  }

  /** Reads a list of integers. @param type of the field, which must be a list */
  readIntList(type: number): readonly number[] {
    if (type !== THRIFT.list) throw corrupt('a list of numbers is no list');
    const list = this.#readList();
    if (list.type !== THRIFT.int32 && list.size > 0) throw corrupt('a list of numbers has other elements');
    return Array.from({ length: list.size }, () => this.readInt());
  }

  /** Reads an integer of any width. One that a JavaScript number cannot hold exactly is an error: no size or count is that large. */
  readInt(): number {
    const zigzag = this.#readVarint();
    return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2;
  }

  readBinary(): Buffer {
    const length = this.#readVarint();
    const start = this.offset;
    this.#skipBytes(length);
    return this.bytes.subarray(start, this.offset);
  }

  skip(type: number): void {
    switch (type) {
      case THRIFT.true:
      case THRIFT.false:
        return;
      case THRIFT.byte:
        return this.#skipBytes(1);
      case THRIFT.int16:
      case THRIFT.int32:
      case THRIFT.int64:
        this.#skipVarint();
        return;
      case THRIFT.double:
        return this.#skipBytes(8);
      case THRIFT.binary:
        return this.#skipBytes(this.#readVarint());
      case THRIFT.uuid:
        return this.#skipBytes(16);
      case THRIFT.list:
      case THRIFT.set:
        return this.#skipList();
      case THRIFT.map:
        return this.#skipMap();
      case THRIFT.struct:
        return this.readStruct(() => false);
      default:
        throw corrupt('a value of an unknown type');
    }
  }

  #skipList(): void {
    this.#enter();
    const { type, size } = this.#readList();
    for (let i = 0; i < size; i++) this.#skipElement(type);
    this.#depth -= 1;
  }

  #skipMap(): void {
    this.#enter();
    const size = this.#readVarint();
    if (size > 0) {
      if (size > this.bytes.length - this.offset) throw corrupt('a map is longer than the bytes that are left');
      this.#steps.spend(size);
      const types = this.#readByte();
      for (let i = 0; i < size; i++) {
        this.#skipElement(types >> 4);
        this.#skipElement(types & 0x0f);
      }
    }
    this.#depth -= 1;
  }

  /** Skips a list element, where a boolean takes a byte of its own. */
  #skipElement(type: number): void {
    if (type === THRIFT.true || type === THRIFT.false) this.#skipBytes(1);
    else this.skip(type);
  }

  #enter(): void {
    this.#depth += 1;
    if (this.#depth > DEPTH_MAX) throw corrupt('values are nested too deeply');
  }

  #readByte(): number {
    const byte = this.bytes[this.offset];
    if (byte === undefined) throw corrupt('the bytes end too early');
    this.offset += 1;
    return byte;
  }

  #readVarint(): number {
    let value = 0;
    for (let i = 0, factor = 1; i < VARINT_BYTES_MAX; i++, factor *= 128) {
      const byte = this.#readByte();
      value += (byte & 0x7f) * factor;
      if (byte >= 0x80) continue;
      // The zigzag encoding doubles the value.
      if (value > 2 * Number.MAX_SAFE_INTEGER) throw corrupt('a number is too large');
      return value;
    }
    throw corrupt('a number is too long');
  }

  #skipVarint(): void {
    for (let i = 0; i < VARINT_BYTES_MAX; i++) if (this.#readByte() < 0x80) return;
    throw corrupt('a number is too long');
  }

  #skipBytes(length: number): void {
    if (length > this.bytes.length - this.offset) throw corrupt('the bytes end too early');
    this.offset += length;
  }
}
