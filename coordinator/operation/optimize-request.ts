import type { TableName } from '../binding/table-source.ts';
import type { Proven } from '../statement/proven.ts';

export type Optimize = {
  readonly table: TableName;
  /** Only files that may hold a row for which this holds; null = all. */
  readonly where: Proven<'expression'> | null;
  /** Files below this size are written anew. */
  readonly thresholdBytes: number;
  /** Nothing is written. */
  readonly dryRun: boolean;
};

/** The numbers are null for whom policies apply to the table. */
export type Optimized = {
  readonly rewrittenFiles: number | null;
  readonly removedDeleteFiles: number | null;
  /** With `dryRun` the least number. */
  readonly addedFiles: number | null;
  readonly cost: { readonly bytesScanned: number; readonly fragments: number };
};
