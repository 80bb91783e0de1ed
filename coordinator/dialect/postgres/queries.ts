import { quoteIdentifier } from '#shared/sql/quote.ts';
import type { JsonObject } from '#shared/json.ts';
import { sortBy } from './calls.ts';
import { isVector, vectorText } from './casts.ts';
import { nameOf } from './object-names.ts';
import { SYSTEM, writeExpression } from './expressions.ts';
import { figureName } from './figure-name.ts';
import { writeSource } from './sources.ts';
import { join, form, words, type Sql } from './parts.ts';
import {
  isNamedBy,
  openScope,
  type Column,
  type FromItem,
  type WritePlace,
  type WriterScope,
  type Typed,
  type Written,
} from './scope.ts';
import { isObject, namesIn, nodeOf, nodesOf, NotRead, objectIn, textIn, type Node } from './tree.ts';
import { isNumbered } from '../../binding/pg-types.ts';

export type QueryPlace = Omit<WritePlace, 'scope' | 'query'>;

/** Whose columns a query has: the result's, or those of a query within it; or those of a part of a set operation that is one of these. */
type Whose = 'result' | 'part of result' | 'inner' | 'part of inner';

const IN_PARTS: Readonly<Record<Whose, Whose>> = {
  result: 'part of result',
  'part of result': 'part of result',
  inner: 'part of inner',
  'part of inner': 'part of inner',
};

/** Writes a SELECT, and the queries within it. */
export function writeQuery(
  of: JsonObject,
  parent: WriterScope | null,
  place: QueryPlace,
  whose: Whose = 'inner',
): Written {
  const scope = openScope(parent);
  const withs = withClause(of, scope, place);
  const body =
    textIn(of, 'op') === 'SETOP_NONE' || textIn(of, 'op') === ''
      ? selectOf(of, scope, place, whose)
      : setOf(of, scope, place, IN_PARTS[whose]);
  const inside = placeWithin(scope, place);
  const order = nodesOf(of['sortClause']).map((one) =>
    sortBy(one.of, inside, (node, where) => namedResult(node, body.columns) ?? writeExpression(node, where)),
  );
  const ordered = order.length === 0 ? [] : form` ORDER BY ${join(order, ', ')}`;
  const count = of['limitCount'] === undefined ? [] : limitOf('LIMIT', of['limitCount'] as JsonObject, inside);
  const offset = of['limitOffset'] === undefined ? [] : limitOf('OFFSET', of['limitOffset'] as JsonObject, inside);
  if (of['lockingClause'] !== undefined || textIn(of, 'limitOption') === 'LIMIT_OPTION_WITH_TIES') {
    throw new NotRead('FOR UPDATE');
  }
  return { sql: form`${withs}${body.sql}${ordered}${count}${offset}`, columns: body.columns };
}

/** A name of the result comes before one of FROM. */
function namedResult(node: Node, columns: readonly Column[] | null): Typed | undefined {
  const parts = node.kind === 'ColumnRef' ? namesIn(node.of['fields']) : [];
  const [name = ''] = parts;
  const found = parts.length === 1 ? columns?.find((column) => column.name === name) : undefined;
  return found === undefined ? undefined : { sql: words(quoteIdentifier(name)), type: found.type };
}

function limitOf(word: string, value: JsonObject, place: WritePlace): Sql {
  return form` ${word} ${writeExpression(nodeOf(value), place).sql}`;
}

const placeWithin = (scope: WriterScope, place: QueryPlace): WritePlace => ({
  ...place,
  scope,
  query: (node, inner) => writeQuery(selectIn(node), inner, place),
});

function selectIn(node: unknown): JsonObject {
  const { kind, of } = nodeOf(node as JsonObject);
  if (kind !== 'SelectStmt') throw new NotRead(kind);
  return of;
}

