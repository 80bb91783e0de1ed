import { expect, test } from 'vitest';
import type { JoinPlan, Plan } from '../../plan/plan.ts';
import type { Expression } from '../../plan/expression.ts';
import type { ScanFacts } from '../fragment.ts';
import { isNeverNull, neverNullColumns } from './never-null.ts';

const BIGINT = { kind: 'scalar', name: 'BIGINT' } as const;
const VARCHAR = { kind: 'scalar', name: 'VARCHAR' } as const;
const column = (index: number, type = BIGINT as Extract<Expression, { kind: 'column' }>['type']) =>
  ({ kind: 'column', index, name: '', type }) as const;
const scan = (number: number): Plan => ({
  kind: 'scan',
  scan: number,
  // In another order than the table's columns, whose facts have the table's order.
  columns: [2, 0, 1].map((index) => ({ index, name: `c${index}`, type: BIGINT })),
});
const facts: ScanFacts = {
  rows: 10,
  bytes: 100,
  files: 1,
  columns: [0, 1, null].map((nulls) => ({ distinctMax: null, nulls })),
};
const columnsOf = (plan: Plan) => neverNullColumns(plan, [facts, facts]);
const join = (type: JoinPlan['type']): Plan => ({
  kind: 'join',
  type,
  left: scan(0),
  right: scan(1),
  conditions: [{ op: 'eq', left: column(0), right: column(0) }],
  residual: null,
  asof: false,
  distribution: null,
  delim: null,
  delimFlipped: false,
  leftProjection: [1, 2],
  rightProjection: null,
});

test('a column without NULLs in any file is never NULL; one with some, or with an unknown number, may be', () => {
  expect(columnsOf(scan(0))).toEqual([false, true, false]);
  expect(neverNullColumns(scan(3), [facts])).toEqual([false, false, false]);
});

test('nodes that drop, order and rename rows keep it; an outer join fills with NULLs', () => {
  const filter: Plan = { kind: 'filter', child: scan(0), conditions: [], projection: [1] };
  expect(columnsOf(filter)).toEqual([true]);
  expect(columnsOf(join('inner'))).toEqual([true, false, false, true, false]);
  expect(columnsOf(join('left'))).toEqual([true, false, false, false, false]);
  expect(columnsOf(join('right'))).toEqual([false, false, false, true, false]);
  expect(columnsOf(join('full'))).toEqual([false, false, false, false, false]);
  expect(columnsOf(join('semi'))).toEqual([true, false]);
  expect(columnsOf({ kind: 'union', all: true, children: [scan(0), scan(1)] })).toEqual([false, false, false]);
});

test('sums, products and casts of numbers that are never NULL', () => {
  const call = (name: string, ...children: Expression[]): Expression => ({
    kind: 'function',
    name,
    children,
    type: BIGINT,
  });
  const cast = (child: Expression, tryCast = false): Expression => ({ kind: 'cast', child, type: BIGINT, tryCast });
  const never = (expression: Expression) => isNeverNull(expression, [true, false]);
  expect(never(call('*', column(0), call('+', column(0), { kind: 'constant', value: 1, type: BIGINT })))).toBe(true);
  expect(never(cast(column(0)))).toBe(true);
  expect(never(call('+', column(0), column(1)))).toBe(false);
  // Division by zero is NULL; so may be what a cast of text gives, and TRY_CAST.
  expect(never(call('//', column(0), column(0)))).toBe(false);
  expect(never(cast(column(0, VARCHAR)))).toBe(false);
  expect(never(cast(column(0), true))).toBe(false);
  expect(never({ kind: 'constant', value: null, type: BIGINT })).toBe(false);
});
