import { must, unreachable } from '#shared/must.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import type { Expression, Lambda, Order } from '../../plan/expression.ts';
import { operatorText } from '../../plan/print-expression.ts';
import { expressionType } from '../../plan/plan-schema.ts';
import { printSqlType, type SqlType } from '../../plan/sql-type.ts';
import { NotPrintable } from './not-printable.ts';
import { castType, printSqlLiteral } from './print-sql-literal.ts';
import { hasUnnamed, structOf } from './unnamed-structs.ts';

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
      if (expression.lambda !== undefined) return printLambda(expression, expression.lambda, columns, depth);
      return printFunction(expression, list, inner);
    case 'cast':
      if (hasUnnamed(expression.type)) return printRowCast(expression, expression.type, inner);
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

type StructType = Extract<SqlType, { kind: 'struct' }>;

/** The type of `row(1, 2)` cannot be written: its fields are cast one by one. */
function printRowCast(
  { child, tryCast }: Extract<Expression, { kind: 'cast' }>,
  type: SqlType,
  inner: (one: Expression) => string,
): string {
  const from = expressionType(child);
  if (printSqlType(from) === printSqlType(type)) return inner(child);
  if (type.kind !== 'struct' || from.kind !== 'struct' || from.fields.length !== type.fields.length) {
    throw new NotPrintable('a cast to a struct whose fields have no names');
  }
  const cast = (one: Expression, i: number): string =>
    inner({ kind: 'cast', child: one, type: must(type.fields[i], 'a field').type, tryCast });
  if (child.kind === 'function' && STRUCT_MAKERS.has(child.name)) return structOf(type, child.children.map(cast));
  // The child's text is repeated for each field.
  if (child.kind !== 'column') throw new NotPrintable('a cast to a struct whose fields have no names');
  const fields = from.fields.map((field, i): Expression => {
    const position: Expression = { kind: 'constant', value: i + 1, type: { kind: 'scalar', name: 'BIGINT' } };
    return { kind: 'function', name: 'struct_extract_at', children: [child, position], type: field.type };
  });
  return `CASE WHEN ${inner(child)} IS NOT NULL THEN ${structOf(type, fields.map(cast))} END`;
}

const STRUCT_MAKERS: ReadonlySet<string> = new Set(['row', 'struct_pack']);

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

/** The columns of the body are the lambda's parameters, the last one first, then the captured values. */
function printLambda(call: FunctionCall, lambda: Lambda, columns: Columns, depth: number): string {
  const outer = call.children.map((child) => print(child, columns, depth + 1));
  const own = outer.slice(0, lambda.hasInitial ? 2 : 1);
  const names = Array.from({ length: lambda.parameters }, (_, i) => `l${depth}_${i}`);
  const body = print(lambda.body, [...names.toReversed(), ...outer.slice(own.length)], depth + 1);
  const [list, ...initial] = own;
  return `${quoteIdentifier(call.name)}(${[list, `lambda ${names.join(', ')}: ${body}`, ...initial].join(', ')})`;
}

/** Functions and operators are called by their quoted names (`"+"(a, b)`), which the parser does not rewrite. */
function printFunction(
  call: FunctionCall,
  list: (all: readonly Expression[]) => string,
  inner: (one: Expression) => string,
): string {
  const operator = DECIMAL_RESULTS.get(call.name);
  if (call.type.kind === 'decimal' && operator !== undefined) {
    return printDecimal({ ...call, name: operator }, call.type, list);
  }
  const special = SPECIAL[call.name]?.(call, inner);
  if (special !== undefined) return special;
  if (call.erased === null) throw new NotPrintable(`the constant arguments of ${call.name}`);
  const children = [...call.children, ...(call.erased ?? [])];
  const [left, right] = children;
  if (INFIX.has(call.name) && left !== undefined && right !== undefined && children.length === 2) {
    return `(${inner(left)} ${call.name} ${inner(right)})`;
  }
  return `${quoteIdentifier(call.name)}(${list(children)})`;
}

type DecimalType = Extract<SqlType, { kind: 'decimal' }>;

/** Functions with their operators: a DECIMAL result has more digits than the operands, unless these have one of `FULL_WIDTHS` already. */
const DECIMAL_RESULTS: ReadonlyMap<string, string> = new Map([
  ['+', '+'],
  ['-', '-'],
  ['*', '*'],
  ['add', '+'],
  ['subtract', '-'],
  ['multiply', '*'],
]);
const FULL_WIDTHS: ReadonlySet<number> = new Set([18, 38]);

/**
 * In the plan the operands are already cast to the result's type; bound again, the result would become wider. So the operands get back the
 * digits that they had; a result that would still have another type is cast back, which DuckDB checks value by value.
 */
function printDecimal(call: FunctionCall, type: DecimalType, list: (all: readonly Expression[]) => string): string {
  const isBoundAlike = call.children.length === 1 || FULL_WIDTHS.has(type.width);
  const operands = isBoundAlike ? call.children : call.name === '*' ? factors(call, type) : summands(call, type);
  const texts = (operands ?? call.children).map((one) => list([one]));
  const text = texts.length === 1 ? `(${call.name}${texts[0]})` : `(${texts.join(` ${call.name} `)})`;
  return operands === null ? `CAST(${text} AS ${castType(type)})` : text;
}

