import { unreachable } from '#shared/must.ts';
import type { Expression } from '../../plan/expression.ts';
import { outputFields } from '../../plan/plan-schema.ts';
import { mapChildren } from '../../plan/plan-tree.ts';
import type { JoinPlan, Plan } from '../../plan/plan.ts';

/**
 * Removes nodes without rows: those above a stage that gave none, or above a scan whose files are all pruned.
 * ```
 * join inner                          union all          b
 *   stage (no rows)    ->    empty      empty      ->
 *   b                                   b
 * ```
 * Does not fire where an empty input still gives rows: under an aggregate without groups, or on the side of an outer join that is filled
 * with NULLs. Returns the same reference when nothing is empty.
 */
export function endEmpty(plan: Plan, isEmpty: (leaf: Plan) => boolean): Plan {
  const ctes = new Set<number>();
  const end = (node: Plan): Plan => {
    if (node.kind === 'cteScan' && ctes.has(node.index)) return nothing(node);
    if (node.kind === 'cte') {
      const definition = end(node.definition);
      if (definition.kind === 'empty') ctes.add(node.index);
      const body = end(node.body);
      if (definition.kind === 'empty' || body.kind === 'empty') return body;
      return definition === node.definition && body === node.body ? node : { ...node, definition, body };
    }
    if (isEmpty(node)) return nothing(node);
    return endNode(mapChildren(node, end));
  };
  return end(plan);
}

type SetPlan = Extract<Plan, { readonly all: boolean; readonly children: readonly Plan[] }>;

const nothing = (plan: Plan): Plan => ({
  kind: 'empty',
  columns: outputFields(plan).map(({ name, type }, index) => ({ index, name, type })),
});

function endNode(plan: Plan): Plan {
  switch (plan.kind) {
    case 'filter':
    case 'project':
    case 'window':
    case 'unnest':
    case 'distinct':
    case 'sort':
    case 'limit':
    case 'sample':
      return plan.child.kind === 'empty' ? nothing(plan) : plan;
    case 'aggregate': {
      const hasTotal = plan.groups.length === 0 || plan.sets.some((set) => set.length === 0);
      return plan.child.kind === 'empty' && !hasTotal ? nothing(plan) : plan;
    }
    case 'join':
      return endJoin(plan);
    case 'cross':
      return plan.left.kind === 'empty' || plan.right.kind === 'empty' ? nothing(plan) : plan;
    case 'union':
      return withoutEmpty(plan);
    case 'intersect':
      return plan.children.some((child) => child.kind === 'empty') ? nothing(plan) : plan;
    case 'except':
      return plan.children[0]?.kind === 'empty' ? nothing(plan) : withoutEmpty(plan);
    case 'scan':
    case 'stage':
    case 'generator':
    case 'values':
    case 'oneRow':
    case 'empty':
    case 'positional':
    case 'delimScan':
    case 'cte':
    case 'recursiveCte':
    case 'cteScan':
    case 'exchange':
      return plan;
    default:
      return unreachable(plan);
  }
}

/** Drops empty inputs. If one input remains, it is the result of UNION ALL, and its distinct rows are that of UNION. */
function withoutEmpty(plan: SetPlan): Plan {
  const children = plan.children.filter((child) => child.kind !== 'empty');
  const [only] = children;
  if (only === undefined) return nothing(plan);
  if (children.length === plan.children.length) return plan;
  if (children.length > 1) return { ...plan, children };
  if (plan.all) return only;
  const on = outputFields(only).map(({ name, type }, index): Expression => ({ kind: 'column', index, name, type }));
  return { kind: 'distinct', child: only, on, orders: [], isOn: false };
}

function endJoin(plan: JoinPlan): Plan {
  const isLeft = plan.left.kind === 'empty';
  const isRight = plan.right.kind === 'empty';
  if (!isLeft && !isRight) return plan;
  switch (plan.type) {
    case 'inner':
    case 'semi':
    case 'rightSemi':
      return nothing(plan);
    case 'left':
    case 'single':
    case 'mark':
    case 'anti':
      return isLeft ? nothing(plan) : plan;
    case 'right':
    case 'rightAnti':
      return isRight ? nothing(plan) : plan;
    case 'full':
      if (isLeft && isRight) return nothing(plan);
      // The result is the other side's rows, none of which has a partner.
      return { ...plan, type: isLeft ? 'right' : 'left' };
    default:
      return unreachable(plan.type, 'join type');
  }
}
