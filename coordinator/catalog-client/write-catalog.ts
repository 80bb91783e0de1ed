import type { Principal } from '#shared/authorization/principal.ts';
import type { WriteCatalog } from '#shared/iceberg/write/commit-writes.ts';
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
