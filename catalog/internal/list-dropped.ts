import type { DroppedListInput } from '#proto/generated/skein/catalog/v1/DroppedList.ts';
import type { ListDroppedRequest } from '#proto/generated/skein/catalog/v1/ListDroppedRequest.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import { isUuid } from '#shared/id.ts';
import type { CatalogContext } from '../context.ts';
import { requireCatalog } from '../store/postgres/catalog-store.ts';
import { listDropped, stateOfDropped } from '../store/postgres/dropped-table-store.ts';
import { hasMore, pageAfter } from './lists.ts';

/** Lists dropped tables as `GET /v1/{prefix}/dropped-tables` does. @throws CATALOG_NOT_FOUND, INVALID_REQUEST */
export async function listDroppedCall(
  { store: { db }, clock }: CatalogContext,
  { catalog: ofCatalog, after, limit }: ListDroppedRequest,
  { tenant }: Principal,
): Promise<DroppedListInput> {
  if (after !== '' && !isUuid(after))
    throw new SkeinError('INVALID_REQUEST', 'after must be the id of a dropped table');
  const catalog = await requireCatalog(db, tenant, ofCatalog);
  const found = await listDropped(db, catalog.id, pageAfter(after, limit));
  const nowMs = clock.nowMs();
  const tables = found.map((table) => ({
    id: table.id,
    namespace: table.namespace,
    name: table.name,
    state: stateOfDropped(table, nowMs),
    dropped_at: table.droppedAt.toISOString(),
    dropped_by: table.droppedBy,
    expires_at: table.expiresAt.toISOString(),
    purge: table.purge,
    error: table.lastError ?? '',
  }));
  return { tables, more: hasMore(found, limit) };
}
