import { printJson } from '#shared/json.ts';
import { unreachable } from '#shared/must.ts';
import type { AggregateCall, Expression, Order, WindowCall } from './expression.ts';
import type { Plan } from './plan.ts';
import { printSqlType } from './sql-type.ts';

type Map = (expression: Expression) => Expression;

/** Replaces each operand of an expression. */
function mapOperands(expression: Expression, map: Map): Expression {
  switch (expression.kind) {
    case 'column':
    case 'constant':
      return expression;
    case 'compare':
      return { ...expression, left: map(expression.left), right: map(expression.right) };
    case 'and':
    case 'or':
    case 'operator':
    case 'function':
      return { ...expression, children: expression.children.map(map) };
    case 'between': {
      const { input, lower, upper } = expression;
      return { ...expression, input: map(input), lower: map(lower), upper: map(upper) };
    }
    case 'in':
      return { ...expression, input: map(expression.input), list: expression.list.map(map) };
    case 'not':
    case 'isNull':
    case 'isNotNull':
    case 'cast':
    case 'unnest':
      return { ...expression, child: map(expression.child) };
    case 'aggregate':
      return { ...expression, call: mapAggregate(expression.call, map) };
    case 'window':
      return { ...expression, call: mapWindow(expression.call, map) };
    case 'case':
      return {
        ...expression,
        branches: expression.branches.map(({ when, result }) => ({ when: map(when), result: map(result) })),
        otherwise: map(expression.otherwise),
      };
    default:
      return unreachable(expression);
  }
}

const mapOrders = (orders: readonly Order[], map: Map): readonly Order[] =>
  orders.map((order) => ({ ...order, expression: map(order.expression) }));

const mapOptional = (expression: Expression | null, map: Map): Expression | null =>
  expression === null ? null : map(expression);

export const mapAggregate = (call: AggregateCall, map: Map): AggregateCall => ({
  ...call,
  children: call.children.map(map),
  filter: mapOptional(call.filter, map),
  orders: mapOrders(call.orders, map),
});

export function mapWindow(call: WindowCall, map: Map): WindowCall {
  const { frame } = call;
  return {
    ...call,
    children: call.children.map(map),
    partitions: call.partitions.map(map),
    orders: mapOrders(call.orders, map),
    argumentOrders: mapOrders(call.argumentOrders, map),
    filter: mapOptional(call.filter, map),
    frame: {
      ...frame,
      startExpression: mapOptional(frame.startExpression, map),
      endExpression: mapOptional(frame.endExpression, map),
      offset: mapOptional(frame.offset, map),
      defaultValue: mapOptional(frame.defaultValue, map),
    },
  };
}

/** The direct operands of an expression. */
function operands(expression: Expression): readonly Expression[] {
  const found: Expression[] = [];
  mapOperands(expression, (one) => {
    found.push(one);
    return one;
  });
  return found;
}

/** The conditions that must all be true for this one to be. */
export const conjuncts = (condition: Expression): readonly Expression[] =>
  condition.kind === 'and' ? condition.children.flatMap(conjuncts) : [condition];

/** Yields an expression and all of its descendants. */
export function* walkExpression(expression: Expression): Generator<Expression> {
  yield expression;
  for (const one of operands(expression)) yield* walkExpression(one);
}

/** The expression with its columns at other positions; null when one of them has none. */
export function moveColumns(expression: Expression, to: (index: number) => number | null): Expression | null {
  let isLost = false;
  const move: Map = (one) => {
    if (one.kind !== 'column') return mapOperands(one, move);
    const index = to(one.index);
    if (index === null) isLost = true;
    return { ...one, index: index ?? -1 };
  };
  const moved = move(expression);
  return isLost ? null : moved;
}

/** Positions of the columns that an expression reads. */
export function columnsRead(expression: Expression): ReadonlySet<number> {
  const found = new Set<number>();
  for (const one of walkExpression(expression)) if (one.kind === 'column') found.add(one.index);
  return found;
}

/** Returns a key that is equal for expressions that mean the same over one input, regardless of column names. */
export function expressionKey(expression: Expression): string {
  const unnamed: Map = (one) => (one.kind === 'column' ? { ...one, name: '' } : mapOperands(one, unnamed));
  return expression.kind === 'column'
    ? `#${expression.index} ${printSqlType(expression.type)}`
    : printJson(unnamed(expression));
}

/** The expressions that a node itself holds, over its children's columns. */
export function expressionsOf(plan: Plan): readonly Expression[] {
  const ordered = (orders: readonly Order[]): readonly Expression[] => orders.map(({ expression }) => expression);
  switch (plan.kind) {
    case 'filter':
      return plan.conditions;
    case 'project':
      return plan.expressions.map(({ expression }) => expression);
    case 'aggregate':
      return [...plan.groups, ...plan.aggregates.map((call): Expression => ({ kind: 'aggregate', call }))];
    case 'window':
      return plan.calls.map((call): Expression => ({ kind: 'window', call }));
    case 'unnest':
      return plan.expressions;
    case 'distinct':
      return [...plan.on, ...ordered(plan.orders)];
    case 'sort':
      return ordered(plan.orders);
    case 'join': {
      const conditions = plan.conditions.flatMap(({ left, right }) => [left, right]);
      return [...conditions, ...(plan.delim ?? []), ...(plan.residual === null ? [] : [plan.residual])];
    }
    case 'limit':
      return [plan.limit, plan.offset].flatMap((limit) => (limit.kind === 'expression' ? [limit.expression] : []));
    case 'generator':
      return plan.arguments;
    case 'values':
      return plan.rows.flat();
    case 'exchange':
      return plan.to.kind === 'hash' ? plan.to.keys : [];
    case 'scan':
    case 'oneRow':
    case 'empty':
    case 'sample':
    case 'cross':
    case 'positional':
    case 'delimScan':
    case 'union':
    case 'intersect':
    case 'except':
    case 'cte':
    case 'recursiveCte':
    case 'cteScan':
    case 'stage':
      return [];
    default:
      return unreachable(plan);
  }
}
