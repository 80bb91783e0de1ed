import { columnsRead, conjuncts, moveColumns } from '../../plan/expression-tree.ts';
import type { Expression } from '../../plan/expression.ts';
import { outputFields } from '../../plan/plan-schema.ts';
import { mapChildren } from '../../plan/plan-tree.ts';
import type { JoinPlan, Plan } from '../../plan/plan.ts';

/**
 * ```
 * join full, residual a.x = b.y AND b.z > 3         join full a.x = b.y, residual b.z > 3
 *   a                                         ->      a
 *   b                                                 b
 * ```
 * DuckDB keeps the whole condition of an outer join as its residual when a part of it does not compare the two sides. This moves the
 * equalities between the sides into the join's conditions, by which it can be hashed. Does not fire for any other part.
 */
export function joinConditions(plan: Plan): Plan {
  const below = mapChildren(plan, joinConditions);
  if (below.kind !== 'join' || below.residual === null || below.asof || !TYPES.has(below.type)) return below;
  return takeEqualities(below, below.residual);
}

/** Not mark and single joins: their conditions decide more than whether a row matches. */
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
