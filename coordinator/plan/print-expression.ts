import { literalToJson } from '#shared/iceberg/single-value.ts';
import type { IcebergType } from '#shared/iceberg/type.ts';
import { printJson, type Json, type JsonObject } from '#shared/json.ts';
import { unreachable } from '#shared/must.ts';
import { quoteLiteral } from '#shared/sql/quote.ts';
import { decodeType, decodeValue } from './decode-type.ts';
import type { AggregateCall, Expression, Order, WindowCall } from './expression.ts';
import { textOf } from './json-node.ts';
import { printSqlType, type SqlType } from './sql-type.ts';

/** Prints an expression for EXPLAIN output; the text is not valid SQL. */
export function printExpression(expression: Expression): string {
  switch (expression.kind) {
    case 'column':
      return expression.name === '' ? `#${expression.index}` : expression.name;
    case 'constant':
      return printConstant(expression.value, expression.type);
    case 'compare':
      return `(${printExpression(expression.left)} ${OPERATORS[expression.op]} ${printExpression(expression.right)})`;
    case 'and':
    case 'or':
      return `(${expression.children.map(printExpression).join(expression.kind === 'and' ? ' AND ' : ' OR ')})`;
    case 'between':
      return printBetween(expression);
    case 'not':
      return `NOT ${printExpression(expression.child)}`;
    case 'isNull':
      return `(${printExpression(expression.child)} IS NULL)`;
    case 'isNotNull':
      return `(${printExpression(expression.child)} IS NOT NULL)`;
    case 'in':
      return `(${printExpression(expression.input)}${expression.negated ? ' NOT' : ''} IN (${printList(expression.list)}))`;
    case 'operator':
      return `${expression.name.replace(/^OPERATOR_/, '').toLowerCase()}(${printList(expression.children)})`;
    case 'function':
      return printFunction(expression.name, expression.children);
    case 'aggregate':
      return printAggregate(expression.call);
    case 'window':
      return printWindow(expression.call);
    case 'cast':
      return `${expression.tryCast ? 'TRY_CAST' : 'CAST'}(${printExpression(expression.child)} AS ${printSqlType(expression.type)})`;
    case 'case': {
      const branches = expression.branches.map(
        (b) => `WHEN ${printExpression(b.when)} THEN ${printExpression(b.result)}`,
      );
      return `CASE ${branches.join(' ')} ELSE ${printExpression(expression.otherwise)} END`;
    }
    case 'unnest':
      return `unnest(${printExpression(expression.child)})`;
    default:
      return unreachable(expression);
  }
}

export const printList = (list: readonly Expression[]): string => list.map(printExpression).join(', ');

const OPERATORS = {
  eq: '=',
  ne: '<>',
  lt: '<',
  le: '<=',
  gt: '>',
  ge: '>=',
  distinct: 'IS DISTINCT FROM',
  notDistinct: 'IS NOT DISTINCT FROM',
} as const;

export const operatorText = (op: keyof typeof OPERATORS): string => OPERATORS[op];

function printBetween({
  input,
  lower,
  upper,
  lowerInclusive,
  upperInclusive,
}: Extract<Expression, { kind: 'between' }>): string {
  const text = printExpression(input);
  if (lowerInclusive && upperInclusive)
    return `(${text} BETWEEN ${printExpression(lower)} AND ${printExpression(upper)})`;
  const from = `${text} ${lowerInclusive ? '>=' : '>'} ${printExpression(lower)}`;
  return `(${from} AND ${text} ${upperInclusive ? '<=' : '<'} ${printExpression(upper)})`;
}

function printFunction(name: string, children: readonly Expression[]): string {
  const [left, right] = children;
  const isSymbol = /^[^\w]+$/.test(name);
  if (isSymbol && left !== undefined && right !== undefined && children.length === 2) {
    return `(${printExpression(left)} ${name} ${printExpression(right)})`;
  }
  return isSymbol && left !== undefined ? `${name}${printExpression(left)}` : `${name}(${printList(children)})`;
}

export function printAggregate(call: AggregateCall): string {
  const orders = call.orders.length === 0 ? '' : ` ORDER BY ${printOrders(call.orders)}`;
  const filter = call.filter === null ? '' : ` FILTER (WHERE ${printExpression(call.filter)})`;
  if (call.name === 'count_star') return `count(*)${filter}`;
  return `${call.name}(${call.distinct ? 'DISTINCT ' : ''}${printList(call.children)}${orders})${filter}`;
}

export function printWindow(call: WindowCall): string {
  const partitions = call.partitions.length === 0 ? '' : `PARTITION BY ${printList(call.partitions)}`;
  const orders = call.orders.length === 0 ? '' : `ORDER BY ${printOrders(call.orders)}`;
  return `${call.name}(${printList(call.children)}) OVER (${[partitions, orders].filter((t) => t !== '').join(' ')})`;
}

export const printOrders = (orders: readonly Order[]): string =>
  orders
    .map(
      ({ expression, descending, nullsFirst }) =>
        `${printExpression(expression)}${descending ? ' DESC' : ''}${nullsFirst ? ' NULLS FIRST' : ''}`,
    )
    .join(', ');

/** Dates, times and decimals come as raw integers; nested values stay in DuckDB's own JSON form. */
function printConstant(value: Json, type: SqlType): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return quoteLiteral(value);
  if (typeof value === 'object') return printNested(value, type);
  if (typeof value !== 'number' && typeof value !== 'bigint') return printJson(value);
  const stored = storedType(type);
  if (stored === null || !Number.isInteger(Number(value))) return String(value);
  const text = textOf(literalToJson(stored, BigInt(value)));
  return stored.kind === 'decimal' ? text : `${printSqlType(type)} ${quoteLiteral(text)}`;
}

/** Lists, structs and maps hold their values as constants; any other value, such as an interval, stays in DuckDB's JSON form. */
function printNested(value: Json, type: SqlType): string {
  const parts = (value as JsonObject)['children'];
  if (!Array.isArray(parts) || type.kind === 'union') return printJson(value);
  const texts = (parts as readonly JsonObject[]).map((part) =>
    printConstant(decodeValue(part), decodeType(part['type'])),
  );
  if (type.kind !== 'struct') return `[${texts.join(', ')}]`;
  return `{${type.fields.map(({ name }, i) => (name === '' ? texts[i] : `${name}: ${texts[i]}`)).join(', ')}}`;
}

/** Returns the Iceberg type that stores the same raw integers; null when there is none. */
function storedType(type: SqlType): IcebergType | null {
  if (type.kind === 'decimal') return { kind: 'decimal', precision: type.width, scale: type.scale };
  const kind = type.kind === 'scalar' ? STORED[type.name] : undefined;
  return kind === undefined ? null : { kind };
}

const STORED: Readonly<Record<string, 'date' | 'time' | 'timestamp' | 'timestamptz' | 'timestamp_ns'>> = {
  DATE: 'date',
  TIME: 'time',
  TIMESTAMP: 'timestamp',
  'TIMESTAMP WITH TIME ZONE': 'timestamptz',
  TIMESTAMP_NS: 'timestamp_ns',
};