function withClause(of: JsonObject, scope: WriterScope, place: QueryPlace): Sql {
  const clause = objectIn(of, 'withClause');
  if (clause === undefined) return [];
  const isRecursive = clause['recursive'] === true;
  const written = nodesOf(clause['ctes']).map(({ of: cte }) => {
    const name = textIn(cte, 'ctename');
    const aliases = namesIn(cte['aliascolnames']);
    const query = selectIn(cte['ctequery']);
    if (isRecursive) scope.common.set(name, recursiveColumns(query, scope, place, aliases));
    const inner = writeQuery(query, scope, place);
    scope.common.set(name, renamed(inner.columns, aliases));
    const names = aliases.length === 0 ? '' : `(${aliases.map(quoteIdentifier).join(', ')})`;
    return form`${quoteIdentifier(name)}${names} AS (${inner.sql})`;
  });
  return form`WITH ${isRecursive ? 'RECURSIVE ' : ''}${join(written, ', ')} `;
}

/** The columns of a query that reads itself are those of its first part. */
function recursiveColumns(
  of: JsonObject,
  scope: WriterScope,
  place: QueryPlace,
  aliases: readonly string[],
): readonly Column[] | null {
  const first = objectIn(of, 'larg');
  return first === undefined ? null : renamed(writeQuery(first, scope, place).columns, aliases);
}

const renamed = (columns: readonly Column[] | null, aliases: readonly string[]): readonly Column[] | null =>
  columns === null ? null : columns.map((column, i) => ({ ...column, name: aliases[i] ?? column.name }));

function setOf(of: JsonObject, scope: WriterScope, place: QueryPlace, whose: Whose): Written {
  const word = { SETOP_UNION: 'UNION', SETOP_INTERSECT: 'INTERSECT', SETOP_EXCEPT: 'EXCEPT' }[textIn(of, 'op')];
  const [left, right] = [objectIn(of, 'larg'), objectIn(of, 'rarg')];
  if (word === undefined || left === undefined || right === undefined) throw new NotRead('a set operation');
  const a = writeQuery(left, scope, place, whose);
  const b = writeQuery(right, scope, place, whose);
  const all = of['all'] === true ? ' ALL' : '';
  const columns = a.columns?.map((column, i) => {
    const other = b.columns?.[i]?.type ?? null;
    return column.type === 'unknown' ? { ...column, type: other } : column;
  });
  return { sql: form`(${a.sql}) ${word}${all} (${b.sql})`, columns: columns ?? null };
}

function selectOf(of: JsonObject, scope: WriterScope, place: QueryPlace, whose: Whose): Written {
  const inside = placeWithin(scope, place);
  if (of['valuesLists'] !== undefined) return valuesOf(of, inside);
  const from = nodesOf(of['fromClause']).map((one) => writeSource(one, inside));
  const distinct = distinctOf(of, inside);
  const targets = nodesOf(of['targetList']).flatMap((target) => targetOf(target.of, inside, whose));
  const where =
    of['whereClause'] === undefined ? [] : form` WHERE ${conditionOf(of['whereClause'] as JsonObject, inside)}`;
  const groups = nodesOf(of['groupClause']).map((one) => writeExpression(one, inside).sql);
  const group = groups.length === 0 ? [] : form` GROUP BY ${join(groups, ', ')}`;
  const having =
    of['havingClause'] === undefined ? [] : form` HAVING ${conditionOf(of['havingClause'] as JsonObject, inside)}`;
  if (of['windowClause'] !== undefined || of['intoClause'] !== undefined || of['groupDistinct'] === true) {
    throw new NotRead('a clause');
  }
  const tables = from.length === 0 ? [] : form` FROM ${join(from, ', ')}`;
  const list = join(
    targets.map((one) => one.sql),
    ', ',
  );
  const columns = targets.every(({ columns: known }) => known !== null)
    ? targets.flatMap(({ columns: known }) => known ?? [])
    : null;
  return { sql: form`SELECT ${distinct}${list}${tables}${where}${group}${having}`, columns };
}

const conditionOf = (node: JsonObject, place: WritePlace): Sql => writeExpression(nodeOf(node), place).sql;

function distinctOf(of: JsonObject, place: WritePlace): Sql {
  const list = of['distinctClause'];
  if (!Array.isArray(list)) return [];
  const keys = (list as readonly JsonObject[]).filter((one) => isObject(one) && Object.keys(one).length > 0);
  if (keys.length === 0) return words('DISTINCT ');
  return form`DISTINCT ON (${join(
    keys.map((one) => conditionOf(one, place)),
    ', ',
  )}) `;
}

