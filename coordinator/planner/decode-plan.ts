import type { Json, JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import {
  decodeAggregate,
  decodeComparison,
  decodeExpression,
  decodeExpressions,
  decodeOrderBy,
  decodeOrders,
  decodeWindow,
} from './decode-expression.ts';
import { decodeConstant } from './decode-constant.ts';
import { decodeType, decodeValue } from '../plan/decode-type.ts';
import type { JoinPlan, JoinType, Limit, Plan, PlanColumn } from '../plan/plan.ts';
import { textOf } from '../plan/json-node.ts';
import { checkMembers } from './plan-members.ts';
import { resolveColumnRefs } from './resolve-column-refs.ts';

/**
 * Decodes the output of `json_serialize_plan`, release 1.5, as a typed plan. Only this file knows the operators' JSON form, which changes
 * with releases of DuckDB.
 * @throws Error for an operator, or a member of one, that is not known: the query runs whole then.
 */
export function decodePlan(json: Json | undefined): Plan {
  const node = json as JsonObject;
  const type = textOf(node['type']);
  const decode = OPERATORS[type];
  if (decode === undefined) throw new Error(`unknown operator ${type}`);
  checkMembers(node, type);
  return decode(node);
}

const childrenOf = (node: JsonObject): Plan[] =>
  (node['children'] as readonly Json[]).map((child) => decodePlan(child));
const child = (node: JsonObject, index = 0): Plan =>
  decodePlan(must((node['children'] as readonly Json[])[index], 'a child'));

const OPERATORS: Readonly<Record<string, (node: JsonObject) => Plan>> = {
  LOGICAL_GET: decodeGet,
  LOGICAL_FILTER: (node) => ({
    kind: 'filter',
    child: child(node),
    conditions: decodeExpressions(node['expressions']),
    projection: positions(node['projection_map']),
  }),
  LOGICAL_PROJECTION: (node) => ({
    kind: 'project',
    child: child(node),
    expressions: (node['expressions'] as readonly JsonObject[]).map((one) => ({
      name: textOf(one['alias']),
      expression: decodeExpression(one),
    })),
  }),
  LOGICAL_AGGREGATE_AND_GROUP_BY: (node) => ({
    kind: 'aggregate',
    child: child(node),
    groups: decodeExpressions(node['groups']),
    sets: (node['grouping_sets'] ?? []) as readonly (readonly number[])[],
    aggregates: ((node['expressions'] ?? []) as readonly JsonObject[]).map(decodeAggregate),
    groupings: (node['grouping_functions'] ?? []) as readonly (readonly number[])[],
  }),
  LOGICAL_WINDOW: (node) => ({
    kind: 'window',
    child: child(node),
    calls: (node['expressions'] as readonly JsonObject[]).map(decodeWindow),
  }),
  LOGICAL_UNNEST: (node) => ({
    kind: 'unnest',
    child: child(node),
    expressions: decodeExpressions(node['expressions']),
  }),
  LOGICAL_DISTINCT: (node) => ({
    kind: 'distinct',
    child: child(node),
    on: decodeExpressions(node['distinct_targets']),
    orders: decodeOrderBy(node['order_by']),
    isOn: node['distinct_type'] === 'DISTINCT_ON',
  }),
  LOGICAL_ORDER_BY: (node) => ({
    kind: 'sort',
    child: child(node),
    orders: decodeOrders(node['orders']),
    projection: positions(node['projections']),
  }),
  LOGICAL_LIMIT: (node) => ({
    kind: 'limit',
    child: child(node),
    limit: decodeLimit(node['limit_val']),
    offset: decodeLimit(node['offset_val']),
  }),
  LOGICAL_SAMPLE: (node) => ({ kind: 'sample', child: child(node), options: node['sample_options'] ?? null }),
  LOGICAL_COMPARISON_JOIN: (node) => decodeJoin(node, false),
  LOGICAL_DELIM_JOIN: (node) => decodeJoin(node, false),
  LOGICAL_ASOF_JOIN: (node) => decodeJoin(node, true),
  LOGICAL_ANY_JOIN: (node) => decodeJoin(node, false),
  LOGICAL_CROSS_PRODUCT: (node) => ({ kind: 'cross', left: child(node), right: child(node, 1) }),
  LOGICAL_POSITIONAL_JOIN: (node) => ({ kind: 'positional', left: child(node), right: child(node, 1) }),
  LOGICAL_DELIM_GET: (node) => ({ kind: 'delimScan', columns: columnsOf(node['chunk_types']) }),
  LOGICAL_UNION: (node) => ({ kind: 'union', all: node['setop_all'] === true, children: childrenOf(node) }),
  LOGICAL_INTERSECT: (node) => ({ kind: 'intersect', all: node['setop_all'] === true, children: childrenOf(node) }),
  LOGICAL_EXCEPT: (node) => ({ kind: 'except', all: node['setop_all'] === true, children: childrenOf(node) }),
  LOGICAL_MATERIALIZED_CTE: (node) => ({
    kind: 'cte',
    index: Number(node['table_index'] ?? 0),
    name: textOf(node['ctename']),
    definition: child(node),
    body: child(node, 1),
  }),
  LOGICAL_RECURSIVE_CTE: (node) => ({
    kind: 'recursiveCte',
    index: Number(node['table_index'] ?? 0),
    name: textOf(node['ctename']),
    all: node['union_all'] === true,
    anchor: child(node),
    step: child(node, 1),
    ...(((node['key_targets'] ?? []) as readonly Json[]).length > 0 || node['ref_recurring'] === true
      ? { isKeyed: true }
      : {}),
  }),
  LOGICAL_CTE_REF: decodeCteRef,
  LOGICAL_EXPRESSION_GET: (node) => ({
    kind: 'values',
    child: child(node),
    rows: (node['expressions'] as readonly Json[]).map(decodeExpressions),
    columns: columnsOf(node['expr_types']),
  }),
  LOGICAL_CHUNK_GET: decodeChunk,
  LOGICAL_DUMMY_SCAN: () => ({ kind: 'oneRow' }),
  LOGICAL_EMPTY_RESULT: (node) => ({ kind: 'empty', columns: columnsOf(node['return_types']) }),
};

function decodeCteRef(node: JsonObject): Plan {
  if (node['is_recurring'] === true) throw new Error('a step that reads all rows of its recursive CTE');
  return {
    kind: 'cteScan',
    index: Number(node['cte_index'] ?? 0),
    columns: columnsOf(node['chunk_types'], node['bound_columns'] as readonly string[]),
  };
}

function decodeGet(printed: JsonObject): Plan {
  const node: JsonObject = {
    ...printed,
    children: ((printed['children'] ?? []) as readonly JsonObject[]).map(resolveColumnRefs),
  };
  const types = node['returned_types'] as readonly Json[];
  const names = node['names'] as readonly string[];
  const all = (node['column_indexes'] as readonly JsonObject[]).map(({ index = 0 }): PlanColumn => {
    // An index beyond the columns is a virtual one: `count(*)` reads a column that is empty.
    const at = typeof index === 'number' && index < types.length ? index : -1;
    return at < 0
      ? { index: -1, name: '', type: { kind: 'scalar', name: 'BOOLEAN' } }
      : { index: at, name: names[at] ?? '', type: decodeType(types[at]) };
  });
  const kept = positions(node['projection_ids']);
  const columns = kept === null ? all : kept.map((at) => must(all[at], 'a column of the scan'));
  const parameters = (node['parameters'] ?? []) as readonly JsonObject[];
  checkNoFilters(node);
  if (node['name'] === 'skein_scan') {
    return { kind: 'scan', scan: Number(decodeValue(parameters[0])), columns };
  }
  const [input] = childrenOf(node);
  const named = (node['named_parameters'] ?? []) as readonly JsonObject[];
  const ordinality = Number(node['ordinality_idx'] ?? -1);
  return {
    kind: 'generator',
    name: textOf(node['name']),
    ...(named.length === 0
      ? {}
      : { named: named.map(({ key, value }) => ({ name: textOf(key), expression: decodeConstant(value) })) }),
    ...(ordinality >= 0 && ordinality < types.length ? { ordinality: true } : {}),
    ...(input === undefined ? {} : { inputArguments: ((node['input_table_types'] ?? []) as readonly Json[]).length }),
    arguments: parameters.map(decodeConstant),
    columns,
    child: input ?? null,
    inputColumns: (node['projected_input'] ?? []) as readonly number[],
  };
}

/** Our scans take no filters; a release that pushes some into them must not lose them unseen. */
function checkNoFilters(node: JsonObject): void {
  const pushed = (node['table_filters'] ?? {}) as JsonObject;
  checkMembers(pushed, 'filters');
  const extra = (node['extra_info'] ?? {}) as JsonObject;
  const filters = [
    ...((pushed['filters'] ?? []) as readonly Json[]),
    ...(textOf(extra['file_filters']) === '' ? [] : [extra]),
  ];
  if (filters.length > 0) throw new Error('a scan with pushed filters');
}

/** Constants in columns; the printer puts them column by column. */
function decodeChunk(node: JsonObject): Plan {
  const collection = node['collection'] as JsonObject;
  const values = (collection['values'] ?? []) as readonly (readonly JsonObject[])[];
  const rowCount = values[0]?.length ?? 0;
  const rows = Array.from({ length: rowCount }, (_, row) =>
    values.map((column) => decodeConstant(must(column[row], 'columns of one length'))),
  );
  return { kind: 'values', child: null, rows, columns: columnsOf(node['chunk_types']) };
}

const JOIN_TYPES: Readonly<Record<string, JoinType>> = {
  INNER: 'inner',
  LEFT: 'left',
  RIGHT: 'right',
  FULL: 'full',
  OUTER: 'full',
  SEMI: 'semi',
  ANTI: 'anti',
  RIGHT_SEMI: 'rightSemi',
  RIGHT_ANTI: 'rightAnti',
  MARK: 'mark',
  SINGLE: 'single',
};

function decodeJoin(node: JsonObject, asof: boolean): JoinPlan {
  const delim = (node['duplicate_eliminated_columns'] ?? []) as readonly Json[];
  const conditions = (node['conditions'] ?? []) as readonly JsonObject[];
  for (const condition of conditions) checkMembers(condition, 'condition');
  // A join by comparisons has the member `predicate`, one by any condition `condition`.
  const residual = node['predicate'] ?? node['condition'];
  return {
    kind: 'join',
    type: must(JOIN_TYPES[textOf(node['join_type'])], `a join type ${textOf(node['join_type'])}`),
    left: child(node),
    right: child(node, 1),
    conditions: conditions.map((condition) => ({
      op: decodeComparison(condition['comparison']),
      left: decodeExpression(condition['left']),
      right: decodeExpression(condition['right']),
    })),
    residual: residual === undefined ? null : decodeExpression(residual),
    asof,
    distribution: null,
    delim: node['type'] === 'LOGICAL_DELIM_JOIN' ? decodeExpressions(delim) : null,
    delimFlipped: node['delim_flipped'] === true,
    leftProjection: positions(node['left_projection_map']),
    rightProjection: positions(node['right_projection_map']),
  };
}

/** An absent or empty projection keeps every column. */
function positions(json: Json | undefined): readonly number[] | null {
  const list = (json ?? []) as readonly number[];
  return list.length === 0 ? null : list;
}

const columnsOf = (types: Json | undefined, names: readonly string[] = []): PlanColumn[] =>
  ((types ?? []) as readonly Json[]).map((type, index) => ({
    index,
    name: names[index] ?? '',
    type: decodeType(type),
  }));

function decodeLimit(json: Json | undefined): Limit {
  const node = json as JsonObject;
  checkMembers(node, 'limit');
  switch (textOf(node['type'])) {
    case 'UNSET':
      return { kind: 'none' };
    case 'CONSTANT_VALUE':
      // LIMIT ALL and LIMIT NULL are 2^62; no table has as many rows.
      return { kind: 'rows', rows: Math.min(Number(node['constant_integer'] ?? 0), Number.MAX_SAFE_INTEGER) };
    case 'CONSTANT_PERCENTAGE':
      return { kind: 'percent', percent: Number(node['constant_percentage']) };
    case 'EXPRESSION_VALUE':
    case 'EXPRESSION_PERCENTAGE':
      return {
        kind: 'expression',
        expression: decodeExpression(node['expression']),
        percent: node['type'] === 'EXPRESSION_PERCENTAGE',
      };
    default:
      throw new Error(`unknown limit ${textOf(node['type'])}`);
  }
}
