import type { CompareOp } from '#shared/iceberg/predicate.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { decodeErased, decodeListAggregate } from './decode-bound.ts';
import { decodeConstant } from './decode-constant.ts';
import { decodeType } from '../plan/decode-type.ts';
import type { AggregateCall, Expression, Lambda, Order, WindowCall } from '../plan/expression.ts';
import { textOf } from '../plan/json-node.ts';
import { checkMembers } from './plan-members.ts';

/** Bound expressions of DuckDB's plan printer, release 1.5. @throws Error for a class that is not known: the plan is not used then. */
export function decodeExpression(json: Json | undefined): Expression {
  const node = json as JsonObject;
  const kind = textOf(node['expression_class']);
  const decode = EXPRESSIONS[kind];
  if (decode === undefined) throw new Error(`unknown expression ${kind}`);
  checkMembers(node, kind);
  return decode(node);
}

export const decodeExpressions = (json: Json | undefined): Expression[] =>
  ((json ?? []) as readonly Json[]).map((one) => decodeExpression(one));

export const decodeOrders = (json: Json | undefined): Order[] =>
  ((json ?? []) as readonly JsonObject[]).map((order) => {
    checkMembers(order, 'order');
    return {
      expression: decodeExpression(order['expression']),
      descending: order['type'] === 'DESCENDING',
      nullsFirst: order['null_order'] === 'NULLS FIRST',
    };
  });

/** Decodes the ORDER BY of an aggregate or of DISTINCT ON, which may be absent. */
export function decodeOrderBy(json: Json | undefined): Order[] {
  const node = (json ?? {}) as JsonObject;
  checkMembers(node, 'orders');
  return decodeOrders(node['orders']);
}

export function decodeComparison(type: Json | undefined): CompareOp | 'distinct' | 'notDistinct' {
  return must(COMPARISONS[textOf(type)], `a comparison ${textOf(type)}`);
}

const COMPARISONS: Readonly<Record<string, CompareOp | 'distinct' | 'notDistinct'>> = {
  COMPARE_EQUAL: 'eq',
  COMPARE_NOTEQUAL: 'ne',
  COMPARE_LESSTHAN: 'lt',
  COMPARE_LESSTHANOREQUALTO: 'le',
  COMPARE_GREATERTHAN: 'gt',
  COMPARE_GREATERTHANOREQUALTO: 'ge',
  COMPARE_DISTINCT_FROM: 'distinct',
  COMPARE_NOT_DISTINCT_FROM: 'notDistinct',
};

const typeOf = (node: JsonObject) => decodeType(node['return_type']);

const EXPRESSIONS: Readonly<Record<string, (node: JsonObject) => Expression>> = {
  BOUND_REF: (node) => ({
    kind: 'column',
    index: Number(node['index'] ?? 0),
    name: textOf(node['alias']),
    type: typeOf(node),
  }),
  BOUND_CONSTANT: ({ value }) => decodeConstant(value),
  BOUND_COMPARISON: (node) => ({
    kind: 'compare',
    op: decodeComparison(node['type']),
    left: decodeExpression(node['left']),
    right: decodeExpression(node['right']),
  }),
  BOUND_CONJUNCTION: (node) => ({
    kind: node['type'] === 'CONJUNCTION_OR' ? 'or' : 'and',
    children: decodeExpressions(node['children']),
  }),
  BOUND_BETWEEN: (node) => ({
    kind: 'between',
    input: decodeExpression(node['input']),
    lower: decodeExpression(node['lower']),
    upper: decodeExpression(node['upper']),
    lowerInclusive: node['lower_inclusive'] === true,
    upperInclusive: node['upper_inclusive'] === true,
  }),
  BOUND_OPERATOR: decodeOperator,
  BOUND_FUNCTION: (node) => ({
    kind: 'function',
    name: textOf(node['name']),
    children: decodeExpressions(node['children']),
    type: typeOf(node),
    ...decodeLambda(node),
    ...functionData(node),
  }),
  BOUND_AGGREGATE: (node) => ({ kind: 'aggregate', call: decodeAggregate(node) }),
  BOUND_WINDOW: (node) => ({ kind: 'window', call: decodeWindow(node) }),
  BOUND_CAST: (node) => ({
    kind: 'cast',
    child: decodeExpression(node['child']),
    type: typeOf(node),
    tryCast: node['try_cast'] === true,
  }),
  BOUND_CASE: (node) => ({
    kind: 'case',
    branches: (node['case_checks'] as readonly JsonObject[]).map((check) => {
      checkMembers(check, 'case');
      return { when: decodeExpression(check['when_expr']), result: decodeExpression(check['then_expr']) };
    }),
    otherwise: decodeExpression(node['else_expr']),
    type: typeOf(node),
  }),
  BOUND_UNNEST: (node) => ({ kind: 'unnest', child: decodeExpression(node['child']), type: typeOf(node) }),
  // A column that is no output of a node below: a lambda's parameter, or a correlated column that the printer left as a name.
  BOUND_COLUMN_REF: (node) => ({ kind: 'operator', name: 'BOUND_COLUMN_REF', children: [], type: typeOf(node) }),
};

