import type { CatalogContext } from '../../../context.ts';
import { deleteView, requireView, viewNotFound } from '../../../store/postgres/view-store.ts';
import { viewTarget } from '../../names.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../operation.ts';

/** `DELETE /v1/{prefix}/namespaces/{namespace}/views/{view}`: its metadata files stay, so that it can be registered again. */
export async function dropView(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const { claims, catalog, ident } = viewTarget(request);
  const { id } = await requireView(context.store.db, claims.tenant, catalog, ident);
  return (await deleteView(context.store.db, id)) ? NO_CONTENT : viewNotFound(ident);
}
