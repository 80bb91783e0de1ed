import { must } from '#shared/must.ts';
import { printJson, type Json, type JsonObject } from '#shared/json.ts';
import { requireOpenFiles } from '../../../authorization/policies.ts';
import { withTable } from '../../../commit/with-table.ts';
import type { CatalogContext } from '../../../context.ts';
import { readableRootsOf } from '../../../policy/readable-roots.ts';
import type { Portions } from '../../../planning/plan-portions.ts';
import type { ScannedTable } from '../../../planning/scan-planner.ts';
import { tableTarget } from '../../request-names.ts';
import type { Answer, RestRequest } from '../../rest-operation.ts';

/**
 * A plan's files are sent in portions of `catalog.plan_files_per_task`: the first with the answer, the others by plan tasks. A plan task is
 * `<plan id>.<portion>`; its plan belongs to one table, and only callers who may read that table can fetch it.
 */

export type OpenTable = ScannedTable & { readonly id: string };

/** Gives `work` the table that a request names. @throws TABLE_NOT_FOUND, as for an absent one. */
export function withOpenTable<T>(
  context: CatalogContext,
  request: RestRequest,
  work: (table: OpenTable) => Promise<T>,
): Promise<T> {
  const target = tableTarget(request);
  const { tenant } = target.claims;
  return withTable(context, target, async ({ id, metadata, metadataLocation, roots, isPoliced }) => {
    requireOpenFiles({ isPoliced }, request);
    const readable = await readableRootsOf(context.store.db, { id, roots }, target.claims);
    return work({ id, tenant, metadata, metadataLocation, roots: readable });
  });
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Prefix of the ids of plans that one answer held completely: nothing is stored for them. */
const WHOLE_PREFIX = 'whole-';

export const isPlanId = (text: string): boolean => UUID.test(text);
export const wholePlanId = (id: string): string => `${WHOLE_PREFIX}${id}`;
export const isWholePlanId = (text: string): boolean =>
  text.startsWith(WHOLE_PREFIX) && isPlanId(text.slice(WHOLE_PREFIX.length));

/** Parses a plan task into plan id and portion; undefined when it is not of our form. */
export function parsePlanTask(text: string): { readonly planId: string; readonly portion: number } | undefined {
  const [planId = '', portion = '', ...rest] = text.split('.');
  if (!isPlanId(planId) || !/^\d{1,7}$/.test(portion) || rest.length > 0) return undefined;
  return { planId, portion: Number(portion) };
}

/** Returns the `ScanTasks` of one portion; undefined when the plan has no such portion. */
export function portionText({ texts }: Portions, portion: number): string | undefined {
  const text = texts[portion];
  return text === undefined ? undefined : Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString();
}

/** `CompletedPlanningResult`: the first portion, plan tasks for the rest, and further members. */
export function completedAnswer(planId: string, portions: Portions, more: JsonObject = {}): Answer {
  const tasks = portions.texts.slice(1).map((_text, i): Json => `${planId}.${i + 1}`);
  const members = { ...more, ...(tasks.length === 0 ? {} : { 'plan-tasks': tasks }), status: 'completed' };
  const first = must(portionText(portions, 0), 'there is always a first portion');
  // A portion is printed when it is planned, and never parsed again.
  return { status: 200, text: `${printJson(members).slice(0, -1)},${first.slice(1)}` };
}
