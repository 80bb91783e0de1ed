import type { PreparedQuery } from '../binding/prepared-query.ts';
import type { Fragment } from '../distributor/fragment.ts';
import type { Plan } from '../plan/plan.ts';
import { children } from '../plan/plan-tree.ts';
import { contextOf, nodeText, type ExplainContext } from '../planner/explain-plan.ts';
import type { PlanNode } from '../profile/profile-types.ts';
import { scanFigures } from '../profile/run-figures.ts';
import type { StageReport } from '../scheduler/stage-report.ts';

/** Nodes of a tree: one of more is drawn by nobody. */
const NODES_MAX = 500;
/** Longest detail of a node, in characters, and details of a node. */
const DETAIL_LENGTH_MAX = 500;
const DETAILS_MAX = 20;

type Growing = {
  readonly hidesValues: boolean;
  /** The stages that are not in the tree yet: what two stages read stands below the first. */
  readonly left: Map<number, StageReport>;
  nodes: number;
};

/**
 * The plan of a query as a tree: that of its stages once all have begun, else as it was planned; null when the plan is not known. Values that
 * the profile's `plan` does not have are not in it, nor is what policies do.
 */
export function planTreeOf(
  query: PreparedQuery,
  stages: readonly StageReport[],
  hidesValues: boolean,
): PlanNode | null {
  const growing = { hidesValues, left: new Map(stages.map((stage) => [stage.fragment.stage, stage])), nodes: 0 };
  const last = stages.find(({ fragment }) => fragment.plan !== null && fragment.output === null);
  if (last !== undefined && last.fragment.policed === undefined) return stageNode(last, growing);
  const whole = stages.find(({ fragment }) => fragment.plan === null);
  const stage = whole?.fragment.stage ?? null;
  return query.plan === null ? null : nodeOf(query.plan, { context: contextOf(query), stage }, growing);
}

type Place = { readonly context: ExplainContext; readonly stage: number | null };

function stageNode(report: StageReport, growing: Growing): PlanNode {
  const { fragment, scans, tasks } = report;
  growing.left.delete(fragment.stage);
  // Its text was not printed from its plan, which tells how a policy is made.
  if (fragment.plan === null || fragment.policed !== undefined) {
    growing.nodes += 1;
    return { name: 'Policies applied', details: [], stage: fragment.stage, children: [] };
  }
  const numbers = fragment.scans.map(({ scan }) => scan);
  const names = new Map(scanFigures(scans, numbers, tasks).map(({ number, table }) => [number, table]));
  const context = { scans: [], names, rowsOf: null };
  const node = nodeOf(fragment.plan, { context, stage: fragment.stage }, growing);
  return { ...node, estimates: { rows: Math.round(estimateOf(fragment)) } };
}

const estimateOf = ({ estimate }: Fragment): number => estimate.rows;

function nodeOf(plan: Plan, place: Place, growing: Growing): PlanNode {
  growing.nodes += 1;
  const { name, details, ...estimates } = nodeText(plan, place.context, growing.hidesValues);
  const read = plan.kind === 'stage' ? growing.left.get(plan.stage) : undefined;
  const inputs: PlanNode[] = read === undefined ? [] : [stageNode(read, growing)];
  const below = children(plan);
  for (const child of below) {
    if (growing.nodes >= NODES_MAX) break;
    inputs.push(nodeOf(child, place, growing));
  }
  const omitted = below.length - inputs.length + (read === undefined ? 0 : 1);
  return {
    name,
    details: details.slice(0, DETAILS_MAX).map((line) => line.slice(0, DETAIL_LENGTH_MAX)),
    stage: place.stage,
    ...estimates,
    children: inputs,
    ...(omitted > 0 ? { omitted } : {}),
  };
}
