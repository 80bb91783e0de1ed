import { unreachable } from '#shared/must.ts';
import { compareCodePoints, compareLiterals } from './compare-literals.ts';
import type { CompareOp, Literal, Predicate } from './predicate.ts';

/**
 * Known statistics of one column in a set of rows (a partition, a file, a row group). `lower` is at most, `upper` at least every value that
 * is neither null nor NaN; both may be shortened strings or bytes. `valueCount` counts nulls and NaNs too. Absent = unknown.
 */
export type ColumnStats = {
  readonly lower?: Literal | undefined;
  readonly upper?: Literal | undefined;
  readonly nullCount?: number | undefined;
  readonly valueCount?: number | undefined;
  readonly nanCount?: number | undefined;
};

/**
 * Returns whether `predicate` may be true for some row (SQL's three-valued logic: null is not true). False proves that it is true for none;
 * missing statistics count as a possible match. NaN is greater than every number, as in DuckDB, although bounds leave it out.
 */
export function mayMatch(predicate: Predicate, stats: (fieldId: number) => ColumnStats | undefined): boolean {
  switch (predicate.kind) {
    case 'true':
      return true;
    case 'false':
      return false;
    case 'and':
      return predicate.children.every((child) => mayMatch(child, stats));
    case 'or':
      return predicate.children.some((child) => mayMatch(child, stats));
    case 'compare':
      return mayCompare(predicate.op, predicate.value, stats(predicate.fieldId));
    case 'in': {
      const column = stats(predicate.fieldId);
      return predicate.values.some((value) => mayCompare('eq', value, column));
    }
    case 'startsWith':
      return mayStartWith(predicate.prefix, stats(predicate.fieldId));
    case 'isNull':
      return stats(predicate.fieldId)?.nullCount !== 0;
    case 'notNull':
      return !allNull(stats(predicate.fieldId));
    default:
      return unreachable(predicate);
  }
}

function mayCompare(op: CompareOp, value: Literal, stats: ColumnStats | undefined): boolean {
  if (stats === undefined) return true;
  if (allNull(stats)) return false;
  if (typeof value === 'number') return mayCompareFloat(op, value, stats);
  return withinBounds(op, value, stats);
}

/** NaN lies outside of the bounds: a row may hold it unless `nanCount` says 0, and it satisfies `>`, `>=` and `<>` of any number. */
function mayCompareFloat(op: CompareOp, value: number, stats: ColumnStats): boolean {
  const mayHoldNan = stats.nanCount !== 0;
  const mayHoldNumber = !(
    stats.nanCount !== undefined &&
    stats.valueCount !== undefined &&
    stats.nullCount !== undefined &&
    stats.nanCount + stats.nullCount >= stats.valueCount
  );
  if (Number.isNaN(value)) {
    if (op === 'gt') return false;
    if (op === 'eq' || op === 'ge') return mayHoldNan;
    return op === 'le' || mayHoldNumber;
  }
  if (mayHoldNan && (op === 'gt' || op === 'ge' || op === 'ne')) return true;
  return mayHoldNumber && withinBounds(op, value, stats);
}

function withinBounds(op: CompareOp, value: Literal, stats: ColumnStats): boolean {
  const toLower = compareBound(value, stats.lower);
  const toUpper = compareBound(value, stats.upper);
  switch (op) {
    case 'eq':
      return (toLower === undefined || toLower >= 0) && (toUpper === undefined || toUpper <= 0);
    case 'ne':
      return !(toLower === 0 && toUpper === 0);
    case 'lt':
      return toLower === undefined || toLower > 0;
    case 'le':
      return toLower === undefined || toLower >= 0;
    case 'gt':
      return toUpper === undefined || toUpper < 0;
    case 'ge':
      return toUpper === undefined || toUpper <= 0;
    default:
      return unreachable(op, 'operator');
  }
}

/** A NaN bound comes from a writer that did not leave NaN out; it is ignored. */
const compareBound = (value: Literal, bound: Literal | undefined): number | undefined =>
  bound === undefined || Number.isNaN(bound) ? undefined : compareLiterals(value, bound);

function mayStartWith(prefix: string, stats: ColumnStats | undefined): boolean {
  if (stats === undefined) return true;
  if (allNull(stats)) return false;
  if (typeof stats.upper === 'string' && compareCodePoints(stats.upper, prefix) < 0) return false;
  return typeof stats.lower !== 'string' || compareCodePoints(stats.lower.slice(0, prefix.length), prefix) <= 0;
}

/** Whether all values are null. It reads the null count first, because each statistic is decoded only when it is read. */
function allNull(stats: ColumnStats | undefined): boolean {
  const nulls = stats?.nullCount;
  if (nulls === undefined || nulls === 0) return false;
  return nulls >= (stats?.valueCount ?? Infinity);
}
