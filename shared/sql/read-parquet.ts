import { quoteLiteral } from './quote.ts';

/** The path of one file for a function of DuckDB that takes patterns: `*`, `?` and `[` stand for themselves. */
export const quotePath = (path: string): string => quoteLiteral(path.replaceAll(/[*?[]/g, '[$&]'));

/** Prints `read_parquet` of exactly these files, such that names of partition folders do not become columns. @param no the SQL of false */
export const readParquet = (paths: readonly string[], options = '', no = 'false'): string =>
  `read_parquet([${paths.map(quotePath).join(', ')}], hive_partitioning = ${no}${options})`;
