import { must } from '#shared/must.ts';
import type { PlannedEntry } from '#shared/iceberg/plan-files.ts';
import { parseTableMetadata } from '#shared/iceberg/table-metadata.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { CatalogContext } from '../../../context.ts';
import type { PlannedScan } from '../../../planning/plan-request.ts';
import type { ScannedTable } from '../../../planning/scan-planner.ts';
import { scanTasksJson } from '../../../planning/scan-tasks-json.ts';
import { requireTable } from '../../../store/postgres/table-store.ts';
import { tableTarget } from '../../names.ts';
import type { RestRequest } from '../../operation.ts';

/**
 * A plan's files come in portions of `catalog.plan_files_per_task`: the first with the answer, the others for plan tasks. A plan task is
 * `<plan id>.<portion>`; its plan belongs to one table, and only who may read that can ask for it.
 */

export type OpenTable = ScannedTable & { readonly id: string };

/** The table of a request. @throws TABLE_NOT_FOUND, as for an absent one. */
export async function openTable(context: CatalogContext, request: RestRequest): Promise<OpenTable> {
  const { claims, catalog, ident } = tableTarget(request);
  const { id, metadata, roots } = await requireTable(context.store.db, claims.tenant, catalog, ident);
  return { id, tenant: claims.tenant, roots, metadata: parseTableMetadata(metadata) };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Ids of plans that were answered whole: nothing is kept for them. */
const WHOLE_PREFIX = 'whole-';

export const isPlanId = (text: string): boolean => UUID.test(text);
export const wholePlanId = (id: string): string => `${WHOLE_PREFIX}${id}`;
export const isWholePlanId = (text: string): boolean =>
  text.startsWith(WHOLE_PREFIX) && isPlanId(text.slice(WHOLE_PREFIX.length));

/** Plan id and portion of a plan task; undefined when it is none of ours. */
export function parsePlanTask(text: string): { readonly planId: string; readonly portion: number } | undefined {
  const [planId = '', portion = '', ...rest] = text.split('.');
  if (!isPlanId(planId) || !/^\d{1,7}$/.test(portion) || rest.length > 0) return undefined;
  return { planId, portion: Number(portion) };
}

const portionsOf = (context: CatalogContext, entries: readonly PlannedEntry[]): number =>
  Math.ceil(entries.length / context.config['catalog.plan_files_per_task']);

/** `ScanTasks` of one portion; undefined when the plan has no such one. */
export function portionJson(
  context: CatalogContext,
  plan: { readonly entries: readonly PlannedEntry[]; readonly table: OpenTable; readonly scan: PlannedScan },
  portion: number,
): JsonObject | undefined {
  const size = context.config['catalog.plan_files_per_task'];
  const files = plan.entries.slice(portion * size, (portion + 1) * size);
  return files.length === 0 && portion > 0 ? undefined : scanTasksJson(files, plan.table.metadata, plan.scan);
}

/** `CompletedPlanningResult`: the first portion, and plan tasks for the rest. */
export function completedJson(
  context: CatalogContext,
  planId: string,
  plan: { readonly entries: readonly PlannedEntry[]; readonly table: OpenTable; readonly scan: PlannedScan },
): JsonObject {
  const rest = Math.max(0, portionsOf(context, plan.entries) - 1);
  const tasks = Array.from({ length: rest }, (_, i): Json => `${planId}.${i + 1}`);
  return {
    status: 'completed',
    ...must(portionJson(context, plan, 0), 'there is always a first portion'),
    ...(tasks.length === 0 ? {} : { 'plan-tasks': tasks }),
  };
}
