import type { AggregateCall, Expression } from '../plan/expression.ts';
import type { Plan } from '../plan/plan.ts';
import { expressionType } from '../plan/plan-schema.ts';
import { walkPlan } from '../plan/plan-tree.ts';
import { printSqlType, type SqlType } from '../plan/sql-type.ts';

/**
 * How the rows of a query follow new rows of one of its tables. `append`: new rows give further rows. `merge`: they give further groups,
 * and parts of groups that are there; `columns` are the query's, in its order.
 */
export type RefreshShape =
  | { readonly kind: 'append' }
  | { readonly kind: 'merge'; readonly columns: readonly MergedColumn[] }
  | { readonly kind: 'none'; readonly reason: string };

/** `aggregate`: `by` joins parts of it. `average`: of exact numbers with `scale` digits behind the point, by their sum and their number. */
export type MergedColumn =
  | { readonly kind: 'key' }
  | { readonly kind: 'aggregate'; readonly by: string }
  | { readonly kind: 'average'; readonly scale: number };

/** Finds the shape from the plan of a query. @param scan the table that has new rows */
export function refreshShape(plan: Plan, scan: number): RefreshShape {
  const found = [...walkPlan(plan)].filter((node) => node.kind === 'scan' && node.scan === scan).length;
  if (found !== 1) return none(found === 0 ? 'the plan does not read the table' : 'the plan reads the table twice');
  const top = aggregateBelow(plan);
  if (top === null) {
    const refusal = refusalOf(plan, scan);
    return refusal === null ? { kind: 'append' } : none(refusal);
  }
  return mergeShape(top, scan);
}

const none = (reason: string): RefreshShape => ({ kind: 'none', reason });

type Top = { readonly aggregate: Extract<Plan, { kind: 'aggregate' }>; readonly columns: readonly number[] };

/** The aggregate whose columns the query gives, perhaps in another order. */
function aggregateBelow(plan: Plan): Top | null {
  if (plan.kind === 'aggregate') {
    const width = plan.groups.length + plan.aggregates.length + plan.groupings.length;
    return { aggregate: plan, columns: Array.from({ length: width }, (_, i) => i) };
  }
  if (plan.kind === 'sort' && plan.projection === null) return aggregateBelow(plan.child);
  if (plan.kind !== 'project') return null;
  const below = aggregateBelow(plan.child);
  if (below === null) return null;
  const columns = plan.expressions.map(({ expression }) => {
    const column = withoutExactCast(expression, below);
    return column === undefined ? undefined : below.columns[column];
  });
  return columns.every((column) => column !== undefined) ? { ...below, columns } : null;
}

/** The column that an expression gives as it is, or an aggregate's as a number of another type, without loss. */
function withoutExactCast(expression: Expression, { aggregate, columns }: Top): number | undefined {
  if (expression.kind === 'column') return expression.index;
  if (expression.kind !== 'cast' || expression.tryCast || expression.child.kind !== 'column') return undefined;
  const { index, type } = expression.child;
  const isGroup = (columns[index] ?? 0) < aggregate.groups.length;
  const [from, to] = [scaleOf(type), scaleOf(expression.type)];
  return !isGroup && from !== null && to !== null && to >= from ? index : undefined;
}

