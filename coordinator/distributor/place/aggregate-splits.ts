import { must } from '#shared/must.ts';
import type { AggregateCall, Expression } from '../../plan/expression.ts';
import { printSqlType, type SqlType } from '../../plan/sql-type.ts';
import { aggregateCall, BIGINT, castTo, constant, divide, DOUBLE, HUGEINT, type SplitCall } from './aggregate-calls.ts';
import { MOMENT_SPLITS } from './moment-splits.ts';
import { expressionType } from '../../plan/plan-schema.ts';

/** Splits an aggregate into two steps. A string is the reason why it cannot be split; its rows are then exchanged by their group. */
type Splitter = ((call: AggregateCall) => SplitCall | null) | string;

/**
 * Returns the two steps of an aggregate; null when all rows of a group must be in one task. It ignores DISTINCT: the caller makes the rows
 * distinct.
 */
export function splitCall(call: AggregateCall): SplitCall | null {
  if (call.orders.length > 0) return null;
  const splitter = AGGREGATE_SPLITS[call.name];
  return typeof splitter === 'function' ? splitter(call) : null;
}

const first = (list: readonly Expression[]): Expression => must(list[0], 'an operand');
const plain = (merged: readonly Expression[]): Expression => first(merged);

/** Merges the partial results with the same aggregate, whose result has the type of its argument. */
const sameAgain = (call: AggregateCall): SplitCall | null =>
  call.children.length !== 1
    ? null
    : { partial: [call], merge: (parts) => [aggregateCall(call.name, parts, call.type)], result: plain };

/** Merges counts by their sum. Without any part the sum is NULL, and the count is 0. */
const summed = (call: AggregateCall): SplitCall => ({
  partial: [call],
  merge: (parts) => [aggregateCall('sum', parts, HUGEINT)],
  result: (merged) => castTo(orZero(first(merged)), call.type),
});

/** Merges `count_if`, which is a sum of ones: without rows it is NULL. */
const summedIf = (call: AggregateCall): SplitCall => ({
  partial: [call],
  merge: (parts) => [aggregateCall('sum', parts, call.type)],
  result: plain,
});

const orZero = (sum: Expression): Expression => ({
  kind: 'operator',
  name: 'OPERATOR_COALESCE',
  children: [sum, constant(0, HUGEINT)],
  type: HUGEINT,
});

const sum = (call: AggregateCall): SplitCall | null => {
  const kind = printSqlType(call.type);
  if (kind === 'BIGNUM' || kind === 'INTERVAL') return null;
  return {
    partial: [{ ...call, name: 'sum' }],
    merge: (parts) => [aggregateCall('sum', parts, call.type)],
    result: plain,
  };
};

/** Splits an average into a sum and a count. A sum of DECIMALs stays exact until the division. */
const average =
  (sumName: string) =>
  (call: AggregateCall): SplitCall | null => {
    const sumType = averageSumType(expressionType(first(call.children)));
    if (sumType === null) return null;
    return {
      partial: [
        { ...call, name: sumName, type: sumType },
        { ...call, name: 'count', type: BIGINT },
      ],
      merge: ([total, count]) => [
        aggregateCall(sumName, [must(total, 'a sum')], sumType),
        aggregateCall('sum', [must(count, 'a count')], HUGEINT),
      ],
      result: ([total, count]) => divide(castTo(must(total, 'a sum'), DOUBLE), castTo(must(count, 'a count'), DOUBLE)),
    };
  };

/** Returns the type of `sum` for an argument of `avg`; null for temporal types, whose average is not computed from a sum. */
function averageSumType(type: SqlType): SqlType | null {
  if (type.kind === 'decimal') return { kind: 'decimal', width: 38, scale: type.scale };
  if (type.kind !== 'scalar') return null;
  if (type.name === 'DOUBLE' || type.name === 'FLOAT') return DOUBLE;
  return INTEGERS.has(type.name) ? HUGEINT : null;
}

const INTEGERS: ReadonlySet<string> = new Set(
  'TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT BOOLEAN'.split(' '),
);

