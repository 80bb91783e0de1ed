import type { ColumnStats } from '#shared/iceberg/may-match.ts';
import { NO_BYTES, type ArrowBuffer } from '../duckdb/arrow-buffer.ts';
import { CHUNK_ROWS, type ArrowBatch } from '../duckdb/arrow-in.ts';
import { layoutOf, type ArrowField } from '../duckdb/arrow-schema.ts';
import type { BatchParts } from '../duckdb/column-builder.ts';
import type { Address } from '../duckdb/library.ts';
import { allocateBlock, copyMemory, freeBlock, readBytes } from '../duckdb/memory.ts';

/** Alignment of each buffer in the block of a column. */
const ALIGNMENT = 64;
/** Memory of the JavaScript objects of a column. */
const OWN_BYTES = 2_048;

/** The lowest and highest value of each slice of `CHUNK_ROWS` rows. */
type SliceBounds = { readonly lower: BigInt64Array; readonly upper: BigInt64Array };

/** Arrow formats whose values are those of a `Literal` of the table's type: whole numbers in the same unit. */
const WHOLE_NUMBERS = /^(?:[csil]|tdD|ts[un]:.*|d:\d+,\d+,(?:32|64))$/;

/**
 * The values of one column of one row group, decoded, in one block of native memory. Its holders are counted: the block is freed when the
 * last one, the cache or a task, has released it.
 */
export class CachedColumn {
  readonly field: ArrowField;
  readonly rows: number;
  readonly bytes: number;
  readonly nodes: ArrowBatch['nodes'];
  readonly buffers: readonly ArrowBuffer[];
  readonly #block: Address;
  #holders = 1;
  #bounds: SliceBounds | null | undefined;

  /** Copies the values; the caller is the first holder. @throws MEMORY_EXHAUSTED */
  constructor(field: ArrowField, rows: number, parts: BatchParts) {
    this.field = field;
    this.rows = rows;
    this.nodes = parts.nodes;
    const sizes = parts.buffers.map(({ bytes }) => (bytes + ALIGNMENT - 1) & -ALIGNMENT);
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    this.#block = allocateBlock(bytes);
    this.bytes = bytes + OWN_BYTES;
    let at = this.#block;
    this.buffers = parts.buffers.map((buffer, i) => {
      if (buffer.bytes === 0) return NO_BYTES;
      const copy = { address: at, bytes: buffer.bytes, owner: this };
      copyMemory(at, buffer.address, buffer.bytes);
      at += BigInt(sizes[i] ?? 0);
      return copy;
    });
  }

  retain(): void {
    this.#holders++;
  }

  release(): void {
    if (--this.#holders === 0) freeBlock(this.#block);
  }

  /** The statistics of the rows of a slice, in the form of `mayMatch`; undefined for a type without bounds here. */
  stats(slice: number): ColumnStats | undefined {
    this.#bounds ??= this.#findBounds();
    if (this.#bounds === null) return undefined;
    return {
      lower: this.#bounds.lower[slice],
      upper: this.#bounds.upper[slice],
      ...(this.nodes[0]?.nullCount === 0 ? { nullCount: 0 } : {}),
    };
  }

  /** Values below a NULL count as well, which makes bounds wider than they need to be, and never wrong. */
  #findBounds(): SliceBounds | null {
    const layout = layoutOf(this.field);
    const values = this.buffers[1];
    if (!WHOLE_NUMBERS.test(this.field.format) || layout.kind !== 'fixed' || values === undefined) return null;
    const numbers = wholeNumbers(readBytes(values.address, values.bytes), layout.bytes);
    if (numbers === undefined) return null;
    const slices = Math.ceil(this.rows / CHUNK_ROWS);
    const bounds = { lower: new BigInt64Array(slices), upper: new BigInt64Array(slices) };
    for (let slice = 0; slice < slices; slice++) {
      const start = slice * CHUNK_ROWS;
      const { lower, upper } = extremes(numbers, start, Math.min(start + CHUNK_ROWS, this.rows));
      bounds.lower[slice] = BigInt(lower);
      bounds.upper[slice] = BigInt(upper);
    }
    return bounds;
  }
}

function wholeNumbers({ buffer, byteOffset, byteLength }: Uint8Array, width: number): WholeNumbers | undefined {
  if (width === 1) return new Int8Array(buffer, byteOffset, byteLength);
  if (width === 2) return new Int16Array(buffer, byteOffset, byteLength / 2);
  if (width === 4) return new Int32Array(buffer, byteOffset, byteLength / 4);
  return width === 8 ? new BigInt64Array(buffer, byteOffset, byteLength / 8) : undefined;
}

type WholeNumbers = Int8Array | Int16Array | Int32Array | BigInt64Array;

function extremes(
  numbers: WholeNumbers,
  start: number,
  end: number,
): { lower: bigint | number; upper: bigint | number } {
  let lower = numbers[start] ?? 0;
  let upper = lower;
  for (let i = start + 1; i < end; i++) {
    const value = numbers[i] ?? 0;
    if (value < lower) lower = value;
    if (value > upper) upper = value;
  }
  return { lower, upper };
}
