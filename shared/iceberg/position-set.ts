/** Positions of a bucket; a bucket that has one takes a bit for each. */
export const BUCKET_POSITIONS = 1_024;
const BUCKET_BYTES = BUCKET_POSITIONS / 8;

/**
 * Positions of rows in one file, as bits in buckets:
 * ```
 * position 2,050 ─▶ bucket 2 (2,048 to 3,071), bit 2: byte 0, value 4
 * ```
 * They take at most 128 bytes and an entry of a map for each position, and much less where positions are close to each other.
 */
export class PositionSet {
  readonly #buckets = new Map<number, Uint8Array>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(position: number): void {
    const bits = this.#bitsOf(Math.floor(position / BUCKET_POSITIONS));
    const [at, bit] = [(position % BUCKET_POSITIONS) >> 3, 1 << (position & 7)];
    const before = bits[at] ?? 0;
    if ((before & bit) !== 0) return;
    bits[at] = before | bit;
    this.#size += 1;
  }

  /** Adds the positions of a bucket as DuckDB prints them: the first one is the highest bit of the first byte. @throws RangeError for another length */
  addBits(bucket: number, highestFirst: Uint8Array): void {
    if (highestFirst.length !== BUCKET_BYTES) throw new RangeError(`${highestFirst.length} bytes in a bucket`);
    const bits = this.#bitsOf(bucket);
    for (const [i, byte] of highestFirst.entries()) {
      const added = reversed(byte) & ~(bits[i] ?? 0);
      bits[i] = (bits[i] ?? 0) | added;
      this.#size += ones(added);
    }
  }

  /** The positions below `count` that are not among these. */
  others(count: number): PositionSet {
    const result = new PositionSet();
    for (let bucket = 0; bucket * BUCKET_POSITIONS < count; bucket += 1) {
      const own = this.#buckets.get(bucket);
      const bits = result.#bitsOf(bucket);
      const bytes = Math.min(BUCKET_BYTES, Math.ceil((count - bucket * BUCKET_POSITIONS) / 8));
      for (let at = 0; at < bytes; at += 1) {
        const left = count - bucket * BUCKET_POSITIONS - at * 8;
        const byte = ~(own?.[at] ?? 0) & (left >= 8 ? 0xff : (1 << left) - 1);
        bits[at] = byte;
        result.#size += ones(byte);
      }
      if (bits.every((byte) => byte === 0)) result.#buckets.delete(bucket);
    }
    return result;
  }

  /** The buckets in order; each has a position. */
  buckets(): readonly (readonly [bucket: number, bits: Uint8Array])[] {
    return [...this.#buckets].toSorted(([a], [b]) => a - b);
  }

  /** The positions in order. */
  *[Symbol.iterator](): Generator<number, void> {
    for (const [bucket, bits] of this.buckets()) {
      const start = bucket * BUCKET_POSITIONS;
      for (const [at, byte] of bits.entries()) {
        for (let rest = byte; rest !== 0; rest &= rest - 1) yield start + at * 8 + lowestOf(rest);
      }
    }
  }

  #bitsOf(bucket: number): Uint8Array {
    const known = this.#buckets.get(bucket);
    if (known !== undefined) return known;
    const bits = new Uint8Array(BUCKET_BYTES);
    this.#buckets.set(bucket, bits);
    return bits;
  }
}

const lowestOf = (bits: number): number => 31 - Math.clz32(bits & -bits);

/** The number of bits that are set in a byte. */
export function ones(byte: number): number {
  let count = 0;
  for (let rest = byte; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

function reversed(byte: number): number {
  let result = 0;
  for (let i = 0; i < 8; i += 1) if ((byte & (1 << i)) !== 0) result |= 0x80 >> i;
  return result;
}
