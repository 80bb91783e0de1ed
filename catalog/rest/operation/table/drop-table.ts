import { SkeinError } from '#shared/error.ts';
import type { CatalogContext } from '../../../context.ts';
import type { TableTarget } from '../../../commit/creation.ts';
import { requireUnprotected } from '../../../commit/protection.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { insertDropped } from '../../../store/postgres/dropped-table-store.ts';
import { releaseClaims } from '../../../store/postgres/folder-claims.ts';
import { deleteTable, requireTableHead, tableNotFound } from '../../../store/postgres/table-store.ts';
import { tableTarget } from '../../names.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../operation.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/**
 * `DELETE /v1/{prefix}/namespaces/{namespace}/tables/{table}`: the table can be restored within the catalog's UNDROP window. After it the
 * background work deletes the files if `purgeRequested=true`; otherwise they stay where they are.
 */
export async function dropTable(context: CatalogContext, request: RestRequest, unit: UnitOfWork): Promise<Answer> {
  const target = tableTarget(request);
  const purge = isTrue(request.query['purgeRequested']);
  const { tenant } = target.claims;
  const head = await requireTableHead(context.store.db, tenant, target.catalog, target.ident);
  await context.documents.run(tenant, head.metadataBytes, () => drop(context, target, unit, purge));
  if (purge) context.purges.wake();
  return NO_CONTENT;
}

function drop(context: CatalogContext, target: TableTarget, unit: UnitOfWork, purge: boolean): Promise<void> {
  const now = new Date(context.clock.nowMs());
  return unit.transact(async (tx) => {
    const row = await requireTableHead(tx, target.claims.tenant, target.catalog, target.ident);
    const { id, catalogId } = row;
    const table = await deleteTable(tx, row, target.ident);
    if (table === undefined) return tableNotFound(target.ident);
    await requireUnprotected(context, { ...target, ...target.claims, metadata: table.metadata });
    const { undropWindowMs } = await requireCatalog(tx, target.claims.tenant, target.catalog);
    if (!purge && undropWindowMs === 0) return releaseClaims(tx, id);
    const expiresAt = new Date(now.getTime() + undropWindowMs);
    const by = target.claims.preferred_username;
    return insertDropped(tx, { catalogId, ident: target.ident }, table, { by, now, expiresAt, purge });
  });
}

function isTrue(text: string | undefined): boolean {
  const value = text?.toLowerCase() ?? 'false';
  if (value !== 'true' && value !== 'false') {
    throw new SkeinError('INVALID_REQUEST', `Invalid purgeRequested: ${text}`);
  }
  return value === 'true';
}
