import { columnsRead, conjuncts, expressionKey, moveColumns, walkExpression } from '../../plan/expression-tree.ts';
import type { Expression } from '../../plan/expression.ts';
import { outputFields } from '../../plan/plan-schema.ts';
import { mapChildren } from '../../plan/plan-tree.ts';
import type { JoinType, Plan } from '../../plan/plan.ts';

type Disjunction = Extract<Expression, { kind: 'and' | 'or' }> & { readonly kind: 'or' };
type TwoSided = Extract<Plan, { kind: 'join' | 'cross' }>;
type Side = 'left' | 'right';

/**
 * ```
 * filter (a.x = 1 AND b.y < 3) OR (a.x = 2 AND b.y > 5)        filter (the same)
 *   join a.k = b.k                                               join a.k = b.k
 *     a                                                   ->       filter a.x = 1 OR a.x = 2
 *     b                                                              a
 *                                                                  filter b.y < 3 OR b.y > 5
 *                                                                    b
 * ```
 * When every alternative of an OR restricts a side of a join, the side is filtered by the OR of these restrictions before the join, and its
 * scan can prune. Does not fire for a side that some alternative does not restrict; the side of an outer join that is filled with NULLs;
 * the side of an as-of join in which the nearest row is searched; a condition that could raise an error on rows that the join would drop; a
 * side that already has alternatives over the same columns.
 */
export function sideConditions(plan: Plan): Plan {
  const below = mapChildren(plan, sideConditions);
  if (below.kind !== 'filter') return below;
  const child = below.conditions.filter(isDisjunction).reduce(narrowJoin, below.child);
  return child === below.child ? below : { ...below, child };
}

const isDisjunction = (condition: Expression): condition is Disjunction => condition.kind === 'or';

/** Narrows the sides of the join below filters by a condition over its rows; returns any other node unchanged. */
function narrowJoin(plan: Plan, condition: Disjunction): Plan {
  if (plan.kind === 'filter') {
    const moved = movedInto(condition, plan.projection);
    const child = moved === null ? plan.child : narrowJoin(plan.child, moved);
    return child === plan.child ? plan : { ...plan, child };
  }
  if (plan.kind !== 'join' && plan.kind !== 'cross') return plan;
  const leftWidth = leftFields(plan);
  return sidesOf(plan).reduce<TwoSided>((join, side) => {
    const ofSide = side === 'left' ? (at: number) => at < leftWidth : (at: number) => at >= leftWidth;
    const said = saidOf(condition, ofSide);
    const shifted = said === null ? null : moved(said, (at) => (side === 'left' ? at : at - leftWidth));
    const own = shifted === null ? null : movedInto(shifted, projectionOf(join, side));
    return own === null ? join : { ...join, [side]: narrowSide(join[side], own) };
  }, plan);
}

/** The sides of each join type whose rows may be filtered by a condition on the join's rows. */
const NARROWED: Readonly<Record<JoinType, readonly Side[]>> = {
  inner: ['left', 'right'],
  left: ['left'],
  semi: ['left'],
  anti: ['left'],
  single: ['left'],
  right: ['right'],
  rightSemi: ['right'],
  rightAnti: ['right'],
  full: [],
  mark: [],
};

function sidesOf(plan: TwoSided): readonly Side[] {
  if (plan.kind === 'cross') return NARROWED.inner;
  // Leaving out a row of an as-of join's right side could change which row is the nearest.
  return NARROWED[plan.type].filter((side) => !plan.asof || side === 'left');
}

function leftFields(plan: TwoSided): number {
  if (plan.kind === 'join' && (plan.type === 'rightSemi' || plan.type === 'rightAnti')) return 0;
  return projectionOf(plan, 'left')?.length ?? outputFields(plan.left).length;
}

function projectionOf(plan: TwoSided, side: Side): readonly number[] | null {
  if (plan.kind === 'cross') return null;
  return side === 'left' ? plan.leftProjection : plan.rightProjection;
}

/** The condition over a node's input instead of the columns that it keeps. */
const movedInto = (condition: Disjunction, projection: readonly number[] | null): Disjunction | null =>
  moved(condition, (at) => (projection === null ? at : (projection[at] ?? null)));

function moved(condition: Disjunction, to: (index: number) => number | null): Disjunction | null {
  const expression = moveColumns(condition, to);
  return expression !== null && isDisjunction(expression) ? expression : null;
}

/** Returns the condition on these columns alone that the alternatives imply; null when one of them does not restrict them. */
function saidOf(condition: Disjunction, isOwn: (index: number) => boolean): Disjunction | null {
  const children = condition.children.map((alternative) => {
    const parts = conjuncts(alternative).filter((part) => {
      const read = [...columnsRead(part)];
      return read.length > 0 && read.every(isOwn) && isHarmless(part);
    });
    return parts.length > 1 ? ({ kind: 'and', children: parts } as const) : parts[0];
  });
  return children.every((child) => child !== undefined) ? { kind: 'or', children } : null;
}

const HARMLESS: ReadonlySet<Expression['kind']> = new Set([
  'column',
  'constant',
  'compare',
  'between',
  'in',
  'isNull',
  'isNotNull',
  'not',
  'and',
  'or',
]);
const HARMLESS_FUNCTIONS: ReadonlySet<string> = new Set(['contains', 'prefix', 'suffix', '~~', '!~~']);

/** Whether the condition raises an error for no row. */
function isHarmless(condition: Expression): boolean {
  for (const one of walkExpression(condition)) {
    const isKnown = one.kind === 'function' ? HARMLESS_FUNCTIONS.has(one.name) : HARMLESS.has(one.kind);
    if (!isKnown) return false;
  }
  return true;
}

function narrowSide(side: Plan, condition: Disjunction): Plan {
  if (isJoin(side)) return narrowJoin(side, condition);
  if (side.kind !== 'filter') return { kind: 'filter', child: side, conditions: [condition], projection: null };
  const own = movedInto(condition, side.projection);
  if (own === null || side.conditions.some((one) => isAlternatives(one) && readsSame(one, own))) return side;
  // DuckDB may have derived weaker conditions already: each that the new one implies is dropped, so that it is neither estimated nor
  // computed twice.
  const others = side.conditions.filter((one) => !implies(own, one));
  return { ...side, conditions: [...others, own] };
}

/** Whether each alternative of `condition` contains all parts of some alternative of `other`. */
function implies(condition: Disjunction, other: Expression): boolean {
  const alternatives = other.kind === 'or' ? other.children : [other];
  const wanted = alternatives.map((one) => conjuncts(one).map(expressionKey));
  return condition.children.every((alternative) => {
    const said = new Set(conjuncts(alternative).map(expressionKey));
    return wanted.some((keys) => keys.every((key) => said.has(key)));
  });
}

const isAlternatives = ({ kind }: Expression): boolean => kind === 'or' || kind === 'in';
const isJoin = (plan: Plan): boolean =>
  plan.kind === 'filter' ? isJoin(plan.child) : plan.kind === 'join' || plan.kind === 'cross';

const readsSame = (one: Expression, other: Expression): boolean => {
  const [a, b] = [columnsRead(one), columnsRead(other)];
  return a.size === b.size && a.isSubsetOf(b);
};
