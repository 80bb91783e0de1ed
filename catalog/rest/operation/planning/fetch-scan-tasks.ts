import { SkeinError } from '#shared/error.ts';
import { asObject, requiredString } from '../../../metadata/json-reader.ts';
import type { CatalogContext } from '../../../context.ts';
import { findPlan } from '../../../store/postgres/scan-plan-store.ts';
import type { Answer, RestRequest } from '../../rest-operation.ts';
import { withOpenTable, parsePlanTask, portionText } from './plan-answer.ts';

/** `POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/tasks`: the files of a plan task. */
export async function fetchScanTasks(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const task = parsePlanTask(requiredString(asObject(request.body, 'fetch scan tasks request'), 'plan-task'));
  const portions = await withOpenTable(context, request, async (table) => {
    const now = new Date(context.clock.nowMs());
    const scan = task === undefined ? undefined : await findPlan(context.store.db, table.id, task.planId, now);
    if (task === undefined || scan === undefined) throw taskNotFound();
    // A process that does not have the plan makes it anew, so this may take as long as planning may.
    const waitMs = context.config['catalog.plan_timeout'];
    return context.planner.portions(task.planId, table, scan, waitMs).catch((error: unknown) => {
      throw error instanceof SkeinError && error.code === 'PLAN_NOT_FOUND' ? taskNotFound() : error;
    });
  });
  const text = portions === undefined || task === undefined ? undefined : portionText(portions, task.portion);
  if (text === undefined) throw taskNotFound();
  return { status: 200, text };
}

const taskNotFound = (): SkeinError => new SkeinError('PLAN_TASK_NOT_FOUND', 'The plan task does not exist');
