import type { CatalogContext } from '../../../context.ts';
import { requireUnprotectedNamespace } from '../../../commit/protection.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { deleteNamespace } from '../../../store/postgres/namespace-store.ts';
import { namespaceOf } from '../../../metadata/check-name.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../rest-operation.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/** `DELETE /v1/{prefix}/namespaces/{namespace}`: 409 while it holds tables or namespaces, 403 when it is protected. */
export async function dropNamespace(_context: CatalogContext, request: RestRequest, unit: UnitOfWork): Promise<Answer> {
  const path = namespaceOf(request.params['namespace'] ?? '');
  await unit.transact(async (tx) => {
    const catalog = await requireCatalog(tx, request.claims.tenant, request.params['prefix'] ?? '');
    requireUnprotectedNamespace(await deleteNamespace(tx, catalog.id, path), path);
  });
  return NO_CONTENT;
}
