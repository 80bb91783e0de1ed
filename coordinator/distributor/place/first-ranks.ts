import type { Expression } from '../../plan/expression.ts';
import { outputFields } from '../../plan/plan-schema.ts';
import type { Plan } from '../../plan/plan.ts';

type FilterPlan = Extract<Plan, { kind: 'filter' }>;

const RANKS: ReadonlySet<string> = new Set(['row_number', 'rank', 'dense_rank', 'rank_dense']);

/**
 * Turns a filter that keeps the first ranks of each window partition into a filter that may be applied to any part of the rows
 * first: a row's rank in a part is never greater than among all rows.
 * ```
 * filter rank <= 3         filter rank <= 3, keeps the columns of `part`
 *   window rank by a  ->     window rank by a
 *     input                    part
 * ```
 * Returns null for any other filter or window, and for a window with a second call, which would see fewer rows.
 */
export function firstRanks(filter: FilterPlan): ((part: Plan) => Plan) | null {
  const { child: window } = filter;
  if (window.kind !== 'window' || window.calls.length !== 1) return null;
  const [call] = window.calls;
  if (call === undefined || !RANKS.has(call.name) || call.orders.length === 0) return null;
  const width = outputFields(window.child).length;
  const bounds = filter.conditions.filter((condition) => isUpperBound(condition, width));
  if (bounds.length === 0) return null;
  const projection = Array.from({ length: width }, (_, i) => i);
  return (part) => ({ kind: 'filter', child: { ...window, child: part }, conditions: bounds, projection });
}

function isUpperBound(condition: Expression, column: number): boolean {
  if (condition.kind !== 'compare') return false;
  const { op, left, right } = condition;
  if (isRank(left, column) && right.kind === 'constant') return op === 'lt' || op === 'le';
  return isRank(right, column) && left.kind === 'constant' && (op === 'gt' || op === 'ge');
}

const isRank = (expression: Expression, column: number): boolean =>
  expression.kind === 'column' && expression.index === column;
