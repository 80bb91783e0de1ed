import { mapChildren } from '../planner/plan-tree.ts';
import type { Plan } from '../planner/plan.ts';
import type { DistributedPlan } from './fragment.ts';

/**
 * What is left of a query when some of its stages have run: their rows are leaves, or the input of what is left to do to them; all
 * other decisions are forgotten, so that `distribute` makes them again with true counts.
 * ```
 * aggregate                       project
 *   join             stages 1       aggregate (final)
 *     a (stage 1)    and 3  ->        stage 3
 *     b                 ran
 * ```
 */
export function advance(distributed: DistributedPlan, ran: ReadonlySet<number>): Plan {
  const by = new Map<Plan, Plan>();
  // Of two stages for one node (a final step's, and its input's) the later one is nearer the result.
  for (const { stage, replaces, by: plan } of distributed.replacements) if (ran.has(stage)) by.set(replaces, plan);
  const replace = (plan: Plan): Plan => by.get(plan) ?? mapChildren(plan, replace);
  return replace(distributed.source);
}
