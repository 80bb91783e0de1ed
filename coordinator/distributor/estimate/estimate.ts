import { must, unreachable } from '#shared/must.ts';
import { expressionKey } from '../../plan/expression-tree.ts';
import type { Expression } from '../../plan/expression.ts';
import type { JoinPlan, Plan, PlanColumn } from '../../plan/plan.ts';
import { expressionType, outputFields } from '../../plan/plan-schema.ts';
import type { SqlField, SqlType } from '../../plan/sql-type.ts';
import type { DistributionFacts } from '../fragment.ts';
import type { ColumnEstimate, Estimate } from '../../plan/row-estimate.ts';
import { shareOf } from '../../plan/selectivity.ts';

export type Estimator = (plan: Plan) => Estimate;

/** A column without statistics is assumed to have (rows to this power) groups. */
const UNKNOWN_GROUPS_POWER = 0.75;
const SEMI_SHARE = 0.5;
const INEQUALITY_SHARE = 0.3;
const UNNEST_ROWS = 5;
const RECURSION_STEPS = 10;
const UNKNOWN_ROWS = 1_000;
/**
 * Makes a function that estimates plan nodes and caches the estimates. Scans use the manifests' rows, nulls and bounds; joins give |L||R| /
 * max(distinct); groups are the product of the distinct counts. A stage that has run has exact counts.
 */
export function estimator(
  facts: Pick<DistributionFacts, 'scans' | 'stages'>,
  planned: (stage: number) => Estimate | undefined = () => undefined,
): Estimator {
  const known = new WeakMap<Plan, Estimate>();
  const ctes = new Map<number, Estimate>();
  const of: Estimator = (plan) => {
    const before = known.get(plan);
    if (before !== undefined) return before;
    const made = estimateNode(plan, { of, facts, ctes, planned });
    const rows = Number.isFinite(made.rows) ? Math.max(0, made.rows) : UNKNOWN_ROWS;
    const estimate = { rows, columns: made.columns.map((column) => atMost(column, rows)) };
    known.set(plan, estimate);
    return estimate;
  };
  return of;
}

type Context = {
  readonly of: Estimator;
  readonly facts: Pick<DistributionFacts, 'scans' | 'stages'>;
  readonly ctes: Map<number, Estimate>;
  readonly planned: (stage: number) => Estimate | undefined;
};

/** Nodes whose rows come from elsewhere than from the node below. */
type SourceKind = 'scan' | 'generator' | 'values' | 'oneRow' | 'empty' | 'cteScan' | 'stage' | 'delimScan';

function estimateNode(plan: Plan, context: Context): Estimate {
  const { of, ctes } = context;
  switch (plan.kind) {
    case 'scan':
    case 'generator':
    case 'values':
    case 'oneRow':
    case 'empty':
    case 'cteScan':
    case 'stage':
    case 'delimScan':
      return estimateSource(plan, context);
    case 'filter': {
      const child = of(plan.child);
      const rows = child.rows * shareOf(plan.conditions, child);
      return { rows, columns: pick(child.columns, plan.projection) };
    }
    case 'project': {
      const child = of(plan.child);
      return { rows: child.rows, columns: plan.expressions.map(({ expression }) => columnOf(expression, child)) };
    }
    case 'sort': {
      const child = of(plan.child);
      return { rows: child.rows, columns: pick(child.columns, plan.projection) };
    }
    case 'aggregate': {
      const child = of(plan.child);
      const rows = plan.groups.length === 0 ? 1 : groupCount(plan.groups, child) * Math.max(1, plan.sets.length * 0.7);
      const groups = plan.groups.map((group) => columnOf(group, child));
      return { rows, columns: [...groups, ...widths(outputFields(plan).slice(groups.length))] };
    }
    case 'distinct': {
      const child = of(plan.child);
      return { rows: groupCount(plan.on, child), columns: child.columns };
    }
    case 'window':
    case 'unnest': {
      const child = of(plan.child);
      const rows = plan.kind === 'window' ? child.rows : child.rows * UNNEST_ROWS;
      return { rows, columns: [...child.columns, ...widths(outputFields(plan).slice(child.columns.length))] };
    }
    case 'limit': {
      const child = of(plan.child);
      return { ...child, rows: plan.limit.kind === 'rows' ? Math.min(plan.limit.rows, child.rows) : child.rows };
    }
    case 'sample':
    case 'exchange':
      return of(plan.child);
    case 'join':
      return estimateJoin(plan, of(plan.left), of(plan.right));
    case 'cross':
    case 'positional': {
      const [left, right] = [of(plan.left), of(plan.right)];
      const rows = plan.kind === 'cross' ? left.rows * right.rows : Math.max(left.rows, right.rows);
      return { rows, columns: [...left.columns, ...right.columns] };
    }
    case 'union':
    case 'intersect':
    case 'except':
      return estimateSetOperation(plan.kind, plan.children.map(of));
    case 'cte':
      ctes.set(plan.index, of(plan.definition));
      return of(plan.body);
    case 'recursiveCte':
      return unknownColumns(plan, of(plan.anchor).rows * RECURSION_STEPS);
    default:
      return unreachable(plan);
  }
}

