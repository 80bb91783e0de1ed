import type { SqlText } from '#shared/task/sql-text.ts';
import { parseJson } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import type { Fragment, ScanFacts, StageFacts } from './fragment.ts';
import { stageTitle } from '../plan/stage-title.ts';
import type { Expression } from '../plan/expression.ts';
import type { JoinPlan, Plan } from '../plan/plan.ts';
import { mapChildren, walkPlan } from '../plan/plan-tree.ts';
import { outputFields } from '../plan/plan-schema.ts';
import type { SqlType } from '../plan/sql-type.ts';

/** The keys of a build side that has run, and the scan of the probe side that they can narrow before it runs. */
export type DynamicFilter = {
  /** The stage of the build side, and the column of its output. */
  readonly stage: number;
  readonly column: number;
  /** The scan, and the position among its columns. */
  readonly scan: number;
  readonly position: number;
};

/** The key values in a column of a build side. */
export type KeyValues = {
  readonly min: bigint;
  readonly max: bigint;
  /** The distinct values; null when there are more than `VALUES_MAX`. */
  readonly values: readonly bigint[] | null;
};

/** A build side with more rows than this is not used for a filter. */
const BUILD_ROWS_MAX = 5_000_000;
/** Distinct values are collected from a build side of at most `DISTINCT_ROWS_MAX` rows, and at most `VALUES_MAX` of them. */
const DISTINCT_ROWS_MAX = 1_000_000;
export const VALUES_MAX = 1_000;
/**
 * Above `VALUES_MAX`, the distinct values become a stage of their own that the scan's tasks read. A build side with more rows gets none.
 */
const KEY_SET_ROWS_MAX = 2_000_000;
/** Such a stage pays off when its values are at most this share of the values that the scan's column may hold. */
const KEY_SET_SHARE_MAX = 0.5;
/** A scan with fewer rows than this is read faster than the keys are collected. */
const PROBE_ROWS_MIN = 500_000;
/** A filter that keeps a bigger share of the scan's values costs more than it saves. */
const KEPT_SHARE_MAX = 0.7;

/** Types whose values are read as they are: the keys of nearly all joins. */
const INTEGERS: ReadonlySet<string> = new Set(['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT']);

const integerName = (type: SqlType): string | null =>
  type.kind === 'scalar' && INTEGERS.has(type.name) ? type.name : null;

/**
 * Finds every dynamic filter that can pay off in a plan with exchanges. A broadcast join needs none: its scan is in the join's fragment,
 * and DuckDB filters it by itself.
 * ```
 * join b.x = a.x (partitioned)
 *   exchange hash(x)                exchange hash(x)
 *     scan b            ->            filter x in (what stage 1 has)
 *   stage 1 (has run)                   scan b
 * ```
 */
export function findDynamicFilters(
  plan: Plan,
  scans: readonly ScanFacts[],
  stages: ReadonlyMap<number, StageFacts>,
): readonly DynamicFilter[] {
  const counts = new Map<number, number>();
  for (const node of walkPlan(plan)) if (node.kind === 'scan') counts.set(node.scan, (counts.get(node.scan) ?? 0) + 1);
  const found = [...walkPlan(plan)].flatMap((node) => (node.kind === 'join' ? filtersOf(node) : []));
  return found.filter(({ stage, scan }) => {
    const build = stages.get(stage)?.rows ?? Number.POSITIVE_INFINITY;
    const facts = scans[scan];
    const probe = facts === undefined || facts.isInline === true ? 0 : facts.rows;
    // A scan that two readers share may not be narrowed for one of them.
    return counts.get(scan) === 1 && probe >= PROBE_ROWS_MIN && build <= BUILD_ROWS_MAX && build * 2 < probe;
  });
}

/** Join types that drop rows of this side when they have no partner, so a filter may drop them earlier. */
const LEFT_NARROWS: ReadonlySet<JoinPlan['type']> = new Set(['inner', 'right', 'semi', 'rightSemi', 'rightAnti']);
const RIGHT_NARROWS: ReadonlySet<JoinPlan['type']> = new Set(['inner', 'left', 'semi', 'anti', 'rightSemi']);

