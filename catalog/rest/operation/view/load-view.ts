import type { CatalogContext } from '../../../context.ts';
import { requireView } from '../../../store/postgres/view-store.ts';
import { viewTarget } from '../../request-names.ts';
import type { Answer, RestRequest } from '../../rest-operation.ts';
import { loadViewAnswer } from './view-answer.ts';

/** `GET /v1/{prefix}/namespaces/{namespace}/views/{view}`: from Postgres; clients do not read a view's metadata file. */
export async function loadView(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const { claims, catalog, ident } = viewTarget(request);
  return loadViewAnswer(await requireView(context.store.db, claims.tenant, catalog, ident));
}
