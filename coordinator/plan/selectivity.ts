import { unreachable } from '#shared/must.ts';
import { conjuncts } from './expression-tree.ts';
import type { Expression } from './expression.ts';
import type { SqlType } from './sql-type.ts';
import type { ColumnEstimate, Estimate } from './row-estimate.ts';

const EQUAL = 0.05;
const RANGE = 0.3;
const OTHER = 0.5;
const PATTERN = 0.1;

/** NOT LIKE and its variants. */
const NEGATED: ReadonlySet<string> = new Set(['!~~', '!~~*', 'not_like_escape', 'not_ilike_escape']);

/** Estimates the share of rows for which all conditions are true. Ranges over one column are intersected before their share is taken. */
export function shareOf(conditions: readonly Expression[], input: Estimate): number {
  const intervals = new Map<number, Interval>();
  let share = 1;
  for (const condition of conditions.flatMap(conjuncts)) {
    const ranges = rangesOf(condition, input);
    if (ranges === null) share *= shareOfOne(condition, input);
    for (const range of ranges ?? []) {
      const before = intervals.get(range.column) ?? { lower: -Infinity, upper: Infinity };
      const { lower, upper } = range;
      intervals.set(range.column, { lower: Math.max(before.lower, lower), upper: Math.min(before.upper, upper) });
    }
  }
  for (const [column, interval] of intervals) share *= intervalShare(interval, input.columns[column]);
  return share;
}

/** A node of whose columns nothing is known: every condition has the fixed share of its kind. */
export const NOTHING_KNOWN: Estimate = { rows: 0, columns: [] };

type Interval = { readonly lower: number; readonly upper: number };

function intervalShare({ lower, upper }: Interval, column: ColumnEstimate | undefined): number {
  const [from, to] = [column?.lower ?? 0, column?.upper ?? 0];
  if (to <= from) return 1;
  return Math.min(1, Math.max(0, (Math.min(upper, to) - Math.max(lower, from)) / (to - from)));
}

/** Returns the interval that a comparison with a constant leaves of a column with known bounds; null for every other condition. */
function rangesOf(condition: Expression, input: Estimate): readonly (Interval & { readonly column: number })[] | null {
  if (condition.kind === 'between') {
    const [column, lower, upper] = [
      boundedColumn(condition.input, input),
      ...numbers(condition.lower, condition.upper),
    ];
    return column === null || lower == null || upper == null ? null : [{ column, lower, upper }];
  }
  if (condition.kind !== 'compare') return null;
  const isFlipped = condition.left.kind === 'constant';
  const column = boundedColumn(isFlipped ? condition.right : condition.left, input);
  const [value] = numbers(isFlipped ? condition.left : condition.right);
  if (column === null || value == null) return null;
  const below = condition.op === 'lt' || condition.op === 'le';
  if (!below && condition.op !== 'gt' && condition.op !== 'ge') return null;
  return [below === isFlipped ? { column, lower: value, upper: Infinity } : { column, lower: -Infinity, upper: value }];
}

function boundedColumn(expression: Expression, input: Estimate): number | null {
  const at = expression.kind === 'cast' ? expression.child : expression;
  if (at.kind !== 'column') return null;
  const column = input.columns[at.index];
  return column?.lower == null || column.upper == null ? null : at.index;
}

const MICROS_PER_DAY = 86_400_000_000;

const numbers = (...constants: readonly Expression[]): readonly (number | null)[] => constants.map(numberOf);

function numberOf(constant: Expression): number | null {
  if (constant.kind === 'cast') return numberOf(constant.child);
  if (constant.kind !== 'constant') return null;
  const { value, type } = constant;
  if (typeof value !== 'number' && typeof value !== 'bigint') return null;
  return Number(value) / unit(type);
}

function unit(type: SqlType): number {
  if (type.kind === 'decimal') return 10 ** type.scale;
  return type.kind === 'scalar' && type.name.startsWith('TIMESTAMP') ? MICROS_PER_DAY : 1;
}

function shareOfOne(condition: Expression, input: Estimate): number {
  switch (condition.kind) {
    case 'and':
      return shareOf(condition.children, input);
    case 'or':
      return 1 - condition.children.reduce((rest, child) => rest * (1 - shareOf([child], input)), 1);
    case 'compare': {
      const equal = equalShare(condition.left, condition.right, input);
      if (condition.op === 'eq' || condition.op === 'notDistinct') return equal;
      return condition.op === 'ne' || condition.op === 'distinct' ? 1 - equal : RANGE;
    }
    case 'between':
      return RANGE * RANGE;
    case 'in': {
      const [first] = condition.list;
      const each = first === undefined ? 0 : equalShare(condition.input, first, input);
      const share = Math.min(OTHER, each * condition.list.length);
      return condition.negated ? 1 - share : share;
    }
    case 'isNull':
      return nullShare(condition.child, input) ?? EQUAL;
    case 'isNotNull':
      return 1 - (nullShare(condition.child, input) ?? EQUAL);
    case 'not':
      return 1 - shareOf([condition.child], input);
    case 'function':
      return NEGATED.has(condition.name) ? 1 - PATTERN : PATTERN;
    case 'column':
    case 'constant':
    case 'operator':
    case 'aggregate':
    case 'window':
    case 'cast':
    case 'case':
    case 'unnest':
      return OTHER;
    default:
      return unreachable(condition);
  }
}

/** Estimates the share of equal rows: one value out of the distinct ones; for two columns, out of the larger number of distinct values. */
function equalShare(left: Expression, right: Expression, input: Estimate): number {
  const distinct = [left, right].flatMap((side) => {
    const at = side.kind === 'cast' ? side.child : side;
    return at.kind === 'column' ? (input.columns[at.index]?.distinct ?? []) : [];
  });
  return distinct.length === 0 ? EQUAL : 1 / Math.max(1, ...distinct);
}

const nullShare = (expression: Expression, input: Estimate): number | null =>
  expression.kind === 'column' ? (input.columns[expression.index]?.nullShare ?? null) : null;
