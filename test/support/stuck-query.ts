/**
 * A query whose single step takes hours and ignores interrupts: nested lambdas over one row. No limit of a single function bounds it. With
 * a small `size` it has the same shape and ends at once.
 */
export const stuckQuery = (size = 100_000): string =>
  `SELECT list_sum(list_transform(range(${size} + i), lambda x: list_sum(list_transform(range(${size}), ` +
  `lambda y: list_sum(range(1000)))))) FROM range(1) t(i)`;
