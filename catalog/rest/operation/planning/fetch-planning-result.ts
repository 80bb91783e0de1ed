import { SkeinError } from '#shared/error.ts';
import type { CatalogContext } from '../../../context.ts';
import { findPlan } from '../../../store/postgres/scan-plan-store.ts';
import { ok, type Answer, type RestRequest } from '../../rest-operation.ts';
import { completedAnswer, isPlanId, withOpenTable } from './plan-answer.ts';

/** `GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/plan/{plan-id}`: waits for the plan as long as its submission did. */
export async function fetchPlanningResult(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const planId = request.params['plan-id'] ?? '';
  return withOpenTable(context, request, async (table) => {
    const now = new Date(context.clock.nowMs());
    const scan = isPlanId(planId) ? await findPlan(context.store.db, table.id, planId, now) : undefined;
    if (scan === undefined) throw new SkeinError('PLAN_NOT_FOUND', 'The scan plan does not exist');
    const portions = await context.planner.portions(planId, table, scan, context.config['catalog.plan_wait']);
    return portions === undefined ? ok({ status: 'submitted' }) : completedAnswer(planId, portions);
  });
}