function filtersOf(join: JoinPlan): DynamicFilter[] {
  if (join.asof || join.delim !== null) return [];
  const narrow = (probe: Plan, build: Plan, probeKey: Expression, buildKey: Expression): DynamicFilter[] => {
    const from = stageColumn(build, buildKey);
    const to = scanColumn(probe, probeKey);
    if (from === null || to === null) return [];
    const [a, b] = [integerName(from.type), integerName(to.type)];
    return a !== null && a === b
      ? [{ stage: from.stage, column: from.column, scan: to.scan, position: to.position }]
      : [];
  };
  return join.conditions.flatMap(({ op, left, right }) => {
    if (op !== 'eq') return [];
    return [
      ...(LEFT_NARROWS.has(join.type) ? narrow(join.left, join.right, left, right) : []),
      ...(RIGHT_NARROWS.has(join.type) ? narrow(join.right, join.left, right, left) : []),
    ];
  });
}

type Column = Extract<Expression, { kind: 'column' }>;
/** A column of a node's output. */
type At = { readonly plan: Plan; readonly column: Column };

/** Traces a key to the column of a stage that has run, through nodes that drop rows or reorder columns but compute no values. */
function stageColumn(
  build: Plan,
  key: Expression,
): { readonly stage: number; readonly column: number; readonly type: SqlType } | null {
  let at = atColumn(build, key);
  while (at !== null && at.plan.kind !== 'stage') at = columnBelow(at);
  if (at?.plan.kind !== 'stage') return null;
  const { stage, columns } = at.plan;
  const column = columns[at.column.index];
  return column === undefined ? null : { stage, column: column.index, type: column.type };
}

/** Traces a key to the column of a scan below an exchange, through nodes that allow the scan to leave out rows with other values. */
function scanColumn(
  probe: Plan,
  key: Expression,
): { readonly scan: number; readonly position: number; readonly type: SqlType } | null {
  let at = atColumn(probe, key);
  let isAway = false;
  while (at !== null && at.plan.kind !== 'scan') {
    isAway ||= at.plan.kind === 'exchange';
    at = columnBelow(at) ?? groupBelow(at) ?? partnerBelow(at);
  }
  if (at?.plan.kind !== 'scan' || !isAway) return null;
  const { scan, columns } = at.plan;
  const { index } = at.column;
  const column = columns[index];
  return column === undefined ? null : { scan, position: index, type: column.type };
}

/** Returns the manifests' bounds for a column of a plan's output; null when it is not a scan's column or has no bounds. */
export function scanBounds(plan: Plan, column: number, scans: readonly ScanFacts[]): KeyValues | null {
  let at = atColumn(plan, { kind: 'column', index: column, name: '', type: { kind: 'scalar', name: 'BIGINT' } });
  while (at !== null && at.plan.kind !== 'scan') at = columnBelow(at);
  if (at?.plan.kind !== 'scan') return null;
  const { scan, columns } = at.plan;
  const { lower, upper } = scans[scan]?.columns[columns[at.column.index]?.index ?? -1] ?? {};
  if (lower == null || upper == null) return null;
  return { min: BigInt(Math.floor(lower)), max: BigInt(Math.ceil(upper)), values: null };
}

const atColumn = (plan: Plan, key: Expression | undefined): At | null =>
  key?.kind === 'column' ? { plan, column: key } : null;

const moved = (plan: Plan, column: Column, index: number | undefined): At | null =>
  index === undefined ? null : { plan, column: { ...column, index } };

function columnBelow({ plan, column }: At): At | null {
  if (plan.kind === 'exchange') return { plan: plan.child, column };
  if (plan.kind === 'project') return atColumn(plan.child, plan.expressions[column.index]?.expression);
  if (plan.kind !== 'filter') return null;
  return moved(plan.child, column, plan.projection === null ? column.index : plan.projection[column.index]);
}

/** Follows a group key through an aggregate: rows with other values of the key belong to other groups. */
function groupBelow({ plan, column }: At): At | null {
  if (plan.kind !== 'aggregate' || plan.sets.length !== 1 || plan.sets[0]?.includes(column.index) !== true) return null;
  return atColumn(plan.child, plan.groups[column.index]);
}

