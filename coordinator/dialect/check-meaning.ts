import { unreachable } from '#shared/must.ts';
import { expressionsOf, walkExpression } from '../plan/expression-tree.ts';
import type { AggregateCall, Expression, WindowCall } from '../plan/expression.ts';
import { expressionType, outputFields } from '../plan/plan-schema.ts';
import { walkPlan } from '../plan/plan-tree.ts';
import type { Plan } from '../plan/plan.ts';
import { printSqlType, type SqlField, type SqlType } from '../plan/sql-type.ts';
import type { Dialect } from './dialect.ts';

/**
 * Looks for what a bound, not optimised plan computes otherwise than the engine of the dialect: conversions that round or depend on a
 * session, operators over types for which engines differ, comparisons of floating point (NaN). Errors that only one of the engines raises,
 * as for a number that is too large, are no difference.
 * @param plan null when it cannot be printed
 * @returns what it is; null when there is none
 */
export function differentMeaning(plan: Plan | null, dialect: Dialect): string | null {
  if (plan === null) return 'a plan that cannot be read';
  for (const node of walkPlan(plan)) {
    const found = ofNode(node) ?? compared(keysOf(node));
    if (found !== null) return found;
    for (const expression of expressionsOf(node)) {
      for (const one of walkExpression(expression)) {
        const different = ofExpression(one, dialect);
        if (different !== null) return different;
      }
    }
  }
  return null;
}

/** Null for a node that is the same everywhere. */
function ofNode(node: Plan): string | null {
  switch (node.kind) {
    case 'scan':
    case 'oneRow':
    case 'empty':
    case 'filter':
    case 'project':
    case 'aggregate':
    case 'window':
    case 'distinct':
    case 'sort':
    case 'limit':
    case 'join':
    case 'cross':
    case 'delimScan':
    case 'union':
    case 'intersect':
    case 'except':
    case 'cte':
    case 'cteScan':
      return null;
    case 'generator':
    case 'values':
    case 'unnest':
    case 'sample':
    case 'positional':
    case 'recursiveCte':
    case 'exchange':
    case 'stage':
      return node.kind;
    default:
      return unreachable(node);
  }
}

/** The types of what a node compares. */
function keysOf(node: Plan): readonly SqlType[] {
  const typesOf = (plan: Plan): readonly SqlType[] => outputFields(plan).map(({ type }) => type);
  if (node.kind === 'aggregate') return node.groups.map(expressionType);
  if (node.kind === 'sort') return node.orders.map(({ expression }) => expressionType(expression));
  if (node.kind === 'distinct') return typesOf(node.child);
  if (node.kind === 'join')
    return node.conditions.flatMap(({ left, right }) => [expressionType(left), expressionType(right)]);
  const isSet = node.kind === 'intersect' || node.kind === 'except' || (node.kind === 'union' && !node.all);
  return isSet ? typesOf(node) : [];
}

const INTEGERS: ReadonlySet<string> = new Set(['INTEGER', 'BIGINT', 'HUGEINT']);
const COMPARED: ReadonlySet<string> = new Set([
  ...INTEGERS,
  'VARCHAR',
  'BOOLEAN',
  'DATE',
  'TIMESTAMP',
  'TIMESTAMP WITH TIME ZONE',
]);
const isInteger = (type: SqlType): boolean => type.kind === 'scalar' && INTEGERS.has(type.name);
const isExact = (type: SqlType): boolean => type.kind === 'decimal' || isInteger(type);
const isNamed = (type: SqlType, ...names: readonly string[]): boolean =>
  type.kind === 'scalar' && names.includes(type.name);
/** The type of a NULL without one. */
const isNull = (type: SqlType): boolean => isNamed(type, '"NULL"', 'NULL', 'SQLNULL');

function compared(types: readonly SqlType[]): string | null {
  const other = types.find(
    (type) => type.kind !== 'decimal' && !(type.kind === 'scalar' && COMPARED.has(type.name)) && !isNull(type),
  );
  return other === undefined ? null : `a comparison or an order of ${printSqlType(other)}`;
}

function ofExpression(expression: Expression, dialect: Dialect): string | null {
  switch (expression.kind) {
    case 'column':
    case 'constant':
    case 'and':
    case 'or':
    case 'not':
    case 'isNull':
    case 'isNotNull':
    case 'case':
      return null;
    case 'compare':
      return compared([expression.left, expression.right].map(expressionType));
    case 'between':
      return compared([expression.input, expression.lower, expression.upper].map(expressionType));
    case 'in':
      return compared([expression.input, ...expression.list].map(expressionType));
    case 'operator':
      return expression.name === 'OPERATOR_COALESCE' ? null : expression.name;
    case 'function':
      return ofFunction(expression, dialect);
    case 'aggregate':
      return ofAggregate(expression.call);
    case 'window':
      return ofWindow(expression.call);
    case 'cast':
      return ofCast(expression);
    case 'unnest':
      return expression.kind;
    default:
      return unreachable(expression);
  }
}

