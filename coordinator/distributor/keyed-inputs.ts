import type { Expression } from '../plan/expression.ts';
import { mapChildren, walkPlan } from '../plan/plan-tree.ts';
import type { JoinPlan, Plan } from '../plan/plan.ts';

/**
 * ```
 * join inner a = b              join inner a = b
 *   scan              ->          scan
 *   stage 1                       filter b IS NOT NULL
 *                                   stage 1
 * ```
 * Rows without a key match nothing. DuckDB makes a Bloom filter of a hash table's keys, and gives it to the scan that is probed, only
 * when it sees a condition on the side that is built; what an earlier stage has filtered already looks like a whole table to it. Does
 * not fire for joins of several conditions, which get none.
 */
export function keyedInputs(plan: Plan): Plan {
  const below = mapChildren(plan, keyedInputs);
  const [condition, second] = below.kind === 'join' ? below.conditions : [];
  if (below.kind !== 'join' || condition?.op !== 'eq' || second !== undefined || below.asof) return below;
  if (below.type !== 'inner' && below.type !== 'semi') return below;
  if (isBuild(below.right, below.left)) return { ...below, right: withKey(below.right, condition.right) };
  // DuckDB turns the sides of an inner join when the left one is smaller.
  if (below.type === 'inner' && isBuild(below.left, below.right)) {
    return { ...below, left: withKey(below.left, condition.left) };
  }
  return below;
}

const isBuild = (side: Plan, probe: Plan): boolean => has(side, 'stage') && has(probe, 'scan');

function has(plan: Plan, kind: Plan['kind']): boolean {
  for (const node of walkPlan(plan)) if (node.kind === kind) return true;
  return false;
}

const withKey = (child: JoinPlan['left'], key: Expression): Plan => ({
  kind: 'filter',
  child,
  conditions: [{ kind: 'isNotNull', child: key }],
  projection: null,
});
