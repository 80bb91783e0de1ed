import type { Plan } from '../../plan/plan.ts';

/**
 * Whether a node may give other rows when the same input comes in another order: such a node is computed in one place, and a task that
 * has one is not repeatable.
 */
export function isOrderSensitive(plan: Plan): boolean {
  switch (plan.kind) {
    case 'limit':
      return plan.limit.kind !== 'none' || plan.offset.kind !== 'none';
    case 'sample':
      return true;
    case 'distinct':
      return plan.isOn;
    case 'aggregate':
      return plan.aggregates.some((call) => !ORDER_FREE_AGGREGATES.has(call.name));
    case 'window':
      return plan.calls.some(
        (call) =>
          !ORDER_FREE_WINDOWS.has(call.name) || call.frame.start.endsWith('_ROWS') || call.frame.end.endsWith('_ROWS'),
      );
    case 'join':
      return plan.asof;
    case 'scan':
    case 'generator':
    case 'values':
    case 'oneRow':
    case 'empty':
    case 'filter':
    case 'project':
    case 'unnest':
    case 'sort':
    case 'cross':
    case 'positional':
    case 'delimScan':
    case 'union':
    case 'intersect':
    case 'except':
    case 'cte':
    case 'recursiveCte':
    case 'cteScan':
    case 'exchange':
    case 'stage':
      return false;
  }
}

/** Aggregates that do not depend on row order, except for the last digits of a sum of doubles, as in every engine. */
const ORDER_FREE_AGGREGATES: ReadonlySet<string> = new Set(
  `count count_star count_if countif sum sum_no_overflow avg min max bool_and bool_or bit_and bit_or bit_xor median mad
  quantile quantile_cont quantile_disc var_pop var_samp variance stddev stddev_pop stddev_samp`.split(/\s+/),
);

const ORDER_FREE_WINDOWS: ReadonlySet<string> = new Set([
  ...ORDER_FREE_AGGREGATES,
  'rank',
  'dense_rank',
  'rank_dense',
  'percent_rank',
  'cume_dist',
]);
