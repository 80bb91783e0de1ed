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

/** A delete file that a writer made for one data file: a file of positions, or a vector within a Puffin file. */
export type NewDeleteFile = {
  readonly path: string;
  readonly format: 'parquet' | 'puffin';
  /** Rows that it deletes. */
  readonly recordCount: number;
  /** Size of the whole file. */
  readonly sizeBytes: number;
  readonly dataFile: string;
  /** Spec and partition of the data file. */
  readonly specId: number;
  readonly partition: readonly (Literal | null)[];
  /** Place of a vector. */
  readonly content?: { readonly offset: number; readonly lengthBytes: number };
};
