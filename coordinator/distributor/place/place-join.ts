import { must } from '#shared/must.ts';
import { printCount } from '#shared/print-count.ts';
import { expressionKey, moveColumns } from '../../plan/expression-tree.ts';
import type { Expression } from '../../plan/expression.ts';
import { expressionType, outputFields } from '../../plan/plan-schema.ts';
import type { JoinDistribution, JoinPlan, Plan } from '../../plan/plan.ts';
import { printSqlType } from '../../plan/sql-type.ts';
import { joinRules } from './join-rules.ts';
import {
  EVERYWHERE,
  isHashable,
  moveKeys,
  ONE,
  placeOf,
  throughPositions,
  usefulKeys,
  type Keys,
  type Placed,
  type Tasks,
} from './placed.ts';
import {
  exchange,
  gathered,
  leafBytes,
  partitionCount,
  readEverywhere,
  placedBytes,
  tasksAtOnce,
  taskCount,
  type Placing,
} from './placing.ts';

type Crossing = Extract<Plan, { kind: 'cross' }>;

/** A way to run a join. `cost` is in bytes sent by one slot. */
type Way = {
  readonly distribution: JoinDistribution;
  readonly cost: number;
  readonly build: () => { readonly left: Placed; readonly right: Placed; readonly tasks: Tasks };
};

/**
 * Places a join by the cheapest distribution that its type allows.
 * ```
 * join              join (broadcastRight)        join (partitioned)
 *   a        ->       a                      or    exchange hash(x)
 *   b                 exchange broadcast             a
 *                       b                          exchange hash(y)
 *                                                    b
 * ```
 * A side that already is at every task, or partitioned by the keys, needs no exchange; every task reads a small side whole instead.
 */
export function placeJoin(placing: Placing, node: JoinPlan | Crossing, left: Placed, right: Placed): Placed {
  if (node.kind === 'join' && node.delim !== null) throw new Error('invariant: delim joins are expanded');
  if (left.tasks.kind === 'one' && right.tasks.kind === 'one') {
    const everywhere = left.tasks.everywhere && right.tasks.everywhere;
    return joined(node, { left, right, tasks: everywhere ? EVERYWHERE : ONE }, 'single');
  }
  if (node.kind === 'join' && node.distribution === 'broadcastRight' && isEverywhere(right)) {
    // This is the semi join of a dynamic filter, not a join of the statement, so the session's forced distribution does not apply.
    return joined(node, { left, right, tasks: sideTasks(node, left.tasks, 'left') }, 'broadcastRight');
  }
  const ways = [
    ...broadcastWays(placing, node, left, right),
    ...partitionedWays(placing, node, left, right),
    singleWay(placing, left, right),
  ];
  const best = ways.toSorted((a, b) => a.cost - b.cost)[0];
  const { build, distribution } = must(best, 'a join can always run in one place');
  return joined(node, build(), distribution);
}

function joined(
  node: JoinPlan | Crossing,
  { left, right, tasks }: ReturnType<Way['build']>,
  distribution: JoinDistribution,
): Placed {
  const plan: Plan =
    node.kind === 'cross'
      ? { ...node, left: left.plan, right: right.plan }
      : { ...node, left: left.plan, right: right.plan, distribution };
  return { source: node, plan, tasks: placeOf(node, tasks) };
}

const FORCED_COST = 1e18;
/** Costs per byte: to build a hash table, to read from a file, to move (send and receive), and to move divided by keys. */
const BUILD = 1;
const READ = 2;
const MOVE = 2;
const DIVIDE = 3;
/** Cost of a row in a hash table, regardless of its length: 40 ns, while a byte is sent in 0.65 ns. */
const BUILD_ROW = 64;

const buildCost = (placing: Placing, side: Placed): number =>
  placedBytes(placing, side) * BUILD + placing.estimate(side.source).rows * BUILD_ROW;

/** Fixed cost of one more stage: all slots wait while a stage ends and the next one begins. */
const stageCost = (placing: Placing): number => placing.limits.stageCostBytes * tasksAtOnce(placing);

