import type { TableTarget } from '../../../commit/creation.ts';
import { createView as create } from '../../../commit/view/commit-view.ts';
import { parseCreateView } from '../../../metadata/view/view-request.ts';
import type { CatalogContext } from '../../../context.ts';
import { requireView } from '../../../store/postgres/view-store.ts';
import { checkName, namespaceOf } from '../../../metadata/check-name.ts';
import type { Answer, RestRequest } from '../../rest-operation.ts';
import { loadViewAnswer } from './view-answer.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/** `POST /v1/{prefix}/namespaces/{namespace}/views`: 409 when a view or a table has the name. */
export async function createViewOperation(
  context: CatalogContext,
  request: RestRequest,
  unit: UnitOfWork,
): Promise<Answer> {
  const body = parseCreateView(request.body);
  return loadViewAnswer(await create(context, unit, targetOf(request, body.name), body));
}

export async function createViewAgain(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const { claims, catalog, ident } = targetOf(request, parseCreateView(request.body).name);
  return loadViewAnswer(await requireView(context.store.db, claims.tenant, catalog, ident));
}

const targetOf = (request: RestRequest, name: string): TableTarget => ({
  claims: request.claims,
  catalog: request.params['prefix'] ?? '',
  ident: { namespace: namespaceOf(request.params['namespace'] ?? ''), name: checkName(name, 'view') },
});
