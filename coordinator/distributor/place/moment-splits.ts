import { must } from '#shared/must.ts';
import type { AggregateCall, Expression } from '../../plan/expression.ts';
import {
  add,
  aggregateCall,
  BIGINT,
  castTo,
  constant,
  divide,
  DOUBLE,
  HUGEINT,
  multiply,
  subtract,
  type SplitCall,
} from './aggregate-calls.ts';

/**
 * Splits variances and covariances into moments (Chan, Golub and LeVeque, 1979): each part gives its count n, means x and y, and co-moment
 * C; the merge is sum(C) + sum(n (x - X) (y - Y)), with the overall means X and Y from sums over all parts. No difference of big squares
 * loses digits.
 */
export const MOMENT_SPLITS: Readonly<Record<string, (call: AggregateCall) => SplitCall | null>> = {
  var_pop: variance((moment, count) => whenOver(0, count, divide(moment, count))),
  var_samp: variance((moment, count) => whenOver(1, count, divide(moment, lessOne(count)))),
  variance: variance((moment, count) => whenOver(1, count, divide(moment, lessOne(count)))),
  stddev_pop: variance((moment, count) => whenOver(0, count, root(divide(moment, count)))),
  stddev_samp: variance((moment, count) => whenOver(1, count, root(divide(moment, lessOne(count))))),
  stddev: variance((moment, count) => whenOver(1, count, root(divide(moment, lessOne(count))))),
  sem: variance((moment, count) => whenOver(0, count, divide(root(divide(moment, count)), root(count)))),
  covar_pop: covariance('xy', (moment, count) => whenOver(0, count, divide(moment, count))),
  covar_samp: covariance('xy', (moment, count) => whenOver(1, count, divide(moment, lessOne(count)))),
  regr_sxx: covariance('xx', (moment, count) => whenOver(0, count, moment)),
  regr_syy: covariance('yy', (moment, count) => whenOver(0, count, moment)),
  regr_sxy: covariance('xy', (moment, count) => whenOver(0, count, moment)),
  regr_avgx: pairAverage('regr_avgx'),
  regr_avgy: pairAverage('regr_avgy'),
};

type Result = (moment: Expression, count: Expression) => Expression;

const at = (list: readonly Expression[], index: number): Expression => must(list[index], 'a part of a moment');
const double = (expression: Expression): Expression => castTo(expression, DOUBLE);
const lessOne = (count: Expression): Expression => subtract(count, constant(1, DOUBLE));
const root = (value: Expression): Expression => ({ kind: 'function', name: 'sqrt', children: [value], type: DOUBLE });

/** Returns `result`, or NULL unless there are more than `least` rows. */
const whenOver = (least: number, count: Expression, result: Expression): Expression => ({
  kind: 'case',
  branches: [{ when: { kind: 'compare', op: 'gt', left: count, right: constant(least, DOUBLE) }, result }],
  otherwise: { kind: 'constant', value: null, type: DOUBLE },
  type: DOUBLE,
});

/**
 * Merges the parts' co-moments about the overall means, and their counts. `parts`: count, co-moment, then the two means (once if the same).
 */
function moments(partial: readonly AggregateCall[], means: readonly [number, number], result: Result): SplitCall {
  const count = (parts: readonly Expression[]): Expression => double(at(parts, 0));
  return {
    partial,
    sums: (parts) => [count(parts), ...means.map((mean) => multiply(count(parts), at(parts, mean)))],
    merge: (parts, sums) => {
      const off = means.map((mean, i) => subtract(at(parts, mean), divide(at(sums, i + 1), at(sums, 0))));
      const between = multiply(count(parts), multiply(at(off, 0), at(off, 1)));
      return [
        aggregateCall('sum', [add(at(parts, 1), between)], DOUBLE),
        aggregateCall('sum', [at(parts, 0)], HUGEINT),
      ];
    },
    result: (merged) => result(at(merged, 0), double(at(merged, 1))),
  };
}

function variance(result: Result): (call: AggregateCall) => SplitCall | null {
  return (call) => {
    if (call.distinct) return null;
    const partial = [
      { ...call, name: 'count', type: BIGINT },
      { ...call, name: 'regr_sxx', children: [at(call.children, 0), at(call.children, 0)], type: DOUBLE },
      { ...call, name: 'avg', type: DOUBLE },
    ];
    return moments(partial, [2, 2], result);
  };
}

/** Arguments are (y, x); rows with a NULL in either do not count. */
function covariance(which: 'xx' | 'yy' | 'xy', result: Result): (call: AggregateCall) => SplitCall | null {
  return (call) => {
    if (call.distinct) return null;
    const partial = [
      { ...call, name: 'regr_count', type: PAIR_COUNT },
      { ...call, name: `regr_s${which}`, type: DOUBLE },
      { ...call, name: 'regr_avgx', type: DOUBLE },
      { ...call, name: 'regr_avgy', type: DOUBLE },
    ];
    return moments(partial, which === 'xx' ? [2, 2] : which === 'yy' ? [3, 3] : [2, 3], result);
  };
}

/** The type of DuckDB's `regr_count`. */
const PAIR_COUNT = { kind: 'scalar', name: 'UINTEGER' } as const;

function pairAverage(name: 'regr_avgx' | 'regr_avgy'): (call: AggregateCall) => SplitCall | null {
  return (call) => {
    if (call.distinct) return null;
    return {
      partial: [call, { ...call, name: 'regr_count', type: PAIR_COUNT }],
      merge: ([mean, count]) => [
        aggregateCall('sum', [multiply(must(mean, name), double(must(count, 'a count')))], DOUBLE),
        aggregateCall('sum', [must(count, 'a count')], HUGEINT),
      ],
      result: ([total, count]) => divide(must(total, 'a sum'), double(must(count, 'a count'))),
    };
  };
}