/** Returns the ways to give every task of one side the whole other side; the first side is not exchanged. */
function broadcastWays(placing: Placing, node: JoinPlan | Crossing, left: Placed, right: Placed): readonly Way[] {
  const rules = joinRules(node);
  const canPartition = node.kind === 'join' && partitionPairs(node).length > 0;
  const ways: Way[] = [];
  if (rules.broadcastRight && isSpread(left)) {
    const side = everywhere(placing, right, { tasks: taskCount(placing, left.tasks), canPartition });
    ways.push({
      distribution: 'broadcastRight',
      cost: side.cost,
      build: () => ({ left, right: side.make(), tasks: sideTasks(node, left.tasks, 'left') }),
    });
  }
  if (rules.broadcastLeft && isSpread(right)) {
    const side = everywhere(placing, left, { tasks: taskCount(placing, right.tasks), canPartition });
    ways.push({
      distribution: 'broadcastLeft',
      cost: side.cost,
      build: () => ({ left: side.make(), right, tasks: sideTasks(node, right.tasks, 'right') }),
    });
  }
  return ways;
}

const isSpread = ({ tasks }: Placed): boolean => tasks.kind !== 'one';
const isEverywhere = ({ tasks }: Placed): boolean => tasks.kind === 'one' && tasks.everywhere;

/** Returns the cheapest way to give each of `tasks` tasks all rows of a side, and its cost. */
function everywhere(
  placing: Placing,
  side: Placed,
  { tasks, canPartition }: { readonly tasks: number; readonly canPartition: boolean },
): { readonly cost: number; readonly make: () => Placed } {
  const { settings } = placing.facts;
  const bytes = placedBytes(placing, side);
  const build = buildCost(placing, side) * (tasks - 1);
  // Constants are everywhere, whatever is forced.
  const isConstant = side.tasks.kind === 'one' && leafBytes(placing, side.plan)?.leaves === 0;
  const forced = settings.joinDistribution === 'partitioned' && !isConstant ? FORCED_COST : 0;
  if (isEverywhere(side)) return { cost: build + forced, make: () => side };
  const read = readEverywhere(placing, side, { ofScans: true });
  if (read !== null && isEverywhere(read)) {
    const again = (leafBytes(placing, side.plan)?.scans ?? 0) * READ * (tasks - 1);
    return { cost: build + again + forced, make: () => read };
  }
  const isTooBig = bytes > placing.limits.broadcastBytesMax && settings.joinDistribution !== 'broadcast';
  const tooBig = isTooBig && canPartition ? FORCED_COST : 0;
  const reason = `its ${printCount(bytes)} bytes go to every task of the other side`;
  return {
    cost: build + bytes * tasks * MOVE + stageCost(placing) + forced + tooBig,
    make: () => exchange(placing, side, { kind: 'broadcast' }, { reason }),
  };
}

/** Returns the tasks after a join that leaves one side in place: that side's keys, as columns of the join's output. */
function sideTasks(node: JoinPlan | Crossing, tasks: Tasks, side: 'left' | 'right'): Tasks {
  if (tasks.kind !== 'partitions' || tasks.keys === null) return tasks;
  const move = outputMoves(node)[side];
  return { ...tasks, keys: moveKeys(tasks.keys, (key) => [move(key)]) };
}

