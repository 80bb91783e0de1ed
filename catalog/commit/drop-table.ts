import type { CatalogContext } from '../context.ts';
import { requireCatalog } from '../store/postgres/catalog-store.ts';
import { insertDropped } from '../store/postgres/dropped-table-store.ts';
import { releaseClaims } from '../store/postgres/folder-claims.ts';
import { deleteTable, requireTableHead, tableNotFound } from '../store/postgres/table-store.ts';
import type { Tx } from '../store/postgres/tables.ts';
import { requireDroppable } from '../policy/protect-tables.ts';
import type { TableTarget } from './creation.ts';
import { requireUnprotected } from './protection.ts';

/** Drops a table inside of a transaction. @throws TABLE_NOT_FOUND, PROTECTED, CATALOG_NOT_FOUND, POLICY_IN_USE and FORBIDDEN as `requireDroppable` */
export async function dropTableIn(
  context: CatalogContext,
  tx: Tx,
  target: TableTarget,
  { purge }: { readonly purge: boolean },
): Promise<void> {
  const { claims, catalog, ident } = target;
  const now = new Date(context.clock.nowMs());
  const row = await requireTableHead(tx, claims.tenant, catalog, ident);
  const { id, catalogId } = row;
  const table = await deleteTable(tx, row, ident);
  if (table === undefined) return tableNotFound(ident);
  await requireUnprotected(context, { ...target, ...claims, metadata: table.metadata });
  const { undropWindowMs } = await requireCatalog(tx, claims.tenant, catalog);
  await requireDroppable(tx, { id, claims }, { isForGood: purge || undropWindowMs === 0 });
  if (!purge && undropWindowMs === 0) return releaseClaims(tx, id, table.metadata);
  const expiresAt = new Date(now.getTime() + undropWindowMs);
  return insertDropped(tx, { catalogId, ident }, table, { by: claims.preferred_username, now, expiresAt, purge });
}
