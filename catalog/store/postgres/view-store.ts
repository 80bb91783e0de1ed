import { SkeinError } from '#shared/error.ts';
import type { TenantId } from '#shared/id.ts';
import { catalogNotFound } from './catalog-store.ts';
import { isForeignKeyViolation, isUniqueViolation, nameTakenBy } from './errors.ts';
import { LEVEL_SEPARATOR, splitPath, displayIdent, type TableIdent } from '../../metadata/object-name.ts';
import { namespaceNotFound, requireNotReserved } from './namespace-store.ts';
import type { Page } from './page.ts';
import {
  documentColumns,
  moveRelation,
  newRelationColumns,
  type NewRelation,
  type RelationDocument,
} from './relation-row.ts';
import { viewWithSameName } from './table-store.ts';
import type { Database, Tx } from './tables.ts';

/** Iceberg views. A trigger of Postgres keeps their names apart from those of tables (migration `0002_views`). */

export type ViewRow = {
  readonly id: string;
  readonly catalogId: string;
  readonly namespaceId: string;
  /** Roots of the catalog: its own first. */
  readonly roots: readonly string[];
  readonly metadataLocation: string;
  readonly metadata: string;
  readonly version: number;
  readonly storage: StoragePlace | null;
};

/** The table of a materialized view's rows, which may not be there yet; `namespaceId` is that of its namespace. */
export type StoragePlace = { readonly namespaceId: string; readonly ident: TableIdent };

export function viewNotFound(ident: TableIdent): never {
  throw new SkeinError('VIEW_NOT_FOUND', `View does not exist: ${displayIdent(ident)}`);
}
export const viewExistsError = (ident: TableIdent): SkeinError =>
  new SkeinError('ALREADY_EXISTS', `View already exists: ${displayIdent(ident)}`);

/**
 * Finds a view by its names, in one statement; undefined when there is no such view or namespace.
 * @throws CATALOG_NOT_FOUND (another tenant's too)
 */
export async function findView(
  db: Database,
  tenant: TenantId,
  catalog: string,
  ident: TableIdent,
): Promise<ViewRow | undefined> {
  const row = await db
    .selectFrom('catalog as c')
    .innerJoin('tenant', 'tenant.id', 'c.tenant_id')
    .leftJoin('namespace as n', (join) =>
      join.onRef('n.catalog_id', '=', 'c.id').on('n.path', '=', ident.namespace.join(LEVEL_SEPARATOR)),
    )
    .leftJoin('iceberg_view as v', (join) => join.onRef('v.namespace_id', '=', 'n.id').on('v.name', '=', ident.name))
    .leftJoin('namespace as s', 's.id', 'v.storage_namespace_id')
    .select([
      'c.id as catalogId',
      'c.location as root',
      'c.allowed_roots as allowedRoots',
      'v.id as id',
      'v.namespace_id as namespaceId',
      'v.metadata_location as metadataLocation',
      'v.metadata as metadata',
      'v.version as version',
      's.id as storageNamespaceId',
      's.path as storagePath',
      'v.storage_name as storageName',
    ])
    .where('tenant.name', '=', tenant)
    .where('c.name', '=', catalog)
    .executeTakeFirst();
  if (row === undefined) return catalogNotFound(catalog);
  const { id, catalogId, namespaceId, root, allowedRoots, metadataLocation, metadata, version } = row;
  if (id === null || namespaceId === null) return undefined;
  if (metadataLocation === null || metadata === null || version === null) return undefined;
  const storage = storageOf(row);
  return { id, catalogId, namespaceId, roots: [root, ...allowedRoots], metadataLocation, metadata, version, storage };
}

/** The place of a view's rows, by its columns. */
export function storageOf(row: {
  readonly storageNamespaceId: string | null;
  readonly storagePath: string | null;
  readonly storageName: string | null;
}): StoragePlace | null {
  const { storageNamespaceId: namespaceId, storagePath: path, storageName: name } = row;
  if (namespaceId === null || path === null || name === null) return null;
  return { namespaceId, ident: { namespace: splitPath(path), name } };
}

/** @throws VIEW_NOT_FOUND, also when the namespace is absent (Iceberg's clients expect that); CATALOG_NOT_FOUND */
export const requireView = async (
  db: Database,
  tenant: TenantId,
  catalog: string,
  ident: TableIdent,
): Promise<ViewRow> => (await findView(db, tenant, catalog, ident)) ?? viewNotFound(ident);

