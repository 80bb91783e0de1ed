import { must, unreachable } from '#shared/must.ts';
import type { Plan } from '../../plan/plan.ts';
import type { StageFacts } from '../fragment.ts';
import { firstRanks } from './first-ranks.ts';
import { placeAggregate, placeDistinct } from './place-aggregate.ts';
import { placeJoin } from './place-join.ts';
import { placeLimit, placeSort, placeWindow } from './place-order.ts';
import { placeSetOperation } from './place-set-operation.ts';
import {
  EVERYWHERE,
  movedTasks,
  placeOf,
  throughPositions,
  throughProjection,
  type Placed,
  type Tasks,
} from './placed.ts';
import { exchange, gathered, NotDistributable, tasksAtOnce, type Placing } from './placing.ts';

/**
 * Adds an exchange to a plan wherever rows are not at the tasks that need them. Every node states what it needs of its inputs and what it
 * gives; an input that already fits is used without an exchange.
 * ```
 * aggregate g               aggregate g (final)
 *   filter                    exchange hash(g)
 *     scan            ->        aggregate g (partial)
 *                                 filter
 *                                   scan (split)
 * ```
 * Without its exchanges, the placed plan gives the same rows in one DuckDB. @throws NotDistributable
 */
export function placePlan(placing: Placing, plan: Plan): Placed {
  const place = (node: Plan): Placed => placePlan(placing, node);
  switch (plan.kind) {
    case 'scan':
      if (placing.facts.scans[plan.scan]?.isInline !== true) {
        return { source: plan, plan: { ...plan, read: 'split' }, tasks: { kind: 'splits' } };
      }
      return { source: plan, plan: { ...plan, read: 'all' }, tasks: EVERYWHERE };
    case 'stage':
      return placeStage(placing, plan);
    case 'generator':
      if (plan.child === null) return { source: plan, plan, tasks: EVERYWHERE };
      throw new NotDistributable(`the table function ${plan.name} over rows is computed in one place`);
    case 'values':
      if (plan.child === null) return { source: plan, plan, tasks: EVERYWHERE };
      return above(plan, place(plan.child), () => null);
    case 'oneRow':
    case 'empty':
      return { source: plan, plan, tasks: EVERYWHERE };
    case 'filter':
      return placeFilter(placing, plan);
    case 'project':
      return above(plan, place(plan.child), throughProjection(plan.expressions.map(({ expression }) => expression)));
    case 'unnest':
      return above(plan, place(plan.child), (key) => key);
    case 'aggregate':
      return placeAggregate(placing, plan, place(plan.child));
    case 'distinct':
      return placeDistinct(placing, plan, place(plan.child));
    case 'window':
      return placeWindow(placing, plan, place(plan.child));
    case 'sort':
      return placeSort(placing, plan, place(plan.child));
    case 'limit':
      return placeLimit(placing, plan, place);
    case 'sample':
      return above(plan, gathered(placing, place(plan.child), 'a sample is drawn from all rows'), () => null);
    case 'join':
    case 'cross':
      return placeJoin(placing, plan, place(plan.left), place(plan.right));
    case 'union':
    case 'intersect':
    case 'except':
      return placeSetOperation(placing, plan, plan.children.map(place));
    case 'cte':
      return placeCte(placing, plan);
    case 'cteScan':
      return placeCteScan(placing, plan);
    case 'positional':
      throw new NotDistributable('rows side by side have an order of their own');
    case 'recursiveCte':
      throw new NotDistributable('a recursive common table expression is computed in one place');
    case 'delimScan':
      throw new NotDistributable('a correlated subquery could not be taken apart');
    case 'exchange':
      throw new NotDistributable('the plan is distributed already');
    default:
      return unreachable(plan);
  }
}

function placeFilter(placing: Placing, plan: Extract<Plan, { kind: 'filter' }>): Placed {
  const { child } = plan;
  const first = firstRanks(plan);
  const input =
    first === null || child.kind !== 'window'
      ? placePlan(placing, child)
      : placeWindow(placing, child, placePlan(placing, child.child), first);
  return above(plan, input, throughPositions(plan.projection));
}

