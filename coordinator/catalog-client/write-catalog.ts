import type { Principal } from '#shared/authorization/principal.ts';
import { dataFolder, metadataFolder } from '#shared/iceberg/table-folders.ts';
import type { OwnPlaces } from '#shared/iceberg/own-files.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';
import type { WriteCatalog } from '#shared/iceberg/write/commit-writes.ts';
import type { StorageCredential } from '#shared/storage/credential.ts';
import { openRoots } from '#shared/storage/denied-roots.ts';
import { must } from '#shared/must.ts';
import { missingTable } from '../binding/missing-table.ts';
import {
  requireTable,
  requireTableAction,
  type LoadedTable,
  type TableName,
  type TableSource,
} from '../binding/table-source.ts';
import type { CatalogClient } from './catalog-client.ts';

/** The catalog as a write of a principal uses it: tables as they are now, and commits. */
export const writeCatalog = (client: CatalogClient, principal: Principal, tables: TableSource): WriteCatalog => ({
  loadTable: async (name) => (await loadForWrite(tables, name, new AbortController().signal)).metadata,
  commitTables: (key, transaction) => client.commitTables(principal, key, transaction),
  abandonCommit: (key) => client.abandonCommit(principal, key),
});

/** Loads a table whose files are written or deleted, with the right to do that. @throws as `loadForWrite`, STORAGE_ERROR, NOT_SUPPORTED */
export async function loadWithFiles(
  { catalog, caller }: Writer,
  tables: TableSource,
  { name, signal }: { readonly name: TableName; readonly signal: AbortSignal },
): Promise<Extract<LoadedTable, { kind: 'found' }>> {
  const table = await loadForWrite(tables, name, signal);
  // The right to files of this machine is the same for all that may be done with them.
  if (table.credential.kind === 'file') return table;
  return { ...table, credential: await writeKey({ catalog, caller }, table.metadata) };
}

/**
 * The same for whoever deletes files that a table's metadata names, with the folders that the table claims: it deletes none elsewhere
 * (`shared/iceberg/own-files.ts`).
 */
export async function loadOwnFiles(
  { catalog, caller }: Deleter,
  tables: TableSource,
  asked: { readonly name: TableName; readonly signal: AbortSignal },
): Promise<Extract<LoadedTable, { kind: 'found' }> & { readonly own: OwnPlaces }> {
  const table = await loadWithFiles({ catalog, caller }, tables, asked);
  const folders = await catalog.ownFolders(caller.claims, table.version);
  return { ...table, own: { roots: openRoots(table.allowedRoots), folders } };
}

type Deleter = {
  readonly catalog: Pick<CatalogClient, 'storageKey' | 'ownFolders'>;
  readonly caller: { readonly claims: Principal };
};

type Writer = {
  readonly catalog: Pick<CatalogClient, 'storageKey'>;
  readonly caller: { readonly claims: Pick<Principal, 'tenant'> };
};

/** The right to write and delete files of a table. @throws STORAGE_ERROR, NOT_SUPPORTED */
export const writeKey = (
  { catalog, caller }: Writer,
  table: Pick<TableMetadata, 'location' | 'properties'>,
): Promise<StorageCredential> =>
  catalog.storageKey(caller.claims.tenant, [table.location, dataFolder(table), metadataFolder(table)], 'write');

/** Loads a table that is changed. @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND, TABLE_NOT_FOUND, FORBIDDEN */
export async function loadForWrite(
  tables: TableSource,
  name: TableName,
  signal: AbortSignal,
): Promise<Extract<LoadedTable, { kind: 'found' }>> {
  const [table] = await tables.loadTables([name], signal);
  const loaded = must(table, 'one answer for one name');
  if (loaded.kind === 'missing') throw await missingTable(name, loaded.code, tables);
  requireTableAction(loaded, 'table.commit');
  return requireTable(loaded);
}