/** Returns the ways to partition both sides by the join's keys. */
function partitionedWays(placing: Placing, node: JoinPlan | Crossing, left: Placed, right: Placed): readonly Way[] {
  if (node.kind === 'cross') return [];
  const pairs = partitionPairs(node);
  if (pairs.length === 0) return [];
  const bytes = { left: placedBytes(placing, left), right: placedBytes(placing, right) };
  const forced = placing.facts.settings.joinDistribution === 'broadcast' ? FORCED_COST : 0;
  const ways: Way[] = [];
  const both = coLocated(left, right, pairs);
  if (both !== null && mayStay(node, left.tasks, 'left') && mayStay(node, right.tasks, 'right')) {
    ways.push({ distribution: 'partitioned', cost: forced, build: () => partitioned(node, left, right, both) });
  }
  for (const kept of ['left', 'right'] as const) {
    const [stays, moves] = kept === 'left' ? [left, right] : [right, left];
    const match = matchingPairs(stays.tasks, pairs, kept);
    if (match === null || stays.tasks.kind !== 'partitions' || !mayStay(node, stays.tasks, kept)) continue;
    const { count } = stays.tasks;
    const other = kept === 'left' ? 'right' : 'left';
    ways.push({
      distribution: 'partitioned',
      cost: bytes[other] * DIVIDE + stageCost(placing) + forced,
      build: () => {
        const moved = byKeys(placing, node, moves, match, { side: other, count });
        const sides = kept === 'left' ? { left: stays, right: moved } : { left: moved, right: stays };
        return partitioned(node, sides.left, sides.right, match);
      },
    });
  }
  const isForced = placing.facts.settings.joinDistribution === 'partitioned';
  const hashedRows = Math.min(placing.estimate(left.source).rows, placing.estimate(right.source).rows);
  const wanted = partitionCount(placing, { bytes: bytes.left + bytes.right, hashedRows });
  const count = isForced ? Math.max(2, wanted) : wanted;
  if (count > 1) {
    ways.push({
      distribution: 'partitioned',
      cost: (bytes.left + bytes.right) * DIVIDE + 2 * stageCost(placing) + forced,
      build: () =>
        partitioned(
          node,
          byKeys(placing, node, left, pairs, { side: 'left', count }),
          byKeys(placing, node, right, pairs, { side: 'right', count }),
          pairs,
        ),
    });
  }
  return ways;
}

type Pair = { readonly left: Expression; readonly right: Expression };

/** Returns the equalities by which both sides may be partitioned. */
function partitionPairs(node: JoinPlan): readonly Pair[] {
  const { partitionBy } = joinRules(node);
  return node.conditions.filter(
    ({ op, left, right }) =>
      (op === 'notDistinct' || (op === 'eq' && partitionBy === 'equal')) &&
      partitionBy !== 'nothing' &&
      isHashable(left) &&
      printSqlType(expressionType(left)) === printSqlType(expressionType(right)) &&
      usefulKeys([left]).length + usefulKeys([right]).length === 2,
  );
}

/** Returns the pairs, in the order of the partitioning, by whose `side` the rows are partitioned already; null when they are not. */
function matchingPairs(tasks: Tasks, pairs: readonly Pair[], side: 'left' | 'right'): readonly Pair[] | null {
  if (tasks.kind !== 'partitions' || tasks.keys === null) return null;
  const matched = tasks.keys.map((same) => {
    const known = new Set(same.map(expressionKey));
    return pairs.find((pair) => known.has(expressionKey(pair[side])));
  });
  return matched.every((pair) => pair !== undefined) ? matched : null;
}

/**
 * Whether a partitioned side may stay in place. If its NULL keys are spread over all partitions, they must need no partner: the side is
 * preserved, and NULL equals nothing.
 */
function mayStay(node: JoinPlan, tasks: Tasks, side: 'left' | 'right'): boolean {
  if (tasks.kind !== 'partitions' || !tasks.nullsSpread) return true;
  return joinRules(node).preserved.includes(side) && node.conditions.every(({ op }) => op !== 'notDistinct');
}

function coLocated(left: Placed, right: Placed, pairs: readonly Pair[]): readonly Pair[] | null {
  if (left.tasks.kind !== 'partitions' || right.tasks.kind !== 'partitions') return null;
  if (left.tasks.count !== right.tasks.count || left.tasks.keys?.length !== right.tasks.keys?.length) return null;
  // Both sides must be partitioned by the same pairs, in the same order.
  const rightKeys = right.tasks.keys?.map((same) => new Set(same.map(expressionKey)));
  const matched = left.tasks.keys?.map((same, i) => {
    const known = new Set(same.map(expressionKey));
    return pairs.find(
      (pair) => known.has(expressionKey(pair.left)) && rightKeys?.[i]?.has(expressionKey(pair.right)) === true,
    );
  });
  return matched?.every((pair) => pair !== undefined) === true ? matched : null;
}

