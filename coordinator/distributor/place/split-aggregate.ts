import { must } from '#shared/must.ts';
import { expressionKey } from '../../plan/expression-tree.ts';
import type { AggregateCall, Expression, WindowCall } from '../../plan/expression.ts';
import { outputFields } from '../../plan/plan-schema.ts';
import type { Plan } from '../../plan/plan.ts';
import { isNeverNull } from '../estimate/never-null.ts';
import { columnRef, DOUBLE, type SplitCall } from './aggregate-calls.ts';
import { splitCall } from './aggregate-splits.ts';

export type AggregatePlan = Extract<Plan, { kind: 'aggregate' }>;

/** An aggregate in two steps. */
export type SplitAggregate = {
  readonly partial: AggregatePlan;
  /** The columns of `partial` that identify a row's group. */
  readonly groups: readonly Expression[];
  /** Computes the original aggregate's columns over rows of `partial` from any number of tasks. */
  readonly final: (parts: Plan) => Plan;
};

type SplitOptions = {
  /** By column of the child, whether it is never NULL: a count of such values counts rows, so that several counts are one call. */
  readonly neverNull: readonly boolean[];
  /** Whether equal arguments of DISTINCT calls are in one task: such a call then merges like any other. */
  readonly areValuesTogether?: boolean;
};

/**
 * Puts an aggregate into two steps. What several of its calls need is computed once.
 * ```
 * aggregate g: sum(x), count(DISTINCT y)         project
 *   child                                  ->      aggregate g: sum(sum), count(DISTINCT y)
 *                                                    aggregate g, y: sum(x)
 *                                                      child
 * ```
 * Arguments of DISTINCT calls (and their filters) become groups of the partial step, which thereby removes duplicates. With several
 * grouping sets the partial step also gives the number of the set (GROUPING() of all groups), by which the final step groups too: there it
 * is one set.
 *
 * Returns null when a call does not split or two grouping sets are the same; the rows are then exchanged by their groups.
 */
export function splitAggregate(
  node: AggregatePlan,
  { neverNull, areValuesTogether = false }: SplitOptions,
): SplitAggregate | null {
  const width = node.groups.length;
  const isPlain = node.sets.length <= 1 && (node.sets[0] === undefined || node.sets[0].length === width);
  if (!isPlain && !areSetsDistinct(node.sets)) return null;
  const extra = areValuesTogether ? [] : distinctInputs(node.aggregates);
  // Without rows, the empty grouping set still has a group; a partial step that also groups by the arguments would give none.
  if (!isPlain && extra.length > 0 && node.sets.some((set) => set.length === 0)) return null;
  const steps = node.aggregates.map((call) => (call.distinct && !areValuesTogether ? null : splitCall(call)));
  const isDistinctOnly = (call: AggregateCall): boolean => call.distinct && call.orders.length === 0;
  if (node.aggregates.some((call, i) => steps[i] === null && !isDistinctOnly(call))) return null;
  const { calls: partialCalls, partsOf } = sharedCalls(steps, neverNull);
  const groups = [...node.groups, ...extra];
  const all = node.groups.map((_, i) => i);
  const extraAt = extra.map((_, i) => width + i);
  const partial: AggregatePlan = {
    kind: 'aggregate',
    child: node.child,
    groups,
    sets: isPlain
      ? groups.length === 0
        ? []
        : [groups.map((_, i) => i)]
      : node.sets.map((set) => [...set, ...extraAt]),
    aggregates: partialCalls,
    groupings: isPlain ? [] : [all, ...node.groupings],
  };
  const fields = outputFields(partial);
  const column = (index: number): Expression => columnRef(index, must(fields[index], 'a column').type);
  const groupingsAt = groups.length + partialCalls.length;
  const setColumns = isPlain ? [] : [groupingsAt, ...node.groupings.map((_, i) => groupingsAt + 1 + i)];
  const finalGroups = [...all, ...setColumns].map(column);
  const extraColumn = new Map(extra.map((expression, i) => [expressionKey(expression), column(width + i)]));
  return {
    partial,
    groups: finalGroups,
    final: (parts) =>
      finalStep({ node, steps, finalGroups, parts, partsFrom: groups.length, partsOf, column, extraColumn, isPlain }),
  };
}

/** The calls of the first step, each once, and where the parts of each step are among them. */
function sharedCalls(
  steps: readonly (SplitCall | null)[],
  neverNull: readonly boolean[],
): { readonly calls: readonly AggregateCall[]; readonly partsOf: readonly (readonly number[])[] } {
  const calls = new Map<string, { readonly call: AggregateCall; readonly at: number }>();
  const partsOf = steps.map((step) =>
    (step?.partial ?? []).map((one) => {
      const call = countRows(one, neverNull);
      const key = expressionKey({ kind: 'aggregate', call });
      const known = calls.get(key) ?? { call, at: calls.size };
      calls.set(key, known);
      return known.at;
    }),
  );
  return { calls: [...calls.values()].map(({ call }) => call), partsOf };
}

