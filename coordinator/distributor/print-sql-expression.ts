import { must, unreachable } from '#shared/must.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import type { Expression, Order } from '../planner/expression.ts';
import { operatorText } from '../planner/print-expression.ts';
import type { SqlType } from '../planner/sql-type.ts';
import { NotPrintable } from './not-printable.ts';
import { castType, printSqlLiteral, structOf } from './print-sql-literal.ts';

/** The input columns of an expression as SQL, by position. */
export type Columns = readonly string[];

/**
 * Nodes on the longest path of an expression. DuckDB takes 1,000 levels of what it parses, and a node here is at most two.
 */
const DEPTH_MAX = 400;

/** A bound expression as SQL of the same value and type. @throws NotPrintable */
export function printSqlExpression(expression: Expression, columns: Columns): string {
  return print(expression, columns, 0);
}

export const printSqlList = (list: readonly Expression[], columns: Columns): string =>
  list.map((one) => printSqlExpression(one, columns)).join(', ');

export const printSqlOrders = (orders: readonly Order[], columns: Columns): string =>
  orders
    .map(
      ({ expression, descending, nullsFirst }) =>
        `${printSqlExpression(expression, columns)} ${descending ? 'DESC' : 'ASC'} NULLS ${nullsFirst ? 'FIRST' : 'LAST'}`,
    )
    .join(', ');

/** A column of the input, and nothing else. */
export const isColumn = (expression: Expression): expression is Extract<Expression, { kind: 'column' }> =>
  expression.kind === 'column';

function print(expression: Expression, columns: Columns, depth: number): string {
  if (depth > DEPTH_MAX) throw new NotPrintable(`an expression of more than ${DEPTH_MAX} levels`);
  const inner = (one: Expression): string => print(one, columns, depth + 1);
  const list = (all: readonly Expression[]): string => all.map(inner).join(', ');
  switch (expression.kind) {
    case 'column':
      return must(columns[expression.index], 'a column of the input');
    case 'constant':
      return printSqlLiteral(expression.value, expression.type);
    case 'compare':
      return `(${inner(expression.left)} ${operatorText(expression.op)} ${inner(expression.right)})`;
    case 'and':
    case 'or':
      return `(${expression.children.map(inner).join(expression.kind === 'and' ? ' AND ' : ' OR ')})`;
    case 'between':
      return printBetween(expression, inner);
    case 'not':
      return `(NOT ${inner(expression.child)})`;
    case 'isNull':
      return `(${inner(expression.child)} IS NULL)`;
    case 'isNotNull':
      return `(${inner(expression.child)} IS NOT NULL)`;
    case 'in':
      return `(${inner(expression.input)} ${expression.negated ? 'NOT IN' : 'IN'} (${list(expression.list)}))`;
    case 'operator':
      return printOperator(expression, list);
    case 'function':
      return printFunction(expression, list, inner);
    case 'cast':
      return `${expression.tryCast ? 'TRY_CAST' : 'CAST'}(${inner(expression.child)} AS ${castType(expression.type)})`;
    case 'case': {
      const branches = expression.branches.map(({ when, result }) => `WHEN ${inner(when)} THEN ${inner(result)}`);
      return `CASE ${branches.join(' ')} ELSE ${inner(expression.otherwise)} END`;
    }
    case 'aggregate':
    case 'window':
    case 'unnest':
      throw new NotPrintable(`${expression.kind} inside of an expression`);
    default:
      return unreachable(expression);
  }
}

function printBetween(
  { input, lower, upper, lowerInclusive, upperInclusive }: Extract<Expression, { kind: 'between' }>,
  inner: (one: Expression) => string,
): string {
  const text = inner(input);
  if (lowerInclusive && upperInclusive) return `(${text} BETWEEN ${inner(lower)} AND ${inner(upper)})`;
  const from = `${text} ${lowerInclusive ? '>=' : '>'} ${inner(lower)}`;
  return `(${from} AND ${text} ${upperInclusive ? '<=' : '<'} ${inner(upper)})`;
}

function printOperator(
  { name, children }: Extract<Expression, { kind: 'operator' }>,
  list: (all: readonly Expression[]) => string,
): string {
  switch (name) {
    case 'OPERATOR_COALESCE':
      return `COALESCE(${list(children)})`;
    case 'OPERATOR_NULLIF':
      return `NULLIF(${list(children)})`;
    case 'OPERATOR_TRY':
      return `TRY(${list(children)})`;
    default:
      throw new NotPrintable(`the operator ${name}`);
  }
}

type FunctionCall = Extract<Expression, { kind: 'function' }>;

/** Functions go by their quoted names, operators too (`"+"(a, b)`): so nothing is parsed into something else. */
function printFunction(
  call: FunctionCall,
  list: (all: readonly Expression[]) => string,
  inner: (one: Expression) => string,
): string {
  const special = SPECIAL[call.name];
  if (special !== undefined) return special(call, inner);
  const [left, right] = call.children;
  if (INFIX.has(call.name) && left !== undefined && right !== undefined && call.children.length === 2) {
    return `(${inner(left)} ${call.name} ${inner(right)})`;
  }
  return `${quoteIdentifier(call.name)}(${list(call.children)})`;
}

/** What the parser makes the function of the same name of. */
const INFIX: ReadonlySet<string> = new Set(['+', '-', '*', '/', '//', '%', '||', '&', '|', '<<', '>>']);

const SPECIAL: Readonly<Record<string, (call: FunctionCall, inner: (one: Expression) => string) => string>> = {
  struct_pack: (call, inner) => structOf(structType(call.type), call.children.map(inner)),
  row: (call, inner) => structOf(structType(call.type), call.children.map(inner)),
  union_value: (call, inner) => {
    const name = must(call.type.kind === 'union' ? call.type.members[0] : undefined, 'a union has a member').name;
    return `union_value(${quoteIdentifier(name)} := ${inner(must(call.children[0], 'its value'))})`;
  },
};

function structType(type: SqlType): Extract<SqlType, { kind: 'struct' }> {
  if (type.kind !== 'struct') throw new NotPrintable('a struct of another type');
  return type;
}