function estimateSource(plan: Extract<Plan, { kind: SourceKind }>, { of, facts, ctes, planned }: Context): Estimate {
  switch (plan.kind) {
    case 'scan':
      return estimateScan(plan.columns, facts.scans[plan.scan]);
    case 'generator':
      return unknownColumns(plan, generatorRows(plan.arguments) * (plan.child === null ? 1 : of(plan.child).rows));
    case 'values':
      return unknownColumns(plan, plan.rows.length * (plan.child === null ? 1 : of(plan.child).rows));
    case 'oneRow':
      return unknownColumns(plan, 1);
    case 'empty':
      return unknownColumns(plan, 0);
    case 'cteScan': {
      const definition = ctes.get(plan.index);
      return definition === undefined ? unknownColumns(plan, UNKNOWN_ROWS) : definition;
    }
    case 'stage': {
      const stage = facts.stages.get(plan.stage);
      if (stage === undefined) return planned(plan.stage) ?? unknownColumns(plan, UNKNOWN_ROWS);
      const width = Math.max(1, stage.bytes / Math.max(1, stage.rows) / Math.max(1, plan.columns.length));
      const columns = widths(plan.columns).map((column) => ({ ...column, widthBytes: width }));
      return { rows: stage.rows, columns };
    }
    case 'delimScan':
      return unknownColumns(plan, UNKNOWN_ROWS);
    default:
      return unreachable(plan);
  }
}

function estimateScan(columns: readonly PlanColumn[], facts: DistributionFacts['scans'][number] | undefined): Estimate {
  const rows = facts?.rows ?? UNKNOWN_ROWS;
  return {
    rows,
    columns: columns.map(({ index, type }) => {
      const column = facts?.columns[index];
      return {
        distinct: column?.distinctMax ?? null,
        nullShare: column?.nulls == null || rows === 0 ? null : column.nulls / rows,
        lower: column?.lower ?? null,
        upper: column?.upper ?? null,
        widthBytes: column?.widthBytes ?? typeWidth(type),
      };
    }),
  };
}

function estimateJoin(join: JoinPlan, left: Estimate, right: Estimate): Estimate {
  const rows = joinRows(join, left, right);
  const leftColumns = pick(left.columns, join.leftProjection);
  const rightColumns = pick(right.columns, join.rightProjection);
  const outer = (columns: readonly ColumnEstimate[]): readonly ColumnEstimate[] =>
    columns.map((column) => ({ ...column, nullShare: null }));
  switch (join.type) {
    case 'semi':
    case 'anti':
      return { rows, columns: leftColumns };
    case 'rightSemi':
    case 'rightAnti':
      return { rows, columns: rightColumns };
    case 'mark':
      return { rows, columns: [...leftColumns, unknownColumn({ kind: 'scalar', name: 'BOOLEAN' })] };
    case 'inner':
      return { rows, columns: [...leftColumns, ...rightColumns] };
    case 'left':
    case 'single':
      return { rows, columns: [...leftColumns, ...outer(rightColumns)] };
    case 'right':
      return { rows, columns: [...outer(leftColumns), ...rightColumns] };
    case 'full':
      return { rows, columns: [...outer(leftColumns), ...outer(rightColumns)] };
    default:
      return unreachable(join.type, 'join type');
  }
}