/**
 * Checks the name of a new table against views, for requests that insert no row yet and so do not reach the trigger.
 * @throws ALREADY_EXISTS when a view has the name
 */
export async function requireNoView(db: Database, tenant: TenantId, catalog: string, ident: TableIdent): Promise<void> {
  if ((await findView(db, tenant, catalog, ident)) !== undefined) throw viewWithSameName(ident);
}

type ViewDocument = RelationDocument & { readonly storage: StoragePlace | null };
export type NewView = NewRelation & ViewDocument;

/** @throws RESERVED_NAME; ALREADY_EXISTS for a view or a table of that name; SCHEMA_NOT_FOUND when the namespace went meanwhile. */
export async function insertView(tx: Tx, view: NewView): Promise<void> {
  requireNotReserved(view.ident.namespace);
  try {
    await tx
      .insertInto('iceberg_view')
      .values({ ...newRelationColumns(view), ...storageColumns(view.storage) })
      .execute();
  } catch (error) {
    if (nameTakenBy(error) === 'table') throw tableWithSameName(view.ident);
    if (nameTakenBy(error) === 'storage' && view.storage !== null) throw storageTaken(view.storage);
    if (isUniqueViolation(error)) throw viewExistsError(view.ident);
    if (isForeignKeyViolation(error)) namespaceNotFound(view.ident.namespace);
    throw error;
  }
}

const storageColumns = (storage: StoragePlace | null) => ({
  storage_namespace_id: storage?.namespaceId ?? null,
  storage_name: storage?.ident.name ?? null,
});

export const storageTaken = ({ ident }: StoragePlace): SkeinError =>
  new SkeinError('ALREADY_EXISTS', `Storage table exists already: ${displayIdent(ident)}`);

const tableWithSameName = (ident: TableIdent): SkeinError =>
  new SkeinError('ALREADY_EXISTS', `Table with same name already exists: ${displayIdent(ident)}`);

/** Replaces the metadata if the view is still at `version`; returns whether it was. */
export async function swapViewMetadata(
  tx: Tx,
  view: { readonly id: string; readonly version: number },
  next: ViewDocument,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('iceberg_view')
    .set({ ...documentColumns(next, view.version + 1), ...storageColumns(next.storage) })
    .where('id', '=', view.id)
    .where('version', '=', view.version)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** As `moveRelation`. @throws RESERVED_NAME, ALREADY_EXISTS, SCHEMA_NOT_FOUND */
export const moveView = (
  tx: Tx,
  row: Pick<ViewRow, 'id' | 'namespaceId'>,
  namespaceId: string,
  { from, to }: { readonly from: TableIdent; readonly to: TableIdent },
): Promise<boolean> =>
  moveRelation(tx, row, {
    kind: 'iceberg_view',
    namespaceId,
    from,
    to,
    taken: (by, cause) => {
      const text = `Cannot rename ${displayIdent(from)} to ${displayIdent(to)}. ${by === 'table' ? 'Table' : 'View'} already exists`;
      return new SkeinError('ALREADY_EXISTS', text, { cause });
    },
  });

/** Deletes a view; returns whether it still had the name by which it was found. */
export async function deleteView(
  tx: Tx,
  row: Pick<ViewRow, 'id' | 'namespaceId'>,
  { name }: TableIdent,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('iceberg_view')
    .where('id', '=', row.id)
    .where('namespace_id', '=', row.namespaceId)
    .where('name', '=', name)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

export async function listViews(db: Database, namespaceId: string, page: Page): Promise<string[]> {
  let query = db.selectFrom('iceberg_view').select('name').where('namespace_id', '=', namespaceId).orderBy('name');
  if (page.after !== undefined) query = query.where('name', '>', page.after);
  if (page.limit !== undefined) query = query.limit(page.limit);
  return (await query.execute()).map(({ name }) => name);
}

/** The view's document, which stays as it is until the transaction ends; undefined when the view was dropped. */
export const lockView = (tx: Tx, id: string): Promise<Pick<ViewRow, 'metadata'> | undefined> =>
  tx.selectFrom('iceberg_view').select('metadata').where('id', '=', id).forShare().executeTakeFirst();