/** Splits `arg_min` (`arg_max`): each part gives its value and that value's key, and the merge picks by key. */
const argument =
  (keyName: 'min' | 'max') =>
  (call: AggregateCall): SplitCall | null => {
    const [value, key] = call.children;
    if (value === undefined || key === undefined || call.children.length > 2 || call.distinct) return null;
    const keyType = expressionType(key);
    const hasValue: Expression = { kind: 'isNotNull', child: value };
    const filter: Expression = call.filter === null ? hasValue : { kind: 'and', children: [call.filter, hasValue] };
    return {
      partial: [call, { ...aggregateCall(keyName, [key], keyType), filter }],
      merge: (parts) => [aggregateCall(call.name, parts, call.type)],
      result: plain,
    };
  };

/** Splits `first`. A part without rows has no first value: the count next to it keeps its NULL out of the merge. */
const firstOfParts = (call: AggregateCall): SplitCall | null => ({
  partial: [call, { ...aggregateCall('count_star', [], BIGINT), filter: call.filter }],
  merge: ([value, count]) => [
    {
      ...aggregateCall(call.name, [must(value, 'a value')], call.type),
      filter: { kind: 'compare', op: 'gt', left: must(count, 'a count'), right: constant(0) },
    },
  ],
  result: plain,
});

const anyValue = (call: AggregateCall): SplitCall | null =>
  call.children.length !== 1
    ? null
    : { partial: [call], merge: (parts) => [aggregateCall('any_value', parts, call.type)], result: plain };

const ALL_VALUES = 'needs all values of a group';
const SKETCH = 'its sketch does not leave DuckDB';
const WINDOW = 'is a window function';
const RATIOS = 'is a ratio that its parts do not have';
const MOMENTS = 'its higher moments do not merge without loss';

/** Every aggregate (and window function) of the pinned release, by name. */
export const AGGREGATE_SPLITS: Readonly<Record<string, Splitter>> = {
  count: summed,
  count_star: summed,
  count_if: summedIf,
  countif: summedIf,
  regr_count: summed,
  sum,
  sum_no_overflow: sum,
  fsum: sameAgain,
  kahan_sum: sameAgain,
  sumkahan: sameAgain,
  product: sameAgain,
  avg: average('sum'),
  mean: average('sum'),
  favg: average('fsum'),
  min: sameAgain,
  max: sameAgain,
  bool_and: sameAgain,
  bool_or: sameAgain,
  bit_and: sameAgain,
  bit_or: sameAgain,
  bit_xor: sameAgain,
  any_value: anyValue,
  first: firstOfParts,
  arbitrary: firstOfParts,
  last: firstOfParts,
  arg_min: argument('min'),
  argmin: argument('min'),
  min_by: argument('min'),
  arg_max: argument('max'),
  argmax: argument('max'),
  max_by: argument('max'),
  arg_min_null: 'a NULL value at the least key is an answer',
  arg_max_null: 'a NULL value at the greatest key is an answer',
  arg_min_nulls_last: 'a NULL value at the least key is an answer',
  arg_max_nulls_last: 'a NULL value at the greatest key is an answer',
  ...MOMENT_SPLITS,
  corr: RATIOS,
  regr_intercept: RATIOS,
  regr_r2: RATIOS,
  regr_slope: RATIOS,
  kurtosis: MOMENTS,
  kurtosis_pop: MOMENTS,
  skewness: MOMENTS,
  entropy: ALL_VALUES,
  mad: ALL_VALUES,
  median: ALL_VALUES,
  mode: ALL_VALUES,
  quantile: ALL_VALUES,
  quantile_cont: ALL_VALUES,
  quantile_disc: ALL_VALUES,
  array_agg: ALL_VALUES,
  list: ALL_VALUES,
  string_agg: ALL_VALUES,
  group_concat: ALL_VALUES,
  listagg: ALL_VALUES,
  histogram: ALL_VALUES,
  histogram_exact: ALL_VALUES,
  bitstring_agg: 'its bounds come from the values of all',
  approx_count_distinct: SKETCH,
  approx_quantile: SKETCH,
  approx_top_k: SKETCH,
  reservoir_quantile: SKETCH,
  cume_dist: WINDOW,
  dense_rank: WINDOW,
  fill: WINDOW,
  first_value: WINDOW,
  lag: WINDOW,
  last_value: WINDOW,
  lead: WINDOW,
  nth_value: WINDOW,
  ntile: WINDOW,
  percent_rank: WINDOW,
  rank: WINDOW,
  rank_dense: WINDOW,
  row_number: WINDOW,
};
