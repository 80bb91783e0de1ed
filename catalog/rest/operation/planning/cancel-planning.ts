import { SkeinError } from '#shared/error.ts';
import type { CatalogContext } from '../../../context.ts';
import { deletePlan } from '../../../store/postgres/scan-plan-store.ts';
import { requireTableHead } from '../../../store/postgres/table-store.ts';
import { tableTarget } from '../../request-names.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../rest-operation.ts';
import { isPlanId, isWholePlanId } from './plan-answer.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/** `DELETE /v1/{prefix}/namespaces/{namespace}/tables/{table}/plan/{plan-id}`: the plan is stopped and forgotten. */
export async function cancelPlanning(context: CatalogContext, request: RestRequest, unit: UnitOfWork): Promise<Answer> {
  const planId = request.params['plan-id'] ?? '';
  const { claims, catalog, ident } = tableTarget(request);
  const { id } = await requireTableHead(context.store.db, claims.tenant, catalog, ident);
  if (isWholePlanId(planId)) return NO_CONTENT;
  await unit.transact(async (tx) => {
    if (isPlanId(planId) && (await deletePlan(tx, id, planId))) return;
    throw new SkeinError('PLAN_NOT_FOUND', 'The scan plan does not exist');
  });
  context.planner.forget(planId);
  return NO_CONTENT;
}
