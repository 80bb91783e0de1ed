import type { CatalogContext } from '../../../context.ts';
import { requireView } from '../../../store/postgres/view-store.ts';
import { viewTarget } from '../../request-names.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../rest-operation.ts';

/** `HEAD /v1/{prefix}/namespaces/{namespace}/views/{view}`: 204, or 404 without a body. */
export async function viewExists(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const { claims, catalog, ident } = viewTarget(request);
  await requireView(context.store.db, claims.tenant, catalog, ident);
  return NO_CONTENT;
}
