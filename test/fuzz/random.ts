/** A generator of random numbers from a seed (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** From 0 to below 1. */
  fraction(): number {
    this.#state = (this.#state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** From 0 to below `end`. */
  below(end: number): number {
    return Math.floor(this.fraction() * end);
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(values: readonly T[]): T {
    const value = values[this.below(values.length)];
    if (value === undefined) throw new Error('nothing to pick from');
    return value;
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }

  /** Mostly a small number, sometimes one at the limit of some width. */
  number(): number {
    return this.chance(0.7) ? this.below(20) : this.pick(EDGES) + this.below(3) - 1;
  }
}

const EDGES = [
  0,
  0x7f,
  0x80,
  0xff,
  0x1_00,
  0x3f_ff,
  0x7f_ff,
  0xff_ff,
  0x1_00_00,
  2 ** 24,
  2 ** 31,
  2 ** 32,
  2 ** 48,
  2 ** 53 - 2,
];
