import type { Plan } from '../planner/plan.ts';
import { joinRules } from './place/join-rules.ts';

/**
 * The stages of which a fragment's task may read a part of its partition, if others read the rest, each with the other inputs'
 * partition whole: nothing on the way up brings rows of that input together.
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

/** Below a first step, which may be given any rows. */
function inputOfStep(plan: Plan): Plan {
  if (plan.kind === 'limit') return plan.child.kind === 'sort' ? plan.child.child : plan.child;
  if (plan.kind === 'filter' && plan.child.kind === 'window') return plan.child.child;
  return plan.kind === 'aggregate' || plan.kind === 'distinct' ? plan.child : plan;
}
