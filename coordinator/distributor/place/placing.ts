import { PARTITIONS_MAX } from '#shared/task/task.ts';
import { outputFields } from '../../plan/plan-schema.ts';
import { mapChildren, walkPlan } from '../../plan/plan-tree.ts';
import type { Partitioning, Plan, PlanColumn } from '../../plan/plan.ts';
import { printSqlType } from '../../plan/sql-type.ts';
import { stageRooms } from '../estimate/cluster-cores.ts';
import type { Estimator } from '../estimate/estimate.ts';
import { bytesOf, type Estimate } from '../../plan/row-estimate.ts';
import type { DistributionFacts, Replacement } from '../fragment.ts';
import type { DistributionLimits } from '../limits.ts';
import { isOrderSensitive } from './order-sensitive.ts';
import { EVERYWHERE, ONE, usefulKeys, type Placed, type Tasks } from './placed.ts';
import type { Expression } from '../../plan/expression.ts';
import { travels } from './travels.ts';

/** Thrown when a plan cannot be distributed; the query then runs whole. */
export class NotDistributable extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(`not distributable: ${reason}`);
    this.name = 'NotDistributable';
    this.reason = reason;
  }
}

/** The state of one placement run: its facts, limits and results. */
export type Placing = {
  readonly facts: DistributionFacts;
  readonly limits: DistributionLimits;
  readonly estimate: Estimator;
  /** Estimates and tasks of the stages that this run plans for common table expressions. */
  readonly planned: Map<number, { readonly estimate: Estimate; readonly tasks: Tasks }>;
  /** The stage that each common table expression became. */
  readonly ctes: Map<number, number>;
  readonly replacements: Replacement[];
  /** Nodes that are first steps: they may run on any part of their input. */
  readonly firstSteps: WeakSet<Plan>;
  readonly nextStage: () => number;
};

/** Returns the number of a stage's tasks that run at once. */
export const tasksAtOnce = ({ facts }: Placing): number =>
  Math.max(
    1,
    stageRooms(facts.cluster.workers, facts.settings.stageWidth).reduce((sum, { tasks }) => sum + tasks, 0),
  );

/** Estimates the number of tasks of a fragment with this placement. */
export function taskCount(placing: Placing, tasks: Tasks): number {
  if (tasks.kind === 'one') return 1;
  return tasks.kind === 'partitions' ? tasks.count : tasksAtOnce(placing);
}

export const placedBytes = (placing: Placing, { source }: Placed): number => bytesOf(placing.estimate(source));

/**
 * Chooses the number of partitions for an exchange: one per task that runs at once, fewer for little data, more when many rows
 * (`hashedRows`) go into hash tables.
 */
export function partitionCount(
  placing: Placing,
  { bytes, hashedRows }: { readonly bytes: number; readonly hashedRows: number },
): number {
  const { facts, limits } = placing;
  const { partitions } = facts.settings;
  if (partitions !== null) return partitions;
  const atOnce = tasksAtOnce(placing);
  const each = Math.max(
    1,
    Math.min(limits.partitionsPerTaskMax, Math.ceil(hashedRows / limits.hashedRowsMax / atOnce)),
  );
  return Math.max(1, Math.min(atOnce * each, PARTITIONS_MAX, Math.ceil(bytes / limits.partitionBytesMin)));
}

export const columnsOfPlan = (plan: Plan): readonly PlanColumn[] =>
  outputFields(plan).map(({ name, type }, index) => ({ index, name, type }));

/**
 * The node that replaces `source` when the stage has run: the stage's rows, or the steps that remain above them (`rest`: the final step of
 * an aggregate, or a second top-N).
 */
type Rest = { readonly source: Plan; readonly rest: (stage: Plan) => Plan };

/** Adds an exchange over `input`. @throws NotDistributable when a column's type cannot be sent between workers. */
export function exchange(
  placing: Placing,
  input: Placed,
  to: Partitioning,
  { partitions = 1, reason, rest }: { readonly partitions?: number; readonly reason: string; readonly rest?: Rest },
): Placed {
  requireTravel(input.plan);
  if (rest !== undefined) placing.firstSteps.add(input.plan);
  const stage = placing.nextStage();
  const leaf: Plan = { kind: 'stage', stage, read: readOf(to), columns: columnsOfPlan(input.plan) };
  placing.replacements.push({
    stage,
    replaces: rest?.source ?? input.source,
    by: rest === undefined ? leaf : rest.rest(leaf),
  });
  const plan: Plan = { kind: 'exchange', child: input.plan, to, stage, partitions, reason };
  return { source: input.source, plan, tasks: tasksBehind(to, partitions) };
}

