import { parseJson } from '#shared/json.ts';
import { translatePostgres } from '#coordinator/dialect/postgres/translate-postgres.ts';
import { translateForeign } from '#coordinator/dialect/translate-foreign.ts';
import { printReply } from '#coordinator/planner/plan-text.ts';
import { PlannerSession } from '#coordinator/planner/planner-session.ts';
import type { Planner, PlanReply } from '#coordinator/binding/planner.ts';

/** A planner in this process: the same session that a planner process runs, without its limits. */
export async function sessionPlanner(): Promise<Planner> {
  const session = await PlannerSession.open(512 * 2 ** 20);
  return {
    parse: (request) => session.parse(request),
    plan: async (request) => parseJson(printReply(await session.plan(request), request)) as unknown as PlanReply,
    bind: (request) => session.bind(request),
    translate: async ({ sql, dialect }) => translateForeign(sql, dialect),
    postgres: translatePostgres,
    compare: (request) => session.compare(request),
    describe: (request) => session.describe(request),
    checkParts: (parts) => session.checkParts(parts),
    close: () => Promise.resolve(),
  };
}
