import { SkeinError } from '#shared/error.ts';

/**
 * Limits of decoding one file of a table. Clients write arbitrary bytes into the files of their tables, and a few bytes can demand any
 * amount of time and memory, so every reader counts its work and stops at a limit.
 */
export type DecodeLimits = {
  /** Maximum bytes of the file, and of each of its blocks after decompression. */
  readonly blockBytesMax: number;
  /** Maximum bytes of all blocks of a file after decompression. */
  readonly decodedBytesMax: number;
  readonly rowsMax: number;
  /** Budget for reading the file and then planning with it; see `Steps`. */
  readonly steps: Steps;
};

/**
 * Counts the steps of a piece of work, and stops it when there are too many. A step takes about as long as reading one value: 5 to 20 ns.
 * Work is counted before it is done.
 */
export class Steps {
  readonly #max: number;
  #left: number;

  constructor(max: number) {
    this.#max = max;
    this.#left = max;
  }

  /** @throws TABLE_DATA_TOO_COMPLEX when fewer steps are left */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw tooComplex(`it takes more than ${this.#max} steps`);
  }

  /** Stops all work that still spends from this budget. */
  exhaust(): void {
    this.#left = -1;
  }
}

export const tooComplex = (why: string): SkeinError => new SkeinError('TABLE_DATA_TOO_COMPLEX', why);

const MIB = 2 ** 20;

/**
 * Limits of work on the thread that serves all requests: they allow for a plan of a thousand files, in 10 to 20 ms at most. Larger work is
 * done by a thread of its own.
 */
export const limitsHere = (): DecodeLimits => ({
  blockBytesMax: MIB,
  decodedBytesMax: 4 * MIB,
  rowsMax: 4_000,
  steps: new Steps(2_000_000),
});

/**
 * Limits of work in a thread or process of its own, which may die. Time and heap are limited from outside.
 * @param fileBytes memory for the bytes of one file, compressed and decompressed
 */
export const limitsApart = (fileBytes: number): DecodeLimits => ({
  blockBytesMax: Math.floor(fileBytes / 2),
  decodedBytesMax: 1024 * MIB,
  rowsMax: 5_000_000,
  steps: new Steps(10_000_000_000),
});

/** A manifest with more bytes (compressed or not) or more rows is not held whole. */
const WHOLE_BYTES_MAX = 8 * 2 ** 20;
const WHOLE_ROWS_MAX = 10_000;

/** The limits of a manifest that is held whole. */
export const withinWhole = (limits: DecodeLimits): DecodeLimits => ({
  ...limits,
  blockBytesMax: Math.min(limits.blockBytesMax, WHOLE_BYTES_MAX),
  decodedBytesMax: Math.min(limits.decodedBytesMax, WHOLE_BYTES_MAX),
  rowsMax: Math.min(limits.rowsMax, WHOLE_ROWS_MAX),
});