/** Digits behind the point of a type of exact numbers; null for another type. */
function scaleOf(type: SqlType): number | null {
  if (type.kind === 'decimal') return type.scale;
  return type.kind === 'scalar' && INTEGERS.has(type.name) ? 0 : null;
}
const INTEGERS: ReadonlySet<string> = new Set(['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'HUGEINT']);

function mergeShape({ aggregate, columns }: Top, scan: number): RefreshShape {
  const { groups, aggregates, sets, child } = aggregate;
  if (sets.length > 1 || (sets[0] !== undefined && sets[0].length !== groups.length))
    return none('it has grouping sets');
  const refusal = refusalOf(child, scan);
  if (refusal !== null) return none(refusal);
  if (groups.some((_, group) => !columns.includes(group)))
    return none('it does not show all columns that it groups by');
  const merged: MergedColumn[] = [];
  for (const column of columns) {
    const call = aggregates[column - groups.length];
    if (column < groups.length) merged.push({ kind: 'key' });
    else if (call === undefined) return none('it has GROUPING()');
    else if (AVERAGES.has(call.name)) {
      const average = averageOf(call);
      if (typeof average === 'string') return none(average);
      merged.push(average);
    } else {
      const by = mergedBy(call);
      if (by === null) return none(`parts of ${call.name} cannot be merged`);
      merged.push({ kind: 'aggregate', by });
    }
  }
  return { kind: 'merge', columns: merged };
}

const AVERAGES: ReadonlySet<string> = new Set(['avg', 'mean']);
/**
 * Digits of a decimal whose sums are kept. The sum has 38 digits, so ten are left for the number of rows: without this limit a sum could
 * overflow where `avg` does not.
 */
const AVERAGED_DIGITS_MAX = 28;

/** The column of an average; a text is the reason why it cannot be merged. */
function averageOf({ name, children, distinct, orders }: AggregateCall): MergedColumn | string {
  const [child] = children;
  if (child === undefined || distinct || orders.length > 0) return `parts of ${name} cannot be merged`;
  const type = expressionType(child);
  const printed = printSqlType(type);
  if (printed === 'DOUBLE') {
    return `parts of ${name} over DOUBLE cannot be merged, because a sum of floating point depends on the order of rows`;
  }
  if (type.kind === 'decimal' && type.width > AVERAGED_DIGITS_MAX) {
    return `parts of ${name} over ${printed} cannot be merged, because their sum may be too long for a DECIMAL`;
  }
  const scale = printed === 'HUGEINT' ? null : scaleOf(type);
  return scale === null ? `parts of ${name} over ${printed} cannot be merged` : { kind: 'average', scale };
}

/** The aggregate that merges the values of another over parts of a group. Sums of floating point depend on the order of rows. */
function mergedBy({ name, children, distinct, orders, type }: AggregateCall): string | null {
  if (orders.length > 0 || (distinct && !SAME_WHEN_DISTINCT.has(name))) return null;
  switch (name) {
    case 'count':
    case 'count_star':
      return 'sum';
    case 'sum':
    case 'sum_no_overflow':
      return scaleOf(type) === null ? null : 'sum';
    case 'min':
    case 'max':
      return children.length === 1 ? name : null;
    case 'bool_and':
    case 'bool_or':
    case 'bit_and':
    case 'bit_or':
    case 'bit_xor':
      return name;
    default:
      return null;
  }
}

const SAME_WHEN_DISTINCT: ReadonlySet<string> = new Set(['min', 'max', 'bool_and', 'bool_or', 'bit_and', 'bit_or']);

/** Null when each row of the plan comes from one row of the scan, and rows of the other tables that all rows of the scan see alike. */
function refusalOf(plan: Plan, scan: number): string | null {
  if (plan.kind === 'scan') return plan.scan === scan ? null : 'the plan does not read the table here';
  if (plan.kind === 'filter' || plan.kind === 'project' || plan.kind === 'unnest' || plan.kind === 'sort') {
    return refusalOf(plan.child, scan);
  }
  if (plan.kind === 'aggregate') return 'it aggregates below its last step';
  if (plan.kind === 'cross') return refusalOf(reads(plan.left, scan) ? plan.left : plan.right, scan);
  if (plan.kind !== 'join') return `it has a step (${plan.kind}) that looks at more than one row`;
  if (plan.delim !== null) return 'it has a correlated subquery';
  const isLeft = reads(plan.left, scan);
  const fits = isLeft ? KEEPS_LEFT.has(plan.type) : KEEPS_RIGHT.has(plan.type) && !plan.asof;
  if (!fits) return `the table stands on the ${isLeft ? 'left' : 'right'} of a ${plan.type} join`;
  return refusalOf(isLeft ? plan.left : plan.right, scan);
}

/** Joins whose rows each come from one row of that side. */
const KEEPS_LEFT: ReadonlySet<string> = new Set(['inner', 'left', 'semi', 'anti', 'mark', 'single']);
const KEEPS_RIGHT: ReadonlySet<string> = new Set(['inner', 'right', 'rightSemi', 'rightAnti']);

const reads = (plan: Plan, scan: number): boolean =>
  walkPlan(plan).some((node) => node.kind === 'scan' && node.scan === scan);