export const readOf = ({ kind }: Partitioning): 'partition' | 'all' | 'share' =>
  kind === 'hash' ? 'partition' : kind === 'keep' ? 'share' : 'all';

function tasksBehind(to: Partitioning, count: number): Tasks {
  if (to.kind === 'keep') return { kind: 'splits' };
  if (to.kind !== 'hash') return EVERYWHERE;
  return { kind: 'partitions', count, keys: to.keys.map((key) => [key]), nullsSpread: to.spreadNulls };
}

function requireTravel(plan: Plan): void {
  for (const { type } of outputFields(plan)) {
    if (!travels(type))
      throw new NotDistributable(`values of type ${printSqlType(type)} cannot travel between workers`);
  }
}

/** Brings all rows into one task: unchanged if they are, by reading the leaves whole there when they are small, or by a gather exchange. */
export function gathered(placing: Placing, input: Placed, reason: string): Placed {
  if (input.tasks.kind === 'one') return input;
  const { facts, limits } = placing;
  const { scans = 0 } = leafBytes(placing, input.plan) ?? {};
  // `force` asks for a distributed query: it is one as soon as a stage has run.
  const ofScans = facts.settings.distribution !== 'force' || facts.stages.size > 0;
  const bytesMax = scans > 0 ? limits.readInOneBytesMax : limits.readEverywhereBytesMax;
  const whole = readEverywhere(placing, input, { ofScans, bytesMax });
  return whole ?? exchange(placing, input, { kind: 'gather' }, { reason });
}

/**
 * Brings rows with equal `keys` into one task, by a hash exchange or by gathering all. `rest` is set when a first step of the node was put
 * over the input.
 */
export function together(
  placing: Placing,
  input: Placed,
  keys: readonly Expression[],
  { what, rest }: { readonly what: string; readonly rest?: Rest },
): Placed {
  const useful = usefulKeys(keys);
  const { rows } = placing.estimate(input.source);
  const count = partitionCount(placing, { bytes: placedBytes(placing, input), hashedRows: rows });
  const more = rest === undefined ? {} : { rest };
  if (useful.length > 0 && count > 1) {
    const to = { kind: 'hash', keys: useful, spreadNulls: false } as const;
    return exchange(placing, input, to, { partitions: count, reason: `${what} needs its rows by their keys`, ...more });
  }
  const reason = `${what} needs all rows in one place`;
  return rest === undefined
    ? gathered(placing, input, reason)
    : exchange(placing, input, { kind: 'gather' }, { reason, rest });
}

/** Brings all rows into one task, or into every task, by reading the leaves whole there; null when they are too big or it is impossible. */
export function readEverywhere(
  placing: Placing,
  input: Placed,
  {
    ofScans,
    bytesMax = placing.limits.readEverywhereBytesMax,
  }: { readonly ofScans: boolean; readonly bytesMax?: number },
): Placed | null {
  const bytes = leafBytes(placing, input.plan);
  if (bytes === null) return null;
  // Another stage would only hand on what this one has.
  const isBare = isStage(input.plan);
  if (!isBare && (bytes.stages + bytes.scans > bytesMax || (bytes.scans > 0 && !ofScans))) return null;
  // A node whose result depends on the order of its rows could give other rows in each task.
  const isSame = ![...walkPlan(input.plan)].some(isOrderSensitive);
  return { ...input, plan: readingAll(input.plan), tasks: isSame ? EVERYWHERE : ONE };
}

/** Whether the plan is a stage below nothing but filters and projections. */
const isStage = (plan: Plan): boolean =>
  plan.kind === 'stage' || ((plan.kind === 'filter' || plan.kind === 'project') && isStage(plan.child));

/** Returns the estimated bytes of the leaves; null when the plan contains an exchange. */
export function leafBytes(
  placing: Placing,
  plan: Plan,
): { readonly scans: number; readonly stages: number; readonly leaves: number } | null {
  let leaves = 0;
  let scans = 0;
  let stages = 0;
  for (const node of walkPlan(plan)) {
    if (node.kind === 'exchange' || node.kind === 'cte') return null;
    if (node.kind === 'scan' || node.kind === 'stage') leaves += 1;
    if (node.kind === 'scan') scans += Math.max(1, bytesOf(placing.estimate(node)));
    if (node.kind === 'stage') stages += Math.max(1, bytesOf(placing.estimate(node)));
  }
  return { scans, stages, leaves };
}

function readingAll(plan: Plan): Plan {
  if (plan.kind === 'scan' || plan.kind === 'stage') return { ...plan, read: 'all' };
  return mapChildren(plan, readingAll);
}
