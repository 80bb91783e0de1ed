import { SkeinError } from '#shared/error.ts';
import { unreachable } from '#shared/must.ts';
import { layoutOf, type ArrowField, type Layout } from './arrow-schema.ts';
import { NO_BYTES, type ArrowBuffer } from './arrow-buffer.ts';
import { GrowBuffer } from './grow-buffer.ts';
import type { Address } from './library.ts';
import { addressOf, copyMemory, readBytes, readWords, writeBytes } from './memory.ts';

/** `ArrowArray` of the Arrow C data interface: its size in words, and the indexes of the words that are read. */
export const ARRAY_WORDS = 10;
const LENGTH = 0;
const NULL_COUNT = 1;
const OFFSET = 2;
const BUFFER_COUNT = 3;
const CHILD_COUNT = 4;
const BUFFERS = 5;
const CHILDREN = 6;
const DICTIONARY = 7;

/** Limit of bytes of one column in a batch: offsets have 32 bits, and a reader must be able to hold a whole batch. */
const COLUMN_BYTES_MAX = 1 << 30;

/** A batch's field nodes (its metadata) and buffers (its body), in the order of the Arrow IPC format. */
export type BatchParts = {
  readonly nodes: { readonly length: number; readonly nullCount: number }[];
  readonly buffers: ArrowBuffer[];
};

/**
 * Concatenates one column of many small Arrow arrays into one big array. The arrays come from DuckDB: their offset is 0, and list offsets
 * start at 0. Their memory is copied, so they may be released after `append`.
 */
export class ColumnBuilder implements Disposable {
  readonly #layout: Layout;
  readonly #children: readonly ColumnBuilder[];
  /** Values of a dictionary-encoded column. All arrays of a result share them, so they are copied once. */
  readonly dictionary: ColumnBuilder | undefined;
  #length = 0;
  #nullCount = 0;
  /** Validity bits; empty while no value is NULL. */
  readonly #validity = new GrowBuffer();
  #hasValidity = false;
  /** Values, bits, type ids or offsets. */
  readonly #values = new GrowBuffer();
  readonly #bytes = new GrowBuffer();
  /** The last offset, in bytes or list elements. */
  #end = 0;

  constructor(field: ArrowField) {
    this.#layout = layoutOf(field);
    this.#children = field.children.map((child) => new ColumnBuilder(child));
    this.dictionary = field.dictionary === null ? undefined : new ColumnBuilder(field.dictionary);
  }

  get length(): number {
    return this.#length;
  }

  /** The dictionaries at and below this column, in the order of their ids. */
  dictionaries(): ColumnBuilder[] {
    return [
      ...(this.dictionary === undefined ? [] : [this.dictionary, ...this.dictionary.dictionaries()]),
      ...this.#children.flatMap((child) => child.dictionaries()),
    ];
  }

  /** Present size of the column in bytes, without validity bits. */
  sizeBytes(): number {
    return this.#valueBytes() + this.#dataBytes() + this.#children.reduce((sum, child) => sum + child.sizeBytes(), 0);
  }

