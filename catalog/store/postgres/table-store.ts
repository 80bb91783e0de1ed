import { CompiledQuery, sql } from 'kysely';
import { SkeinError } from '#shared/error.ts';
import type { TenantId } from '#shared/id.ts';
import { isForeignKeyViolation, isUniqueViolation, nameTakenBy } from './errors.ts';
import { LEVEL_SEPARATOR, type NamespacePath, type TableIdent, displayIdent } from '../../metadata/object-name.ts';
import { namespaceNotFound, requireNotReserved } from './namespace-store.ts';
import { catalogNotFound } from './catalog-store.ts';
import type { Page } from './page.ts';
import { isPoliced } from './policy-facts.ts';
import { moveRelation, newRelationColumns, type NewRelation, type RelationDocument } from './relation-row.ts';
import type { Database, Tx } from './tables.ts';

/** A table without its document, which may have many megabytes. */
export type TableHead = {
  readonly id: string;
  readonly catalogId: string;
  readonly namespaceId: string;
  /** Roots of the catalog: its own first. */
  readonly roots: readonly string[];
  readonly metadataLocation: string;
  /** Size of the document. */
  readonly metadataBytes: number;
  readonly version: number;
  /** It has policies, or its rows were made of those of a table that has. */
  readonly isPoliced: boolean;
};

export type TableRow = TableHead & { readonly metadata: string };

/** A table as it is changed. */
export type ChangedTable = Omit<TableRow, 'isPoliced'>;

export function tableNotFound(ident: TableIdent): never {
  throw new SkeinError('TABLE_NOT_FOUND', `Table does not exist: ${displayIdent(ident)}`);
}

export const tableExists = (ident: TableIdent): SkeinError =>
  new SkeinError('TABLE_EXISTS', `Table already exists: ${displayIdent(ident)}`);

/** Names of a table, as parameters. */
type Named = readonly [db: Database, tenant: TenantId, catalog: string, ident: TableIdent];

/**
 * Finds a table by its names, in one statement; undefined when its catalog and namespace exist and it does not. Its document is read only
 * in a turn of `LargeDocuments`; `withTable` takes care of that.
 * @throws CATALOG_NOT_FOUND (another tenant's too), SCHEMA_NOT_FOUND
 */
export const findTable = async (...named: Named): Promise<TableRow | undefined> =>
  found(await lookUpTable<TableRow>(WHOLE, named), named);

/** `findTable` without the document. */
export const findTableHead = async (...named: Named): Promise<TableHead | undefined> =>
  found(await lookUpTable<TableHead>(HEAD, named), named);

/**
 * Returns a table that must exist. An absent namespace is TABLE_NOT_FOUND too: clients try `ns.table.snapshots` before `ns.table`.
 * @throws CATALOG_NOT_FOUND (another tenant's too), TABLE_NOT_FOUND
 */
export const requireTable = async (...named: Named): Promise<TableRow> =>
  required(await lookUpTable<TableRow>(WHOLE, named), named);

/** `requireTable` without the document. */
export const requireTableHead = async (...named: Named): Promise<TableHead> =>
  required(await lookUpTable<TableHead>(HEAD, named), named);

/** `requireTable` with the document if it has `bytesMax` bytes at most, else null. */
export const requireSmallTable = async (
  ...[db, tenant, catalog, ident, bytesMax]: [...Named, bytesMax: number]
): Promise<TableHead & { readonly metadata: string | null }> => {
  const named: Named = [db, tenant, catalog, ident];
  return required(await lookUpTable<TableHead & { metadata: string | null }>(SMALL, named, [bytesMax]), named);
};

const found = <T>(row: T | 'no namespace', [, , , { namespace }]: Named): T =>
  row === 'no namespace' ? namespaceNotFound(namespace) : row;

const required = <T>(row: T | 'no namespace' | undefined, [, , , ident]: Named): T =>
  row === 'no namespace' || row === undefined ? tableNotFound(ident) : row;

/** Handwritten SQL, because nearly every request starts with it: building it each time costs as much as the rest of a load. */
const lookUp = (document: string): string => `
  select c.id as "catalogId", array_prepend(c.location, c.allowed_roots) as roots, n.id as "namespaceId",
    t.id, t.metadata_location as "metadataLocation", octet_length(t.metadata) as "metadataBytes", t.version,
    ${isPoliced('t.id')} as "isPoliced"${document}
  from catalog.catalog c
  join catalog.tenant o on o.id = c.tenant_id
  left join catalog.namespace n on n.catalog_id = c.id and n.path = $3
  left join catalog.iceberg_table t on t.namespace_id = n.id and t.name = $4
  where o.name = $1 and c.name = $2`;

