import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { Expression } from '../../plan/expression.ts';
import { walkPlan } from '../../plan/plan-tree.ts';
import { printExpression } from '../../plan/print-expression.ts';
import type { Plan } from '../../plan/plan.ts';
import { dateConditions } from './date-conditions.ts';
import { printSqlExpression } from '../print/print-sql-expression.ts';
import { scriptedPlans, type ScriptedPlans } from '#test/support/scripted/plans.ts';

let plans: ScriptedPlans;
beforeAll(async () => {
  plans = await scriptedPlans();
});

/** The filter conditions over `big` after the pass, printed. */
async function rewritten(where: string): Promise<string> {
  const { plan } = await plans.planOf(`SELECT id FROM big WHERE ${where}`);
  return [...walkPlan(dateConditions(plan))]
    .flatMap((node) => (node.kind === 'filter' ? node.conditions : []))
    .map(printExpression)
    .join(' AND ');
}

describe('a date that is compared as a timestamp', () => {
  test('the pair', async () => {
    const { plan } = await plans.planOf("SELECT id FROM big WHERE d < DATE '1994-01-01' + INTERVAL 1 YEAR");
    expect(plans.print(plan)).toMatchInlineSnapshot(`
      "Project
             id
         └─ Filter
                (CAST(d AS TIMESTAMP) < TIMESTAMP '1995-01-01T00:00:00.000000')
            └─ Scan 0"
    `);
    expect(plans.print(dateConditions(plan))).toMatchInlineSnapshot(`
      "Project
             id
         └─ Filter
                (d < DATE '1995-01-01')
            └─ Scan 0"
    `);
  });

  test.each([
    ['<', '(d < '],
    ['<=', '(d <= '],
    ['>', '(d > '],
    ['>=', '(d >= '],
  ])('midnight, %s', async (op, expected) => {
    expect(await rewritten(`d ${op} TIMESTAMP '1995-01-01'`)).toBe(`${expected}DATE '1995-01-01')`);
  });

  test.each([
    ['<', '(d <= '],
    ['<=', '(d <= '],
    ['>', '(d > '],
    ['>=', '(d > '],
  ])('within a day, %s', async (op, expected) => {
    for (const moment of ['1995-01-01 00:00:00.000001', '1995-01-01 12:00', '1995-01-01 23:59:59.999999']) {
      expect(await rewritten(`d ${op} TIMESTAMP '${moment}'`)).toBe(`${expected}DATE '1995-01-01')`);
    }
  });

  test.each([
    ["d < TIMESTAMP '1969-12-31'", "(d < DATE '1969-12-31')"],
    ["d < TIMESTAMP '1969-12-31 23:59:59.999999'", "(d <= DATE '1969-12-31')"],
    ["d >= TIMESTAMP '1900-03-01 00:00:00.000001'", "(d > DATE '1900-03-01')"],
    ["TIMESTAMP '1995-01-01' < d", "(d > DATE '1995-01-01')"],
    ["TIMESTAMP '1995-01-01 12:00' >= d", "(d <= DATE '1995-01-01')"],
    [
      "d BETWEEN TIMESTAMP '1994-01-01 12:00' AND TIMESTAMP '1995-01-01'",
      "((d > DATE '1994-01-01') AND (d <= DATE '1995-01-01'))",
    ],
    [
      "d < TIMESTAMP '1994-01-01 12:00' OR (d > TIMESTAMP '1999-01-01' AND k = 3)",
      "((d <= DATE '1994-01-01') OR (d > DATE '1999-01-01')) AND ((d <= DATE '1994-01-01') OR ((k = 3) AND (d > DATE '1999-01-01')))",
    ],
  ])('%s', async (where, expected) => {
    expect(await rewritten(where)).toBe(expected);
  });

  test.each([
    "d = TIMESTAMP '1995-01-01'",
    "d <> TIMESTAMP '1995-01-01'",
    "d IS DISTINCT FROM TIMESTAMP '1995-01-01'",
    "d < TIMESTAMP 'infinity'",
    "d > TIMESTAMP '-infinity'",
    "d BETWEEN TIMESTAMP '1995-01-01' AND TIMESTAMP 'infinity'",
    "TRY_CAST(d AS TIMESTAMP) < TIMESTAMP '1995-01-01'",
    "d + 1 < TIMESTAMP '1995-01-01'",
    "d < TIMESTAMP_NS '1995-01-01'",
    "d < TIMESTAMP_S '1995-01-01'",
    "d < TIMESTAMPTZ '1995-01-01 00:00:00+00'",
    "make_timestamp(v) < TIMESTAMP '1995-01-01'",
    "d < DATE '1995-01-01'",
  ])('does not fire: %s', async (where) => {
    const { plan } = await plans.planOf(`SELECT id FROM big WHERE ${where}`);
    expect([...walkPlan(plan)].some(({ kind }) => kind === 'filter')).toBe(true);
    expect(dateConditions(plan)).toBe(plan);
  });
});

