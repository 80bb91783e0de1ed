import { SkeinError } from '#shared/error.ts';
import { must, unreachable } from '#shared/must.ts';
import { layoutOf, type ArrowField, type Layout } from './arrow-schema.ts';
import { GrowBuffer } from './grow-buffer.ts';
import type { Address } from './library.ts';
import { copyMemory, readBytes, readWords } from './memory.ts';

/** `ArrowArray` of the Arrow C data interface: its size in words, and the words that are read. */
export const ARRAY_WORDS = 10;
const LENGTH = 0;
const NULL_COUNT = 1;
const OFFSET = 2;
const BUFFER_COUNT = 3;
const CHILD_COUNT = 4;
const BUFFERS = 5;
const CHILDREN = 6;
const DICTIONARY = 7;

/** Bytes of one column in one batch: offsets are 32 bits wide, and a reader must be able to take a batch whole. */
const COLUMN_BYTES_MAX = 1 << 30;

/** What a batch's metadata says of a field, and where its bytes are: in the order of the Arrow IPC format. */
export type BatchParts = {
  readonly nodes: { readonly length: number; readonly nullCount: number }[];
  readonly buffers: Uint8Array[];
};

/**
 * Collects one column of many small Arrow arrays into one big one. The arrays are DuckDB's: offset 0, offsets that start at 0. Their
 * memory is copied, so they may be released after `append`.
 */
export class ColumnBuilder {
  readonly #layout: Layout;
  readonly #children: readonly ColumnBuilder[];
  /** Values of a dictionary-encoded column: all arrays of a result share them, so they are taken once. */
  readonly dictionary: ColumnBuilder | undefined;
  #length = 0;
  #nullCount = 0;
  #validity: GrowBuffer | undefined;
  /** Values, bits, type ids or offsets. */
  #values = new GrowBuffer(0);
  #bytes: GrowBuffer | undefined;