const HEAD = lookUp('');

const WHOLE = lookUp(', t.metadata');

/** Postgres knows the size of a text without unpacking it. */
const SMALL = lookUp(', case when octet_length(t.metadata) <= $5 then t.metadata end as metadata');

type LookedUp<Row> =
  | Row
  | { readonly namespaceId: string; readonly id: null }
  | { readonly namespaceId: null; readonly id: null };

async function lookUpTable<Row extends TableHead>(
  text: string,
  [db, tenant, catalog, { namespace, name }]: Named,
  more: readonly unknown[] = [],
): Promise<Row | 'no namespace' | undefined> {
  const parameters = [tenant, catalog, namespace.join(LEVEL_SEPARATOR), name, ...more];
  const { rows } = await db.executeQuery<LookedUp<Row>>(CompiledQuery.raw(text, parameters));
  const [row] = rows;
  if (row === undefined) return catalogNotFound(catalog);
  if (row.namespaceId === null) return 'no namespace';
  return row.id === null ? undefined : row;
}

/** Finds a table of a catalog by its id, whatever its name is by now. */
export async function findTableById(
  db: Database,
  { id, catalogId }: { readonly id: string; readonly catalogId: string },
): Promise<Omit<TableHead, 'roots' | 'isPoliced'> | undefined> {
  return db
    .selectFrom('iceberg_table')
    .select(['id', 'catalog_id as catalogId', 'namespace_id as namespaceId', 'version'])
    .select(['metadata_location as metadataLocation', sql<number>`octet_length(metadata)`.as('metadataBytes')])
    .where('id', '=', id)
    .where('catalog_id', '=', catalogId)
    .executeTakeFirst();
}

/** The document of a table; undefined when it has another version by now. */
export async function readDocument(db: Database, id: string, version: number): Promise<string | undefined> {
  const found = db.selectFrom('iceberg_table').select('metadata').where('id', '=', id).where('version', '=', version);
  return (await found.executeTakeFirst())?.metadata;
}

/** Whether a namespace has a table of this name. */
export async function hasTable(db: Database, namespaceId: string, name: string): Promise<boolean> {
  const found = db.selectFrom('iceberg_table').select('id').where('namespace_id', '=', namespaceId);
  return (await found.where('name', '=', name).executeTakeFirst()) !== undefined;
}

export type NewTable = NewRelation & { readonly expiresAt: Date | null };

export const viewWithSameName = (ident: TableIdent): SkeinError =>
  new SkeinError('ALREADY_EXISTS', `View with same name already exists: ${displayIdent(ident)}`);

/**
 * Inserts a table and returns the row's id. @throws RESERVED_NAME, TABLE_EXISTS, ALREADY_EXISTS for a view of that name; SCHEMA_NOT_FOUND when the
 * namespace was dropped meanwhile.
 */
export async function insertTable(tx: Tx, table: NewTable): Promise<string> {
  requireNotReserved(table.ident.namespace);
  try {
    const { id } = await tx
      .insertInto('iceberg_table')
      .values({ ...newRelationColumns(table), expires_at: table.expiresAt })
      .returning('id')
      .executeTakeFirstOrThrow();
    return id;
  } catch (error) {
    if (nameTakenBy(error) === 'view') throw viewWithSameName(table.ident);
    if (isUniqueViolation(error)) throw tableExists(table.ident);
    if (isForeignKeyViolation(error)) namespaceNotFound(table.ident.namespace);
    throw error;
  }
}

const SWAP = `
  with before as (
    select id, version, changed_in, metadata_location from catalog.iceberg_table where id = $1 and version = $2 for update
  ), kept as (
    insert into catalog.table_version (table_id, version, changed_in, metadata_location, replaced_at)
    select id, version, changed_in, metadata_location, $3 from before
  )
  update catalog.iceberg_table t
  set location = $4, metadata_location = $5, metadata = $6, version = before.version + 1, changed_in = pg_current_xact_id(),
    expires_at = case when $7::timestamptz is not null then least(t.expires_at, $7) end,
    facts_version = before.version + 1, summary = $8, columns = $9
  from before where t.id = before.id`;

/**
 * Replaces the metadata if the table is still at `version`, and returns whether it was. The row stays locked until the transaction ends.
 */
export async function swapMetadata(
  tx: Tx,
  table: { readonly id: string; readonly version: number },
  next: RelationDocument & Pick<NewTable, 'expiresAt'> & { readonly now: Date },
): Promise<boolean> {
  const { now, location, metadataLocation, metadata, facts, expiresAt } = next;
  const of = [table.id, table.version, now, location, metadataLocation, metadata, expiresAt];
  const parameters = [...of, facts.summary, facts.columns];
  const { numAffectedRows } = await tx.executeQuery(CompiledQuery.raw(SWAP, parameters));
  return numAffectedRows === 1n;
}

