import { unreachable } from '#shared/must.ts';
import type { Plan } from './plan.ts';

/** The inputs of a node, in order. */
export function children(plan: Plan): readonly Plan[] {
  switch (plan.kind) {
    case 'scan':
    case 'oneRow':
    case 'empty':
    case 'delimScan':
    case 'cteScan':
      return [];
    case 'generator':
    case 'values':
      return plan.child === null ? [] : [plan.child];
    case 'filter':
    case 'project':
    case 'aggregate':
    case 'window':
    case 'unnest':
    case 'distinct':
    case 'sort':
    case 'limit':
    case 'sample':
      return [plan.child];
    case 'join':
    case 'cross':
    case 'positional':
      return [plan.left, plan.right];
    case 'union':
    case 'intersect':
    case 'except':
      return plan.children;
    case 'cte':
      return [plan.definition, plan.body];
    case 'recursiveCte':
      return [plan.anchor, plan.step];
    default:
      return unreachable(plan);
  }
}

/** Every node, parents before children. */
export function* walkPlan(plan: Plan): Generator<Plan> {
  const open: Plan[] = [plan];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    yield next;
    open.push(...children(next).toReversed());
  }
}