const KEEPS_LEFT: ReadonlySet<JoinPlan['type']> = new Set(['inner', 'left', 'semi', 'anti', 'mark', 'single']);
const KEEPS_RIGHT: ReadonlySet<JoinPlan['type']> = new Set(['inner', 'right', 'rightSemi', 'rightAnti']);

/** Follows a column into a side of a join whose rows appear in the join's output, each with all of its partners. */
function partnerBelow({ plan, column }: At): At | null {
  if (plan.kind !== 'join') return null;
  const isRightOnly = plan.type === 'rightSemi' || plan.type === 'rightAnti';
  const lefts = isRightOnly ? 0 : (plan.leftProjection?.length ?? outputFields(plan.left).length);
  const isLeft = column.index < lefts;
  if (!(isLeft ? KEEPS_LEFT : KEEPS_RIGHT).has(plan.type)) return null;
  const position = isLeft ? column.index : column.index - lefts;
  const projection = isLeft ? plan.leftProjection : plan.rightProjection;
  return moved(isLeft ? plan.left : plan.right, column, projection === null ? position : projection[position]);
}

/**
 * Whether collecting the distinct keys of a build side pays off for a scan with this column. `of`: rows of the tables that the build side
 * reads itself; when it keeps all rows of a table, it has nearly all keys and filters nothing. 0 = it reads no table.
 */
export const isKeySetWorth = (
  { rows, of }: { readonly rows: number; readonly of: number },
  column: ScanFacts['columns'][number] | undefined,
): boolean =>
  rows > VALUES_MAX &&
  rows <= KEY_SET_ROWS_MAX &&
  (of === 0 || rows <= KEY_SET_SHARE_MAX * of) &&
  rows <= KEY_SET_SHARE_MAX * (column?.distinctMax ?? 0);

/** Makes the fragment that broadcasts the distinct values of a build side's column to all tasks that read it. */
export function keySetFragment(stage: number, build: Fragment, column: number): Fragment {
  const field = must(build.fields[column], 'a column of the build side');
  return {
    stage,
    plan: { kind: 'oneRow' },
    output: { kind: 'broadcast' },
    partitions: 1,
    fields: [field],
    sql: [`SELECT DISTINCT c${column} AS c0 FROM `, { input: 0 }, ` AS t WHERE c${column} IS NOT NULL`],
    scans: [],
    inputs: [{ stage: build.stage, read: 'share', fields: build.fields, reads: 1 }],
    tasks: { kind: 'splits' },
    width: 1,
    collected: false,
    repeatable: true,
    estimate: { rows: 1, bytes: 1 },
    reason: `distinct keys of stage ${stageTitle(build.stage)}, for scans that are joined with it`,
  };
}

/**
 * Narrows a scan to the rows whose key is among the values that a stage holds.
 * ```
 * scan b       ->       join semi (broadcastRight)
 *                         scan b
 *                         stage (distinct keys)
 * ```
 */
export function withKeySet(plan: Plan, filter: Pick<DynamicFilter, 'scan' | 'position'>, stage: number): Plan {
  if (plan.kind !== 'scan' || plan.scan !== filter.scan) {
    return mapChildren(plan, (child) => withKeySet(child, filter, stage));
  }
  const { name, type } = must(plan.columns[filter.position], 'a filter of a column');
  const key: Expression = { kind: 'column', index: filter.position, name, type };
  return {
    kind: 'join',
    type: 'semi',
    left: plan,
    right: { kind: 'stage', stage, read: 'all', columns: [{ index: 0, name, type }] },
    conditions: [{ op: 'eq', left: key, right: { ...key, index: 0 } }],
    residual: null,
    asof: false,
    distribution: 'broadcastRight',
    delim: null,
    delimFlipped: false,
    leftProjection: null,
    rightProjection: null,
  };
}

/**
 * Makes the fragment that reads the key values of a build side's columns: one row of JSON, `,[[min, max, [value, ...] or null], ...]`.
 * `rows`: of the build side; `areDistinct`: no value comes twice.
 */