  constructor(field: ArrowField) {
    this.#layout = layoutOf(field);
    this.#children = field.children.map((child) => new ColumnBuilder(child));
    this.dictionary = field.dictionary === null ? undefined : new ColumnBuilder(field.dictionary);
    if (this.#layout.kind === 'bytes') this.#bytes = new GrowBuffer(0);
  }

  get length(): number {
    return this.#length;
  }

  /** All the dictionaries below and at this column, in the order of their ids. */
  dictionaries(): ColumnBuilder[] {
    return [
      ...(this.dictionary === undefined ? [] : [this.dictionary, ...this.dictionary.dictionaries()]),
      ...this.#children.flatMap((child) => child.dictionaries()),
    ];
  }

  /** Bytes that the column has now, validity left out. */
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
        copyMemory(at(this.#values, this.#length * layout.bytes), buffers[1] ?? 0n, count * layout.bytes);
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
        copyMemory(at(this.#values, this.#length), buffers[0] ?? 0n, count);
        return;
      case 'null':
      case 'struct':
      case 'fixedList':
        return;
      default:
        unreachable(layout);
    }
  }

  /** Copies `count + 1` offsets, moves them behind the bytes (or elements) that are there, and appends the bytes. */
  #appendOffsets(width: 4 | 8, buffers: BigUint64Array, count: number): void {
    if (count === 0) return;
    const start = this.#length;
    this.#values.reserve((start + count + 1) * width);
    const base = start === 0 ? 0 : this.#offset(start);
    copyMemory(at(this.#values, start * width), buffers[1] ?? 0n, (count + 1) * width);
    const added = this.#offset(start + count);
    if (base + added > COLUMN_BYTES_MAX) {
      throw new SkeinError('RESULT_TOO_LARGE', 'the values of one column are too long to be sent together');
    }
    if (base > 0) shiftOffsets(this.#values, width, start, count, base);
    if (this.#bytes !== undefined) {
      this.#bytes.reserve(base + added);
      copyMemory(at(this.#bytes, base), buffers[2] ?? 0n, added);
    }
  }

  #offset(index: number): number {
    return this.#wide() ? Number(this.#values.int64[index]) : (this.#values.int32[index] ?? 0);
  }

  #wide(): boolean {
    return (this.#layout.kind === 'bytes' || this.#layout.kind === 'list') && this.#layout.offsetBytes === 8;
  }

  #appendValidity(source: Address, nullCount: number, count: number): void {
    const hasNulls = source !== 0n && nullCount !== 0;
    if (!hasNulls && this.#validity === undefined) return;
    const bytes = bitBytes(this.#length + count) + 1;
    if (this.#validity === undefined) {
      this.#validity = new GrowBuffer(bytes);
      fillOnes(this.#validity.bytes, 0, this.#length);
    }
    this.#validity.reserve(bytes);
    if (!hasNulls) {
      fillOnes(this.#validity.bytes, this.#length, count);
      return;
    }
    appendBits(this.#validity, this.#length, source, count);
    // DuckDB may say -1, "not counted".
    this.#nullCount += nullCount > 0 ? nullCount : count - countOnes(this.#validity.bytes, this.#length, count);
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
    return this.#bytes === undefined || this.#length === 0 ? 0 : this.#offset(this.#length);
  }

  /** Adds this column's nodes and buffers, depth first. The buffers are views: they are valid until the next `append` or `clear`. */
  collect(parts: BatchParts): void {
    const { kind } = this.#layout;
    parts.nodes.push({ length: this.#length, nullCount: kind === 'null' ? this.#length : this.#nullCount });
    if (kind !== 'null' && kind !== 'union') {
      parts.buffers.push(
        this.#validity === undefined ? new Uint8Array() : this.#validity.bytes.subarray(0, bitBytes(this.#length)),
      );
    }
    if (kind !== 'null' && kind !== 'struct' && kind !== 'fixedList') {
      if (this.#length === 0) this.#values.bytes.fill(0, 0, 8);
      parts.buffers.push(this.#values.bytes.subarray(0, this.#valueBytes()));
    }
    if (kind === 'bytes') {
      parts.buffers.push(must(this.#bytes, 'a column of bytes has bytes').bytes.subarray(0, this.#dataBytes()));
    }
    for (const child of this.#children) child.collect(parts);
  }

  /** Empties the column; its memory is kept for the next batch. */
  clear(): void {
    this.#length = 0;
    this.#nullCount = 0;
    this.#validity = undefined;
    for (const child of this.#children) child.clear();
  }
}

const bitBytes = (bits: number): number => (bits + 7) >> 3;
const at = (buffer: GrowBuffer, byteOffset: number): Address => buffer.address + BigInt(byteOffset);

function pointers(list: Address | undefined, count: number): BigUint64Array {
  const words = new BigUint64Array(count);
  readWords(words, list ?? 0n, count);
  return words;
}

function shiftOffsets(values: GrowBuffer, width: 4 | 8, start: number, count: number, base: number): void {
  if (width === 4) {
    const offsets = values.int32;
    for (let i = start; i <= start + count; i++) offsets[i] = (offsets[i] ?? 0) + base;
    return;
  }
  const offsets = values.int64;
  const wideBase = BigInt(base);
  for (let i = start; i <= start + count; i++) offsets[i] = (offsets[i] ?? 0n) + wideBase;
}

/** Appends `count` bits behind `fill` bits; the target has a byte more than it needs. */
function appendBits(target: GrowBuffer, fill: number, source: Address, count: number): void {
  const bytes = bitBytes(count);
  const start = fill >> 3;
  const shift = fill & 7;
  if (shift === 0) {
    copyMemory(at(target, start), source, bytes);
    return;
  }
  const view = readBytes(source, bytes);
  const out = target.bytes;
  let carry = (out[start] ?? 0) & ((1 << shift) - 1);
  for (let i = 0; i < bytes; i++) {
    const byte = view[i] ?? 0;
    out[start + i] = carry | ((byte << shift) & 0xff);
    carry = byte >> (8 - shift);
  }
  out[start + bytes] = carry;
}

function fillOnes(bytes: Uint8Array, start: number, count: number): void {
  let i = start;
  const end = start + count;
  for (; i < end && (i & 7) !== 0; i++) bytes[i >> 3] = (bytes[i >> 3] ?? 0) | (1 << (i & 7));
  const whole = (end - i) >> 3;
  if (whole > 0) bytes.fill(0xff, i >> 3, (i >> 3) + whole);
  for (i += Math.max(whole, 0) * 8; i < end; i++) {
    const bit = 1 << (i & 7);
    bytes[i >> 3] = bit === 1 ? 1 : (bytes[i >> 3] ?? 0) | bit;
  }
}

function countOnes(bytes: Uint8Array, start: number, count: number): number {
  let ones = 0;
  for (let i = start; i < start + count; i++) ones += ((bytes[i >> 3] ?? 0) >> (i & 7)) & 1;
  return ones;
}