function byKeys(
  placing: Placing,
  node: JoinPlan,
  input: Placed,
  pairs: readonly Pair[],
  { side, count }: { readonly side: 'left' | 'right'; readonly count: number },
): Placed {
  const keys = pairs.map((pair) => pair[side]);
  const spreadNulls = joinRules(node).preserved.includes(side) && hasNullKeys(placing, input, node, keys);
  return exchange(
    placing,
    input,
    { kind: 'hash', keys, spreadNulls },
    { partitions: count, reason: 'both sides of a join meet by their keys' },
  );
}

/** Rows with a NULL key match nothing; when they are more than this share, they are spread over all partitions. */
const NULL_SHARE_MIN = 0.05;

function hasNullKeys(placing: Placing, input: Placed, node: JoinPlan, keys: readonly Expression[]): boolean {
  if (node.conditions.some(({ op }) => op === 'notDistinct')) return false;
  const { columns } = placing.estimate(input.source);
  return keys.some((key) => {
    const share = key.kind === 'column' ? columns[key.index]?.nullShare : null;
    return share !== null && share !== undefined && share > NULL_SHARE_MIN;
  });
}

function partitioned(node: JoinPlan, left: Placed, right: Placed, pairs: readonly Pair[]): ReturnType<Way['build']> {
  const side = left.tasks.kind === 'partitions' ? left.tasks : right.tasks;
  const count = side.kind === 'partitions' ? side.count : 1;
  const keys = joinKeys(node, pairs);
  const nullsSpread = [left, right].some(({ tasks }) => tasks.kind === 'partitions' && tasks.nullsSpread);
  return { left, right, tasks: { kind: 'partitions', count, keys, nullsSpread } };
}

/** Returns the keys that partition the result: those of the side whose rows are all in it, for an inner join those of both sides. */
function joinKeys(node: JoinPlan, pairs: readonly Pair[]): Keys | null {
  const moves = outputMoves(node);
  const { keysOf } = joinRules(node);
  const keys = pairs.map((pair) => keysOf.map((side) => moves[side](pair[side])).filter((key) => key !== null));
  return keys.every((same) => same.length > 0) ? keys : null;
}

/** Makes the functions that rewrite a side's expression over the join's output; they return null when a column is not kept. */
function outputMoves(node: JoinPlan | Crossing): {
  readonly left: (key: Expression) => Expression | null;
  readonly right: (key: Expression) => Expression | null;
} {
  const isRightOnly = node.kind === 'join' && (node.type === 'rightSemi' || node.type === 'rightAnti');
  const isLeftOnly = node.kind === 'join' && (node.type === 'semi' || node.type === 'anti' || node.type === 'mark');
  const leftPositions = node.kind === 'join' ? node.leftProjection : null;
  const rightPositions = node.kind === 'join' ? node.rightProjection : null;
  const width = isRightOnly ? 0 : (leftPositions?.length ?? outputFields(node.left).length);
  const right = throughPositions(rightPositions);
  return {
    left: isRightOnly ? () => null : throughPositions(leftPositions),
    right: (key) => {
      const moved = isLeftOnly ? null : right(key);
      return moved === null ? null : moveColumns(moved, (index) => index + width);
    },
  };
}

/** The way that runs the join in one task: always possible, but slow. */
function singleWay(placing: Placing, left: Placed, right: Placed): Way {
  const cost = [left, right].reduce((sum, side) => {
    if (side.tasks.kind === 'one') return sum;
    return sum + placedBytes(placing, side) * MOVE + stageCost(placing);
  }, 0);
  // One task does the work that `width` tasks could share, so for more than a little data the other ways are cheaper. A session that sets
  // the number of partitions wants that many tasks, even when there are fewer slots.
  const width = Math.max(tasksAtOnce(placing), placing.facts.settings.partitions ?? 1);
  const work = (buildCost(placing, left) + buildCost(placing, right)) * width;
  const forced = placing.facts.settings.joinDistribution === 'auto' ? 0 : FORCED_COST;
  const reason = 'this join runs in one place';
  return {
    distribution: 'single',
    cost: cost + work + forced * 2,
    build: () => {
      const sides = { left: gathered(placing, left, reason), right: gathered(placing, right, reason) };
      const isEverywhere = [sides.left, sides.right].every(({ tasks }) => tasks.kind === 'one' && tasks.everywhere);
      return { ...sides, tasks: isEverywhere ? EVERYWHERE : ONE };
    },
  };
}
