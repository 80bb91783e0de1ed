import { isObject } from '#shared/iceberg/type.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { textOf } from '../plan/json-node.ts';
import { isNumberColumn, isSchemaColumn, OF_NUMBER, OF_RELATION, OF_SCHEMA } from '../binding/pg-rows.ts';
import type { WantedConstant } from '../binding/schema-views.ts';
import type { Condition, FoundView, From } from './found-views.ts';

type Lists = readonly (readonly WantedConstant[])[];

/**
 * Hands wishes for tables and schemas from relation to relation of `pg_catalog` along the numbers that a query compares:
 *
 *     pg_class c JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relname = 't'       a has rows of tables called t alone
 *     pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 's'   c has rows of that schema alone
 *     pg_attribute a WHERE a.attrelid = 't'::regclass                                  a as above
 *
 * A condition narrows only the relations whose rows must fulfil it to be seen; it never hands a wish to another one. `outer` are the queries
 * around a subquery: their wishes come in, none goes out.
 */
export function wantRelations(own: From, outer: readonly From[]): void {
  if (!own.views.some(isOfCatalog)) return;
  const scopes = [own, ...outer];
  for (const { condition, views: narrowed } of own.conditions) wantNamed(condition, narrowed, scopes);
  for (const view of own.views.filter(isOfCatalog)) {
    for (const [column, lists] of view.wanted) if (isNumberColumn(view.name, column)) give(view, OF_NUMBER, lists);
  }
  const pairs = own.conditions.flatMap((one) => pairsOf(one, scopes));
  for (let round = 0; round <= own.views.length; round += 1) for (const pair of pairs) hand(pair);
}

const isOfCatalog = ({ places }: FoundView): boolean => places[0] === '';

type Place = { readonly view: FoundView; readonly column: string };
type Pair = { readonly from: Place; readonly to: Place };

/** The two columns of an equality, in each direction in which it narrows. */
function pairsOf({ condition, views: narrowed }: Condition, scopes: readonly From[]): readonly Pair[] {
  if (condition['type'] !== 'COMPARE_EQUAL') return [];
  const [left, right] = [condition['left'], condition['right']].map((side) => placeOf(side, scopes));
  if (left === undefined || right === undefined || left.view === right.view) return [];
  return [
    { from: left, to: right },
    { from: right, to: left },
  ].filter(({ to }) => narrowed.includes(to.view));
}

/** The relation and column that a qualified reference means, in the nearest FROM that has its name. */
function placeOf(side: Json | undefined, scopes: readonly From[]): Place | undefined {
  if (!isColumnNode(side)) return undefined;
  const [column = '', table] = (side['column_names'] as readonly string[]).toReversed().map(foldIdentifier);
  if (table === undefined) return undefined;
  const scope = scopes.find(({ names, views }) => names.has(table) || views.some(({ alias }) => alias === table));
  if (scope === undefined || scope.names.has(table)) return undefined;
  const found = scope.views.filter(({ alias }) => alias === table);
  const [view] = found;
  return found.length === 1 && view !== undefined && isOfCatalog(view) ? { view, column } : undefined;
}

function hand({ from, to }: Pair): void {
  if (from.view.name === 'pg_namespace' && from.column === 'oid' && isSchemaColumn(to.view.name, to.column)) {
    give(to.view, OF_SCHEMA, from.view.wanted.get('nspname'));
    return;
  }
  if (!isNumberColumn(from.view.name, from.column) || !isNumberColumn(to.view.name, to.column)) return;
  const { name, wanted } = from.view;
  give(to.view, OF_RELATION, wanted.get(OF_RELATION) ?? (name === 'pg_class' ? wanted.get('relname') : undefined));
  give(to.view, OF_NUMBER, wanted.get(OF_NUMBER));
  give(to.view, OF_SCHEMA, wanted.get(OF_SCHEMA));
  if (to.view.places.includes(to.column)) give(to.view, to.column, wanted.get(from.column));
}

function give({ wanted }: FoundView, filter: string, lists: Lists | undefined): void {
  if (lists !== undefined && !wanted.has(filter)) wanted.set(filter, lists);
}

