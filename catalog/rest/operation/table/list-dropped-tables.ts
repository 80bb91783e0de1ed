import { isUuid } from '#shared/id.ts';
import { SkeinError } from '#shared/error.ts';
import type { CatalogContext } from '../../../context.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { listDropped, stateOfDropped } from '../../../store/postgres/dropped-table-store.ts';
import { ok, type Answer, type RestRequest } from '../../rest-operation.ts';
import { nextPageToken, pageOf } from '../../paging.ts';

/**
 * `GET /v1/{prefix}/dropped-tables`, an extension: the tables that can still be restored, and those whose files are being deleted. `state`
 * is `dropped`, `purging`, or `purge-failed` when the deletion is parked (`error` says why).
 */
export async function listDroppedTables(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const { db } = context.store;
  const page = pageOf(request);
  if (page.after !== undefined && !isUuid(page.after)) throw new SkeinError('INVALID_REQUEST', 'Invalid pageToken');
  const catalog = await requireCatalog(db, request.claims.tenant, request.params['prefix'] ?? '');
  const tables = await listDropped(db, catalog.id, page);
  const nowMs = context.clock.nowMs();
  return ok({
    'dropped-tables': tables.map((table) => ({
      id: table.id,
      namespace: table.namespace,
      name: table.name,
      state: stateOfDropped(table, nowMs),
      'dropped-at': table.droppedAt.toISOString(),
      'dropped-by': table.droppedBy,
      'expires-at': table.expiresAt.toISOString(),
      'purge-requested': table.purge,
      ...(table.lastError === null ? {} : { error: table.lastError }),
    })),
    'next-page-token': nextPageToken(
      page,
      tables.map(({ id }) => id),
    ),
  });
}
