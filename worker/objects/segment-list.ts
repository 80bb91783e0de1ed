import { crc32 } from 'node:zlib';
import type { ByteRange } from '#shared/iceberg/scan-file.ts';

/** Checksums of segments that a store keeps with a file: its room for what a writer tells has an end. */
const SUMS_MAX = 320;

/** The borders of the segments that have checksums: of a file with many, several neighbours have one, and the last one has its own. */
export function checkedBorders(borders: Float64Array): Float64Array {
  const step = Math.ceil((borders.length - 1) / SUMS_MAX);
  return borders.filter((_, i) => i % step === 0 || i >= borders.length - 2);
}

/** The segments between ascending borders, by their numbers, that have bytes of the ranges. */
export function segmentsWith(borders: Float64Array, ranges: readonly ByteRange[]): readonly number[] {
  const found = new Set<number>();
  for (const { start, end } of ranges) {
    for (let i = segmentAt(borders, start); i < borders.length - 1 && (borders[i] ?? 0) < end; i++) found.add(i);
  }
  return [...found].sort((a, b) => a - b);
}

/** The number of the segment that has a byte. */
function segmentAt(borders: Float64Array, at: number): number {
  let [low, high] = [0, Math.max(0, borders.length - 2)];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((borders[middle] ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Computes the checksums of segments from bytes that come in their order. */
export class SegmentSums {
  readonly #borders: Float64Array;
  readonly all: number[];
  #segment = 0;

  constructor(borders: Float64Array) {
    this.#borders = borders;
    this.all = Array.from({ length: Math.max(0, borders.length - 1) }, () => 0);
  }

  /** @param at where in the file the bytes begin */
  add(bytes: Uint8Array, at: number): void {
    for (let from = at; this.#segment < this.all.length && from < at + bytes.length;) {
      const to = Math.min(at + bytes.length, this.#borders[this.#segment + 1] ?? 0);
      this.all[this.#segment] = crc32(bytes.subarray(from - at, to - at), this.all[this.#segment]);
      from = to;
      if (to === this.#borders[this.#segment + 1]) this.#segment += 1;
    }
  }
}

/** Some bytes of a file: ranges that do not touch, ascending. */
export class RangeSet {
  #ranges: readonly ByteRange[] = [];

  get bytes(): number {
    return this.#ranges.reduce((sum, { start, end }) => sum + end - start, 0);
  }

  has({ start, end }: ByteRange): boolean {
    return start >= end || this.#ranges.some((one) => one.start <= start && end <= one.end);
  }

  /** Where the last of the ranges begins that ends at a byte; the byte itself when none does. */
  startOf(end: number): number {
    return this.#ranges.find((one) => one.end === end)?.start ?? end;
  }

  add(more: readonly ByteRange[]): void {
    const joined: { start: number; end: number }[] = [];
    for (const { start, end } of [...this.#ranges, ...more].sort((a, b) => a.start - b.start)) {
      const last = joined.at(-1);
      if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
      else joined.push({ start, end });
    }
    this.#ranges = joined;
  }
}
