import { isNumber } from './chart-choice.ts';
import type { ResultSet } from './result-set.ts';

/** The order of the rows of a whole result by a column. NULLs come last, as DuckDB has them; equal rows stay in their order. */
export function sortRows(result: ResultSet, column: number, descending: boolean): Uint32Array {
  const type = result.columns[column]?.type ?? '';
  const isText = !isNumber(type) && !/^(?:DATE|TIME|BOOLEAN)/.test(type);
  const values = Array.from({ length: result.rowCount }, (_, row) =>
    isText ? result.text(row, column) : result.value(row, column),
  ) as (number | bigint | string | null)[];
  const sign = descending ? -1 : 1;
  return Uint32Array.from(values.keys()).sort((a, b) => {
    const [x, y] = [values[a] ?? null, values[b] ?? null];
    if (x === null || y === null) return x === y ? a - b : x === null ? 1 : -1;
    if (x < y) return -sign;
    return x > y ? sign : a - b;
  });
}
