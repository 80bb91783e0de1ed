import { isObject } from '#shared/iceberg/type.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { isInformationSchema, PLACE_COLUMNS, schemaViewOf, type ViewFilters } from '../binding/schema-views.ts';

/** A view of INFORMATION_SCHEMA in FROM. `places` are the names of its catalog, schema and relation columns. */
type FoundView = {
  readonly location: number;
  readonly alias: string;
  readonly places: readonly string[];
  readonly wanted: Map<string, ReadonlySet<string>>;
};

/** The parts of one FROM: views, conditions that each kept row fulfils, and columns that USING compares. */
type From = { readonly views: FoundView[]; readonly conditions: JsonObject[]; readonly using: Set<string> };

/**
 * The values that a query wants of the catalog, schema and relation of each view of INFORMATION_SCHEMA, by the place of its name: constants
 * that a column is compared with by `=` or IN, in WHERE or in ON, joined by AND. Views whose catalogs a join makes equal share them.
 */
export function viewFilters(tree: Json): ReadonlyMap<number, ViewFilters> {
  const found = new Map<number, ViewFilters>();
  visit(tree, (node) => {
    if (node['type'] !== 'SELECT_NODE' || !isObject(node['from_table'])) return;
    const from: From = { views: [], conditions: conjuncts(node['where_clause']), using: new Set() };
    readFrom(node['from_table'], from, true);
    if (from.views.length === 0) return;
    for (const condition of from.conditions) want(condition, from.views);
    share(from);
    for (const { location, wanted } of from.views) {
      found.set(location, Object.fromEntries([...wanted].map(([name, values]) => [name, [...values]])));
    }
  });
  return found;
}

function visit(value: Json | undefined, each: (node: JsonObject) => void): void {
  if (Array.isArray(value)) for (const one of value as readonly Json[]) visit(one, each);
  if (!isObject(value)) return;
  each(value);
  for (const child of Object.values(value)) visit(child, each);
}

/** @param isKept whether the conditions of the joins around it drop its rows */
function readFrom(node: JsonObject, from: From, isKept: boolean): void {
  if (node['type'] === 'BASE_TABLE') {
    const { schema_name: schema, table_name: table, alias, query_location: location } = node;
    const view = typeof table === 'string' ? schemaViewOf(table) : undefined;
    if (typeof schema !== 'string' || !isInformationSchema(schema) || view === undefined) return;
    const name = foldIdentifier(typeof alias === 'string' && alias !== '' ? alias : view);
    if (typeof location !== 'number' || (node['column_name_alias'] as readonly Json[]).length > 0) return;
    from.views.push({ location, alias: name, places: PLACE_COLUMNS[view], wanted: new Map() });
  } else if (node['type'] === 'JOIN' && isObject(node['left']) && isObject(node['right'])) {
    const isInner = node['join_type'] === 'INNER' && isKept;
    readFrom(node['left'], from, isInner);
    readFrom(node['right'], from, isInner);
    // A condition of an outer join keeps rows of one side all the same; columns that it makes equal are equal in pairs of rows.
    const all = conjuncts(node['condition']);
    from.conditions.push(...(isInner ? all : all.filter(comparesColumns)));
    for (const column of (node['using_columns'] ?? []) as readonly string[]) from.using.add(foldIdentifier(column));
  }
}

const comparesColumns = ({ left, right }: JsonObject): boolean => isColumn(left) && isColumn(right);
const isColumn = (value: Json | undefined): value is JsonObject => isObject(value) && value['class'] === 'COLUMN_REF';

function conjuncts(condition: Json | undefined): JsonObject[] {
  if (!isObject(condition)) return [];
  if (condition['type'] !== 'CONJUNCTION_AND') return [condition];
  return (condition['children'] as readonly Json[]).flatMap(conjuncts);
}

function want(condition: JsonObject, views: readonly FoundView[]): void {
  const { type, left, right, children } = condition;
  const [first, ...rest] =
    type === 'COMPARE_EQUAL' ? [left, right] : type === 'COMPARE_IN' ? (children as readonly Json[]) : [];
  const read = wantedOf(first, rest) ?? (type === 'COMPARE_EQUAL' ? wantedOf(right, [left]) : undefined);
  if (read === undefined) return;
  const [column = '', table] = read.column.toReversed().map(foldIdentifier);
  for (const { alias, places, wanted } of views) {
    if ((table !== undefined && table !== alias) || !places.includes(column)) continue;
    const known = wanted.get(column);
    wanted.set(column, known === undefined ? read.values : new Set([...read.values].filter((one) => known.has(one))));
  }
}

function wantedOf(column: Json | undefined, values: readonly (Json | undefined)[]) {
  if (!isColumn(column)) return undefined;
  const texts = values.map(constantText);
  if (texts.some((text) => text === undefined)) return undefined;
  return { column: column['column_names'] as readonly string[], values: new Set(texts as readonly string[]) };
}

/** The text of a constant, or of one that is cast to VARCHAR; undefined for anything else. */
function constantText(value: Json | undefined): string | undefined {
  if (!isObject(value)) return undefined;
  const { child, cast_type: cast } = value;
  if (value['class'] === 'CAST') return isObject(cast) && cast['id'] === 'VARCHAR' ? constantText(child) : undefined;
  const constant = value['class'] === 'CONSTANT' ? value['value'] : undefined;
  if (!isObject(constant) || constant['is_null'] !== false) return undefined;
  const type = constant['type'];
  const text = constant['value'];
  return isObject(type) && type['id'] === 'VARCHAR' && typeof text === 'string' ? text : undefined;
}

/** Catalogs that USING or `a.table_catalog = b.table_catalog` makes equal. */
function share({ views, conditions, using }: From): void {
  const groups: FoundView[][] = [];
  const byUsing = views.filter(({ places }) => using.has(places[0] ?? ''));
  if (byUsing.length > 1) groups.push(byUsing);
  for (const { type, left, right } of conditions) {
    const pair = type === 'COMPARE_EQUAL' ? [catalogOf(left, views), catalogOf(right, views)] : [];
    if (pair.length > 0 && pair.every((one) => one !== undefined)) groups.push(pair);
  }
  // A chain of joins hands them on from view to view.
  for (let round = 0; round < views.length; round += 1) {
    for (const group of groups) {
      const source = group.find(({ places, wanted }) => wanted.has(places[0] ?? ''));
      const values = source?.wanted.get(source.places[0] ?? '');
      if (values === undefined) continue;
      for (const { places, wanted } of group) if (!wanted.has(places[0] ?? '')) wanted.set(places[0] ?? '', values);
    }
  }
}

function catalogOf(column: Json | undefined, views: readonly FoundView[]): FoundView | undefined {
  if (!isColumn(column)) return undefined;
  const [name = '', table] = (column['column_names'] as readonly string[]).toReversed().map(foldIdentifier);
  const found = views.filter(({ alias, places }) => places[0] === name && (table === undefined || table === alias));
  return found.length === 1 ? found[0] : undefined;
}