/** As `moveRelation`. @throws RESERVED_NAME, TABLE_EXISTS, ALREADY_EXISTS, SCHEMA_NOT_FOUND */
export const moveTable = (
  tx: Tx,
  row: Pick<TableRow, 'id' | 'namespaceId'>,
  namespaceId: string,
  { from, to }: { readonly from: TableIdent; readonly to: TableIdent },
): Promise<boolean> =>
  moveRelation(tx, row, {
    kind: 'iceberg_table',
    namespaceId,
    from,
    to,
    taken: (by) => (by === 'view' ? viewWithSameName(to) : tableExists(to)),
  });

/** The last state of a table that left the catalog. */
export type DeletedTable = {
  readonly id: string;
  readonly location: string;
  readonly metadataLocation: string;
  readonly metadata: string;
  readonly version: number;
  readonly createdAt: Date;
  readonly oid: string;
};

/**
 * Removes a table from the catalog and returns its last committed state; undefined when it no longer has the name by which it was found.
 * Its folders stay claimed.
 */
export async function deleteTable(
  tx: Tx,
  row: Pick<TableRow, 'id' | 'namespaceId'>,
  { name }: TableIdent,
): Promise<DeletedTable | undefined> {
  return tx
    .deleteFrom('iceberg_table')
    .where('id', '=', row.id)
    .where('namespace_id', '=', row.namespaceId)
    .where('name', '=', name)
    .returning(['id', 'location', 'metadata_location as metadataLocation', 'metadata', 'version'])
    .returning(['created_at as createdAt', 'oid'])
    .executeTakeFirst();
}

/** A table that holds the rows of a materialized view is not in lists. */
const isListed = sql<boolean>`not exists (
  select from catalog.iceberg_view v where v.storage_namespace_id = t.namespace_id and v.storage_name = t.name
)`;

export async function listTables(db: Database, namespaceId: string, page: Page): Promise<string[]> {
  let query = db
    .selectFrom('iceberg_table as t')
    .select('name')
    .where('namespace_id', '=', namespaceId)
    .where(isListed)
    .orderBy('name');
  if (page.after !== undefined) query = query.where('name', '>', page.after);
  if (page.limit !== undefined) query = query.limit(page.limit);
  return (await query.execute()).map(({ name }) => name);
}

/** Names of tables and views, whose names differ. */
export async function listTablesAndViews(db: Database, namespaceId: string, page: Page): Promise<string[]> {
  let query = db
    .selectFrom((from) =>
      from
        .selectFrom('iceberg_table as t')
        .select('name')
        .where('namespace_id', '=', namespaceId)
        .where(isListed)
        .unionAll(from.selectFrom('iceberg_view').select('name').where('namespace_id', '=', namespaceId))
        .as('relation'),
    )
    .select('name')
    .orderBy('name');
  if (page.after !== undefined) query = query.where('name', '>', page.after);
  if (page.limit !== undefined) query = query.limit(page.limit);
  return (await query.execute()).map(({ name }) => name);
}

const LIST = `
  select n.id as "namespaceId",
    array_to_json(array(
      select t.name from catalog.iceberg_table t
      where t.namespace_id = n.id and t.name > $4 and not exists (
        select from catalog.iceberg_view v where v.storage_namespace_id = t.namespace_id and v.storage_name = t.name
      )
      order by t.name limit $5
    )) as names
  from catalog.catalog c
  join catalog.tenant o on o.id = c.tenant_id
  left join catalog.namespace n on n.catalog_id = c.id and n.path = $3
  where o.name = $1 and c.name = $2`;

/**
 * Lists the names of a namespace's tables, in one statement whatever their number.
 * @throws CATALOG_NOT_FOUND (another tenant's too), SCHEMA_NOT_FOUND
 */
export async function listTablesOf(
  db: Database,
  tenant: TenantId,
  catalog: string,
  namespace: NamespacePath,
  page: Page,
): Promise<readonly string[]> {
  const parameters = [tenant, catalog, namespace.join(LEVEL_SEPARATOR), page.after ?? '', page.limit ?? null];
  const { rows } = await db.executeQuery<{ readonly namespaceId: string | null; readonly names: readonly string[] }>(
    CompiledQuery.raw(LIST, parameters),
  );
  const [row] = rows;
  if (row === undefined) return catalogNotFound(catalog);
  return row.namespaceId === null ? namespaceNotFound(namespace) : row.names;
}