function valuesOf(of: JsonObject, place: WritePlace): Written {
  const rows = nodesOf(of['valuesLists']).map((row) =>
    nodesOf(row.of['items']).map((one) => writeExpression(one, place)),
  );
  const written = rows.map(
    (row) =>
      form`(${join(
        row.map((one) => one.sql),
        ', ',
      )})`,
  );
  const columns = (rows[0] ?? []).map(({ type }, i) => ({ name: `column${i + 1}`, type }));
  const names = columns.map(({ name }) => name).join(', ');
  return { sql: form`SELECT * FROM (VALUES ${join(written, ', ')}) AS ${place.fresh()}(${names})`, columns };
}

type Target = { readonly sql: Sql; readonly columns: readonly Column[] | null };

function targetOf(of: JsonObject, place: WritePlace, whose: Whose): Target | Target[] {
  const node = nodeOf(of['val']);
  const parts = node.kind === 'ColumnRef' ? namesIn(node.of['fields']) : [];
  if (parts.at(-1) === '*') return starOf(parts, place, whose);
  const written = writeExpression(node, place);
  const name = textIn(of, 'name') || figureName(node);
  const shown = shownValue(written, place, whose);
  const isNamed = node.kind === 'ColumnRef' && name === parts.at(-1) && shown === written && !SYSTEM.has(name);
  const alias = isNamed ? [] : form` AS ${quoteIdentifier(name)}`;
  return { sql: form`${shown.sql}${alias}`, columns: [{ name, type: shown.type === 'unknown' ? 'text' : shown.type }] };
}

/**
 * Columns of a star, one by one where they are known: those of the result must perhaps be shown otherwise, and a star anywhere has all columns of
 * all relations made.
 */
function starOf(parts: readonly string[], place: WritePlace, whose: Whose): Target | Target[] {
  const qualifier = parts.slice(0, -1);
  const sources = place.scope.sources.filter((source) => isNamedBy(source, qualifier));
  const columns = sources.every((source) => source.columns !== null)
    ? sources.flatMap((source) => source.columns ?? [])
    : null;
  const isMissing = qualifier.length > 0 && sources.length === 0;
  const isPlain = columns === null || isMissing || place.scope.isMerged || !sources.every(isSpelled);
  if (isPlain) {
    // FROM gives a relation of the catalog its own name as its alias.
    const isOfCatalog = qualifier.length > 1 && sources.every(({ relation }) => relation !== null) && !isMissing;
    const full = isOfCatalog ? parts.slice(-2) : parts;
    const star = full.map((part) => (part === '*' ? part : quoteIdentifier(part))).join('.');
    return { sql: words(star), columns: isMissing ? null : columns };
  }
  return sources.flatMap(({ alias, columns: its }) =>
    (its ?? []).map(({ name, type }) => {
      const value: Typed = { sql: words(`${quoteIdentifier(alias)}.${quoteIdentifier(name)}`), type };
      const shown = shownValue(value, place, whose);
      return { sql: form`${shown.sql} AS ${quoteIdentifier(name)}`, columns: [{ name, type }] };
    }),
  );
}

/** Whether each column of a source has a name that no other one has. */
const isSpelled = ({ alias, columns }: FromItem): boolean =>
  alias !== '' &&
  columns !== null &&
  columns.length > 0 &&
  new Set(columns.map(({ name }) => name)).size === columns.length;

/** A value of the result: names of what numbers mean, and vectors as Postgres prints them. */
function shownValue(value: Typed, place: WritePlace, whose: Whose): Typed {
  // NULL would be an INTEGER. In a set operation the other side says what it is.
  const isText = value.type === 'unknown' && (whose === 'result' || whose === 'inner');
  if (isText) return { sql: form`CAST(${value.sql} AS VARCHAR)`, type: 'text' };
  if (whose === 'inner' || whose === 'part of inner') return value;
  if (value.type !== null && isNumbered(value.type)) return { ...value, sql: nameOf(value.type, value.sql, place) };
  if (isVector(value.type)) return { ...value, sql: vectorText(value.sql) };
  return value;
}
