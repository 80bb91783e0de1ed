import { setImmediate } from 'node:timers/promises';
import { must } from '#shared/must.ts';
import { encodeRows } from '../binding/encode-rows.ts';
import type { MadeRow } from '../binding/made-columns.ts';
import { pgBuiltinRows, pgRelation, type PgRelation } from '../binding/pg-relations.ts';
import {
  numberOfRelation,
  OF_NUMBER,
  OF_RELATION,
  OF_SCHEMA,
  pgDefault,
  pgMadeColumns,
  pgSelect,
  pgValue,
  type PgColumn,
  type PgRelations,
  type PgRowsRequest,
} from '../binding/pg-rows.ts';
import { ownRepresentation } from '../binding/view-definition.ts';
import type { TableRows } from '../binding/table-rows.ts';
import type { RelationBlock } from '../catalog-client/relation-blocks.ts';
import type { Relation } from '../catalog-client/relation.ts';
import { joinedRows } from './joined-rows.ts';
import { PG_VIEWS, toldRelation, type Beside, type PgView, type ToldRelation } from './pg-objects.ts';
import {
  FIRST_OWN,
  fixedRows,
  listOf,
  OF_RELATIONS,
  schemaComments,
  type Fixed,
  type PgParts,
} from './pg-fixed-rows.ts';
import { PRIVILEGE_VIEWS, publicGrants } from './privilege-rows.ts';
import { rightsOf } from './rights-rows.ts';

/** Rows of one page, so that other work may run between two of them. */
const PAGE_ROWS = 2_000;

/** The relations of Postgres' catalog as one statement sees them: what is built in, and the objects of the session's catalog. */
export const pgRelations = (parts: PgParts): PgRelations => ({
  pgRows: async (asked) => {
    const { request, hasObjects } = withoutKinds(await withoutMissing(asked, parts));
    const relation = must(pgRelation(request.schema, request.pg), 'the name means a relation');
    const made = pgMadeColumns(relation, request.named);
    const about = { title: request.title, columns: made };
    const own = hasObjects ? await ofObjects(request, made, parts) : [];
    const fixed = await besideObjects(asked, made, parts);
    const found = [await builtInRows(relation, request, made, parts), ...own, ...fixed];
    request.signal.throwIfAborted();
    return { ...joinedRows(about, found), select: pgSelect(relation, made) };
  },
});

/**
 * A wish for names that nothing has picks no rows, and `attrelid = 'missing'::regclass` fails only where there is a row to compare: all rows are
 * made then.
 */
async function withoutMissing(asked: PgRowsRequest, parts: PgParts): Promise<PgRowsRequest> {
  const names = asked.filters[OF_RELATION];
  if (names === undefined || names.some((name) => builtInNames().has(name))) return asked;
  const owners = new Set(names.flatMap(ownersOf));
  const { list } = await listOf(parts, asked.signal, { names: [...owners] });
  if (list.blocks.some((block) => block.some(({ name }) => owners.has(name)))) return asked;
  return {
    ...asked,
    filters: Object.fromEntries(Object.entries(asked.filters).filter(([name]) => name !== OF_RELATION)),
  };
}

/** Columns of kinds, and the kinds that tables and views have rows of: there is no foreign key, no sequence. */
const KINDS: Readonly<Record<string, { readonly column: string; readonly ours: readonly string[] }>> = {
  pg_class: { column: 'relkind', ours: ['r', 'v', 'm', 'i'] },
  pg_constraint: { column: 'contype', ours: ['p', 'n'] },
  pg_description: { column: 'classoid', ours: [OF_RELATIONS] },
};

/** A wish for kinds says whether rows of objects are wanted at all; it picks none of them, so that all can be kept as they were encoded. */
function withoutKinds(asked: PgRowsRequest): { readonly request: PgRowsRequest; readonly hasObjects: boolean } {
  const kinds = asked.schema === 'pg_catalog' && Object.hasOwn(KINDS, asked.pg) ? KINDS[asked.pg] : undefined;
  const wanted = kinds === undefined ? undefined : asked.filters[kinds.column];
  if (kinds === undefined || wanted === undefined) return { request: asked, hasObjects: true };
  const filters = Object.fromEntries(Object.entries(asked.filters).filter(([name]) => name !== kinds.column));
  return { request: { ...asked, filters }, hasObjects: wanted.some((kind) => kinds.ours.includes(kind)) };
}

/** The block under which rows of what is built in are kept. */
const BUILT_IN: RelationBlock = [];

/** The rows that Postgres has by itself: all are kept as they were encoded, and some are looked for each time. */
async function builtInRows(
  relation: PgRelation,
  request: PgRowsRequest,
  made: readonly PgColumn[],
  { encoded, take }: PgParts,
): Promise<TableRows> {
  const about = { title: request.title, columns: made };
  const encode = (): Promise<TableRows> =>
    encodeRows(about, pagesOf(builtIn(relation, made, request), request.signal), take);
  if (!mayBeBuiltIn(request.filters)) return encodeRows(about, pagesOf([], request.signal), take);
  if (ofColumns(request.filters).length > 0) return encode();
  const key = JSON.stringify([request.schema, request.pg, made.map(({ name }) => name)]);
  const known = encoded.get(BUILT_IN, key);
  if (known !== undefined) {
    take(known.bytes);
    return known;
  }
  const rows = await encode();
  encoded.keep(BUILT_IN, key, rows);
  return rows;
}

