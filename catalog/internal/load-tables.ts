import type { CatalogContext } from '../context.ts';
import { LEVEL_SEPARATOR } from '../store/postgres/namespace-store.ts';

/** Messages of `proto/catalog.proto`, as proto-loader gives and takes them. */
type TableName = {
  readonly catalog: string;
  readonly namespace: readonly string[];
  readonly table: string;
  readonly known_metadata_location: string;
};
type LoadTablesRequest = { readonly tenant: string; readonly principal: string; readonly names: readonly TableName[] };
type LoadedTable = {
  readonly status: 'FOUND' | 'CATALOG_NOT_FOUND' | 'SCHEMA_NOT_FOUND' | 'TABLE_NOT_FOUND';
  readonly metadata_location?: string;
  readonly metadata_json?: string;
  readonly allowed_roots?: readonly string[];
  readonly namespace?: readonly string[];
  readonly table?: string;
};

type FoundRow = {
  readonly root: string | null;
  readonly path: string | null;
  readonly name: string | null;
  readonly metadata_location: string | null;
  readonly metadata: string | null;
};

/**
 * Every name of a statement in one round trip. At each step the exact name comes first, else the first that differs only in case. This is
 * on the path of every query: the statement is prepared once per connection, and metadata that the caller has is not sent.
 */
const RESOLVE = `
  select c.location as root, n.path, t.name, t.metadata_location, t.metadata
  from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
    with ordinality as w(catalog, catalog_folded, path, path_folded, name, name_folded, known, i)
  left join lateral (
    select k.id, k.location from catalog.catalog k join catalog.tenant o on o.id = k.tenant_id
    where o.name = $1 and k.name_folded = w.catalog_folded
    order by k.name <> w.catalog, k.name limit 1
  ) c on true
  left join lateral (
    select s.id, s.path from catalog.namespace s
    where s.catalog_id = c.id and s.path_folded = w.path_folded
    order by s.path <> w.path, s.path limit 1
  ) n on true
  left join lateral (
    select b.name, b.metadata_location,
      case when b.metadata_location = w.known then null else b.metadata end as metadata
    from catalog.iceberg_table b
    where b.namespace_id = n.id and b.name_folded = w.name_folded
    order by b.name <> w.name, b.name limit 1
  ) t on true
  order by w.i`;

/**
 * The tables of a statement, in the order of its names. A table's files may lie anywhere below its catalog's root: a catalog belongs to
 * one tenant, and clients may add files from other folders, or move a table.
 */
export async function loadTables(
  context: CatalogContext,
  request: LoadTablesRequest,
): Promise<{ tables: LoadedTable[] }> {
  const { names } = request;
  if (names.length === 0) return { tables: [] };
  const paths = names.map(({ namespace }) => namespace.join(LEVEL_SEPARATOR));
  const { rows } = await context.store.pool.query<FoundRow>({
    name: 'load-tables',
    text: RESOLVE,
    values: [
      request.tenant,
      names.map(({ catalog }) => catalog),
      names.map(({ catalog }) => catalog.toLowerCase()),
      paths,
      paths.map((path) => path.toLowerCase()),
      names.map(({ table }) => table),
      names.map(({ table }) => table.toLowerCase()),
      names.map((name) => name.known_metadata_location),
    ],
  });
  return { tables: rows.map(toLoadedTable) };
}

function toLoadedTable({ root, path, name, metadata_location, metadata }: FoundRow): LoadedTable {
  if (root === null) return { status: 'CATALOG_NOT_FOUND' };
  if (path === null) return { status: 'SCHEMA_NOT_FOUND' };
  if (name === null || metadata_location === null) return { status: 'TABLE_NOT_FOUND' };
  return {
    status: 'FOUND',
    metadata_location,
    metadata_json: metadata ?? '',
    allowed_roots: [root],
    namespace: path.split(LEVEL_SEPARATOR),
    table: name,
  };
}
