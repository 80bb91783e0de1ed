import { must } from '#shared/must.ts';
import { expressionKey } from '../../plan/expression-tree.ts';
import type { Expression } from '../../plan/expression.ts';
import { outputFields } from '../../plan/plan-schema.ts';
import type { Plan } from '../../plan/plan.ts';
import { canChain } from '../chain-sets.ts';
import { domainOf, groupCount } from '../estimate/estimate.ts';
import { neverNullColumns } from '../estimate/never-null.ts';
import { bytesOf, type Estimate } from '../../plan/row-estimate.ts';
import { isTogether, moveKeys, placeOf, usefulKeys, type Keys, type Placed, type Tasks } from './placed.ts';
import { exchange, partitionCount, together, type Placing } from './placing.ts';
import { splitCall } from './aggregate-splits.ts';
import { splitAggregate, type AggregatePlan } from './split-aggregate.ts';

/** A partial step pays off while the groups are less than this share of the rows. */
const PARTIAL_SHARE_MAX = 0.75;

/** Places an aggregate: in place when each group's rows are in one task, else in two steps, else after an exchange by the groups. */
export function placeAggregate(placing: Placing, node: AggregatePlan, input: Placed): Placed {
  const isWorth = isChainWorth(placing, node, input);
  const chained = (one: AggregatePlan): AggregatePlan => (isWorth && canChain(one) ? { ...one, chained: true } : one);
  const inPlace = (child: Placed): Placed => ({
    source: node,
    plan: { ...chained(node), child: child.plan },
    tasks: placeOf(node, tasksOfGroups(child.tasks, node.groups)),
  });
  if (input.tasks.kind === 'one') return inPlace(input);
  const common = commonGroups(node);
  if (common.length > 0 && isTogether(input.tasks, common)) return inPlace(input);
  const neverNull = neverNullColumns(node.child, placing.facts.scans);
  const split = splitAggregate(node, { neverNull });
  if (split === null) return inPlace(together(placing, input, common, { what: 'an aggregate that does not split' }));
  if (common.length > 0 && !isPartialWorth(placing, node, input)) {
    return inPlace(together(placing, input, common, { what: 'an aggregate of nearly as many groups as rows' }));
  }
  const byArgument = node.groups.length === 0 ? distinctArguments(node) : null;
  if (byArgument !== null) return placeDistinctCounts(placing, node, input, byArgument);
  const partial: Placed = {
    source: node,
    plan: { ...chained(split.partial), child: input.plan },
    tasks: input.tasks,
  };
  const rest = { source: node, rest: split.final };
  const keys = usefulKeys(split.groups);
  const count = aggregatePartitions(placing, node, placing.estimate(input.source));
  const exchanged =
    keys.length === 0 || count === 1
      ? exchange(placing, partial, { kind: 'gather' }, { reason: gatherReason(node), rest })
      : exchange(
          placing,
          partial,
          { kind: 'hash', keys, spreadNulls: false },
          { partitions: count, reason: 'partial groups come together', rest },
        );
  return { source: node, plan: split.final(exchanged.plan), tasks: finalTasks(placing, node, exchanged.tasks) };
}

const gatherReason = ({ groups }: AggregatePlan): string =>
  groups.length === 0 ? 'one row of each task is one row of all' : 'few groups come together';

/** Returns the final step's tasks. Its first columns are the groups, as in the original aggregate, so keys among them stay valid. */
function finalTasks(_placing: Placing, node: AggregatePlan, tasks: Tasks): Tasks {
  if (tasks.kind !== 'partitions' || tasks.keys === null) return placeOf(node, tasks);
  const width = node.groups.length;
  const isGroup = (key: Expression): boolean => key.kind === 'column' && key.index < width;
  return { ...tasks, keys: tasks.keys.every((same) => same.every(isGroup)) ? tasks.keys : null };
}

/** Returns the groups that are in every grouping set. */
function commonGroups({ groups, sets }: AggregatePlan): readonly Expression[] {
  return sets.length === 0 ? groups : groups.filter((_, i) => sets.every((set) => set.includes(i)));
}

/**
 * Whether a partial step reduces the rows enough. Grouping rows costs a fraction of exchanging them, so a quarter fewer rows already pays
 * off. A column whose values could all be different repeats some when they are drawn at random, and equal values of a table mostly lie
 * close together.
 */
function isPartialWorth(placing: Placing, node: AggregatePlan, input: Placed): boolean {
  const { groups } = node;
  if (groups.length === 0) return true;
  const rows = placing.estimate(input.source);
  if (rows.rows < 1_000) return true;
  const distinct = distinctValues(node);
  const counted = groupCount([...groups, ...distinct], rows);
  if (counted < rows.rows * PARTIAL_SHARE_MAX) return true;
  const [group, more] = [...groups, ...distinct];
  const domain = group === undefined || more !== undefined ? null : domainOf(group, rows);
  return domain !== null && domain * (1 - Math.exp(-rows.rows / domain)) < rows.rows * PARTIAL_SHARE_MAX;
}

/**
 * Whether grouping sets are better computed from each other (`chainSets`) than each from the rows: it takes half the time, and less memory,
 * where groups are fewer than rows, and up to a third more where nearly every row is a group of its own.
 */
