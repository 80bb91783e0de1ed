import type { Literal } from '../predicate.ts';

/** A data file that a writer made, with its statistics; maps are by field id. */
export type NewDataFile = {
  readonly path: string;
  readonly recordCount: number;
  readonly sizeBytes: number;
  /** One per field of the spec. */
  readonly partition: readonly (Literal | null)[];
  readonly columnSizes: ReadonlyMap<number, number>;
  readonly valueCounts: ReadonlyMap<number, number>;
  readonly nullCounts: ReadonlyMap<number, number>;
  readonly nanCounts: ReadonlyMap<number, number>;
  readonly lower: ReadonlyMap<number, Uint8Array>;
  readonly upper: ReadonlyMap<number, Uint8Array>;
  /** Offsets of the row groups, ascending. */
  readonly splitOffsets: readonly number[];
};
