import { isObject } from '#shared/iceberg/type.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { textOf } from '../plan/json-node.ts';
import type { FoundView, From, EqualViews } from './found-views.ts';
import { constantOf, isColumnNode, wantRelations } from './relation-filters.ts';
import { pgPlaces } from '../binding/pg-rows.ts';
import {
  isInformationSchema,
  PLACE_COLUMNS,
  schemaViewOf,
  type WantedConstant,
  type WantedConstants,
} from '../binding/schema-views.ts';

/**
 * The constants that a query wants of the catalog, schema and relation of each view of INFORMATION_SCHEMA, by the place of its name: those
 * that a column is compared with by `=` or IN, in WHERE or in ON, joined by AND. Views whose catalogs a join makes equal share them.
 */
export function wantedConstants(tree: Json): ReadonlyMap<number, WantedConstants> {
  const found = new Map<number, WantedConstants>();
  visit<readonly From[]>(tree, [], (node, outer) => {
    if (node['type'] !== 'SELECT_NODE' || !isObject(node['from_table'])) return outer;
    const from: From = { views: [], names: new Set(), conditions: [], groups: [] };
    const views = readFrom(node['from_table'], from, true);
    const inside = [from, ...outer];
    if (from.views.length === 0) return inside;
    const ofWhere = conjuncts(node['where_clause']);
    from.conditions.push(...ofWhere.map((condition) => ({ condition, views, isInner: true, isKept: true })));
    from.groups.push(...comparedCatalogs(from));
    // A wish of an outer join for one side says nothing of the other.
    for (const isKept of [true, false]) {
      for (const one of from.conditions) if (one.isKept === isKept) want(one.condition, one.views);
      share(from, isKept ? from.groups : from.groups.filter(({ isInner }) => isInner));
    }
    for (const { condition, views: narrowed } of from.conditions) wantAround(condition, { narrowed, inside });
    share(
      from,
      from.groups.filter(({ isInner }) => isInner),
    );
    wantRelations(from, outer);
    for (const { location, wanted } of from.views) found.set(location, Object.fromEntries(wanted));
    return inside;
  });
  return found;
}

/** @param each returns what it gets for the nodes below */
function visit<Around>(
  value: Json | undefined,
  around: Around,
  each: (node: JsonObject, around: Around) => Around,
): void {
  if (Array.isArray(value)) for (const one of value as readonly Json[]) visit(one, around, each);
  if (!isObject(value)) return;
  const inside = each(value, around);
  for (const child of Object.values(value)) visit(child, inside, each);
}

/**
 * @param isKept whether the conditions of the joins around it drop its rows
 * @returns the views whose columns have names outside of it
 */
function readFrom(node: JsonObject, from: From, isKept: boolean): readonly FoundView[] {
  if (node['type'] === 'BASE_TABLE') {
    const { schema_name: schema, table_name: table, alias, query_location: location } = node;
    const places = placesOf(textOf(schema), textOf(table));
    const name = foldIdentifier(textOf(alias) || textOf(table));
    if (
      places === undefined ||
      typeof location !== 'number' ||
      (node['column_name_alias'] as readonly Json[]).length > 0
    ) {
      from.names.add(name);
      return [];
    }
    const found = { name: foldIdentifier(textOf(table)), location, alias: name, places, wanted: new Map() };
    from.views.push(found);
    return [found];
  }
  if (node['type'] !== 'JOIN' || !isObject(node['left']) || !isObject(node['right'])) {
    from.names.add(foldIdentifier(textOf(node['alias'])));
    return [];
  }
  const { join_type: type, ref_type: form } = node;
  const isInner = type === 'INNER';
  const left = readFrom(node['left'], from, isInner && isKept);
  const right = readFrom(node['right'], from, isInner && isKept);
  const both = [...left, ...right];
  // An outer join keeps the rows of one side or of both, whatever its condition says of them; so does ANTI.
  const narrowed = isInner ? both : type === 'RIGHT' ? left : NARROWS_RIGHT.has(type) ? right : [];
  const own = { views: narrowed, isInner, isKept: isInner && isKept };
  from.conditions.push(...conjuncts(node['condition']).map((condition) => ({ condition, ...own })));
  const using = new Set(((node['using_columns'] ?? []) as readonly string[]).map(foldIdentifier));
  for (const column of CATALOG_COLUMNS) {
    if (form === 'NATURAL' || using.has(column))
      from.groups.push({ views: both.filter(({ places }) => places[0] === column), isInner });
  }
  return type === 'SEMI' || type === 'ANTI' ? left : both;
}

function placesOf(schema: string, table: string): readonly string[] | undefined {
  const view = isInformationSchema(schema) ? schemaViewOf(table) : undefined;
  if (view !== undefined) return PLACE_COLUMNS[view];
  return foldIdentifier(schema) === 'pg_catalog' ? pgPlaces(foldIdentifier(table)) : undefined;
}

const NARROWS_RIGHT: ReadonlySet<Json | undefined> = new Set(['LEFT', 'SEMI', 'ANTI']);
const CATALOG_COLUMNS = new Set(Object.values(PLACE_COLUMNS).map(([catalog]) => catalog ?? ''));

function conjuncts(condition: Json | undefined): JsonObject[] {
  if (!isObject(condition)) return [];
  if (condition['type'] !== 'CONJUNCTION_AND') return [condition];
  return (condition['children'] as readonly Json[]).flatMap(conjuncts);
}

