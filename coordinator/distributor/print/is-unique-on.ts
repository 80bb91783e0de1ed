import { unreachable } from '#shared/must.ts';
import type { Plan } from '../../plan/plan.ts';

/** Whether no two rows of the plan are equal in all of the columns `keys`. False when unknown. */
export function isUniqueOn(plan: Plan, keys: ReadonlySet<number>): boolean {
  switch (plan.kind) {
    case 'project':
      return isUniqueOn(
        plan.child,
        through(
          keys,
          plan.expressions.map(({ expression }) => (expression.kind === 'column' ? expression.index : null)),
        ),
      );
    case 'filter':
    case 'sort':
      return isUniqueOn(plan.child, plan.projection === null ? keys : through(keys, plan.projection));
    case 'aggregate':
      return plan.sets.length <= 1 && plan.groups.every((_, i) => keys.has(i));
    case 'distinct':
      return !plan.isOn && plan.on.every((one) => one.kind === 'column' && keys.has(one.index)) && plan.on.length > 0;
    case 'limit':
      return (plan.limit.kind === 'rows' && plan.limit.rows <= 1) || isUniqueOn(plan.child, keys);
    case 'oneRow':
    case 'empty':
      return true;
    case 'scan':
    case 'generator':
    case 'values':
    case 'window':
    case 'unnest':
    case 'sample':
    case 'join':
    case 'cross':
    case 'positional':
    case 'delimScan':
    case 'union':
    case 'intersect':
    case 'except':
    case 'cte':
    case 'recursiveCte':
    case 'cteScan':
    case 'stage':
    // Several tasks may have made the same row.
    case 'exchange':
      return false;
    default:
      return unreachable(plan);
  }
}

/** Maps the keys of a node to positions in its child. */
const through = (keys: ReadonlySet<number>, positions: readonly (number | null)[]): ReadonlySet<number> =>
  new Set([...keys].flatMap((key) => positions[key] ?? []));
