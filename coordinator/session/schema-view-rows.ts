import { LRUCache } from 'lru-cache';
import { SkeinError } from '#shared/error.ts';
import { unreachable } from '#shared/must.ts';
import { mayDo, type Caller } from '../auth/authenticate.ts';
import { encodeRows, type TakeBytes } from '../binding/encode-rows.ts';
import {
  madeColumns,
  PLACE_COLUMNS,
  wholeSelect,
  type SchemaViewRequest,
  type SchemaViews,
  type ViewFilters,
} from '../binding/schema-views.ts';
import type { TableRows } from '../binding/table-rows.ts';
import type { MadeColumn, MadeRow } from '../binding/made-columns.ts';
import type { MadeValue } from '#shared/made-type.ts';
import { schemaName } from '../catalog-client/catalog-browser.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import type { Pages } from '../catalog-client/pages.ts';
import type { Relation } from '../catalog-client/relation.ts';
import type { CatalogList } from '../catalog-client/relation-lists.ts';
import type { Field } from '#shared/iceberg/type.ts';
import type { NameFinder } from './current-names.ts';
import type { SessionState } from './session.ts';
import { columnDefault, sqlTypeName } from './sql-type-name.ts';

type Parts = {
  readonly catalog: CatalogClient;
  readonly names: NameFinder;
  readonly caller: Caller;
  readonly session: SessionState;
  readonly take: TakeBytes;
};

type Listed = { readonly catalog: string; readonly list: CatalogList };

/** Rows of a list that are kept as they were encoded: of so many requests. */
const ENCODED_MAX = 16;
const encoded = new WeakMap<CatalogList, LRUCache<string, TableRows>>();

/** Rows of one page, so that other work may run between two of them. */
const PAGE_ROWS = 2_000;

/** The views of INFORMATION_SCHEMA as one statement sees them. */
export const schemaViews = (parts: Parts): SchemaViews => ({
  schemaView: async (request) => {
    const { view, title, filters, named, signal } = request;
    const made = madeColumns(view, named);
    const listed: Listed[] = [];
    for (const catalog of await catalogsOf(request, parts)) {
      const list = await listOf(catalog, request, parts);
      if (list !== null) listed.push({ catalog, list });
    }
    const [only] = listed;
    const names = made.map(({ name }) => name);
    const key = JSON.stringify([only?.catalog, view, title, names, filters]);
    const kept = listed.length === 1 && only !== undefined ? keptOf(only.list) : null;
    const known = kept?.get(key);
    if (known !== undefined) {
      parts.take(known.bytes);
      return known;
    }
    const rows = await encodeRows({ title, columns: made }, pagesOf(listed, request, made), parts.take);
    signal.throwIfAborted();
    const typed = { ...rows, select: wholeSelect(view, made) };
    kept?.set(key, typed);
    return typed;
  },
});

function keptOf(list: CatalogList): LRUCache<string, TableRows> {
  const known = encoded.get(list) ?? new LRUCache<string, TableRows>({ max: ENCODED_MAX });
  encoded.set(list, known);
  return known;
}

/**
 * The catalogs that a view reads: the one that the query names, or that the session has chosen; else those that a filter names, else the
 * tenant's default. @throws CATALOG_NOT_FOUND for one that the query names
 */
async function catalogsOf(
  { catalog, view, filters }: SchemaViewRequest,
  { names, caller, session, catalog: client }: Parts,
): Promise<readonly string[]> {
  if (catalog !== null) return [await names.catalog(caller, catalog)];
  if (session.catalog !== null) return [session.catalog];
  const wanted = filters[PLACE_COLUMNS[view][0] ?? ''];
  if (wanted === undefined) {
    const { catalog: current } = await names.current(caller, session);
    return current === '' ? [] : [current];
  }
  const all = new Set(await client.findCatalogs(caller.claims));
  return wanted.filter((name) => all.has(name)).toSorted();
}

