import { randomUUID } from 'node:crypto';
import type { CatalogContext } from '../../../context.ts';
import { resolveScan } from '../../../planning/plan-request.ts';
import { isForeignKeyViolation } from '../../../store/postgres/errors.ts';
import { insertPlan } from '../../../store/postgres/scan-plan-store.ts';
import { tableNotFound } from '../../../store/postgres/table-store.ts';
import { tableTarget } from '../../names.ts';
import { ok, type Answer, type RestRequest } from '../../operation.ts';
import { completedJson, openTable, wholePlanId } from './plan-answer.ts';

/**
 * `POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/plan`: the files of a scan, at once unless planning takes longer than
 * `catalog.plan_wait`. A plan that has more to fetch is kept for `catalog.plan_ttl`.
 */
export async function planTableScan(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const table = await openTable(context, request);
  const scan = resolveScan(request.body, table.metadata);
  const id = randomUUID();
  const { config, clock, planner, store } = context;
  const entries = await planner.entries(id, table, scan, config['catalog.plan_wait']);
  if (entries !== undefined && entries.length <= config['catalog.plan_files_per_task']) {
    planner.forget(id);
    const planId = wholePlanId(id);
    return ok({ ...completedJson(context, planId, { entries, table, scan }), 'plan-id': planId });
  }
  const nowMs = clock.nowMs();
  const plan = { id, tableId: table.id, scan, expiresAt: new Date(nowMs + config['catalog.plan_ttl']) };
  const limits = { countMax: config['catalog.plans_per_table_max'], now: new Date(nowMs) };
  await store
    .transact((tx) => insertPlan(tx, plan, limits))
    .catch((error: unknown) => {
      planner.forget(id);
      // Dropped meanwhile.
      if (isForeignKeyViolation(error)) tableNotFound(tableTarget(request).ident);
      throw error;
    });
  if (entries === undefined) return ok({ status: 'submitted', 'plan-id': id });
  return ok({ ...completedJson(context, id, { entries, table, scan }), 'plan-id': id });
}
