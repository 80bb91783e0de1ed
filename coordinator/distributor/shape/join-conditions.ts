import { columnsRead, conjuncts, moveColumns } from '../../planner/expression-tree.ts';
import type { Expression } from '../../planner/expression.ts';
import { outputFields } from '../../planner/plan-schema.ts';
import { mapChildren } from '../../planner/plan-tree.ts';
import type { JoinPlan, Plan } from '../../planner/plan.ts';

/**
 * ```
 * join full, residual a.x = b.y AND b.z > 3         join full a.x = b.y, residual b.z > 3
 *   a                                         ->      a
 *   b                                                 b
 * ```
 * DuckDB leaves the whole condition of an outer join in one piece when a part of it is no comparison of the sides; the join can go by
 * its equalities all the same. Does not fire for what is no equality of one side's expression with the other's.
 */
export function joinConditions(plan: Plan): Plan {
  const below = mapChildren(plan, joinConditions);
  if (below.kind !== 'join' || below.residual === null || below.asof || !TYPES.has(below.type)) return below;
  return takeEqualities(below, below.residual);
}

/** A mark's and a single join's conditions mean more than that a row matches. */
const TYPES: ReadonlySet<JoinPlan['type']> = new Set(['inner', 'left', 'right', 'full', 'semi', 'anti']);

function takeEqualities(join: JoinPlan, residual: Expression): Plan {
  const width = outputFields(join.left).length;
  const parts = conjuncts(residual).map((part) => ({ part, condition: equality(part, width) }));
  const taken = parts.flatMap(({ condition }) => (condition === null ? [] : [condition]));
  if (taken.length === 0) return join;
  const rest = parts.flatMap(({ part, condition }) => (condition === null ? [part] : []));
  const [only] = rest;
  return {
    ...join,
    conditions: [...join.conditions, ...taken],
    residual: only === undefined ? null : rest.length === 1 ? only : { kind: 'and', children: rest },
  };
}

function equality(condition: Expression, width: number): JoinPlan['conditions'][number] | null {
  if (condition.kind !== 'compare' || (condition.op !== 'eq' && condition.op !== 'notDistinct')) return null;
  const { op } = condition;
  for (const [left, right] of [
    [condition.left, condition.right],
    [condition.right, condition.left],
  ] as const) {
    const [ofLeft, ofRight] = [columnsRead(left), columnsRead(right)];
    if (ofLeft.size === 0 || ofRight.size === 0) continue;
    if (![...ofLeft].every((at) => at < width)) continue;
    const moved = moveColumns(right, (index) => (index >= width ? index - width : null));
    if (moved !== null) return { op, left, right: moved };
  }
  return null;
}
