import type { DuckDBConnection } from '@duckdb/node-api';
import { boundSql, unboundSql } from '#shared/sql/bounded-functions.ts';
import { expressionsOf, walkExpression } from '../plan/expression-tree.ts';
import type { Expression } from '../plan/expression.ts';
import { walkPlan } from '../plan/plan-tree.ts';
import type { Plan } from '../plan/plan.ts';

/** Whether a statement may call `date_trunc`, under either of its names. */
export const mayTruncate = (sql: string): boolean => /\bdate_?trunc\b/i.test(sql);

/**
 * Returns the plan in which `date_trunc` is opaque to the optimizer, for a statement whose meaning would change otherwise; null when that
 * cannot be told, and undefined for any other statement. `plan` makes the statement's plan on the connection.
 */
export async function opaqueTruncation(
  connection: DuckDBConnection,
  plan: () => Promise<Plan>,
): Promise<Plan | null | undefined> {
  for (const macro of boundSql('truncation')) await connection.run(macro);
  try {
    const opaque = await plan().catch(() => null);
    const tests = opaque === null ? null : keepsMeaning(opaque);
    for (const test of tests ?? []) if (!(await isTrue(connection, test))) return opaque;
    return tests === null ? opaque : undefined;
  } finally {
    for (const macro of unboundSql('truncation')) await connection.run(macro);
  }
}

/** Whether a query gives true; one that fails, as that of an infinite time does, gives no value. */
async function isTrue(connection: DuckDBConnection, sql: string): Promise<boolean> {
  const reader = await connection.runAndReadAll(sql).catch(() => null);
  return reader?.getRows()[0]?.[0] === true;
}

type Comparison = Extract<Expression, { kind: 'compare' }>;

const EQUALITIES: ReadonlySet<Comparison['op']> = new Set(['eq', 'ne', 'distinct', 'notDistinct']);

/**
 * Returns SQL that tells whether DuckDB's optimizer keeps the meaning of each comparison of a truncated time with a constant: it does when
 * the constant is finite, and, where values are compared for being equal, a result of the truncation. Each text gives one row; the meaning is
 * kept when its only column is true. Null when a comparison cannot be told. The plan was made while `date_trunc` was opaque
 * (`shared/sql/bounded-functions.ts`).
 */
function keepsMeaning(plan: Plan): readonly string[] | null {
  const texts: string[] = [];
  for (const node of walkPlan(plan)) {
    for (const whole of expressionsOf(node)) {
      for (const one of walkExpression(whole)) {
        const text = one.kind === 'compare' ? testOf(one) : one.kind === 'between' ? testOfRange(one) : undefined;
        if (text === null) return null;
        if (text !== undefined) texts.push(text);
      }
    }
  }
  return texts;
}

function testOfRange({ input, lower, upper }: Extract<Expression, { kind: 'between' }>): string | null | undefined {
  const call = truncationOf(input);
  if (call === undefined) return undefined;
  const bounds = [lower, upper].map((one) => timeOf(one));
  return bounds.includes(null) ? null : `SELECT isfinite(${bounds.join(') AND isfinite(')})`;
}

/** Undefined for a comparison of other values, null for one that cannot be told. */
function testOf({ op, left, right }: Comparison): string | null | undefined {
  const [call, other] = truncationOf(left) === undefined ? [truncationOf(right), left] : [truncationOf(left), right];
  if (call === undefined || reads(other)) return undefined;
  const [part] = call.children;
  const time = timeOf(other);
  if (time === null || part?.kind !== 'constant' || typeof part.value !== 'string') return null;
  if (!EQUALITIES.has(op)) return `SELECT isfinite(${time})`;
  return `SELECT isfinite(${time}) AND system.main.date_trunc('${part.value.replaceAll("'", "''")}', ${time}) = ${time}`;
}

const reads = (expression: Expression): boolean =>
  [...walkExpression(expression)].some(({ kind }) => kind === 'column');

/** The call of `date_trunc` within its macro, and within casts of what it gives. */
function truncationOf(expression: Expression): Extract<Expression, { kind: 'function' }> | undefined {
  if (expression.kind === 'cast') return truncationOf(expression.child);
  if (expression.kind !== 'function' || expression.name !== 'greatest') return undefined;
  const [call, second] = expression.children;
  const isCall = call?.kind === 'function' && mayTruncate(call.name);
  return isCall && second === undefined ? call : undefined;
}

/** SQL that makes the time of the raw value in a plan. */
const TIMES: Readonly<Record<string, (value: string) => string>> = {
  DATE: (days) => `CAST(DATE '1970-01-01' + ${days} AS DATE)`,
  TIMESTAMP: (micros) => `make_timestamp(${micros})`,
  'TIMESTAMP WITH TIME ZONE': (micros) => `make_timestamptz(${micros})`,
};

/** Returns a constant time as SQL; null when it is none. */
function timeOf(expression: Expression): string | null {
  if (expression.kind !== 'constant' || expression.type.kind !== 'scalar') return null;
  const { value, type } = expression;
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  return isNumber ? (TIMES[type.name]?.(`CAST('${value}' AS BIGINT)`) ?? null) : null;
}
