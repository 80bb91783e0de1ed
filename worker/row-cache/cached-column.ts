import type { ColumnStats } from '#shared/iceberg/may-match.ts';
import { must } from '#shared/must.ts';
import { duckdb, word, type Address } from '../duckdb/library.ts';
import { hasNull, readWholeNumbers, type WholeNumbers } from '../duckdb/vector-memory.ts';

/** Memory of the JavaScript objects of a column. */
const OWN_BYTES = 1_024;

/** A part of a column: a flat vector that owns its values. All but the last of a row group have `VECTOR_ROWS` rows. */
export type ColumnSlice = { readonly vector: Address; readonly rows: number };

/**
 * The values of one column of one row group, decoded, as vectors to which the chunks of a statement refer. They belong to no instance of
 * DuckDB. The column's holders are counted: the vectors are freed when the last one, the cache or a task, has released it.
 */
export class CachedColumn {
  readonly slices: readonly ColumnSlice[];
  readonly bytes: number;
  readonly #stats: ColumnStats[] = [];
  #holders = 1;

  /** Takes over the vectors, which take this memory; the caller is the first holder. */
  constructor(slices: readonly ColumnSlice[], bytes: number) {
    this.slices = slices;
    this.bytes = bytes + OWN_BYTES;
  }

  retain(): void {
    this.#holders++;
  }

  release(): void {
    if (--this.#holders === 0) for (const { vector } of this.slices) duckdb.destroy_vector(word(vector));
  }

  /** The statistics of the rows of a slice, in the form of `mayMatch`; without bounds for a type that has none here. */
  stats(slice: number): ColumnStats {
    return (this.#stats[slice] ??= statsOf(must(this.slices[slice], 'a slice of the column')));
  }
}

/** Values below a NULL count as well, which makes bounds wider than they need to be, and never wrong. */
function statsOf({ vector, rows }: ColumnSlice): ColumnStats {
  const numbers = readWholeNumbers(vector, rows);
  if (numbers === undefined) return {};
  const { lower, upper } = extremes(numbers);
  const bounds = { lower: BigInt(lower), upper: BigInt(upper) };
  return hasNull(vector, rows) ? bounds : { ...bounds, nullCount: 0 };
}

function extremes(numbers: WholeNumbers): { lower: bigint | number; upper: bigint | number } {
  let lower = numbers[0] ?? 0;
  let upper = lower;
  for (let i = 1; i < numbers.length; i++) {
    const value = numbers[i] ?? 0;
    if (value < lower) lower = value;
    if (value > upper) upper = value;
  }
  return { lower, upper };
}
