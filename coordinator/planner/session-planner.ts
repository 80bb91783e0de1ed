import { PlannerSession } from './planner-session.ts';
import type { Planner } from './planner.ts';

/** A planner in this process, for tests: the same session that a planner process runs, without its limits. */
export async function sessionPlanner(): Promise<Planner> {
  const session = await PlannerSession.open(512 * 2 ** 20);
  return {
    parse: (request) => session.parse(request),
    plan: (request) => session.plan(request),
    close: () => Promise.resolve(),
  };
}
