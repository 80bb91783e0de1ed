import { holdNamespace } from '../../store/postgres/namespace-store.ts';
import { hasTable } from '../../store/postgres/table-store.ts';
import type { Tx } from '../../store/postgres/tables.ts';
import { storageTaken, type StoragePlace } from '../../store/postgres/view-store.ts';
import { currentVersion, type StorageTable, type ViewMetadata } from '../../metadata/view/view-metadata.ts';

/**
 * The place of a materialized view's rows; null for another view. A table that is there already cannot become a view's: it would vanish
 * from the lists, and be dropped with the view.
 * @param base the view before a commit
 * @throws SCHEMA_NOT_FOUND, ALREADY_EXISTS
 */
export async function storagePlace(
  tx: Tx,
  catalogId: string,
  { metadata, base }: { readonly metadata: ViewMetadata; readonly base?: ViewMetadata },
): Promise<StoragePlace | null> {
  const table = currentVersion(metadata)['storage-table'];
  if (table === undefined) return null;
  const { namespace, name } = table;
  const { id: namespaceId } = await holdNamespace(tx, catalogId, namespace);
  const place = { namespaceId, ident: { namespace, name } };
  const before = base === undefined ? undefined : currentVersion(base)['storage-table'];
  const isKept = before !== undefined && isSame(before, table);
  if (!isKept && (await hasTable(tx, namespaceId, name))) throw storageTaken(place);
  return place;
}

const isSame = (a: StorageTable, b: StorageTable): boolean =>
  a.name === b.name && JSON.stringify(a.namespace) === JSON.stringify(b.namespace);
