/** A materialized view whose refresh merges groups, and the rows that it has; for suites that kill what refreshes it. */

/** A group for each rest of a division by ten. @param table has the column `i` */
export const groupQuery = (table: string): string =>
  `SELECT i % 10 AS k, count(*) AS n, sum(i)::BIGINT AS total FROM ${table} GROUP BY k`;

/** The rows `k, n, total` of the view, as INT and by `k`, over the numbers below `rows`. */
export const groupsOf = (rows: number): readonly (readonly number[])[] =>
  Array.from({ length: 10 }, (_, k) => {
    const values = Array.from({ length: rows }, (_value, i) => i).filter((i) => i % 10 === k);
    return [k, values.length, values.reduce((sum, i) => sum + i, 0)];
  });
