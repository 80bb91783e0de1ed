import { mapChildren } from '../plan/plan-tree.ts';
import type { Plan } from '../plan/plan.ts';
import type { DistributedPlan } from './fragment.ts';

/**
 * Returns the plan that remains of a query after some of its stages have run. Their rows become leaves, or the input of the steps that
 * still apply to them. All other decisions are forgotten, so that `distribute` makes them again with true counts.
 * ```
 * aggregate                       project
 *   join             stages 1       aggregate (final)
 *     a (stage 1)    and 3  ->        stage 3
 *     b                 ran
 * ```
 */
export function advance(distributed: DistributedPlan, ran: ReadonlySet<number>): Plan {
  const by = new Map<Plan, Plan>();
  // When two stages replace one node (a final step's, and its input's), the later one wins: it is nearer the result.
  for (const { stage, replaces, by: plan } of distributed.replacements) if (ran.has(stage)) by.set(replaces, plan);
  const replace = (plan: Plan): Plan => by.get(plan) ?? mapChildren(plan, replace);
  return replace(distributed.source);
}
