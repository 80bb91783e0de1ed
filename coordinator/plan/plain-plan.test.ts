import { beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { SCRIPTED_ASKER, scriptedTables } from '#test/support/scripted/tables.ts';
import { sessionPlanner } from '#test/support/session-planner.ts';
import type { Planner } from '../binding/planner.ts';
import { queryPreparer } from '../prepare/prepare-query.ts';
import { isPlainPlan } from './plain-plan.ts';

const tables = scriptedTables({
  'lake.s.t': { columns: 'i int, b long, s string, d date, p decimal(15,2), q decimal(15,2)', rows: 3_000 },
});
const context = {
  nowMicros: '1700000000000000',
  timeZone: 'UTC',
  currentUser: 'u',
  currentCatalog: 'lake',
  currentSchema: 's',
};
const prepare = queryPreparer({ cacheEntries: 0, cacheBytes: 2 ** 26 });
let planner: Planner;
beforeAll(async () => {
  planner = await sessionPlanner();
});

async function isPlain(sql: string): Promise<boolean> {
  const signal = AbortSignal.timeout(10_000);
  const { plan } = await prepare({ sql, offset: 0, context, asker: SCRIPTED_ASKER, tables, planner, signal });
  return isPlainPlan(must(plan, 'a plan'));
}

test.each([
  `SELECT i, s FROM t WHERE i = 3`,
  `SELECT * FROM t WHERE s LIKE 'a%' AND d > DATE '2024-01-01' ORDER BY i LIMIT 5`,
  `SELECT s, sum(p * (1 - q)), avg(p), count(*) FROM t WHERE d <= DATE '1998-09-02' GROUP BY s ORDER BY s`,
  `SELECT sum(p * q) FROM t WHERE p BETWEEN 0.05 AND 0.07 AND q < 24`,
  `SELECT DISTINCT year(d) FROM t WHERE i IN (1, 2, 3) OR b IS NULL`,
])('plain: %s', async (sql) => expect(await isPlain(sql)).toBe(true));

test.each([
  `SELECT i FROM t WHERE CAST(s AS INTEGER) = 3`,
  `SELECT repeat(s, i) FROM t`,
  `SELECT string_agg(s, ',') FROM t`,
  `SELECT list(s) FROM t`,
  `SELECT i FROM t WHERE error(s) IS NULL`,
  `SELECT TRY_CAST(s AS INTEGER) FROM t`,
  `SELECT row_number() OVER (ORDER BY i) FROM t`,
  `SELECT a.i FROM t a JOIN t b USING (i)`,
  `SELECT i FROM t UNION ALL SELECT i FROM t`,
  `SELECT unnest(range(i)) FROM t`,
  `SELECT count(*) FROM t TABLESAMPLE 10 PERCENT`,
  `SELECT i FROM t WHERE random() < 0.5`,
  `SELECT 1`,
])('not plain: %s', async (sql) => expect(await isPlain(sql)).toBe(false));