function want(condition: JsonObject, views: readonly FoundView[]): void {
  const { type, left, right, children } = condition;
  const [first, ...rest] =
    // Nothing equals a NULL of the list.
    type === 'COMPARE_EQUAL'
      ? [left, right]
      : type === 'COMPARE_IN'
        ? (children as readonly Json[]).filter((one) => !isNullConstant(one))
        : [];
  const read = wantedOf(first, rest) ?? (type === 'COMPARE_EQUAL' ? wantedOf(right, [left]) : undefined);
  if (read === undefined) return;
  const [column = '', table] = read.column.toReversed().map(foldIdentifier);
  for (const { alias, places, wanted } of views) {
    // A text that is compared with a number is another value.
    if (read.hasNumbers && places[0] !== '') continue;
    if ((table !== undefined && table !== alias) || !places.includes(column)) continue;
    wanted.set(column, [...(wanted.get(column) ?? []), read.values]);
  }
}

/** A view whose catalog is compared with that of a view around its subquery has the wish of that one, unless it has its own. */
function wantAround(
  { type, left, right }: JsonObject,
  { narrowed, inside }: { readonly narrowed: readonly FoundView[]; readonly inside: readonly From[] },
): void {
  if (type !== 'COMPARE_EQUAL') return;
  for (const [own, other] of [
    [left, right],
    [right, left],
  ]) {
    const view = catalogOf(own, narrowed);
    const around = isColumnNode(other) ? viewAround(other['column_names'] as readonly string[], inside) : undefined;
    const values = around?.wanted.get(around.places[0] ?? '');
    const column = view?.places[0] ?? '';
    if (view !== undefined && values !== undefined && !view.wanted.has(column)) view.wanted.set(column, values);
  }
}

/** The view around a subquery whose catalog a qualified column is. */
function viewAround(names: readonly string[], [own, ...outer]: readonly From[]): FoundView | undefined {
  const [column, table] = names.toReversed().map(foldIdentifier);
  if (table === undefined || own === undefined) return undefined;
  const isNamedIn = ({ views, names: others }: From): boolean =>
    others.has(table) || views.some(({ alias }) => alias === table);
  if (isNamedIn(own)) return undefined;
  const around = outer.find(isNamedIn);
  if (around === undefined || around.names.has(table)) return undefined;
  const found = around.views.filter(({ alias }) => alias === table);
  return found.length === 1 && found[0]?.places[0] === column ? found[0] : undefined;
}

function wantedOf(column: Json | undefined, values: readonly (Json | undefined)[]) {
  if (!isColumnNode(column)) return undefined;
  const constants = values.map((value) => constantOf(value));
  const numbers = values.map((value, i) => constants[i] ?? numberOf(value));
  if (numbers.some((one) => one === undefined)) return undefined;
  const hasNumbers = constants.some((one) => one === undefined);
  const wanted = numbers as readonly WantedConstant[];
  return { column: column['column_names'] as readonly string[], values: wanted, hasNumbers };
}

const isNullConstant = (value: Json | undefined): boolean =>
  isObject(value) && isObject(value['value']) && value['class'] === 'CONSTANT' && value['value']['is_null'] === true;

/** A whole number, or a constant text that is cast to one. */
function numberOf(value: Json | undefined): WantedConstant | undefined {
  if (!isObject(value)) return undefined;
  const { child, cast_type: cast, query_location: location } = value;
  if (value['class'] === 'CAST') {
    if (!isObject(cast) || !WHOLE.has(textOf(cast['id']))) return undefined;
    return constantOf(child) ?? numberOf(child);
  }
  const constant = value['class'] === 'CONSTANT' ? value['value'] : undefined;
  if (!isObject(constant) || constant['is_null'] !== false || !isObject(constant['type'])) return undefined;
  if (!WHOLE.has(textOf(constant['type']['id']))) return undefined;
  const number = constant['value'];
  const text = typeof number === 'string' || typeof number === 'number' ? String(number) : undefined;
  return text === undefined ? undefined : { text, location: typeof location === 'number' ? location : null };
}

const WHOLE: ReadonlySet<string> = new Set(['INTEGER', 'BIGINT']);

/** The catalogs that `a.table_catalog = b.table_catalog` makes equal. */
const comparedCatalogs = ({ views, conditions }: From): readonly EqualViews[] =>
  conditions.flatMap(({ condition: { type, left, right }, isInner }) => {
    if (type !== 'COMPARE_EQUAL') return [];
    const [first, second] = [catalogOf(left, views), catalogOf(right, views)];
    return first === undefined || second === undefined ? [] : [{ views: [first, second], isInner }];
  });

/** Views without a wish for catalogs have that of their group; a chain of joins hands it on from view to view. */
function share({ views }: From, groups: readonly EqualViews[]): void {
  for (let round = 0; round < views.length; round += 1) {
    for (const group of groups) {
      const source = group.views.find(({ places, wanted }) => wanted.has(places[0] ?? ''));
      const values = source?.wanted.get(source.places[0] ?? '');
      if (values === undefined) continue;
      for (const { places, wanted } of group.views)
        if (!wanted.has(places[0] ?? '')) wanted.set(places[0] ?? '', values);
    }
  }
}

function catalogOf(column: Json | undefined, views: readonly FoundView[]): FoundView | undefined {
  if (!isColumnNode(column)) return undefined;
  const [name = '', table] = (column['column_names'] as readonly string[]).toReversed().map(foldIdentifier);
  const found = views.filter(({ alias, places }) => places[0] === name && (table === undefined || table === alias));
  return found.length === 1 ? found[0] : undefined;
}
