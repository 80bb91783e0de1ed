import { createView as create } from '../../../commit/view/commit-view.ts';
import { parseCreateView } from '../../../commit/view/view-request.ts';
import type { CatalogContext } from '../../../context.ts';
import { checkName, namespaceOf } from '../../names.ts';
import type { Answer, RestRequest } from '../../operation.ts';
import { loadViewAnswer } from './view-answer.ts';

/** `POST /v1/{prefix}/namespaces/{namespace}/views`: 409 when a view or a table has the name. */
export async function createView(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const body = parseCreateView(request.body);
  const ident = { namespace: namespaceOf(request.params['namespace'] ?? ''), name: checkName(body.name, 'view') };
  const target = { claims: request.claims, catalog: request.params['prefix'] ?? '', ident };
  return loadViewAnswer(await create(context, target, body));
}
