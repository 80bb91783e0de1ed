import type { CatalogContext } from '../context.ts';
import { requireSmallTable, requireTable, type TableRow } from '../store/postgres/table-store.ts';
import type { TableTarget } from './creation.ts';
import { LARGE_DOCUMENT_BYTES } from '../metadata/large-documents.ts';

/**
 * Gives `work` a table that must exist, with its document. A large document is read in a turn, which lasts until `work` ends.
 * @throws TABLE_NOT_FOUND, CATALOG_NOT_FOUND, QUEUE_FULL
 */
export async function withTable<T>(
  { store, documents }: CatalogContext,
  { claims: { tenant }, catalog, ident }: TableTarget,
  work: (row: TableRow) => Promise<T>,
): Promise<T> {
  const found = await requireSmallTable(store.db, tenant, catalog, ident, LARGE_DOCUMENT_BYTES);
  const { metadata } = found;
  if (metadata !== null) return work({ ...found, metadata });
  return documents.run(tenant, found.metadataBytes, async () =>
    work(await requireTable(store.db, tenant, catalog, ident)),
  );
}