describe('the same rows in DuckDB', () => {
  const DATE = { kind: 'scalar', name: 'DATE' } as const;
  const TIMESTAMP = { kind: 'scalar', name: 'TIMESTAMP' } as const;
  const MICROS_PER_DAY = 86_400_000_000n;
  const column: Expression = { kind: 'column', index: 0, name: 'd', type: DATE };
  const cast: Expression = { kind: 'cast', child: column, type: TIMESTAMP, tryCast: false };
  const filter = (condition: Expression): Plan => ({
    kind: 'filter',
    child: { kind: 'scan', scan: 0, columns: [{ index: 0, name: 'd', type: DATE }] },
    conditions: [condition],
    projection: null,
  });

  // Years 1000 to 9000, and all that a timestamp can be.
  const days = fc.oneof(
    fc.integer({ min: -354_285, max: 2_567_648 }),
    fc.integer({ min: -99_999_999, max: 99_999_999 }),
  );
  const within = fc.oneof(fc.constant(0n), fc.constantFrom(1n, 86_399_999_999n), fc.bigInt(0n, 86_399_999_999n));
  const moments = fc.record({ day: days, within });
  type Moment = { readonly day: number; readonly within: bigint };
  const constant = (moment: Moment): Expression => ({
    kind: 'constant',
    value: BigInt(moment.day) * MICROS_PER_DAY + moment.within,
    type: TIMESTAMP,
  });
  const comparisons = fc
    .record({ op: fc.constantFrom('lt', 'le', 'gt', 'ge'), moment: moments, isFlipped: fc.boolean() })
    .map(({ op, moment, isFlipped }) => {
      const [left, right] = isFlipped ? [constant(moment), cast] : [cast, constant(moment)];
      return { condition: { kind: 'compare', op, left, right } satisfies Expression, days: [moment.day] };
    });
  const ranges = fc
    .record({ from: moments, to: moments, lowerInclusive: fc.boolean(), upperInclusive: fc.boolean() })
    .map(({ from, to, ...inclusive }) => ({
      condition: {
        kind: 'between',
        input: cast,
        lower: constant(from),
        upper: constant(to),
        ...inclusive,
      } satisfies Expression,
      days: [from.day, to.day],
    }));
  const leaves = fc.oneof(comparisons, ranges);
  const conditions = fc.oneof(
    leaves,
    fc.record({ kind: fc.constantFrom('and', 'or'), parts: fc.tuple(leaves, leaves) }).map(({ kind, parts }) => ({
      condition: { kind, children: parts.map(({ condition }) => condition) } satisfies Expression,
      days: parts.flatMap((part) => part.days),
    })),
  );

  test('the same of every date, for random dates and timestamps', async () => {
    const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
    const connection = await instance.connect();
    await fc.assert(
      fc.asyncProperty(conditions, fc.array(days, { maxLength: 20 }), async ({ condition, days: near }, others) => {
        const made = dateConditions(filter(condition));
        const simpler = must(made.kind === 'filter' ? made.conditions[0] : undefined, 'a filter stays one');
        expect(printExpression(simpler)).not.toContain('CAST');
        const [before, after] = [condition, simpler].map((one) => printSqlExpression(one, ['d']));
        const values = [...near.flatMap((day) => [day - 1, day, day + 1]), ...others]
          .map((day) => `(DATE '1970-01-01' + ${day})`)
          .concat("('infinity'::DATE)", "('-infinity'::DATE)", '(NULL)');
        const sql = `SELECT d::VARCHAR, ${before}, ${after} FROM (VALUES ${values.join(', ')}) AS t(d)`;
        const rows = (await connection.runAndReadAll(sql)).getRowsJson();
        expect(rows).toHaveLength(values.length);
        expect(rows.filter(([, was, is]) => was !== is)).toEqual([]);
      }),
      { numRuns: 300 },
    );
    connection.closeSync();
    instance.closeSync();
  });
});
