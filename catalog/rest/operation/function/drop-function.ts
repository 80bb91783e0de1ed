import type { CatalogContext } from '../../../context.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { deleteFunction, functionNotFound } from '../../../store/postgres/function-store.ts';
import { requireNamespace } from '../../../store/postgres/namespace-store.ts';
import { functionIdent } from '../../request-names.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../rest-operation.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/** `DELETE /v1/{prefix}/namespaces/{namespace}/functions/{function}`, an extension; the metadata file stays. */
export async function dropFunction(_context: CatalogContext, request: RestRequest, unit: UnitOfWork): Promise<Answer> {
  const ident = functionIdent(request);
  await unit.transact(async (tx) => {
    const catalog = await requireCatalog(tx, request.claims.tenant, request.params['prefix'] ?? '');
    const namespace = await requireNamespace(tx, catalog.id, ident.namespace);
    if (!(await deleteFunction(tx, namespace.id, ident.name))) functionNotFound(ident);
  });
  return NO_CONTENT;
}
