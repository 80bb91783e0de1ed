import type { Expression } from '../../plan/expression.ts';
import type { JoinPlan, Plan, PlanColumn } from '../../plan/plan.ts';
import { outputFields } from '../../plan/plan-schema.ts';
import { freeCteIndex, mapChildren } from '../../plan/plan-tree.ts';

/**
 * Replaces delim joins (DuckDB's correlated subqueries) by ordinary nodes: the side with the correlation columns is computed once, and its
 * distinct columns replace the scans in which the other side reads them.
 * ```
 * delim join                     cte n: left
 *   left                    ->     join
 *   ... delimScan ...                cteScan n
 *                                    ... aggregate by the columns <- cteScan n ...
 * ```
 * Does not fire without delim joins: the plan is the same reference then.
 */
export function expandDelimJoins(plan: Plan): Plan {
  let next = freeCteIndex(plan);
  const expand = (node: Plan): Plan => {
    if (node.kind !== 'join' || node.delim === null) return mapChildren(node, expand);
    const index = next;
    next += 1;
    return expandJoin(node, node.delim, index, expand);
  };
  return expand(plan);
}

function expandJoin(join: JoinPlan, delim: readonly Expression[], index: number, expand: (node: Plan) => Plan): Plan {
  const source = join.delimFlipped ? join.right : join.left;
  const other = join.delimFlipped ? join.left : join.right;
  const columns = outputFields(source).map(({ name, type }, at): PlanColumn => ({ index: at, name, type }));
  const scan: Plan = { kind: 'cteScan', index, columns };
  const distinct: Plan = { kind: 'aggregate', child: scan, groups: delim, sets: [], aggregates: [], groupings: [] };
  const expanded = expand(putDelimScans(other, distinct));
  const body: Plan = {
    ...join,
    delim: null,
    delimFlipped: false,
    left: join.delimFlipped ? expanded : scan,
    right: join.delimFlipped ? scan : expanded,
  };
  return { kind: 'cte', index, name: `delim${index}`, definition: expand(source), body };
}

/** Replaces the delim scans that belong to this join. Those on the other side of a nested delim join belong to the nested one. */
function putDelimScans(plan: Plan, distinct: Plan): Plan {
  if (plan.kind === 'delimScan') return distinct;
  if (plan.kind !== 'join' || plan.delim === null) return mapChildren(plan, (child) => putDelimScans(child, distinct));
  // The side that has the nested join's correlation columns may read ours; the other side reads those of the nested join.
  return plan.delimFlipped
    ? { ...plan, right: putDelimScans(plan.right, distinct) }
    : { ...plan, left: putDelimScans(plan.left, distinct) };
}
