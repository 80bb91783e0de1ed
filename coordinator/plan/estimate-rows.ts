import { unreachable } from '#shared/must.ts';
import type { Expression } from './expression.ts';
import type { JoinPlan, Plan } from './plan.ts';
import { NOTHING_KNOWN, shareOf } from './selectivity.ts';

/** Rows of each scan; null when the table's metadata has no count. */
export type ScanRows = readonly (number | null)[];

/** Assumed rows of a scan of unknown size. */
const UNKNOWN_ROWS = 1_000_000;
const SEMI_SHARE = 0.5;
const INEQUALITY_SHARE = 0.3;
const GROUP_SHARE = 0.1;
const UNNEST_ROWS = 5;
const RECURSION_STEPS = 10;

/** Rows that a node gives, roughly: row counts of the manifests, and the shares of conditions over columns of which nothing is known. */
export function estimateRows(plan: Plan, scanRows: ScanRows): number {
  const rows = (node: Plan): number => estimateRows(node, scanRows);
  switch (plan.kind) {
    case 'scan':
      return scanRows[plan.scan] ?? UNKNOWN_ROWS;
    case 'generator':
      return generatorRows(plan.arguments);
    case 'values':
      return plan.rows.length * (plan.child === null ? 1 : rows(plan.child));
    case 'oneRow':
      return 1;
    case 'empty':
      return 0;
    case 'filter':
      return rows(plan.child) * shareOf(plan.conditions, NOTHING_KNOWN);
    case 'project':
    case 'window':
    case 'sort':
    case 'sample':
    case 'exchange':
      return rows(plan.child);
    case 'aggregate':
      return plan.groups.length === 0 ? 1 : Math.max(1, rows(plan.child) * GROUP_SHARE) * Math.max(1, plan.sets.length);
    case 'unnest':
      return rows(plan.child) * UNNEST_ROWS;
    case 'distinct':
      return Math.max(1, rows(plan.child) * GROUP_SHARE);
    case 'limit':
      return plan.limit.kind === 'rows' ? Math.min(plan.limit.rows, rows(plan.child)) : rows(plan.child);
    case 'join':
      return joinRows(plan, rows(plan.left), rows(plan.right));
    case 'cross':
      return rows(plan.left) * rows(plan.right);
    case 'positional':
      return Math.max(rows(plan.left), rows(plan.right));
    case 'union':
      return plan.children.reduce((sum, child) => sum + rows(child), 0);
    case 'intersect':
      return Math.min(...plan.children.map(rows));
    case 'except':
      return plan.children[0] === undefined ? 0 : rows(plan.children[0]);
    case 'cte':
      return rows(plan.body);
    case 'recursiveCte':
      return rows(plan.anchor) * RECURSION_STEPS;
    case 'delimScan':
    case 'cteScan':
    case 'stage':
      // The rows that they repeat are counted at the node that makes them.
      return 1_000;
    default:
      return unreachable(plan);
  }
}

function joinRows({ type, conditions }: JoinPlan, left: number, right: number): number {
  switch (type) {
    case 'semi':
    case 'anti':
      return left * SEMI_SHARE;
    case 'rightSemi':
    case 'rightAnti':
      return right * SEMI_SHARE;
    case 'mark':
    case 'single':
      return left;
    case 'inner':
    case 'left':
    case 'right':
    case 'full':
      return conditions.some((one) => one.op === 'eq' || one.op === 'notDistinct')
        ? Math.max(left, right)
        : left * right * INEQUALITY_SHARE;
    default:
      return unreachable(type, 'join type');
  }
}

function generatorRows(values: readonly Expression[]): number {
  const [first, second] = values.map((value) => (value.kind === 'constant' ? Number(value.value) : Number.NaN));
  const rows = second === undefined || Number.isNaN(second) ? (first ?? 1) : Math.max(second - (first ?? 0), second);
  return Number.isFinite(rows) ? Math.max(1, rows) : 1_000;
}
