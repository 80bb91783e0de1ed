import { randomUUID } from 'node:crypto';
import type { CatalogContext } from '../../../context.ts';
import { isForeignKeyViolation } from '../../../store/postgres/errors.ts';
import { insertPlan } from '../../../store/postgres/scan-plan-store.ts';
import { tableNotFound } from '../../../store/postgres/table-store.ts';
import { tableTarget } from '../../request-names.ts';
import { ok, type Answer, type RestRequest } from '../../rest-operation.ts';
import { completedAnswer, withOpenTable, wholePlanId, type OpenTable } from './plan-answer.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/**
 * `POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/plan`: answers with the files of a scan, unless planning takes longer than
 * `catalog.plan_wait`. A plan with more to fetch is kept for `catalog.plan_ttl`.
 */
export const planTableScan = (context: CatalogContext, request: RestRequest, unit: UnitOfWork): Promise<Answer> =>
  withOpenTable(context, request, (table) => planOpenTable(context, request, unit, table));

async function planOpenTable(
  context: CatalogContext,
  request: RestRequest,
  unit: UnitOfWork,
  table: OpenTable,
): Promise<Answer> {
  const { config, clock, planner } = context;
  const scan = await planner.resolve(table, request.body);
  const id = randomUUID();
  const portions = await planner.portions(id, table, scan, config['catalog.plan_wait']);
  if (portions !== undefined && portions.texts.length === 1) {
    planner.forget(id);
    const planId = wholePlanId(id);
    return completedAnswer(planId, portions, { 'plan-id': planId });
  }
  const nowMs = clock.nowMs();
  const plan = { id, tableId: table.id, scan, expiresAt: new Date(nowMs + config['catalog.plan_ttl']) };
  const limits = { countMax: config['catalog.plans_per_table_max'], now: new Date(nowMs) };
  await unit
    .transact((tx) => insertPlan(tx, plan, limits))
    .catch((error: unknown) => {
      planner.forget(id);
      // The table was dropped meanwhile.
      if (isForeignKeyViolation(error)) tableNotFound(tableTarget(request).ident);
      throw error;
    });
  if (portions === undefined) return ok({ status: 'submitted', 'plan-id': id });
  return completedAnswer(id, portions, { 'plan-id': id });
}
