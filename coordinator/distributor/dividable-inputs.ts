import type { Plan } from '../plan/plan.ts';
import { joinRules } from './place/join-rules.ts';

/**
 * Returns the input stages whose partition several tasks may divide among themselves, each task reading the other inputs'
 * partition whole. This holds when no node of the fragment combines rows of that input with each other.
 * ```
 * aggregate (first step)
 *   join left             a: dividable      b: not, a row of `a` without a match would be there more than once
 *     a (partition)
 *     b (partition)
 * ```
 * Not below a union either, whose other inputs would count more than once.
 */
export function dividableInputs(root: Plan, isFirstStep: boolean): ReadonlySet<number> {
  const found = new Set<number>();
  const visit = (plan: Plan): void => {
    if (plan.kind === 'stage' && plan.read === 'partition') found.add(plan.stage);
    if (plan.kind === 'filter' || plan.kind === 'project' || plan.kind === 'unnest') visit(plan.child);
    if (plan.kind === 'join') {
      const rules = joinRules(plan);
      if (rules.broadcastRight) visit(plan.left);
      if (rules.broadcastLeft) visit(plan.right);
    }
  };
  visit(isFirstStep ? inputOfStep(root) : root);
  return found;
}

/** Returns the input of a first step. A first step accepts any part of the rows, so what is below it may be divided. */
function inputOfStep(plan: Plan): Plan {
  if (plan.kind === 'limit') return plan.child.kind === 'sort' ? plan.child.child : plan.child;
  if (plan.kind === 'filter' && plan.child.kind === 'window') return plan.child.child;
  return plan.kind === 'aggregate' || plan.kind === 'distinct' ? plan.child : plan;
}
