import type { AggregateCall, Expression } from '../../plan/expression.ts';
import { printSqlType, type SqlType } from '../../plan/sql-type.ts';
import { expressionType } from '../../plan/plan-schema.ts';

/**
 * An aggregate in two steps: `partial` runs over any part of the rows, `merge` over the partial results (columns in `partial`'s order), and
 * `result` computes the final value from the merged columns.
 */
export type SplitCall = {
  readonly partial: readonly AggregateCall[];
  readonly merge: (parts: readonly Expression[], sums: readonly Expression[]) => readonly AggregateCall[];
  /** Sums over all parts of a group that `merge` needs beside each part, in DOUBLE. */
  readonly sums?: (parts: readonly Expression[]) => readonly Expression[];
  readonly result: (merged: readonly Expression[]) => Expression;
};

const scalar = (name: string): SqlType => ({ kind: 'scalar', name });
export const BIGINT = scalar('BIGINT');
export const DOUBLE = scalar('DOUBLE');
export const HUGEINT = scalar('HUGEINT');

export const aggregateCall = (name: string, children: readonly Expression[], type: SqlType): AggregateCall => ({
  name,
  children,
  distinct: false,
  filter: null,
  orders: [],
  type,
});

export const constant = (value: number, type: SqlType = BIGINT): Expression => ({ kind: 'constant', value, type });

export const columnRef = (index: number, type: SqlType): Expression => ({ kind: 'column', index, name: '', type });

export const castTo = (child: Expression, type: SqlType): Expression =>
  printSqlType(expressionType(child)) === printSqlType(type) ? child : { kind: 'cast', child, type, tryCast: false };

const arithmetic =
  (name: string) =>
  (left: Expression, right: Expression): Expression => ({
    kind: 'function',
    name,
    children: [left, right],
    type: DOUBLE,
  });

/** Adds two DOUBLEs. */
export const add = arithmetic('+');
export const subtract = arithmetic('-');
export const multiply = arithmetic('*');
/** NULL where the divisor or the dividend is NULL. */
export const divide = arithmetic('/');
