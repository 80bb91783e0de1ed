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
    case 'stage':
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
    case 'exchange':
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

/** The node with each input replaced; the same reference when nothing changed. */
export function mapChildren(plan: Plan, map: (child: Plan) => Plan): Plan {
  switch (plan.kind) {
    case 'scan':
    case 'oneRow':
    case 'empty':
    case 'delimScan':
    case 'cteScan':
    case 'stage':
      return plan;
    case 'generator':
    case 'values': {
      const child = plan.child === null ? null : map(plan.child);
      return child === plan.child ? plan : { ...plan, child };
    }
    case 'filter':
    case 'project':
    case 'aggregate':
    case 'window':
    case 'unnest':
    case 'distinct':
    case 'sort':
    case 'limit':
    case 'sample':
    case 'exchange': {
      const child = map(plan.child);
      return child === plan.child ? plan : { ...plan, child };
    }
    case 'join':
    case 'cross':
    case 'positional': {
      const left = map(plan.left);
      const right = map(plan.right);
      return left === plan.left && right === plan.right ? plan : { ...plan, left, right };
    }
    case 'union':
    case 'intersect':
    case 'except': {
      const inputs = plan.children.map(map);
      return inputs.every((input, i) => input === plan.children[i]) ? plan : { ...plan, children: inputs };
    }
    case 'cte': {
      const definition = map(plan.definition);
      const body = map(plan.body);
      return definition === plan.definition && body === plan.body ? plan : { ...plan, definition, body };
    }
    case 'recursiveCte': {
      const anchor = map(plan.anchor);
      const step = map(plan.step);
      return anchor === plan.anchor && step === plan.step ? plan : { ...plan, anchor, step };
    }
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

/** The lowest index above those of all common table expressions of a plan. */
export function freeCteIndex(plan: Plan): number {
  let free = 0;
  for (const node of walkPlan(plan)) {
    if (node.kind === 'cte' || node.kind === 'recursiveCte') free = Math.max(free, node.index + 1);
  }
  return free;
}