/** Operands of a sum of this type, which has one digit more than the widest of them; null when they are not known. */
function summands(call: FunctionCall, type: DecimalType): readonly Expression[] | null {
  const width = type.width - 1;
  const operands = call.children.map((one) => withDigits(one, width) ?? one);
  const types = operands.map(decimalOf);
  const isAsWide = types.every((one) => one !== null && one.scale === type.scale && one.width <= width);
  return isAsWide && types.some((one) => one?.width === width) ? operands : null;
}

/** Operands of a product of this type, which has the digits of both; null when they are not known. */
function factors(call: FunctionCall, type: DecimalType): readonly Expression[] | null {
  const [left, right] = call.children.map(uncast);
  if (left === undefined || right === undefined) return null;
  const rest = (other: Expression): number => type.width - (decimalOf(other)?.width ?? Infinity);
  if (rest(left) === decimalOf(right)?.width) return [left, right];
  const [narrowLeft, narrowRight] = [withDigits(left, rest(right)), withDigits(right, rest(left))];
  if (narrowRight !== null) return [left, narrowRight];
  return narrowLeft === null ? null : [narrowLeft, right];
}

/** A constant, or what a cast makes, with so many digits; null for another expression, and when they are too few for its scale. */
function withDigits(one: Expression, width: number): Expression | null {
  const type = decimalOf(one);
  const isMade = one.kind === 'constant' || (one.kind === 'cast' && !one.tryCast);
  return !isMade || type === null || width < Math.max(1, type.scale) ? null : { ...one, type: { ...type, width } };
}

/** A DECIMAL without the cast that only gave it more digits. */
function uncast(one: Expression): Expression {
  const [to, from] = one.kind === 'cast' && !one.tryCast ? [decimalOf(one), decimalOf(one.child)] : [null, null];
  const isWidened = one.kind === 'cast' && to !== null && from?.scale === to.scale && from.width <= to.width;
  return isWidened ? one.child : one;
}

const decimalOf = (one: Expression): DecimalType | null => {
  const type = expressionType(one);
  return type.kind === 'decimal' ? type : null;
};

/** Operators that the parser turns into the function of the same name. */
const INFIX: ReadonlySet<string> = new Set(['+', '-', '*', '/', '//', '%', '||', '&', '|', '<<', '>>']);

type Special = (call: FunctionCall, inner: (one: Expression) => string) => string | undefined;

/** Functions that need a syntax of their own. A printer returns undefined for a call that is printed like any other. */
const SPECIAL: Readonly<Record<string, Special>> = {
  struct_pack: (call, inner) => structOf(structType(call.type), call.children.map(inner)),
  row: (call, inner) => structOf(structType(call.type), call.children.map(inner)),
  union_value: (call, inner) => {
    const name = must(call.type.kind === 'union' ? call.type.members[0] : undefined, 'a union has a member').name;
    return `union_value(${quoteIdentifier(name)} := ${inner(must(call.children[0], 'its value'))})`;
  },
  // The new fields are the last ones.
  struct_insert: (call, inner) => {
    const { fields } = structType(call.type);
    const [struct = '', ...values] = call.children.map(inner);
    const names = fields.slice(fields.length - values.length).map(({ name }) => name);
    return `struct_insert(${[struct, ...named(names, values)].join(', ')})`;
  },
  struct_update: (call, inner) => {
    const [struct = '', ...values] = call.children.map(inner);
    const names = call.argumentNames?.slice(1) ?? [];
    const { fields } = structType(call.type);
    if (!names.every((name) => fields.some((field) => field.name === name))) {
      throw new NotPrintable('the names of the fields that struct_update sets');
    }
    return `struct_update(${[struct, ...named(names, values)].join(', ')})`;
  },
  // `alias` returns the name that the query gave its argument, which the plan no longer has.
  alias: () => {
    throw new NotPrintable('alias()');
  },
  // A call with a list of parts returns a struct; the list is not among the arguments, its parts are the struct's fields.
  date_part: datePart,
  datepart: datePart,
  array_slice: printSlice,
  list_slice: printSlice,
  // Integer arguments are cast to BIGINT; the result has the arguments' original type.
  equi_width_bins: (call, inner) =>
    `CAST(equi_width_bins(${call.children.map(inner).join(', ')}) AS ${castType(call.type)})`,
};

const named = (names: readonly string[], values: readonly string[]): string[] =>
  values.map((value, i) => `${quoteIdentifier(must(names[i], 'a name for each value'))} := ${value}`);

function datePart(call: FunctionCall, inner: (one: Expression) => string): string | undefined {
  if (call.type.kind !== 'struct' || call.children.length !== 1) return undefined;
  const parts = call.type.fields.map(({ name }) => quoteLiteral(name)).join(', ');
  return `date_part([${parts}], ${call.children.map(inner).join(', ')})`;
}

/** In the plan a bound that was left out is an empty list; only the bracket syntax can leave it out. */
function printSlice(call: FunctionCall, inner: (one: Expression) => string): string | undefined {
  const [value, begin, end, step] = call.children;
  if (value === undefined || begin === undefined || end === undefined) return undefined;
  if (!isLeftOut(begin) && !isLeftOut(end)) return undefined;
  const from = isLeftOut(begin) ? '' : inner(begin);
  const to = isLeftOut(end) ? (step === undefined ? '' : '-') : inner(end);
  return `(${inner(value)})[${from}:${to}${step === undefined ? '' : `:${inner(step)}`}]`;
}

const isLeftOut = (bound: Expression): boolean => bound.kind === 'constant' && bound.type.kind === 'list';

function structType(type: SqlType): StructType {
  if (type.kind !== 'struct') throw new NotPrintable('a struct of another type');
  return type;
}
