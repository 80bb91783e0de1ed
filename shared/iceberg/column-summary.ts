import type { Steps } from './decode-limits.ts';
import { columnStats, statsSteps, type DataFile } from './manifest.ts';
import type { Literal } from './predicate.ts';
import type { IcebergType } from './type.ts';

/** Statistics of one column over all files of a scan, from the manifests. */
export type ColumnSummary = {
  /** Upper bound of the number of distinct values, from an integer or date column's bounds; null when unknown. */
  readonly distinctMax: number | null;
  /** Rows that are NULL; null when unknown. */
  readonly nulls: number | null;
  /** Approximate bounds: numbers by their value, dates and timestamps in days since 1970; absent or null when unknown. */
  readonly lower?: number | null;
  readonly upper?: number | null;
};

/** A column whose summary is wanted; null for a column that is not read, whose summary is unknown. */
export type SummarizedColumn = { readonly fieldId: number; readonly type: IcebergType } | null;

const MICROS_PER_DAY = 86_400_000_000;
const UNKNOWN: ColumnSummary = { distinctMax: null, nulls: null };

/** Adds up the statistics of a scan's files, column by column. */
export class ColumnSummaries {
  readonly #columns: readonly SummarizedColumn[];
  readonly #sums: readonly Sum[];
  readonly #steps: Steps;

  constructor(columns: readonly SummarizedColumn[], steps: Steps) {
    this.#columns = columns;
    this.#sums = columns.map(() => ({ lower: Infinity, upper: -Infinity, nulls: 0 }));
    this.#steps = steps;
  }

  add(file: DataFile): void {
    this.#steps.spend(this.#columns.length * (1 + statsSteps(file.stats)));
    for (const [i, column] of this.#columns.entries()) {
      const sum = this.#sums[i];
      if (column !== null && sum !== undefined) addFile(sum, file, column.fieldId, column.type);
    }
  }

  /** @param rows number of rows of all files */
  finish(rows: number): readonly ColumnSummary[] {
    return this.#columns.map((column, i) => {
      const sum = this.#sums[i];
      return column === null || sum === undefined ? UNKNOWN : summaryOf(sum, column.type, rows);
    });
  }
}

/** Each part becomes null when a file does not have it. */
type Sum = { lower: number | null; upper: number | null; nulls: number | null };

function addFile(sum: Sum, file: DataFile, fieldId: number, type: IcebergType): void {
  if (sum.lower === null && sum.upper === null && sum.nulls === null) return;
  const stats = columnStats(file.stats, fieldId, type);
  const [low, high] = [numberOf(stats.lower, type), numberOf(stats.upper, type)];
  // A file that contains only NULLs has no bounds.
  const isBare = stats.nullCount !== undefined && stats.nullCount === file.recordCount;
  sum.lower = sum.lower === null || (low === null && !isBare) ? null : Math.min(sum.lower, low ?? sum.lower);
  sum.upper = sum.upper === null || (high === null && !isBare) ? null : Math.max(sum.upper, high ?? sum.upper);
  sum.nulls = sum.nulls === null || stats.nullCount === undefined ? null : sum.nulls + stats.nullCount;
}

function summaryOf({ lower, upper, nulls }: Sum, { kind }: IcebergType, rows: number): ColumnSummary {
  if (lower === null || upper === null || lower > upper) return { distinctMax: null, nulls, lower: null, upper: null };
  const isDiscrete = kind === 'int' || kind === 'long' || kind === 'date';
  return { distinctMax: isDiscrete ? Math.min(rows, upper - lower + 1) : null, nulls, lower, upper };
}

/** Number of stored units per unit of the estimate. */
const UNITS: Readonly<Partial<Record<IcebergType['kind'], number>>> = {
  int: 1,
  long: 1,
  date: 1,
  timestamp: MICROS_PER_DAY,
  timestamptz: MICROS_PER_DAY,
};

/** Returns a bound as a number that estimates can use; null for types without one. */
function numberOf(value: Literal | undefined, type: IcebergType): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  const unit = type.kind === 'decimal' ? 10 ** type.scale : UNITS[type.kind];
  return typeof value === 'bigint' && unit !== undefined ? Number(value) / unit : null;
}
