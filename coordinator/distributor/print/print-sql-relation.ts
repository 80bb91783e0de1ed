import type { SqlText } from '#shared/task/sql-text.ts';
import { must } from '#shared/must.ts';
import { joinSql, sql } from './print-sql-parts.ts';

/**
 * The content of a FROM clause, with the rows it keeps and how it names its columns: the unit that a node's SQL is built of. Nodes that
 * only choose rows or columns change it; others close it into a subquery.
 */
export type SqlRelation = {
  /** A table, a join of some, or nothing: one row. */
  readonly from: SqlText;
  readonly isJoin: boolean;
  readonly where: readonly string[];
  /** ORDER BY and LIMIT, over the same names. */
  readonly tail: string;
  /** References to its columns; each may be written more than once. */
  readonly columns: readonly string[];
};

/** Names that are free in the whole text. */
export type Names = { next(prefix: string): string };

export function names(): Names {
  let last = 0;
  return {
    next: (prefix) => {
      last += 1;
      return `${prefix}${last}`;
    },
  };
}

/** `SELECT <expressions> AS c0, c1, ...` over a relation. */
export function selectFrom(
  relation: SqlRelation,
  expressions: readonly string[],
  options: { readonly modifier?: string; readonly clauses?: string } = {},
): SqlText {
  const list = expressions.map((text, i) => `${text} AS c${i}`).join(', ');
  const from = relation.from.length === 0 ? [] : sql` FROM ${relation.from}`;
  const where = relation.where.length === 0 ? '' : ` WHERE ${relation.where.join(' AND ')}`;
  // A relation without columns still has its rows.
  const columns = list === '' ? '1 AS c0' : list;
  return sql`SELECT ${options.modifier ?? ''}${columns}${from}${where}${options.clauses ?? ''}${relation.tail}`;
}

/** All columns of a relation as a query. */
export const closeRelation = (relation: SqlRelation): SqlText => selectFrom(relation, relation.columns);

/** A query of `width` columns `c0`, `c1`, ... as a relation. */
export function wrapQuery(query: SqlText, width: number, free: Names): SqlRelation {
  const name = free.next('t');
  return tableRelation(sql`(${query}) AS ${name}`, name, width);
}

/** A table, or a table function, without its columns. */
export const bareTable = (from: SqlText): Omit<SqlRelation, 'columns'> => ({
  from,
  isJoin: false,
  where: [],
  tail: '',
});

export const joinOf = (from: SqlText): Omit<SqlRelation, 'columns'> => ({ from, isJoin: true, where: [], tail: '' });

/** The second operand of a join; the parser takes parentheses only around joins. */
export const rightOf = (relation: SqlRelation): SqlText => (relation.isJoin ? sql`(${relation.from})` : relation.from);

export function tableRelation(from: SqlText, name: string, width: number): SqlRelation {
  return { ...bareTable(from), columns: Array.from({ length: width }, (_, i) => `${name}.c${i}`) };
}

/** Wraps a relation that has an ORDER BY or LIMIT into a subquery, so that conditions or groups may follow. */
export const untailed = (relation: SqlRelation, free: Names): SqlRelation =>
  relation.tail === '' ? relation : wrap(relation, free);

/** The relation as an operand of a join. */
export const operand = (relation: SqlRelation, free: Names): SqlRelation =>
  relation.tail === '' && relation.where.length === 0 && relation.from.length > 0 ? relation : wrap(relation, free);

const wrap = (relation: SqlRelation, free: Names): SqlRelation =>
  wrapQuery(closeRelation(relation), relation.columns.length, free);

export const pickColumns = (columns: readonly string[], positions: readonly number[] | null): readonly string[] =>
  positions === null ? columns : positions.map((at) => must(columns[at], 'a projected column'));

/** Definitions before a query. */
export function withDefinitions(definitions: readonly SqlText[], isRecursive: boolean, query: SqlText): SqlText {
  if (definitions.length === 0) return query;
  return sql`WITH ${isRecursive ? 'RECURSIVE ' : ''}${joinSql(definitions, ', ')} ${query}`;
}
