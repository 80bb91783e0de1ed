import { replaceView as replace } from '../../../commit/view/commit-view.ts';
import { parseViewCommit } from '../../../metadata/view/view-request.ts';
import type { CatalogContext } from '../../../context.ts';
import { viewTarget } from '../../request-names.ts';
import type { Answer, RestRequest } from '../../rest-operation.ts';
import { loadViewAnswer } from './view-answer.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/** `POST /v1/{prefix}/namespaces/{namespace}/views/{view}`: commits to a view. */
export async function replaceViewOperation(
  context: CatalogContext,
  request: RestRequest,
  unit: UnitOfWork,
): Promise<Answer> {
  return loadViewAnswer(await replace(context, unit, viewTarget(request), parseViewCommit(request.body)));
}