const BUILT_IN_SCHEMAS: ReadonlySet<string> = new Set(['pg_catalog', 'information_schema']);
let namesRead: ReadonlySet<string> | undefined;
const builtInNames = (): ReadonlySet<string> =>
  (namesRead ??= new Set(pgBuiltinRows('pg_class').map(([, name]) => name ?? '')));

/** Whether a wish for tables, or for schemas, may mean something of Postgres' own. */
function mayBeBuiltIn(filters: PgRowsRequest['filters']): boolean {
  const [names, numbers, schemas] = [OF_RELATION, OF_NUMBER, OF_SCHEMA].map((name) => filters[name]);
  return (
    names?.some((name) => builtInNames().has(name)) !== false &&
    numbers?.some((number) => Number(number) < FIRST_OWN) !== false &&
    schemas?.some((schema) => BUILT_IN_SCHEMAS.has(schema)) !== false
  );
}

/** The rows that Postgres has by itself, those of some numbers or names where a query wants these alone. */
function* builtIn(
  relation: PgRelation,
  made: readonly PgColumn[],
  { pg: name, schema, filters }: PgRowsRequest,
): Generator<MadeRow> {
  const picks = ofColumns(filters).map(([name, values]) => {
    const index = relation.columns.findIndex(([column]) => column === name);
    return { index, values: new Set(values) };
  });
  if (schema !== 'pg_catalog') return;
  for (const row of pgBuiltinRows(name)) {
    if (!picks.every(({ index, values }) => values.has(row[index] ?? ''))) continue;
    yield made.map(({ pg, index }) => pgValue(pg, row[index] ?? null));
  }
}

async function* pagesOf(rows: Iterable<MadeRow>, signal: AbortSignal): AsyncGenerator<readonly MadeRow[]> {
  let page: MadeRow[] = [];
  for (const row of rows) {
    page.push(row);
    if (page.length < PAGE_ROWS) continue;
    yield page;
    page = [];
    await setImmediate();
    signal.throwIfAborted();
  }
  yield page;
}

const VIEWS = { ...PG_VIEWS, ...PRIVILEGE_VIEWS };

async function ofObjects(
  request: PgRowsRequest,
  made: readonly PgColumn[],
  parts: PgParts,
): Promise<readonly TableRows[]> {
  const { schema, title, signal, filters } = request;
  const pg = schema === 'pg_catalog' ? request.pg : `${schema}.${request.pg}`;
  const about = { title, columns: made };
  const fixed = await fixedRows(pg, parts, signal);
  if (fixed !== undefined) return [await encodeRows(about, pagesOf(rowsOfFixed(fixed, made), signal), parts.take)];
  const view = Object.hasOwn(VIEWS, pg) ? VIEWS[pg] : undefined;
  if (view === undefined) return [];
  const names = filters[OF_RELATION] ?? filters['relname'];
  const places = { names: names?.flatMap(ownersOf), schemas: filters[OF_SCHEMA] };
  const { catalog, list } = await listOf(parts, signal, places);
  const rights = rightsOf(parts.caller);
  const defines = DEFINED.has(pg) && made.some(({ name }) => name === 'definition');
  if (Object.keys(filters).length > 0 || defines) {
    const relations = filteredRelations(list.blocks.flat(), {
      view,
      filters,
      beside: { catalog, definitions: NONE, rights },
    });
    const definitions = defines ? await definitionsOf(relations, catalog, parts, signal) : NONE;
    const beside = { catalog, definitions, rights };
    const rows = filtered(relations, { view, filters, beside }, made);
    return [await encodeRows(about, pagesOf(rows, signal), parts.take)];
  }
  const key = JSON.stringify(['pg', pg, made.map(({ name }) => name)]);
  const beside = { catalog, definitions: NONE, rights };
  const encoded: TableRows[] = [];
  for (const block of list.blocks) {
    const known = parts.encoded.get(block, key);
    if (known !== undefined) parts.take(known.bytes);
    const rows =
      known ??
      (await encodeRows(about, pagesOf(rowsOf(block.map(toldRelation), view, made, beside), signal), parts.take));
    if (known === undefined) parts.encoded.keep(block, key, rows);
    encoded.push(rows);
  }
  return encoded;
}

/** Relations with a column of the queries of views. */
const DEFINED: ReadonlySet<string> = new Set(['skein_views', 'pg_views', 'pg_matviews']);
const NONE: ReadonlyMap<number, string> = new Map();
/** Views that are loaded at once. */
const VIEWS_AT_ONCE = 200;

