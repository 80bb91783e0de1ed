import { unreachable } from '#shared/must.ts';
import type { Expression } from './expression.ts';
import type { JoinPlan, Plan } from './plan.ts';

/** Rows of each scan; null when the table's metadata has no count. */
export type ScanRows = readonly (number | null)[];

/** Assumed rows of a scan of unknown size. */
const UNKNOWN_ROWS = 1_000_000;
const EQUAL = 0.05;
const RANGE = 0.3;
const OTHER = 0.5;
const GROUP_SHARE = 0.1;
const UNNEST_ROWS = 5;
const RECURSION_STEPS = 10;

/** Rows that a node gives, roughly: row counts of the manifests, and fixed selectivities where nothing is known. */
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
      return rows(plan.child) * plan.conditions.reduce((share, condition) => share * selectivity(condition), 1);
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
      return left * OTHER;
    case 'rightSemi':
    case 'rightAnti':
      return right * OTHER;
    case 'mark':
    case 'single':
      return left;
    case 'inner':
    case 'left':
    case 'right':
    case 'full':
      return conditions.some((one) => one.op === 'eq' || one.op === 'notDistinct')
        ? Math.max(left, right)
        : left * right * RANGE;
    default:
      return unreachable(type, 'join type');
  }
}

function generatorRows(values: readonly Expression[]): number {
  const [first, second] = values.map((value) => (value.kind === 'constant' ? Number(value.value) : Number.NaN));
  const rows = second === undefined || Number.isNaN(second) ? (first ?? 1) : Math.max(second - (first ?? 0), second);
  return Number.isFinite(rows) ? Math.max(1, rows) : 1_000;
}

/** The share of rows for which a condition is true. */
export function selectivity(condition: Expression): number {
  switch (condition.kind) {
    case 'and':
      return condition.children.reduce((share, child) => share * selectivity(child), 1);
    case 'or':
      return Math.min(
        1,
        condition.children.reduce((share, child) => share + selectivity(child), 0),
      );
    case 'compare':
      return condition.op === 'eq' || condition.op === 'notDistinct'
        ? EQUAL
        : condition.op === 'ne'
          ? 1 - EQUAL
          : RANGE;
    case 'between':
      return RANGE * RANGE;
    case 'in':
      return condition.negated ? OTHER : Math.min(OTHER, EQUAL * condition.list.length);
    case 'isNull':
      return EQUAL;
    case 'isNotNull':
      return 1 - EQUAL;
    case 'not':
      return 1 - selectivity(condition.child);
    case 'column':
    case 'constant':
    case 'operator':
    case 'function':
    case 'aggregate':
    case 'window':
    case 'cast':
    case 'case':
    case 'unnest':
      return OTHER;
    default:
      return unreachable(condition);
  }
}