export function keysFragment(
  stage: number,
  build: Fragment,
  columns: readonly number[],
  rows: number,
  { areDistinct = false }: { readonly areDistinct?: boolean } = {},
): Fragment {
  const wanted = rows <= (areDistinct ? VALUES_MAX : DISTINCT_ROWS_MAX);
  const parts = columns.map((column) => {
    const values = wanted
      ? `CASE WHEN count(DISTINCT c${column}) <= ${VALUES_MAX} ` +
        `THEN list(DISTINCT CAST(c${column} AS VARCHAR)) FILTER (c${column} IS NOT NULL) END`
      : 'NULL';
    return `json_array(CAST(min(c${column}) AS VARCHAR), CAST(max(c${column}) AS VARCHAR), ${values})`;
  });
  const sql: SqlText = [`SELECT ',' || json_array(${parts.join(', ')}) AS json FROM `, { input: 0 }, ' AS t'];
  return {
    stage,
    plan: { kind: 'oneRow' },
    output: null,
    partitions: 1,
    fields: [],
    sql,
    scans: [],
    inputs: [{ stage: build.stage, read: 'all', fields: build.fields, reads: 1 }],
    tasks: { kind: 'single' },
    width: 1,
    collected: false,
    repeatable: true,
    estimate: { rows: 1, bytes: 1 },
    reason: `keys of stage ${stageTitle(build.stage)}, for scans that are joined with it`,
  };
}

/** Parses the one row of `keysFragment`, column by column; null for a column without values. */
export function parseKeys(json: string): readonly (KeyValues | null)[] {
  const columns = parseJson(json.replace(/^,/, '')) as unknown as readonly (readonly [
    string | null,
    string | null,
    readonly string[] | null,
  ])[];
  return columns.map(([min, max, values]) => {
    if (min === null || max === null) return null;
    const sorted = values?.map(BigInt).toSorted((a, b) => (a < b ? -1 : 1)) ?? null;
    return { min: BigInt(min), max: BigInt(max), values: sorted };
  });
}

/** Whether the keys exclude enough of the values that, by the manifests, the scan's column holds. */
export function areSelective(keys: KeyValues, column: ScanFacts['columns'][number] | undefined): boolean {
  const { lower, upper, distinctMax } = column ?? {};
  if (lower == null || upper == null || distinctMax == null) return keys.values !== null;
  if (keys.values !== null && keys.values.length < KEPT_SHARE_MAX * distinctMax) return true;
  const [from, to] = [Math.max(lower, Number(keys.min)), Math.min(upper, Number(keys.max))];
  return to - from < KEPT_SHARE_MAX * (upper - lower);
}

/** Narrows a scan to the rows whose key is among the values, or between the bounds, of `keys`. */
export function withKeys(plan: Plan, { scan, position }: DynamicFilter, keys: KeyValues): Plan {
  if (plan.kind === 'scan' && plan.scan === scan) {
    const { name, type } = plan.columns[position] ?? { name: '', type: { kind: 'scalar', name: 'BIGINT' } as const };
    const column: Expression = { kind: 'column', index: position, name, type };
    return { kind: 'filter', child: plan, conditions: conditions(column, keys, type), projection: null };
  }
  return mapChildren(plan, (child) => withKeys(child, { stage: 0, column: 0, scan, position }, keys));
}

function conditions(column: Expression, { min, max, values }: KeyValues, type: SqlType): Expression[] {
  const constant = (value: bigint): Expression => {
    const isSafe = value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER);
    return { kind: 'constant', value: isSafe ? Number(value) : value, type };
  };
  if (values !== null) return [{ kind: 'in', negated: false, input: column, list: values.map(constant) }];
  return [
    { kind: 'compare', op: 'ge', left: column, right: constant(min) },
    { kind: 'compare', op: 'le', left: column, right: constant(max) },
  ];
}

/** Describes a dynamic filter for EXPLAIN ANALYZE. `rows`: number of distinct values in a key stage; null without one. */
export function describeKeys(
  name: string,
  { min, max, values }: KeyValues,
  { stage, rows }: { readonly stage: number; readonly rows: number | null },
): string {
  const count = values?.length ?? rows;
  return `${name} from ${min} to ${max}${count === null ? '' : ` (${count} values)`}, from stage ${stageTitle(stage)}`;
}
