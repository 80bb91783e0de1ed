import type { CatalogContext } from '../../../context.ts';
import { requireTableHead } from '../../../store/postgres/table-store.ts';
import { tableTarget } from '../../request-names.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../rest-operation.ts';

/** `HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}`: 204, or 404 without a body. */
export async function tableExistsOperation(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const target = tableTarget(request);
  await requireTableHead(context.store.db, target.claims.tenant, target.catalog, target.ident);
  return NO_CONTENT;
}