/** Null for a catalog that was dropped meanwhile, or in which the caller may list nothing. */
async function listOf(
  name: string,
  { view, filters, signal }: SchemaViewRequest,
  { catalog, caller }: Parts,
): Promise<CatalogList | null> {
  if (view === 'policy_references') return null;
  if (view === 'schemata' && !mayDo(caller, 'schema.list')) return null;
  const [, schemas, names] = PLACE_COLUMNS[view].map((column) => filters[column]);
  try {
    const wanted = view === 'schemata' ? { schemasAlone: true } : { schemas, names };
    return await catalog.listCatalog(caller.claims, name, signal, wanted);
  } catch (error) {
    if (error instanceof SkeinError && error.code === 'CATALOG_NOT_FOUND') return null;
    throw error;
  }
}

async function* pagesOf(
  listed: readonly Listed[],
  request: SchemaViewRequest,
  made: readonly MadeColumn[],
): Pages<MadeRow> {
  const { view, filters, signal } = request;
  const isWanted = wantedPlaces(PLACE_COLUMNS[view], filters);
  let page: MadeRow[] = [];
  for (const { catalog, list } of listed) {
    for (const row of rowsOf(catalog, list, request, isWanted)) {
      page.push(made.map(({ name }) => row[name] ?? null));
      if (page.length < PAGE_ROWS) continue;
      signal.throwIfAborted();
      yield page;
      page = [];
    }
  }
  yield page;
}

type IsWanted = (...place: readonly string[]) => boolean;

function wantedPlaces(columns: readonly string[], filters: ViewFilters): IsWanted {
  const sets = columns.map((name) => {
    const values = filters[name];
    return values === undefined ? null : new Set(values);
  });
  return (...place) => sets.every((values, i) => values === null || values.has(place[i] ?? ''));
}

type Row = Readonly<Record<string, MadeValue>>;

function* rowsOf(
  catalog: string,
  { relations, schemas }: CatalogList,
  { view }: SchemaViewRequest,
  isWanted: IsWanted,
): Generator<Row> {
  if (view === 'policy_references') return;
  if (view === 'schemata') {
    for (const { levels, owner } of schemas) {
      const schema = schemaName(levels);
      if (!isWanted(catalog, schema)) continue;
      const encoding = { default_character_set_name: 'UTF8' };
      yield { catalog_name: catalog, schema_name: schema, schema_owner: owner, ...encoding };
    }
    return;
  }
  for (const relation of relations) {
    const schema = schemaName(relation.namespace);
    if (!isWanted(catalog, schema, relation.name)) continue;
    const place = { table_catalog: catalog, table_schema: schema, table_name: relation.name };
    switch (view) {
      case 'tables':
        yield { ...place, ...tableRow(relation) };
        break;
      case 'views':
        if (relation.kind === 'VIEW') yield { ...place, view_definition: null, is_updatable: 'NO' };
        break;
      case 'columns':
        for (const [i, field] of relation.columns.fields.entries()) {
          yield { ...place, ...columnRow(relation, field, i + 1) };
        }
        break;
      default:
        unreachable(view);
    }
  }
}

const tableRow = ({ kind, owner, rows, bytes, created, comment }: Relation): Row => ({
  table_type: kind === 'TABLE' ? 'BASE TABLE' : kind,
  table_owner: owner,
  row_count: wholeNumber(rows),
  bytes: wholeNumber(bytes),
  created,
  comment,
  // Nothing binds a policy to a table yet.
  rls_enabled: false,
});

const wholeNumber = (text: string | null): bigint | null => (text === null ? null : BigInt(text));

function columnRow({ columns: { keys, intervals } }: Relation, field: Field, position: number): Row {
  const { type } = field;
  const isDecimal = type.kind === 'decimal';
  return {
    column_name: field.name,
    ordinal_position: position,
    data_type: intervals.has(field.name) ? 'INTERVAL' : sqlTypeName(type),
    is_nullable: field.required ? 'NO' : 'YES',
    column_default: columnDefault(field.writeDefault),
    numeric_precision: isDecimal ? type.precision : null,
    numeric_scale: isDecimal ? type.scale : null,
    comment: field.doc ?? null,
    is_primary_key: keys.has(field.id),
  };
}
