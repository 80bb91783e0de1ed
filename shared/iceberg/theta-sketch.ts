/** The seed of the hash of every sketch whose metadata names none. */
export const DEFAULT_SEED = 9_001;
/** Hashes have 63 bits; a sketch of this theta has all of them. */
export const THETA_MAX = 2n ** 63n - 1n;
/** Nominal entries: the standard error of an estimate is 1 / sqrt of them. */
const ENTRIES = 4_096;
/** The first 16 bits of the hash of the seed. */
const SEED_HASH = 0x93cc;
const FAMILY_COMPACT = 3;
const SERIAL_VERSION = 3;
const FLAGS = { readOnly: 2, empty: 4, compact: 8, ordered: 16, single: 32 } as const;

/** Returns the theta below which some 4,096 hashes of this many distinct values lie; of few values all of them. */
export function thetaOf(distinct: number): bigint {
  // The number itself is an estimate.
  if (distinct <= ENTRIES * 0.8) return THETA_MAX;
  return BigInt(Math.floor((ENTRIES / distinct) * 2 ** 63)) || 1n;
}

/**
 * A theta sketch: the hashes of a set's values that are below theta, a sample from which the number of values is estimated
 * (datasketches.apache.org, Theta Sketch Framework). Entries beyond twice the nominal number make theta smaller.
 */
export class ThetaSketch {
  readonly #hashes = new Set<bigint>();
  #theta: bigint;

  /** @param theta above 0, at most `THETA_MAX`; who adds hashes may leave out those from it on */
  constructor(theta: bigint) {
    this.#theta = theta;
  }

  /** Adds a hash of 63 bits. */
  add(hash: bigint): void {
    if (hash <= 0n || hash >= this.#theta) return;
    this.#hashes.add(hash);
    if (this.#hashes.size > 2 * ENTRIES) this.#trim();
  }

  #trim(): void {
    const sorted = this.#sorted();
    this.#theta = sorted[ENTRIES] ?? this.#theta;
    for (const hash of sorted.slice(ENTRIES)) this.#hashes.delete(hash);
  }

  /** The estimated number of distinct values. */
  get distinct(): number {
    return Math.round(this.#hashes.size / (Number(this.#theta) / Number(THETA_MAX)));
  }

  /** The compact, ordered form (serial version 3). Little-endian: preamble, theta where it is below 1, hashes. */
  encode(): Buffer {
    const hashes = this.#sorted();
    const isExact = this.#theta === THETA_MAX;
    const isEmpty = isExact && hashes.length === 0;
    const isSingle = isExact && hashes.length === 1;
    const preambleWords = isEmpty || isSingle ? 1 : isExact ? 2 : 3;
    const bytes = Buffer.alloc(8 * (preambleWords + hashes.length));
    bytes[0] = preambleWords;
    bytes[1] = SERIAL_VERSION;
    bytes[2] = FAMILY_COMPACT;
    bytes[5] =
      FLAGS.readOnly | FLAGS.compact | FLAGS.ordered | (isEmpty ? FLAGS.empty : 0) | (isSingle ? FLAGS.single : 0);
    bytes.writeUInt16LE(SEED_HASH, 6);
    if (preambleWords > 1) {
      bytes.writeUInt32LE(hashes.length, 8);
      // The sampling probability.
      bytes.writeFloatLE(1, 12);
    }
    if (preambleWords > 2) bytes.writeBigUInt64LE(this.#theta, 16);
    for (const [i, hash] of hashes.entries()) bytes.writeBigUInt64LE(hash, 8 * (preambleWords + i));
    return bytes;
  }

  #sorted(): bigint[] {
    return [...this.#hashes].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  }
}
