import type { CatalogContext } from '../../../context.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { requireFunction } from '../../../store/postgres/function-store.ts';
import { requireNamespace } from '../../../store/postgres/namespace-store.ts';
import { functionIdent } from '../../request-names.ts';
import type { Answer, RestRequest } from '../../rest-operation.ts';
import { loadFunctionAnswer } from './function-answer.ts';

/** `GET /v1/{prefix}/namespaces/{namespace}/functions/{function}`: all definitions of the name. */
export async function loadFunction(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const { db } = context.store;
  const ident = functionIdent(request);
  const catalog = await requireCatalog(db, request.claims.tenant, request.params['prefix'] ?? '');
  const namespace = await requireNamespace(db, catalog.id, ident.namespace);
  return loadFunctionAnswer(await requireFunction(db, namespace.id, ident));
}