  append(array: Address): void {
    const words = new BigUint64Array(ARRAY_WORDS);
    readWords(words, array, ARRAY_WORDS);
    const count = Number(words[LENGTH]);
    if (words[OFFSET] !== 0n) throw new Error('invariant: DuckDB makes arrays without an offset');
    const buffers = pointers(words[BUFFERS], Number(words[BUFFER_COUNT]));
    if (this.#layout.kind !== 'null' && this.#layout.kind !== 'union') {
      this.#appendValidity(buffers[0] ?? 0n, Number(BigInt.asIntN(64, words[NULL_COUNT] ?? 0n)), count);
    }
    this.#appendValues(buffers, count);
    pointers(words[CHILDREN], Number(words[CHILD_COUNT])).forEach((child, i) => this.#children[i]?.append(child));
    const dictionary = words[DICTIONARY] ?? 0n;
    if (this.dictionary?.length === 0 && dictionary !== 0n) this.dictionary.append(dictionary);
    this.#length += count;
  }

  #appendValues(buffers: BigUint64Array, count: number): void {
    const layout = this.#layout;
    switch (layout.kind) {
      case 'fixed':
        this.#values.reserve((this.#length + count) * layout.bytes);
        copyMemory(this.#values.at(this.#length * layout.bytes), buffers[1] ?? 0n, count * layout.bytes);
        return;
      case 'bits':
        this.#values.reserve(bitBytes(this.#length + count) + 1);
        appendBits(this.#values, this.#length, buffers[1] ?? 0n, count);
        return;
      case 'bytes':
      case 'list':
        this.#appendOffsets(layout.offsetBytes, buffers, count);
        return;
      case 'union':
        this.#values.reserve(this.#length + count);
        copyMemory(this.#values.at(this.#length), buffers[0] ?? 0n, count);
        return;
      case 'null':
      case 'struct':
      case 'fixedList':
        return;
      default:
        unreachable(layout);
    }
  }

  /** Copies `count + 1` offsets, shifted by the existing bytes (or elements), and appends the bytes. */
  #appendOffsets(width: 4 | 8, buffers: BigUint64Array, count: number): void {
    if (count === 0) return;
    const offsets = readOffsets(buffers[1] ?? 0n, width, count + 1);
    const added = Number(offsets[count]);
    if (this.#end + added > COLUMN_BYTES_MAX) {
      throw new SkeinError('RESULT_TOO_LARGE', 'the values of one column are too long to be sent together');
    }
    if (this.#end > 0) shiftOffsets(offsets, this.#end);
    this.#values.reserve((this.#length + count + 1) * width);
    copyMemory(this.#values.at(this.#length * width), addressOf(offsets), (count + 1) * width);
    if (this.#layout.kind === 'bytes' && added > 0) {
      this.#bytes.reserve(this.#end + added);
      copyMemory(this.#bytes.at(this.#end), buffers[2] ?? 0n, added);
    }
    this.#end += added;
  }

  #appendValidity(source: Address, nullCount: number, count: number): void {
    const hasNulls = source !== 0n && nullCount !== 0;
    if (!hasNulls && !this.#hasValidity) return;
    this.#validity.reserve(bitBytes(this.#length + count) + 1);
    if (!this.#hasValidity) fillOnes(this.#validity, 0, this.#length);
    this.#hasValidity = true;
    if (!hasNulls) {
      fillOnes(this.#validity, this.#length, count);
      return;
    }
    appendBits(this.#validity, this.#length, source, count);
    // DuckDB may report -1, which means "not counted".
    this.#nullCount += nullCount > 0 ? nullCount : count - countOnes(source, count);
  }

  #valueBytes(): number {
    const layout = this.#layout;
    switch (layout.kind) {
      case 'fixed':
        return this.#length * layout.bytes;
      case 'bits':
        return bitBytes(this.#length);
      case 'bytes':
      case 'list':
        return (this.#length + 1) * layout.offsetBytes;
      case 'union':
        return this.#length;
      case 'null':
      case 'struct':
      case 'fixedList':
        return 0;
      default:
        return unreachable(layout);
    }
  }

  #dataBytes(): number {
    return this.#layout.kind === 'bytes' ? this.#end : 0;
  }

  /** Adds this column's nodes and buffers, depth first. The buffers are valid until the next `append` or `clear`. */
  collect(parts: BatchParts): void {
    const { kind } = this.#layout;
    parts.nodes.push({ length: this.#length, nullCount: kind === 'null' ? this.#length : this.#nullCount });
    if (kind !== 'null' && kind !== 'union') {
      parts.buffers.push(this.#hasValidity ? filled(this.#validity, bitBytes(this.#length)) : NO_BYTES);
    }
    if (kind !== 'null' && kind !== 'struct' && kind !== 'fixedList') {
      // An offsets buffer has one entry more than values: even an empty one needs a zero.
      const isEmptyList = this.#length === 0 && (kind === 'bytes' || kind === 'list');
      parts.buffers.push(
        isEmptyList ? { ...NO_BYTES, bytes: this.#valueBytes() } : filled(this.#values, this.#valueBytes()),
      );
    }
    if (kind === 'bytes') parts.buffers.push(filled(this.#bytes, this.#end));
    for (const child of this.#children) child.collect(parts);
  }

  /** Empties the column and keeps its memory for the next batch. */
  clear(): void {
    this.#length = 0;
    this.#nullCount = 0;
    this.#hasValidity = false;
    this.#end = 0;
    for (const child of this.#children) child.clear();
  }

  [Symbol.dispose](): void {
    this.clear();
    this.#validity[Symbol.dispose]();
    this.#values[Symbol.dispose]();
    this.#bytes[Symbol.dispose]();
    this.dictionary?.[Symbol.dispose]();
    for (const child of this.#children) child[Symbol.dispose]();
  }
}

const bitBytes = (bits: number): number => (bits + 7) >> 3;
const filled = (buffer: GrowBuffer, bytes: number): ArrowBuffer => ({ address: buffer.at(0), bytes, owner: buffer });

function pointers(list: Address | undefined, count: number): BigUint64Array {
  const words = new BigUint64Array(count);
  readWords(words, list ?? 0n, count);
  return words;
}

/** Scratch buffer for the offsets of the array being appended: enough for a chunk's rows and common numbers of list elements. */
const OFFSET_BYTES = 64 << 10;
const offsetBytes = new ArrayBuffer(OFFSET_BYTES);

/** Copies offsets to a buffer that is valid until the next call. */
function readOffsets(
  source: Address,
  width: 4 | 8,
  count: number,
): Int32Array<ArrayBuffer> | BigInt64Array<ArrayBuffer> {
  const bytes = count * width;
  const buffer = bytes > OFFSET_BYTES ? new ArrayBuffer(bytes) : offsetBytes;
  const offsets = width === 4 ? new Int32Array(buffer, 0, count) : new BigInt64Array(buffer, 0, count);
  copyMemory(addressOf(offsets), source, bytes);
  return offsets;
}

function shiftOffsets(offsets: Int32Array | BigInt64Array, base: number): void {
  if (offsets instanceof Int32Array) {
    for (let i = 0; i < offsets.length; i++) offsets[i] = (offsets[i] ?? 0) + base;
    return;
  }
  const wideBase = BigInt(base);
  for (let i = 0; i < offsets.length; i++) offsets[i] = (offsets[i] ?? 0n) + wideBase;
}

/** Appends `count` bits after the first `start` bits; the target must have one spare byte. */
function appendBits(target: GrowBuffer, start: number, source: Address, count: number): void {
  const bytes = bitBytes(count);
  const place = target.at(start >> 3);
  const shift = start & 7;
  if (shift === 0) {
    copyMemory(place, source, bytes);
    return;
  }
  const from = readBytes(source, bytes);
  const out = new Uint8Array(bytes + 1);
  let carry = (readBytes(place, 1)[0] ?? 0) & ((1 << shift) - 1);
  for (let i = 0; i < bytes; i++) {
    const byte = from[i] ?? 0;
    out[i] = carry | ((byte << shift) & 0xff);
    carry = byte >> (8 - shift);
  }
  out[bytes] = carry;
  writeBytes(place, out);
}

/** Sets `count` bits after the first `start` bits. */
function fillOnes(target: GrowBuffer, start: number, count: number): void {
  if (count === 0) return;
  const place = target.at(start >> 3);
  const shift = start & 7;
  const ones = new Uint8Array(bitBytes(shift + count)).fill(0xff);
  if (shift > 0) ones[0] = (readBytes(place, 1)[0] ?? 0) | (0xff << shift);
  writeBytes(place, ones);
}

function countOnes(source: Address, count: number): number {
  const bytes = readBytes(source, bitBytes(count));
  let ones = 0;
  for (let i = 0; i < count; i++) ones += ((bytes[i >> 3] ?? 0) >> (i & 7)) & 1;
  return ones;
}
