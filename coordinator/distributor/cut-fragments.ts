import { must } from '#shared/must.ts';
import { outputFields } from '../plan/plan-schema.ts';
import { COLLECTED_ROWS_MAX, isSelective } from '../plan/plan-features.ts';
import { children, mapChildren, walkPlan } from '../plan/plan-tree.ts';
import type { Partitioning, Plan } from '../plan/plan.ts';
import type { Estimator } from './estimate/estimate.ts';
import { bytesOf, type Estimate } from '../plan/row-estimate.ts';
import { chainSets } from './chain-sets.ts';
import { dividableInputs } from './dividable-inputs.ts';
import type { Fragment, FragmentInput, TaskShape, TaskWidth } from './fragment.ts';
import { keyedInputs } from './keyed-inputs.ts';
import { isOrderSensitive } from './place/order-sensitive.ts';
import { columnsOfPlan, readOf, type Placing } from './place/placing.ts';
import { printPlan } from './print/print-plan.ts';
import { exchangeFields } from './print/exchange-form.ts';

/**
 * Rows read for each row of output from which a fragment is sparse. With fewer, collecting costs more than streaming: up to 40 % where half
 * of the rows are kept.
 */
const ROWS_READ_PER_SPARSE_ROW = 8;

/**
 * Cuts a plan at its exchanges into fragments, producers before readers. Each exchange becomes the output of one and the input of another.
 * ```
 * a                        fragment 2: a           fragment 1: b  -> hash(x)
 *   exchange 1 hash(x) ->    stage 1 (partition)     scan (split)
 *     b
 *       scan
 * ```
 * @throws NotPrintable
 */
export function cutFragments(
  plan: Plan,
  lastStage: number,
  { estimate, firstSteps, facts }: Pick<Placing, 'estimate' | 'firstSteps' | 'facts'>,
): readonly Fragment[] {
  const fragments: Fragment[] = [];
  const width = facts.settings.stageWidth;
  const cut = (node: Plan): Plan => {
    if (node.kind === 'cte') {
      // Its readers are stages already.
      cut(node.definition);
      return cut(node.body);
    }
    if (node.kind !== 'exchange') return mapChildren(node, cut);
    const child = cut(node.child);
    if (!fragments.some(({ stage }) => stage === node.stage)) {
      const isFirstStep = firstSteps.has(node.child);
      fragments.push(
        fragment(child, {
          ...node,
          estimate: estimate(node.child),
          collected: isSparse(node.child, estimate),
          isFirstStep,
          width,
        }),
      );
    }
    return { kind: 'stage', stage: node.stage, read: readOf(node.to), columns: columnsOfPlan(node.child) };
  };
  const last = cut(plan);
  const reason = 'the result';
  return [
    ...fragments,
    fragment(last, {
      stage: lastStage,
      to: null,
      partitions: 1,
      reason,
      estimate: estimate(plan),
      collected: isSparse(plan, estimate),
      isFirstStep: false,
      width,
    }),
  ];
}

/**
 * Whether a fragment drops nearly all rows that it reads before it gives them away. Streamed, it would work in one piece until enough rows
 * have come; collected, it works in short pieces at no higher cost.
 */
function isSparse(plan: Plan, estimate: Estimator): boolean {
  if (!isSelective(plan)) return false;
  const { rows } = estimate(plan);
  return rows <= COLLECTED_ROWS_MAX && rows * ROWS_READ_PER_SPARSE_ROW <= rowsRead(plan, estimate);
}

/** Estimates the rows of the largest leaf of a fragment. */
function rowsRead(plan: Plan, estimate: Estimator): number {
  if (plan.kind === 'scan' || plan.kind === 'exchange' || plan.kind === 'stage') return estimate(plan).rows;
  return Math.max(0, ...children(plan).map((child) => rowsRead(child, estimate)));
}

type Output = {
  readonly stage: number;
  readonly to: Partitioning | null;
  readonly partitions: number;
  readonly reason: string;
  readonly estimate: Estimate;
  readonly collected: boolean;
  readonly isFirstStep: boolean;
  readonly width: TaskWidth;
};

function fragment(plan: Plan, output: Output): Fragment {
  const { stage, to, partitions, reason, estimate, collected, width } = output;
  const nodes = [...walkPlan(plan)];
  const scans: { readonly scan: number; readonly read: 'split' | 'all' }[] = [];
  const inputs: FragmentInput[] = [];
  for (const node of nodes) {
    if (node.kind === 'scan') scans.push({ scan: node.scan, read: must(node.read, 'a scan with its place') });
    if (node.kind === 'stage') addInput(inputs, node);
  }
  const dividable = dividableInputs(plan, output.isFirstStep);
  const text = printPlan(
    chainSets(keyedInputs(plan)),
    {
      scan: (node) => scans.findIndex(({ scan }) => scan === node.scan),
      stage: (node) => inputs.findIndex((input) => input.stage === node.stage && input.read === node.read),
    },
    {
      travels: to !== null,
      ...(to?.kind === 'hash' && partitions > 1
        ? { partition: { keys: to.keys, count: partitions, spreadNulls: to.spreadNulls } }
        : {}),
    },
  );
  return {
    stage,
    plan,
    output: to,
    partitions,
    fields: to === null ? outputFields(plan) : exchangeFields(outputFields(plan)),
    sql: text,
    scans,
    inputs: inputs.map((input) =>
      input.read === 'partition' && input.reads === 1 && dividable.has(input.stage)
        ? { ...input, dividable: true }
        : input,
    ),
    tasks: shapeOf(scans, inputs),
    width,
    collected,
    repeatable: !nodes.some(isOrderSensitive),
    estimate: { rows: Math.round(estimate.rows), bytes: Math.round(bytesOf(estimate)) },
    reason,
  };
}

function addInput(inputs: FragmentInput[], node: Extract<Plan, { kind: 'stage' }>): void {
  const at = inputs.findIndex((input) => input.stage === node.stage && input.read === node.read);
  const known = inputs[at];
  if (known !== undefined) {
    inputs[at] = { ...known, reads: known.reads + 1 };
    return;
  }
  inputs.push({ stage: node.stage, read: node.read, fields: exchangeFields(outputFields(node)), reads: 1 });
}

/** Derives how a fragment becomes tasks from its leaves. @throws Error when it reads both partitions and splits. */
function shapeOf(scans: Fragment['scans'], inputs: readonly FragmentInput[]): TaskShape {
  const isSplit = scans.some(({ read }) => read === 'split') || inputs.some(({ read }) => read === 'share');
  const isPartitioned = inputs.some(({ read }) => read === 'partition');
  if (isSplit && isPartitioned) throw new Error('invariant: a fragment reads partitions and splits');
  if (isSplit) return { kind: 'splits' };
  return { kind: isPartitioned ? 'partitions' : 'single' };
}
