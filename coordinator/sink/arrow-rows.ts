import type { SqlText } from '#proto/task.ts';
import { printSqlType, type SqlType } from '../planner/sql-type.ts';
import { plainType } from './plain-type.ts';

/**
 * Wraps a query so that its columns have the types of `plainType`; a query that has them already stays as it is. Order is kept; names may
 * repeat.
 * ```
 * SELECT a, h FROM t  ->  SELECT c0, CAST(c1 AS VARCHAR) AS c1 FROM (SELECT a, h FROM t) AS t(c0, c1)
 * ```
 */
export function arrowRows(sql: SqlText, types: readonly SqlType[]): SqlText {
  const columns = types.map((type, i) => {
    const [is, wanted] = [printSqlType(type), printSqlType(plainType(type))];
    return is === wanted ? `c${i}` : `CAST(c${i} AS ${wanted}) AS c${i}`;
  });
  const names = types.map((_, i) => `c${i}`);
  if (columns.every((column, i) => column === names[i])) return sql;
  return [`SELECT ${columns.join(', ')} FROM (`, ...sql, `\n) AS t(${names.join(', ')})`];
}