function isChainWorth({ limits, estimate }: Placing, { groups, sets }: AggregatePlan, input: Placed): boolean {
  if (sets.length < 2) return false;
  const rows = estimate(input.source);
  return rows.rows >= limits.chainedRowsMin && groupCount(groups, rows) < rows.rows * PARTIAL_SHARE_MAX;
}

/**
 * Chooses the partitions of the exchange after the partial step, whose rows are the groups or, with DISTINCT, the distinct values of each.
 */
function aggregatePartitions(placing: Placing, node: AggregatePlan, input: Estimate): number {
  const distinct = distinctValues(node);
  const rows = groupCount([...node.groups, ...distinct], input) * Math.max(1, node.sets.length);
  if (placing.facts.settings.partitions === null && rows <= placing.limits.gatherGroupsMax) return 1;
  const bytes =
    distinct.length === 0 ? bytesOf(placing.estimate(node)) : (bytesOf(input) / Math.max(1, input.rows)) * rows;
  return partitionCount(placing, { bytes, hashedRows: rows });
}

const distinctValues = ({ aggregates }: AggregatePlan): readonly Expression[] =>
  aggregates.flatMap((call) => (call.distinct ? call.children : []));

/** Rewrites the tasks' keys to columns of the aggregate's output, whose first columns are its groups. */
function tasksOfGroups(tasks: Tasks, groups: readonly Expression[]): Tasks {
  if (tasks.kind !== 'partitions' || tasks.keys === null) return tasks;
  return { ...tasks, keys: groupKeys(tasks.keys, groups) };
}

function groupKeys(keys: Keys, groups: readonly Expression[]): Keys | null {
  const at = new Map(groups.map((group, i) => [expressionKey(group), i]));
  return moveKeys(keys, (key) => {
    const index = at.get(expressionKey(key));
    return [index === undefined || !('type' in key) ? null : { kind: 'column', index, name: '', type: key.type }];
  });
}

/** Returns the arguments of the DISTINCT calls when all have the same and every call can be merged; null otherwise. */
function distinctArguments({ aggregates }: AggregatePlan): readonly Expression[] | null {
  const [first, ...others] = aggregates.filter((call) => call.distinct);
  if (first === undefined || aggregates.some((call) => splitCall(call) === null)) return null;
  const key = first.children.map(expressionKey).join();
  const isSame = others.every((call) => call.children.map(expressionKey).join() === key);
  return isSame && usefulKeys(first.children).length > 0 ? first.children : null;
}

/**
 * ```
 * aggregate: count(DISTINCT x)        aggregate: sum(count)
 *   child                       ->      exchange gather
 *                                         aggregate: count(DISTINCT x)
 *                                           exchange hash(x)
 *                                             child
 * ```
 * Equal values are in one task, so the tasks' counts add up. Only without groups, and for one argument list.
 */
function placeDistinctCounts(
  placing: Placing,
  node: AggregatePlan,
  input: Placed,
  keys: readonly Expression[],
): Placed {
  const isThere = isTogether(input.tasks, keys);
  const ready = isThere ? input : together(placing, input, keys, { what: 'DISTINCT' });
  if (ready.tasks.kind === 'one') {
    return { source: node, plan: { ...node, child: ready.plan }, tasks: placeOf(node, ready.tasks) };
  }
  const neverNull = neverNullColumns(node.child, placing.facts.scans);
  const split = must(splitAggregate(node, { neverNull, areValuesTogether: true }), 'every call splits');
  const partial: Placed = { source: node, plan: { ...split.partial, child: ready.plan }, tasks: ready.tasks };
  const rest = { source: node, rest: split.final };
  const exchanged = exchange(
    placing,
    partial,
    { kind: 'gather' },
    { reason: 'counts of distinct values add up', rest },
  );
  return { source: node, plan: split.final(exchanged.plan), tasks: placeOf(node, exchanged.tasks) };
}

type DistinctPlan = Extract<Plan, { kind: 'distinct' }>;

/**
 * Places DISTINCT before the exchange and after it; likewise DISTINCT ON, which keeps one row per key by its orders.
 * ```
 * distinct x        distinct x
 *   child     ->      exchange hash(x)
 *                       distinct x
 *                         child
 * ```
 */
export function placeDistinct(placing: Placing, node: DistinctPlan, input: Placed): Placed {
  const inPlace = (child: Placed): Placed => ({
    source: node,
    plan: { ...node, child: child.plan },
    tasks: placeOf(node, child.tasks),
  });
  if (input.tasks.kind === 'one') return inPlace(input);
  const on = node.on.length === 0 ? columnsOf(node) : node.on;
  if (isTogether(input.tasks, on)) return inPlace(input);
  const rows = placing.estimate(input.source);
  const isWorth = groupCount(on, rows) < rows.rows * PARTIAL_SHARE_MAX;
  if (!isWorth) return inPlace(together(placing, input, on, { what: 'DISTINCT' }));
  const local: Placed = { ...inPlace(input), tasks: input.tasks };
  const rest = { source: node, rest: (parts: Plan): Plan => ({ ...node, child: parts }) };
  return inPlace(together(placing, local, on, { what: 'DISTINCT', rest }));
}

const columnsOf = (plan: Plan): readonly Expression[] =>
  outputFields(plan).map(({ name, type }, index) => ({ kind: 'column', index, name, type }));
