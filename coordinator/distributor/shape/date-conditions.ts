import type { Expression } from '../../plan/expression.ts';
import { mapChildren } from '../../plan/plan-tree.ts';
import type { Plan } from '../../plan/plan.ts';
import type { SqlType } from '../../plan/sql-type.ts';

type Comparison = Extract<Expression, { kind: 'compare' }>;

const MICROS_PER_DAY = 86_400_000_000n;
/** Days up to this, before and after 1970, are also timestamps; none of them is an infinity. */
const DAYS_MAX = 100_000_000n;

/**
 * ```
 * filter CAST(d AS TIMESTAMP) < TIMESTAMP '1995-01-01 12:00'        filter d <= DATE '1995-01-01'
 *   scan                                                      ->      scan
 * ```
 * `d < DATE '1994-01-01' + INTERVAL 1 YEAR` compares timestamps, because a date with an interval is one. A scan that computes a cast for
 * every row takes a third longer and prunes nothing. Does not fire for equality, for anything but a column of dates, nor for TRY_CAST,
 * which gives NULL for a date that no timestamp represents.
 */
export function dateConditions(plan: Plan): Plan {
  const below = mapChildren(plan, dateConditions);
  if (below.kind !== 'filter') return below;
  const conditions = below.conditions.map(simplify);
  return conditions.every((one, i) => one === below.conditions[i]) ? below : { ...below, conditions };
}

function simplify(condition: Expression): Expression {
  if (condition.kind === 'and' || condition.kind === 'or') {
    const children = condition.children.map(simplify);
    return children.every((one, i) => one === condition.children[i]) ? condition : { ...condition, children };
  }
  if (condition.kind === 'compare') return compareDates(condition) ?? condition;
  if (condition.kind !== 'between') return condition;
  const { input, lower, upper, lowerInclusive, upperInclusive } = condition;
  const from = compareDates({ kind: 'compare', op: lowerInclusive ? 'ge' : 'gt', left: input, right: lower });
  const to = compareDates({ kind: 'compare', op: upperInclusive ? 'le' : 'lt', left: input, right: upper });
  return from === null || to === null ? condition : { kind: 'and', children: [from, to] };
}

const FLIPPED = { lt: 'gt', le: 'ge', gt: 'lt', ge: 'le' } as const;
type Order = keyof typeof FLIPPED;

const isOrder = (op: Comparison['op']): op is Order => op in FLIPPED;

function compareDates({ op, left, right }: Comparison): Comparison | null {
  if (!isOrder(op)) return null;
  return withDay(op, left, right) ?? withDay(FLIPPED[op], right, left);
}

/** Rewrites `cast op moment` as a comparison of days: a moment within a day is after the midnight that the day is cast to. */
function withDay(op: Order, cast: Expression, moment: Expression): Comparison | null {
  if (cast.kind !== 'cast' || cast.tryCast || cast.child.kind !== 'column' || moment.kind !== 'constant') return null;
  if (!isScalar(cast.child.type, 'DATE') || !isScalar(cast.type, 'TIMESTAMP') || !isScalar(moment.type, 'TIMESTAMP')) {
    return null;
  }
  const { value } = moment;
  if (typeof value !== 'number' && typeof value !== 'bigint') return null;
  const micros = BigInt(value);
  const within = ((micros % MICROS_PER_DAY) + MICROS_PER_DAY) % MICROS_PER_DAY;
  const day = (micros - within) / MICROS_PER_DAY;
  if (day > DAYS_MAX || day < -DAYS_MAX) return null;
  const ordered = within === 0n ? op : ({ lt: 'le', le: 'le', gt: 'gt', ge: 'gt' } as const)[op];
  return {
    kind: 'compare',
    op: ordered,
    left: cast.child,
    right: { kind: 'constant', value: Number(day), type: cast.child.type },
  };
}

const isScalar = (type: SqlType, name: string): boolean => type.kind === 'scalar' && type.name === name;
