import { compare, type ReadOrdered } from './order-values.ts';
import type { ResultSet } from './result-set.ts';

type Sorting = { readonly column: number; readonly descending: boolean; readonly read: ReadOrdered };

/** The order of the rows of a whole result by a column. NULLs come last, as DuckDB has them; equal rows stay in their order. */
export function sortRows(result: ResultSet, { column, descending, read }: Sorting): Uint32Array {
  const values = Array.from({ length: result.rowCount }, (_, row) => read(result, row, column));
  const sign = descending ? -1 : 1;
  return Uint32Array.from(values.keys()).sort((a, b) => {
    const [x, y] = [values[a] ?? null, values[b] ?? null];
    if (x === null || y === null) return x === y ? a - b : x === null ? 1 : -1;
    return sign * compare(x, y) || a - b;
  });
}