/** The wish of `a.attrelid = 't'::regclass`, which the dialect writes as a query of `pg_class` by the name. */
function wantNamed({ type, left, right }: JsonObject, narrowed: readonly FoundView[], scopes: readonly From[]): void {
  if (type !== 'COMPARE_EQUAL') return;
  for (const [own, other] of [
    [left, right],
    [right, left],
  ]) {
    const place = placeOf(own, scopes);
    if (place === undefined || !narrowed.includes(place.view)) continue;
    if (isNumberColumn(place.view.name, place.column)) give(place.view, OF_RELATION, nameIn(other));
  }
}

/** The names of the tables whose number a value is, if it is one; undefined when it may be any other number. */
function nameIn(value: Json | undefined): Lists | undefined {
  if (!isObject(value)) return undefined;
  const isCoalesced = value['type'] === 'OPERATOR_COALESCE';
  const [query, ...others] = isCoalesced ? (value['children'] as readonly Json[]) : [value];
  if (!others.every(isNoNumber)) return undefined;
  if (!isObject(query) || query['class'] !== 'SUBQUERY' || query['subquery_type'] !== 'SCALAR') return undefined;
  const select = isObject(query['subquery']) ? query['subquery']['node'] : undefined;
  if (!isObject(select) || select['type'] !== 'SELECT_NODE') return undefined;
  const alias = classIn(select['from_table']);
  const [told, ...more] = select['select_list'] as readonly Json[];
  if (alias === undefined || more.length > 0 || !isColumnOf(told, alias, 'oid')) return undefined;
  const where = select['where_clause'];
  const parts =
    isObject(where) && where['type'] === 'CONJUNCTION_AND' ? (where['children'] as readonly Json[]) : [where];
  for (const part of parts) {
    if (!isObject(part) || part['type'] !== 'COMPARE_EQUAL' || !isColumnOf(part['left'], alias, 'relname')) continue;
    const constant = constantOf(part['right']);
    if (constant !== undefined) return [[constant]];
  }
  return undefined;
}

/** 0, which no table has, or an error. */
function isNoNumber(value: Json): boolean {
  if (!isObject(value)) return false;
  const { child, value: constant } = value;
  if (value['class'] === 'CAST') return child !== undefined && isNoNumber(child);
  if (value['class'] === 'FUNCTION') return value['function_name'] === 'error';
  return value['class'] === 'CONSTANT' && isObject(constant) && constant['value'] === 0;
}

/** The alias of `pg_class` in `pg_class AS r JOIN pg_namespace`. */
function classIn(table: Json | undefined): string | undefined {
  if (!isObject(table) || table['type'] !== 'JOIN' || table['join_type'] !== 'INNER') return undefined;
  const { left } = table;
  const isClass =
    isObject(left) && textOf(left['table_name']) === 'pg_class' && textOf(left['schema_name']) === 'pg_catalog';
  return isClass ? textOf(left['alias']) : undefined;
}

const isColumnOf = (value: Json | undefined, alias: string, column: string): boolean =>
  isColumnNode(value) && JSON.stringify(value['column_names']) === JSON.stringify([alias, column]);

export const isColumnNode = (value: Json | undefined): value is JsonObject =>
  isObject(value) && value['class'] === 'COLUMN_REF';

/** A constant text, or one that is cast to VARCHAR; undefined for anything else. */
export function constantOf(value: Json | undefined): WantedConstant | undefined {
  if (!isObject(value)) return undefined;
  const { child, cast_type: cast, query_location: location } = value;
  if (value['class'] === 'CAST') return isObject(cast) && cast['id'] === 'VARCHAR' ? constantOf(child) : undefined;
  const constant = value['class'] === 'CONSTANT' ? value['value'] : undefined;
  if (!isObject(constant) || constant['is_null'] !== false) return undefined;
  const type = constant['type'];
  const text = constant['value'];
  if (!isObject(type) || type['id'] !== 'VARCHAR' || typeof text !== 'string') return undefined;
  return { text, location: typeof location === 'number' ? location : null };
}
