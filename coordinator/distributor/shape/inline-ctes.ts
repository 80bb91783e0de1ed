import { mapChildren, walkPlan } from '../../plan/plan-tree.ts';
import type { Plan } from '../../plan/plan.ts';

/**
 * ```
 * cte n: definition           body ... definition
 *   body ... cteScan n   ->
 * ```
 * Inlines a common table expression that one scan reads, and removes one that nothing reads. One with several readers stays, so that it is
 * computed once.
 */
export function inlineCtes(plan: Plan): Plan {
  if (plan.kind !== 'cte') return mapChildren(plan, inlineCtes);
  const definition = inlineCtes(plan.definition);
  const body = inlineCtes(plan.body);
  let reads = 0;
  for (const node of walkPlan(body)) if (node.kind === 'cteScan' && node.index === plan.index) reads += 1;
  if (reads === 0) return body;
  if (reads === 1) return put(body, plan.index, definition);
  return definition === plan.definition && body === plan.body ? plan : { ...plan, definition, body };
}

function put(plan: Plan, index: number, definition: Plan): Plan {
  if (plan.kind === 'cteScan' && plan.index === index) return definition;
  return mapChildren(plan, (child) => put(child, index, definition));
}
