import type { CatalogContext } from '../../../context.ts';
import { deleteView, requireView, viewNotFound } from '../../../store/postgres/view-store.ts';
import { viewTarget } from '../../names.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../operation.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/** `DELETE /v1/{prefix}/namespaces/{namespace}/views/{view}`: its metadata files stay, so that it can be registered again. */
export async function dropView(_context: CatalogContext, request: RestRequest, unit: UnitOfWork): Promise<Answer> {
  const { claims, catalog, ident } = viewTarget(request);
  await unit.transact(async (tx) => {
    const row = await requireView(tx, claims.tenant, catalog, ident);
    if (!(await deleteView(tx, row, ident))) viewNotFound(ident);
  });
  return NO_CONTENT;
}