function joinRows(join: JoinPlan, left: Estimate, right: Estimate): number {
  const equal = join.conditions.filter(({ op }) => op === 'eq' || op === 'notDistinct');
  const others = join.conditions.length - equal.length + (join.residual === null ? 0 : 1);
  const distinct = (side: Estimate, keys: readonly Expression[]): number => keyCount(keys, side) ?? side.rows;
  const leftKeys = distinct(
    left,
    equal.map((condition) => condition.left),
  );
  const rightKeys = distinct(
    right,
    equal.map((condition) => condition.right),
  );
  const pairs =
    equal.length === 0 ? left.rows * right.rows : (left.rows * right.rows) / Math.max(1, leftKeys, rightKeys);
  const inner = join.asof ? left.rows : pairs * INEQUALITY_SHARE ** others;
  const semi = (rows: number, keys: number, otherKeys: number): number =>
    rows * (equal.length === 0 ? SEMI_SHARE : Math.min(1, otherKeys / Math.max(1, keys)));
  switch (join.type) {
    case 'inner':
      return inner;
    case 'left':
      return Math.max(inner, left.rows);
    case 'right':
      return Math.max(inner, right.rows);
    case 'full':
      return Math.max(inner, left.rows, right.rows);
    case 'mark':
    case 'single':
      return left.rows;
    case 'semi':
      return semi(left.rows, leftKeys, rightKeys);
    case 'anti':
      return Math.max(left.rows * 0.1, left.rows - semi(left.rows, leftKeys, rightKeys));
    case 'rightSemi':
      return semi(right.rows, rightKeys, leftKeys);
    case 'rightAnti':
      return Math.max(right.rows * 0.1, right.rows - semi(right.rows, rightKeys, leftKeys));
    default:
      return unreachable(join.type, 'join type');
  }
}

function estimateSetOperation(kind: 'union' | 'intersect' | 'except', inputs: readonly Estimate[]): Estimate {
  const first = must(inputs[0], 'a set operation has inputs');
  if (kind !== 'union') {
    const rows = kind === 'intersect' ? Math.min(...inputs.map((input) => input.rows)) : first.rows;
    return { rows, columns: first.columns };
  }
  const columns = first.columns.map((column, i) => ({
    ...column,
    ...UNKNOWN,
    widthBytes: Math.max(...inputs.map((input) => input.columns[i]?.widthBytes ?? column.widthBytes)),
  }));
  return { rows: inputs.reduce((sum, input) => sum + input.rows, 0), columns };
}

/** Estimates the distinct combinations of the keys' values, at most the number of rows; null when a key's count is unknown. */
function keyCount(keys: readonly Expression[], input: Estimate): number | null {
  const counts = keys.map((key) => columnOf(key, input).distinct);
  if (counts.some((count) => count === null)) return null;
  return Math.min(
    input.rows,
    counts.reduce<number>((product, count) => product * Math.max(1, count ?? 1), 1),
  );
}

/** Estimates the number of groups of these expressions: at least one, at most one per row. */
export function groupCount(groups: readonly Expression[], input: Estimate): number {
  const seen = new Set<string>();
  let product = 1;
  let unknown = false;
  for (const group of groups) {
    const key = expressionKey(group);
    if (seen.has(key)) continue;
    seen.add(key);
    const { distinct } = columnOf(group, input);
    if (distinct === null) unknown = true;
    else product *= Math.max(1, distinct);
  }
  const guess = unknown ? Math.max(product, input.rows ** UNKNOWN_GROUPS_POWER) : product;
  return Math.max(1, Math.min(guess, input.rows));
}

