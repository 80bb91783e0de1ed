/** The estimated output of a plan node. */
export type Estimate = { readonly rows: number; readonly columns: readonly ColumnEstimate[] };

export type ColumnEstimate = {
  /** Distinct values; null = unknown. */
  readonly distinct: number | null;
  /** Share of rows that are NULL; null = unknown. */
  readonly nullShare: number | null;
  /** Bounds in the units of `ColumnFacts`; null = unknown. */
  readonly lower: number | null;
  readonly upper: number | null;
  readonly widthBytes: number;
};

/** Bytes of a row beside its columns' values. */
const ROW_BYTES = 1;

export const bytesOf = ({ rows, columns }: Estimate): number =>
  rows * columns.reduce((sum, { widthBytes }) => sum + widthBytes, ROW_BYTES);
