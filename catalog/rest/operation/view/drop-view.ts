import { dropTableIn } from '../../../commit/drop-table.ts';
import type { CatalogContext } from '../../../context.ts';
import { findTableHead, hasTable } from '../../../store/postgres/table-store.ts';
import { deleteView, requireView, viewNotFound } from '../../../store/postgres/view-store.ts';
import { viewTarget } from '../../request-names.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../rest-operation.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/**
 * `DELETE /v1/{prefix}/namespaces/{namespace}/views/{view}`: its metadata files stay, so that it can be registered again. The rows of a
 * materialized view go with it, as a table that is dropped with purge.
 */
export async function dropView(context: CatalogContext, request: RestRequest, unit: UnitOfWork): Promise<Answer> {
  const target = viewTarget(request);
  const { claims, catalog, ident } = target;
  const { db } = context.store;
  const { storage } = await requireView(db, claims.tenant, catalog, ident);
  const head = storage === null ? undefined : await findTableHead(db, claims.tenant, catalog, storage.ident);
  const drop = (): Promise<boolean> =>
    unit.transact(async (tx) => {
      const row = await requireView(tx, claims.tenant, catalog, ident);
      const rows = row.storage;
      const hasRows = rows !== null && (await hasTable(tx, rows.namespaceId, rows.ident.name));
      // Commits lock the table first, too.
      if (hasRows) await dropTableIn(context, tx, { ...target, ident: rows.ident }, { purge: true });
      if (!(await deleteView(tx, row, ident))) return viewNotFound(ident);
      return hasRows;
    });
  if (await context.documents.run(claims.tenant, head?.metadataBytes ?? 0, drop)) context.sweeper.wake();
  return NO_CONTENT;
}