/** The queries of views that the caller may describe, as they were written, by the numbers of the views. */
async function definitionsOf(
  relations: readonly Relation[],
  catalog: string,
  { tables }: PgParts,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, string>> {
  const definitions = new Map<number, string>();
  const views = relations.filter(({ kind }) => kind !== 'TABLE');
  for (let at = 0; at < views.length; at += VIEWS_AT_ONCE) {
    const names = views
      .slice(at, at + VIEWS_AT_ONCE)
      .map(({ namespace, name }) => ({ catalog, namespace: [...namespace], table: name }));
    for (const loaded of await tables.loadTables(names, signal)) {
      if (loaded.kind !== 'view' || !loaded.actions.has('table.describe')) continue;
      const text = (ownRepresentation(loaded.view) ?? loaded.view.representations[0])?.sql.trim() ?? '';
      definitions.set(loaded.oid, text.endsWith(';') ? text : `${text};`);
    }
  }
  return definitions;
}

/** The tables that a name in `pg_class` may be of: the index of a primary key has a name, too. */
const ownersOf = (name: string): readonly string[] =>
  name.endsWith('_pkey') ? [name, name.slice(0, -'_pkey'.length)] : [name];

function* rowsOf(
  relations: readonly ToldRelation[],
  { rows, values }: PgView,
  made: readonly PgColumn[],
  beside: Beside,
): Generator<MadeRow> {
  const valueOf = made.map(({ name, pg }) => {
    const value = values[name];
    const otherwise = pgDefault(pg);
    return value ?? (() => otherwise);
  });
  for (const relation of relations) {
    for (const of of rows(relation, beside)) yield valueOf.map((value) => value(of, beside));
  }
}

/** Whether a row has the numbers and names that a query wants. */
function picker({ view: { values }, filters, beside }: Filtering): (of: ReturnType<PgView['rows']>[number]) => boolean {
  const picks = ofColumns(filters).map(([name, wanted]) => {
    const value = must(values[name], 'a column that picks has values');
    return { value, wanted: new Set(wanted) };
  });
  return (of) => picks.every(({ value, wanted }) => wanted.has(String(value(of, beside))));
}

const filteredRelations = (relations: readonly Relation[], filtering: Filtering): readonly ToldRelation[] => {
  const { view, filters, beside } = filtering;
  const isWanted = picker(filtering);
  const [relation, schemas, numbers] = [OF_RELATION, OF_SCHEMA, OF_NUMBER].map((name) => filters[name]);
  // The columns of a relation are read where its names and its number leave it.
  const names = relation ?? filters['relname'];
  const owners = names === undefined ? undefined : new Set(names.flatMap(ownersOf));
  const within = schemas === undefined ? undefined : new Set(schemas);
  const numbered = numbers === undefined ? undefined : new Set(numbers.map((text) => numberOfRelation(Number(text))));
  return relations
    .filter(
      ({ name, schema, oid }) =>
        owners?.has(name) !== false && within?.has(schema) !== false && numbered?.has(oid) !== false,
    )
    .map(toldRelation)
    .filter((told) => view.rows(told, beside).some(isWanted));
};

/** The filters by columns of the relation itself. */
const ofColumns = (filters: PgRowsRequest['filters']): readonly (readonly [string, readonly string[]])[] =>
  Object.entries(filters).filter(([name]) => ![OF_RELATION, OF_SCHEMA, OF_NUMBER].includes(name));

type Filtering = { readonly view: PgView; readonly filters: PgRowsRequest['filters']; readonly beside: Beside };

/** The rows of some numbers and names. */
function* filtered(
  relations: readonly ToldRelation[],
  filtering: Filtering,
  made: readonly PgColumn[],
): Generator<MadeRow> {
  const { view, beside } = filtering;
  const isWanted = picker(filtering);
  const rows: PgView['rows'] = (relation) => view.rows(relation, beside).filter(isWanted);
  yield* rowsOf(relations, { ...view, rows }, made, beside);
}

/** Rows of a relation of tables and views that are of none of them. */
async function besideObjects(
  { schema, pg, title, filters, signal }: PgRowsRequest,
  made: readonly PgColumn[],
  parts: PgParts,
): Promise<readonly TableRows[]> {
  const rows =
    schema === 'pg_catalog' && pg === 'pg_description'
      ? await schemaComments(filters, parts, signal)
      : schema === 'information_schema' && pg === 'table_privileges'
        ? publicGrants(rightsOf(parts.caller), (await parts.names.current(parts.caller, parts.session)).catalog)
        : [];
  return rows.length === 0
    ? []
    : [await encodeRows({ title, columns: made }, pagesOf(rowsOfFixed(rows, made), signal), parts.take)];
}

function* rowsOfFixed(rows: Fixed, made: readonly PgColumn[]): Generator<MadeRow> {
  for (const row of rows)
    yield made.map(({ name, pg }) => (Object.hasOwn(row, name) ? (row[name] ?? null) : pgDefault(pg)));
}