/** Returns the number of values between an integer or date column's bounds, which may exceed its rows; null when the bounds are unknown. */
export function domainOf(expression: Expression, input: Estimate): number | null {
  const { distinct, lower, upper } = columnOf(expression, input);
  return !isDiscrete(expression) || distinct === null || lower === null || upper === null ? null : upper - lower + 1;
}

/** Whether the values of a column are numbers or dates without others between them. */
const isDiscrete = (expression: Expression): boolean =>
  expression.kind === 'cast'
    ? isDiscrete(expression.child)
    : expression.kind === 'column' && expression.type.kind === 'scalar' && DISCRETE.has(expression.type.name);

const DISCRETE: ReadonlySet<string> = new Set(['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'DATE']);

/** Estimates the values of an expression as a column. */
function columnOf(expression: Expression, input: Estimate): ColumnEstimate {
  if (expression.kind === 'column') return input.columns[expression.index] ?? unknownColumn(expression.type);
  if (expression.kind === 'cast' && !expression.tryCast) {
    return { ...columnOf(expression.child, input), widthBytes: typeWidth(expression.type) };
  }
  if (expression.kind === 'constant') return { ...unknownColumn(expression.type), distinct: 1 };
  const column = unknownColumn(expressionType(expression));
  // A function of one column has no more distinct values than the column.
  const [only, ...more] =
    expression.kind === 'function' ? expression.children.filter((c) => c.kind !== 'constant') : [];
  return only === undefined || more.length > 0 ? column : { ...column, distinct: columnOf(only, input).distinct };
}

const UNKNOWN = { distinct: null, nullShare: null, lower: null, upper: null } as const;
const unknownColumn = (type: SqlType): ColumnEstimate => ({ ...UNKNOWN, widthBytes: typeWidth(type) });
const widths = (fields: readonly SqlField[]): readonly ColumnEstimate[] =>
  fields.map(({ type }) => unknownColumn(type));
const unknownColumns = (plan: Plan, rows: number): Estimate => ({ rows, columns: widths(outputFields(plan)) });

const atMost = (column: ColumnEstimate, rows: number): ColumnEstimate =>
  column.distinct === null || column.distinct <= rows ? column : { ...column, distinct: rows };

const pick = (columns: readonly ColumnEstimate[], positions: readonly number[] | null): readonly ColumnEstimate[] =>
  positions === null ? columns : positions.map((at) => must(columns[at], 'a projected column'));

function generatorRows(values: readonly Expression[]): number {
  const [first, second] = values.map((value) => (value.kind === 'constant' ? Number(value.value) : Number.NaN));
  const rows = second === undefined || Number.isNaN(second) ? (first ?? 1) : second - (first ?? 0);
  return Number.isFinite(rows) ? Math.max(1, rows) : UNKNOWN_ROWS;
}

const SCALAR_WIDTHS: Readonly<Record<string, number>> = {
  BOOLEAN: 1,
  TINYINT: 1,
  UTINYINT: 1,
  SMALLINT: 2,
  USMALLINT: 2,
  INTEGER: 4,
  UINTEGER: 4,
  DATE: 4,
  FLOAT: 4,
  HUGEINT: 16,
  UHUGEINT: 16,
  UUID: 16,
  INTERVAL: 16,
  VARCHAR: 20,
  JSON: 60,
  BLOB: 40,
};
const NESTED_WIDTH = 60;
const EIGHT_BYTES = 8;

function typeWidth(type: SqlType): number {
  switch (type.kind) {
    case 'scalar':
      return SCALAR_WIDTHS[type.name] ?? EIGHT_BYTES;
    case 'decimal':
      return type.width <= 4 ? 2 : type.width <= 9 ? 4 : type.width <= 18 ? EIGHT_BYTES : 16;
    case 'enum':
      return 2;
    case 'array':
      return typeWidth(type.element) * type.length;
    case 'struct':
      return type.fields.reduce((sum, field) => sum + typeWidth(field.type), 0);
    case 'list':
    case 'map':
    case 'union':
      return NESTED_WIDTH;
    default:
      return unreachable(type);
  }
}
