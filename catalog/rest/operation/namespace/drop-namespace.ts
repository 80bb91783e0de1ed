import type { CatalogContext } from '../../../context.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { deleteNamespace } from '../../../store/postgres/namespace-store.ts';
import { namespaceOf } from '../../names.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../operation.ts';

/** `DELETE /v1/{prefix}/namespaces/{namespace}`: 409 while it holds tables or namespaces. */
export async function dropNamespace(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const { db } = context.store;
  const path = namespaceOf(request.params['namespace'] ?? '');
  const catalog = await requireCatalog(db, request.claims.tenant, request.params['prefix'] ?? '');
  await deleteNamespace(db, catalog.id, path);
  return NO_CONTENT;
}
