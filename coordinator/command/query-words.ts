import type { StatementReader } from '../statement/statement-reader.ts';

/** How a query may begin. DuckDB's parser, which accepts SELECT alone, decides whether it is one. */
export const QUERY_WORDS = ['SELECT', 'WITH', 'FROM', 'VALUES', 'TABLE', 'PIVOT', 'UNPIVOT', '('] as const;

/** `TABLE t` reads as a query after EXPLAIN and as the table's name after DESCRIBE. */
export const startsQuery = (reader: StatementReader): boolean =>
  QUERY_WORDS.some((word) => word !== 'TABLE' && reader.peekPhrase(word));