function countRows(call: AggregateCall, neverNull: readonly boolean[]): AggregateCall {
  const isOfRows = call.name === 'count' && call.children.every((child) => isNeverNull(child, neverNull));
  return isOfRows && !call.distinct ? { ...call, name: 'count_star', children: [] } : call;
}

function finalStep(step: {
  readonly node: AggregatePlan;
  readonly steps: readonly (SplitCall | null)[];
  readonly finalGroups: readonly Expression[];
  readonly parts: Plan;
  readonly partsFrom: number;
  /** By call of the aggregate: its parts among the first step's calls, which begin at column `partsFrom`. */
  readonly partsOf: readonly (readonly number[])[];
  readonly column: (index: number) => Expression;
  readonly extraColumn: ReadonlyMap<string, Expression>;
  readonly isPlain: boolean;
}): Plan {
  const { node, finalGroups, column, extraColumn } = step;
  const moved = (expression: Expression): Expression =>
    expression.kind === 'constant'
      ? expression
      : must(
          extraColumn.get(expressionKey(expression)),
          'an argument of a DISTINCT call is a group of the partial step',
        );
  const calls: AggregateCall[] = [];
  const windows: WindowCall[] = [];
  const width = outputFields(step.parts).length;
  const results: ((at: (index: number) => Expression) => Expression)[] = [];
  for (const [i, call] of node.aggregates.entries()) {
    const split = step.steps[i] ?? null;
    const from = calls.length;
    if (split === null) {
      calls.push({
        ...call,
        children: call.children.map(moved),
        filter: call.filter === null ? null : moved(call.filter),
      });
      results.push((at) => at(from));
      continue;
    }
    const parts = must(step.partsOf[i], 'the parts of a call').map((at) => column(step.partsFrom + at));
    const sums = (split.sums?.(parts) ?? []).map((one) => {
      windows.push(groupSum(one, finalGroups));
      return columnRef(width + windows.length - 1, DOUBLE);
    });
    const merged = split.merge(parts, sums);
    calls.push(...merged);
    results.push((at) => split.result(merged.map((_, k) => at(from + k))));
  }
  const final: AggregatePlan = {
    kind: 'aggregate',
    child: windows.length === 0 ? step.parts : { kind: 'window', child: step.parts, calls: windows },
    groups: finalGroups,
    sets: finalGroups.length === 0 ? [] : [finalGroups.map((_, i) => i)],
    aggregates: calls,
    groupings: [],
  };
  const fields = outputFields(final);
  const at = (index: number): Expression => columnRef(index, must(fields[index], 'a column').type);
  const expressions = [
    ...node.groups.map((_, i) => at(i)),
    ...results.map((result) => result((index) => at(finalGroups.length + index))),
    ...node.groupings.map((_, i) => at(node.groups.length + 1 + i)),
  ];
  const names = outputFields(node);
  return {
    kind: 'project',
    child: final,
    expressions: expressions.map((expression, i) => ({ name: names[i]?.name ?? '', expression })),
  };
}

/** Makes a window call that gives every partial row the sum over its group. */
const groupSum = (value: Expression, groups: readonly Expression[]): WindowCall => ({
  name: 'sum',
  children: [value],
  partitions: groups,
  orders: [],
  argumentOrders: [],
  filter: null,
  distinct: false,
  ignoreNulls: false,
  frame: {
    start: 'UNBOUNDED_PRECEDING',
    end: 'CURRENT_ROW_RANGE',
    startExpression: null,
    endExpression: null,
    exclude: 'NO_OTHER',
    offset: null,
    defaultValue: null,
  },
  type: DOUBLE,
});

/** Returns the distinct inputs (arguments and filters) of the DISTINCT calls. */
function distinctInputs(calls: readonly AggregateCall[]): readonly Expression[] {
  const inputs = calls
    .flatMap((call) => (call.distinct ? [...call.children, ...(call.filter === null ? [] : [call.filter])] : []))
    .filter((input) => input.kind !== 'constant');
  return [...new Map(inputs.map((expression) => [expressionKey(expression), expression])).values()];
}

const areSetsDistinct = (sets: readonly (readonly number[])[]): boolean =>
  new Set(sets.map((set) => set.toSorted((a, b) => a - b).join())).size === sets.length;
