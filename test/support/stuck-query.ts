/**
 * A query whose one step would take hours and sees no interrupt: lambdas in lambdas, over one row. No limit of a single function bounds it.
 * `column` makes a text of its own.
 */
export const stuckQuery = (column = 'x'): string =>
  `SELECT list_sum(list_transform(range(100000 + i), lambda x: list_sum(list_transform(range(1000), ` +
  `lambda y: list_sum(range(1000)))))) AS ${column} FROM range(1) t(i)`;
