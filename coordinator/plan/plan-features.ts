import type { Expression } from './expression.ts';
import { estimateRows, type ScanRows } from './estimate-rows.ts';
import type { Plan } from './plan.ts';
import { children } from './plan-tree.ts';
import { NOTHING_KNOWN, shareOf } from './selectivity.ts';

/** The properties of a plan that workload classification reads (service specification, Limits). */
export type PlanFeatures = {
  /** Joins of every kind but those with a list of constants; INTERSECT and EXCEPT are joins, too. */
  readonly joins: number;
  readonly windows: number;
  readonly aggregates: number;
  readonly scans: number;
  /** Sum of the estimated rows over the scans of tables, after the filters that stand right over them. */
  readonly estimatedRows: number;
  /** The same of generators, such as `range()`. */
  readonly generatedRows: number;
  /** Estimated rows of the result. */
  readonly resultRows: number;
  /** The query may read many rows for each row that it gives, so a worker must be able to pause it before it gives rows. */
  readonly selective: boolean;
};

/**
 * A selective query with a larger expected result is streamed: its rows come often enough, and collected they could fill a disk while the
 * client is slow.
 */
export const COLLECTED_ROWS_MAX = 10_000_000;

type Counts = { -readonly [K in Exclude<keyof PlanFeatures, 'resultRows' | 'selective'>]: PlanFeatures[K] };

export function planFeatures(plan: Plan, scanRows: ScanRows): PlanFeatures {
  const counts: Counts = { joins: 0, windows: 0, aggregates: 0, scans: 0, estimatedRows: 0, generatedRows: 0 };
  const visit = (node: Plan, conditions: readonly Expression[]): void => {
    count(node, counts);
    if (node.kind === 'scan' || node.kind === 'generator') {
      const share = shareOf(conditions, NOTHING_KNOWN);
      counts[node.kind === 'scan' ? 'estimatedRows' : 'generatedRows'] += estimateRows(node, scanRows) * share;
    }
    const below = node.kind === 'filter' ? node.conditions : node.kind === 'project' ? conditions : [];
    for (const child of children(node)) visit(child, below);
  };
  visit(plan, []);
  const resultRows = estimateRows(plan, scanRows);
  const { estimatedRows, generatedRows } = counts;
  return {
    ...counts,
    estimatedRows: Math.round(estimatedRows),
    generatedRows: Math.round(generatedRows),
    resultRows: Math.round(resultRows),
    selective: isSelective(plan) && resultRows <= COLLECTED_ROWS_MAX,
  };
}

/** Whether rows are dropped between the last operator that holds all of its rows, or a scan, and the result. */
export function isSelective(plan: Plan): boolean {
  if (plan.kind === 'project' || plan.kind === 'union') return children(plan).some(isSelective);
  if (plan.kind === 'intersect' || plan.kind === 'except') return plan.all;
  return plan.kind === 'filter' || plan.kind === 'join' || plan.kind === 'cross' || plan.kind === 'limit';
}

/**
 * Counts what DuckDB's physical plan has for a node. It runs INTERSECT and EXCEPT as a semi or an anti join. With ALL, a window on each side
 * numbers equal rows first; without it, an aggregate drops duplicates afterwards.
 */
function count(node: Plan, counts: Counts): void {
  if (node.kind === 'intersect' || node.kind === 'except') {
    const joins = node.children.length - 1;
    counts.joins += joins;
    if (node.all) counts.windows += 2 * joins;
    else counts.aggregates += joins;
  }
  if (node.kind === 'union' && !node.all) counts.aggregates += 1;
  if (node.kind === 'scan') counts.scans += 1;
  if (node.kind === 'window') counts.windows += 1;
  if (node.kind === 'aggregate' || node.kind === 'distinct') counts.aggregates += 1;
  const isList = node.kind === 'join' && node.right.kind === 'values';
  if ((node.kind === 'join' && !isList) || node.kind === 'cross' || node.kind === 'positional') counts.joins += 1;
}

/** Returns the features of a query without a plan: the scans are known, the rest is assumed to be heavy. */
export function unknownFeatures(scanRows: ScanRows): PlanFeatures {
  const estimatedRows = scanRows.reduce<number>((sum, rows) => sum + (rows ?? 1_000_000), 0);
  return {
    joins: Math.max(0, scanRows.length - 1),
    windows: 1,
    aggregates: 1,
    scans: scanRows.length,
    estimatedRows,
    generatedRows: 0,
    resultRows: estimatedRows,
    selective: true,
  };
}