type FunctionCall = Extract<Expression, { kind: 'function' }>;

function ofFunction({ name, children, type, lambda }: FunctionCall, { isSpark }: Dialect): string | null {
  const types = children.map(expressionType);
  const all = (fits: (one: SqlType) => boolean): string | null => {
    const other = types.find((one) => !fits(one));
    return other === undefined && lambda === undefined
      ? null
      : `${name} of ${other === undefined ? 'a function' : printSqlType(other)}`;
  };
  const isText = (one: SqlType): boolean => isNamed(one, 'VARCHAR');
  switch (name) {
    case '+':
    case '-':
    case '*':
      // Spark gives digits behind the point up when a result has more than 38.
      if (isSpark && type.kind === 'decimal' && type.width >= DECIMAL_DIGITS_MAX) return `${name} of so many digits`;
      return all((one) => isExact(one) || isNamed(one, 'DOUBLE'));
    case '%':
      return all(isInteger);
    case 'abs':
      return all(isExact);
    case '||':
    case '~~':
    case '!~~':
    case 'starts_with':
    case 'prefix':
    case '^@':
    case 'length':
      return all(isText);
    case 'substring':
      return types[0] !== undefined && isText(types[0]) ? null : `${name} of no text`;
    case 'year':
    case 'month':
    case 'day':
      return all((one) => isNamed(one, 'DATE', 'TIMESTAMP'));
    default:
      return `the function ${name}`;
  }
}

const DECIMAL_DIGITS_MAX = 38;

function ofAggregate({ name, children, orders }: AggregateCall): string | null {
  const types = children.map(expressionType);
  if (types.length > 1) return `${name} of several values`;
  const other = types.find((type) => !isAggregated(name, type));
  if (orders.length > 0 || other !== undefined)
    return `${name} of ${other === undefined ? 'an order' : printSqlType(other)}`;
  return AGGREGATES.has(name) ? null : `the aggregate ${name}`;
}

/** `first` is that of a subquery of one row. */
const AGGREGATES: ReadonlySet<string> = new Set(['count', 'count_star', 'sum', 'avg', 'min', 'max', 'first']);

/** Averages of decimals are rounded to other types. */
function isAggregated(name: string, type: SqlType): boolean {
  if (name === 'sum') return isExact(type) || isNamed(type, 'DOUBLE');
  if (name === 'avg') return isNamed(type, 'INTEGER', 'BIGINT', 'DOUBLE');
  return name === 'min' || name === 'max' ? compared([type]) === null : true;
}

function ofWindow({
  name,
  children,
  partitions,
  orders,
  ignoreNulls,
  argumentOrders,
  ...call
}: WindowCall): string | null {
  if (ignoreNulls || argumentOrders.length > 0) return `${name} with other rows`;
  const keys = compared([...partitions, ...orders.map(({ expression }) => expression)].map(expressionType));
  if (keys !== null) return keys;
  if (RANKS.has(name)) return null;
  return ofAggregate({ name, children, orders: [], distinct: call.distinct, filter: call.filter, type: call.type });
}

const RANKS: ReadonlySet<string> = new Set(['row_number', 'rank', 'dense_rank']);

function ofCast({ child, type, tryCast }: Extract<Expression, { kind: 'cast' }>): string | null {
  const from = expressionType(child);
  const text = child.kind === 'constant' && typeof child.value === 'string' ? child.value : '';
  const isTime =
    (isNamed(type, 'DATE', 'TIMESTAMP') && ISO_DATE.test(text)) ||
    (isNamed(type, 'TIMESTAMP') && ISO_TIMESTAMP.test(text));
  return !tryCast && (isTime || isSameConversion(from, type)) ? null : `${printSqlType(from)} as ${printSqlType(type)}`;
}

/** The first column whose conversion to the type of the view's column may give another value; null when there is none. */
export function differentColumn(columns: readonly SqlField[], types: readonly SqlType[]): string | null {
  const found = columns.find(({ type }, i) => types[i] !== undefined && !isSameConversion(type, types[i]));
  return found === undefined ? null : `the column ${found.name}, which is a ${printSqlType(found.type)} here`;
}

const ISO_DATE = /^\d{4}-\d{2}-\d{2}$/;
const ISO_TIMESTAMP = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(?:\.\d{1,6})?$/;

/** Whether a conversion gives the same value in every engine, or an error. */
function isSameConversion(from: SqlType, to: SqlType): boolean {
  if (isNull(from) || printSqlType(from) === printSqlType(to)) return true;
  if (isInteger(from)) return isExact(to) || isNamed(to, 'DOUBLE', 'VARCHAR');
  if (from.kind === 'decimal') return to.kind === 'decimal' && to.scale >= from.scale;
  if (isNamed(from, 'FLOAT')) return isNamed(to, 'DOUBLE');
  return isNamed(from, 'DATE') && isNamed(to, 'TIMESTAMP');
}