/** Decodes the lambda of a call, which DuckDB keeps in the function's own data. */
function decodeLambda(node: JsonObject): { lambda?: Lambda } {
  const data = node['function_data'] as JsonObject | undefined;
  if (data?.['lambda_expr'] === undefined) return {};
  const own = textOf(node['name']).endsWith('reduce') ? 2 : 1;
  return {
    lambda: {
      body: decodeExpression(data['lambda_expr']),
      parameters: own + (data['has_index'] === true ? 1 : 0),
      hasInitial: data['has_initial'] === true,
    },
  };
}

/** Decodes the data that a few functions keep beside their arguments. */
function functionData(node: JsonObject): { erased?: readonly Expression[] | null; argumentNames?: readonly string[] } {
  const name = textOf(node['name']);
  if (/^(?:aggregate$|(?:list|array)_aggr)/.test(name)) {
    const erased = decodeListAggregate(node);
    return erased?.length === 0 ? {} : { erased };
  }
  if (name !== 'struct_update') return {};
  return { argumentNames: ((node['children'] ?? []) as readonly JsonObject[]).map((one) => textOf(one['alias'])) };
}

/** The field is absent when the call has all of its arguments, as nearly every call does. */
function erasedOf(node: JsonObject): { erased?: readonly Expression[] | null } {
  const erased = decodeErased(node);
  return erased?.length === 0 ? {} : { erased };
}

function decodeOperator(node: JsonObject): Expression {
  const children = decodeExpressions(node['children']);
  const first = must(children[0], 'an operator has an operand');
  switch (textOf(node['type'])) {
    case 'OPERATOR_NOT':
      return { kind: 'not', child: first };
    case 'OPERATOR_IS_NULL':
      return { kind: 'isNull', child: first };
    case 'OPERATOR_IS_NOT_NULL':
      return { kind: 'isNotNull', child: first };
    case 'COMPARE_IN':
    case 'COMPARE_NOT_IN':
      return { kind: 'in', negated: node['type'] === 'COMPARE_NOT_IN', input: first, list: children.slice(1) };
    default:
      return { kind: 'operator', name: textOf(node['type']), children, type: typeOf(node) };
  }
}

/** @throws Error when the expression is no aggregate. */
export function decodeAggregate(node: JsonObject): AggregateCall {
  checkMembers(node, 'BOUND_AGGREGATE');
  return {
    name: textOf(node['name']),
    children: decodeExpressions(node['children']),
    distinct: node['aggregate_type'] === 'DISTINCT',
    filter: node['filter'] === undefined ? null : decodeExpression(node['filter']),
    orders: decodeOrderBy(node['order_bys']),
    type: typeOf(node),
    ...erasedOf(node),
  };
}

export function decodeWindow(node: JsonObject): WindowCall {
  checkMembers(node, 'BOUND_WINDOW');
  const optional = (key: string): Expression | null => (node[key] === undefined ? null : decodeExpression(node[key]));
  return {
    name: textOf(node['name'] ?? node['type'])
      .replace(/^WINDOW_/, '')
      .toLowerCase(),
    children: decodeExpressions(node['children']),
    partitions: decodeExpressions(node['partitions']),
    orders: decodeOrders(node['orders']),
    argumentOrders: decodeOrders(node['arg_orders']),
    filter: optional('filters'),
    distinct: node['distinct'] === true,
    ignoreNulls: node['ignore_nulls'] === true,
    frame: {
      start: textOf(node['start']),
      end: textOf(node['end']),
      startExpression: optional('start_expr'),
      endExpression: optional('end_expr'),
      exclude: textOf(node['exclude_clause'] ?? 'NO_OTHER'),
      offset: optional('offset_expr'),
      defaultValue: optional('default_expr'),
    },
    type: typeOf(node),
    ...erasedOf(node),
  };
}
