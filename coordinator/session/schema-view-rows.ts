import { setImmediate } from 'node:timers/promises';
import { SkeinError } from '#shared/error.ts';
import { mayDo, type Caller } from '../auth/authenticate.ts';
import { encodeRows, type TakeBytes } from '../binding/encode-rows.ts';
import {
  madeColumns,
  PLACE_COLUMNS,
  wholeSelect,
  type SchemaViewRequest,
  type SchemaViews,
} from '../binding/schema-views.ts';
import type { TableRows } from '../binding/table-rows.ts';
import type { MadeColumn, MadeRow } from '../binding/made-columns.ts';
import { schemaName } from '../catalog-client/catalog-browser.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import type { Pages } from '../catalog-client/pages.ts';
import type { RelationBlock } from '../catalog-client/relation-blocks.ts';
import type { Relation } from '../catalog-client/relation.ts';
import type { CatalogList } from '../catalog-client/relation-lists.ts';
import type { NameFinder } from './current-names.ts';
import type { EncodedBlocks } from './encoded-blocks.ts';
import { joinedRows } from './joined-rows.ts';
import { relationRows, type RelationView } from './relation-rows.ts';
import type { SessionState } from './session.ts';

/** The services, the caller and the session from which the rows of one statement are made. */
export type ViewParts = {
  readonly catalog: CatalogClient;
  readonly names: NameFinder;
  readonly caller: Caller;
  readonly session: SessionState;
  readonly encoded: EncodedBlocks;
  readonly take: TakeBytes;
  /** As `SchemaViews.hasPostgresViews`. */
  readonly isPostgres: boolean;
};

type Listed = { readonly catalog: string; readonly list: CatalogList };

/** Rows of one page, so that other work may run between two of them. */
const PAGE_ROWS = 2_000;

/** The views of INFORMATION_SCHEMA as one statement sees them. */
export const schemaViews = (parts: ViewParts): SchemaViews => ({
  hasPostgresViews: parts.isPostgres,
  schemaView: async (asked) => {
    const request = parts.isPostgres ? asked : { ...asked, hidden: [] };
    const { view, named, signal } = request;
    const made = madeColumns(request, named);
    const listed: Listed[] = [];
    for (const catalog of await catalogsOf(request, parts)) {
      const list = await listOf(catalog, request, parts);
      if (list !== null) listed.push({ catalog, list });
    }
    const rows =
      view === 'schemata'
        ? await encodeRows({ title: request.title, columns: made }, schemaPages(listed, request, made), parts.take)
        : await relations(listed, { ...request, view, isPostgres: parts.isPostgres }, made, parts);
    signal.throwIfAborted();
    return { ...rows, select: wholeSelect(request, made) };
  },
});

/**
 * The catalogs that a view reads: the one that the query names, or that the session has chosen; else those that a filter names, else the
 * tenant's default. @throws CATALOG_NOT_FOUND for one that the query names
 */
async function catalogsOf(
  { catalog, view, filters }: SchemaViewRequest,
  { names, caller, session, catalog: client }: ViewParts,
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
  { catalog, caller }: ViewParts,
): Promise<CatalogList | null> {
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

type RelationRequest = SchemaViewRequest & Pick<ViewParts, 'isPostgres'> & { readonly view: RelationView };

/** Rows of tables and views. Those of whole blocks are kept as they were encoded; few places are looked for each time. */
async function relations(
  listed: readonly Listed[],
  request: RelationRequest,
  made: readonly MadeColumn[],
  { encoded, take }: ViewParts,
): Promise<TableRows> {
  const { view, title, filters, isPostgres } = request;
  const [, schemas, names] = PLACE_COLUMNS[view].map((column) => filters[column]);
  const about = { title, columns: made };
  if (schemas !== undefined || names !== undefined) return encodeRows(about, wantedPages(listed, request, made), take);
  const parts: TableRows[] = [await encodeRows(about, noPages(), take)];
  for (const { catalog, list } of listed) {
    const key = JSON.stringify([catalog, view, isPostgres, made.map(({ name }) => name)]);
    for (const block of list.blocks) {
      const known = encoded.get(block, key);
      if (known !== undefined) take(known.bytes);
      const rows = known ?? (await encodeRows(about, pagesOf([{ catalog, relations: block }], request, made), take));
      if (known === undefined) encoded.keep(block, key, rows);
      parts.push(rows);
    }
  }
  return joinedRows(about, parts);
}

async function* noPages(): Pages<MadeRow> {}

type Found = { readonly catalog: string; readonly relations: RelationBlock };

function wantedPages(listed: readonly Listed[], request: RelationRequest, made: readonly MadeColumn[]): Pages<MadeRow> {
  const [catalogs, schemas, names] = wantedPlaces(request);
  const found = listed.flatMap(({ catalog, list }) => {
    if (catalogs?.has(catalog) === false) return [];
    // Thousands of relations are looked at for a few.
    const isWanted = ({ schema, name }: Relation): boolean =>
      names?.has(name) !== false && schemas?.has(schema) !== false;
    return [{ catalog, relations: list.blocks.flatMap((block) => block.filter(isWanted)) }];
  });
  return pagesOf(found, request, made);
}

/** The values that a query wants of the columns of a view's places; null = any. */
const wantedPlaces = ({ view, filters }: SchemaViewRequest): readonly (ReadonlySet<string> | null)[] =>
  PLACE_COLUMNS[view].map((name) => {
    const values = filters[name];
    return values === undefined ? null : new Set(values);
  });

async function* pagesOf(
  found: readonly Found[],
  { view, isPostgres, signal }: RelationRequest,
  made: readonly MadeColumn[],
): Pages<MadeRow> {
  let page: MadeRow[] = [];
  for (const { catalog, relations } of found) {
    const rowsOf = relationRows(
      view,
      { catalog, isPostgres },
      made.map(({ name }) => name),
    );
    for (const relation of relations) {
      for (const row of rowsOf(relation)) page.push(row);
      if (page.length < PAGE_ROWS) continue;
      yield page;
      page = [];
      await setImmediate();
      signal.throwIfAborted();
    }
  }
  yield page;
}

async function* schemaPages(
  listed: readonly Listed[],
  request: SchemaViewRequest,
  made: readonly MadeColumn[],
): Pages<MadeRow> {
  const [catalogs, schemas] = wantedPlaces(request);
  for (const { catalog, list } of listed) {
    request.signal.throwIfAborted();
    const rows = list.schemas.map(({ levels, owner }): Readonly<Record<string, string | null>> => {
      const place = { catalog_name: catalog, schema_name: schemaName(levels) };
      return { ...place, schema_owner: owner, default_character_set_name: 'UTF8' };
    });
    const wanted = rows.filter((row) => schemas?.has(row['schema_name'] ?? '') !== false);
    if (catalogs?.has(catalog) !== false) yield wanted.map((row) => made.map(({ name }) => row[name] ?? null));
  }
}
