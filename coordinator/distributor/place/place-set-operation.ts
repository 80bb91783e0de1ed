import { must } from '#shared/must.ts';
import { expressionKey } from '../../plan/expression-tree.ts';
import type { Expression } from '../../plan/expression.ts';
import { outputFields } from '../../plan/plan-schema.ts';
import type { Plan } from '../../plan/plan.ts';
import { placeOf, usefulKeys, EVERYWHERE, ONE, type Keys, type Placed, type Tasks } from './placed.ts';
import { exchange, gathered, partitionCount, placedBytes, type Placing } from './placing.ts';

type SetPlan = Extract<Plan, { readonly children: readonly Plan[] }>;

/** Places a set operation: UNION ALL leaves rows where they are; the others bring equal rows together. */
export function placeSetOperation(placing: Placing, node: SetPlan, inputs: readonly Placed[]): Placed {
  if (inputs.every(({ tasks }) => tasks.kind === 'one')) return operation(node, inputs, oneOf(inputs));
  if (node.kind === 'union' && node.all) return placeUnionAll(placing, node, inputs);
  const columns = outputFields(node).map(({ name, type }, index): Expression => ({
    kind: 'column',
    index,
    name,
    type,
  }));
  const keys = usefulKeys(columns);
  const bytes = inputs.reduce((sum, input) => sum + placedBytes(placing, input), 0);
  const there = inputs.flatMap(({ tasks }) =>
    tasks.kind === 'partitions' && isPartitionedBy(tasks, keys) ? tasks.count : [],
  );
  const hashedRows = placing.estimate(node).rows;
  const count = there[0] ?? partitionCount(placing, { bytes, hashedRows });
  if (keys.length === 0 || count === 1) {
    const all = inputs.map((input) => gathered(placing, input, 'equal rows come together'));
    return operation(node, all, oneOf(all));
  }
  const to = { kind: 'hash', keys, spreadNulls: false } as const;
  const parted = inputs.map((input) =>
    input.tasks.kind === 'partitions' && input.tasks.count === count && isPartitionedBy(input.tasks, keys)
      ? input
      : exchange(placing, input, to, { partitions: count, reason: 'equal rows come together' }),
  );
  return operation(node, parted, {
    kind: 'partitions',
    count,
    keys: keys.map((key) => [key]),
    nullsSpread: false,
  });
}

const isPartitionedBy = (tasks: Extract<Tasks, { kind: 'partitions' }>, keys: readonly Expression[]): boolean =>
  !tasks.nullsSpread &&
  tasks.keys?.length === keys.length &&
  tasks.keys.every((same, i) => same.some((one) => isSame(one, must(keys[i], 'a key'))));

const oneOf = (inputs: readonly Placed[]): Tasks =>
  inputs.every(({ tasks }) => tasks.kind === 'one' && tasks.everywhere) ? EVERYWHERE : ONE;

const operation = (node: SetPlan, inputs: readonly Placed[], tasks: Tasks): Placed => ({
  source: node,
  plan: { ...node, children: inputs.map(({ plan }) => plan) },
  tasks: placeOf(node, tasks),
});

/**
 * ```
 * union all                    union all
 *   a (splits)           ->      a
 *   b (one task)                 exchange keep
 *                                  b
 * ```
 * An input in one task, or partitioned differently, becomes a stage of its own whose rows the tasks share: if every task read them, they
 * would count more than once.
 */
function placeUnionAll(placing: Placing, node: SetPlan, inputs: readonly Placed[]): Placed {
  const isSplit = inputs.some(({ tasks }) => tasks.kind === 'splits');
  const counts = new Set(inputs.flatMap(({ tasks }) => (tasks.kind === 'partitions' ? [tasks.count] : [])));
  const isOne = inputs.some(({ tasks }) => tasks.kind === 'one');
  if (!isSplit && !isOne && counts.size === 1) {
    const [count = 1] = counts;
    const nullsSpread = inputs.some(({ tasks }) => tasks.kind === 'partitions' && tasks.nullsSpread);
    return operation(node, inputs, { kind: 'partitions', count, keys: commonKeys(inputs), nullsSpread });
  }
  const shared = inputs.map((input) =>
    input.tasks.kind === 'splits'
      ? input
      : (readShared(input) ?? exchange(placing, input, { kind: 'keep' }, { reason: 'rows of a union are shared out' })),
  );
  return operation(node, shared, { kind: 'splits' });
}

/** Returns the keys that all inputs are partitioned by, at the same positions. */
function commonKeys(inputs: readonly Placed[]): Keys | null {
  const [first, ...others] = inputs.map(({ tasks }) => (tasks.kind === 'partitions' ? (tasks.keys ?? []) : []));
  const common = (first ?? []).map((same, i) =>
    same.filter((key) =>
      others.every((keys) => keys.length === first?.length && keys[i]?.some((one) => isSame(one, key)) === true),
    ),
  );
  return common.length > 0 && common.every((same) => same.length > 0) ? common : null;
}

const isSame = (a: Expression, b: Expression): boolean => expressionKey(a) === expressionKey(b);

/**
 * Makes the tasks share a stage's rows instead of reading them by partition or whole; null unless the input is a stage below filters and
 * projections.
 */
function readShared(input: Placed): Placed | null {
  const shared = (plan: Plan): Plan | null => {
    if (plan.kind === 'stage') return { ...plan, read: 'share' };
    if (plan.kind !== 'filter' && plan.kind !== 'project') return null;
    const child = shared(plan.child);
    return child === null ? null : { ...plan, child };
  };
  const plan = shared(input.plan);
  return plan === null ? null : { ...input, plan, tasks: { kind: 'splits' } };
}