/** Places a node with one input at the tasks of its input. */
function above(
  source: Extract<Plan, { readonly child: Plan | null }>,
  input: Placed,
  move: Parameters<typeof movedTasks>[1],
): Placed {
  const plan: Plan = { ...source, child: input.plan };
  return { source, plan, tasks: placeOf(source, movedTasks(input.tasks, move)) };
}

/** Whether every task reads the whole output of a `keep` stage, because it is small: dividing the work would take one more stage. */
function isLittle(placing: Placing, { bytes, output }: StageFacts): boolean {
  const { partitions, joinDistribution } = placing.facts.settings;
  const isFree = partitions === null && joinDistribution === 'auto';
  return output.kind === 'keep' && isFree && bytes * tasksAtOnce(placing) <= placing.limits.repeatedBytesMax;
}

function placeStage(placing: Placing, plan: Extract<Plan, { kind: 'stage' }>): Placed {
  const facts = must(placing.facts.stages.get(plan.stage), 'a stage of the plan has run');
  const { output, partitions, tasks } = facts;
  if (isLittle(placing, facts)) return { source: plan, plan: { ...plan, read: 'all' }, tasks: EVERYWHERE };
  if (output.kind === 'hash' && partitions.length > 1) {
    const keys = output.keys.map((key) => [key]);
    const placed: Tasks = { kind: 'partitions', count: partitions.length, keys, nullsSpread: output.spreadNulls };
    return { source: plan, plan: { ...plan, read: 'partition' }, tasks: placed };
  }
  if (output.kind === 'keep' && tasks > 1) {
    return { source: plan, plan: { ...plan, read: 'share' }, tasks: { kind: 'splits' } };
  }
  return { source: plan, plan: { ...plan, read: 'all' }, tasks: EVERYWHERE };
}

/**
 * Places a common table expression as a stage that keeps its rows on the workers that made them; the tasks of its readers share them.
 * ```
 * cte n: definition           cte n: exchange keep (stage s)
 *   body ... cteScan n   ->            definition
 *                               body ... stage s
 * ```
 */
function placeCte(placing: Placing, plan: Extract<Plan, { kind: 'cte' }>): Placed {
  const { definition } = plan;
  // Estimated before its readers, whose estimates use it.
  placing.estimate(plan);
  if (definition.kind === 'stage') {
    placing.ctes.set(plan.index, definition.stage);
    const body = placePlan(placing, plan.body);
    return { source: plan, plan: body.plan, tasks: body.tasks };
  }
  const made = placePlan(placing, definition);
  const kept = exchange(
    placing,
    made,
    { kind: 'keep' },
    { reason: `${plan.name} is computed once and read by several` },
  );
  const stage = kept.plan.kind === 'exchange' ? kept.plan.stage : 0;
  placing.ctes.set(plan.index, stage);
  placing.planned.set(stage, { estimate: placing.estimate(definition), tasks: made.tasks });
  const body = placePlan(placing, plan.body);
  return { source: plan, plan: { ...plan, definition: kept.plan, body: body.plan }, tasks: body.tasks };
}

function placeCteScan(placing: Placing, plan: Extract<Plan, { kind: 'cteScan' }>): Placed {
  const stage = must(placing.ctes.get(plan.index), 'a common table expression is placed before what reads it');
  const leaf: Plan = { kind: 'stage', stage, read: 'share', columns: plan.columns };
  if (placing.facts.stages.has(stage)) return { ...placeStage(placing, leaf), source: plan };
  const planned = must(placing.planned.get(stage), 'a stage that is planned');
  if (planned.tasks.kind !== 'one') return { source: plan, plan: leaf, tasks: { kind: 'splits' } };
  return { source: plan, plan: { ...leaf, read: 'all' }, tasks: EVERYWHERE };
}
