import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseJson, type JsonObject } from '#shared/json.ts';
import { SCRIPTED_ASKER, scriptedTables } from '#test/support/scripted/tables.ts';
import { scriptedPlans } from '#test/support/scripted/plans.ts';
import { sessionPlanner } from '#test/support/session-planner.ts';
import { queryPreparer } from '../prepare/prepare-query.ts';
import { disabledOptimizers } from '../planner/disabled-optimizers.ts';
import { planFeatures, type PlanFeatures } from './plan-features.ts';
import type { Planner } from '../binding/planner.ts';

const ROWS = 3_000;
const tables = scriptedTables({
  'lake.s.t': { columns: 'i int, k int, s string, ts timestamp', rows: ROWS },
  'lake.s.o': { columns: 'i int, k int, s string, ts timestamp', rows: ROWS },
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
let duckdb: DuckDBConnection;

beforeAll(async () => {
  planner = await sessionPlanner();
  duckdb = await (await DuckDBInstance.create()).connect();
  await duckdb.run(`CREATE TABLE t AS SELECT n::INT AS i, n::INT AS k, n::VARCHAR AS s,
    TIMESTAMP '2024-01-01' + n * INTERVAL 1 HOUR AS ts FROM range(${ROWS}) AS r(n)`);
  await duckdb.run('CREATE TABLE o AS FROM t');
  await duckdb.run(`SET disabled_optimizers = '${disabledOptimizers('')}'`);
});

afterAll(async () => {
  duckdb.closeSync();
  await planner.close();
});

async function featuresOf(sql: string): Promise<PlanFeatures> {
  const signal = AbortSignal.timeout(10_000);
  const query = { sql, offset: 0, context, asker: SCRIPTED_ASKER, tables, planner, signal };
  const { plan, features } = await prepare(query);
  expect(plan, 'a plan that DuckDB prints').not.toBeNull();
  return features;
}

/** Operators of DuckDB's physical plan that join; a delim join has its join below itself. */
const JOINS =
  /^(?:HASH_JOIN|NESTED_LOOP_JOIN|BLOCKWISE_NL_JOIN|PIECEWISE_MERGE_JOIN|IE_JOIN|ASOF_JOIN|CROSS_PRODUCT|POSITIONAL_SCAN)$/;

/** The operators of the physical plan that DuckDB makes for real tables of the same columns. */
async function operatorsOf(sql: string): Promise<readonly string[]> {
  const explained = await duckdb.runAndReadAll(`EXPLAIN (FORMAT json) ${sql}`);
  const names: string[] = [];
  const visit = (node: JsonObject): void => {
    names.push((node['name'] as string).trim());
    for (const child of node['children'] as readonly JsonObject[]) visit(child);
  };
  for (const root of parseJson(String(explained.getRows()[0]?.[1])) as readonly JsonObject[]) visit(root);
  return names;
}

async function physicalPlan(sql: string): Promise<{ joins: number; hasWindows: boolean; hasAggregates: boolean }> {
  const names = await operatorsOf(sql);
  return {
    joins: names.filter((name) => JOINS.test(name)).length,
    hasWindows: names.some((name) => name.endsWith('WINDOW')),
    hasAggregates: names.some((name) => /GROUP_BY$|AGGREGATE$/.test(name)),
  };
}

describe('a join counts as one, whichever way DuckDB runs it', () => {
  test.each([
    ['hash', 'HASH_JOIN', 't JOIN o USING (i)'],
    ['sort-merge', 'PIECEWISE_MERGE_JOIN', 't JOIN o ON t.i < o.i'],
    ['nested-loop', 'BLOCKWISE_NL_JOIN', 't JOIN o ON t.i + o.i = 3 OR t.k = 4'],
    ['nested-loop, of all rows', 'CROSS_PRODUCT', 't, o'],
    ['range', 'IE_JOIN', 't JOIN o ON t.i < o.i AND t.k > o.k'],
    ['as-of', 'ASOF_JOIN', 't ASOF JOIN o ON t.i = o.i AND t.ts >= o.ts'],
  ])('%s: %s', async (_kind, operator, from) => {
    const sql = `SELECT t.i, o.k FROM ${from}`;
    expect(await operatorsOf(sql)).toContain(operator);
    expect(await featuresOf(sql)).toMatchObject({ joins: 1, scans: 2, windows: 0, aggregates: 0 });
  });

  test('broadcast: whether a side goes to all workers is decided later', async () => {
    const plans = await scriptedPlans();
    const sql = 'SELECT name, v FROM big JOIN small USING (k)';
    expect((await plans.distributed(sql)).text).toContain('broadcast');
    const { plan, scans } = await plans.planOf(sql);
    const rows = scans.map(({ rowCount }) => rowCount);
    expect(planFeatures(plan, rows)).toMatchObject({ joins: 1, scans: 2, estimatedRows: 10_001_000 });
  });
});

describe('joins, windows and aggregates are those of the physical plan', () => {
  test.each([
    // Joins of every kind.
    ['SELECT * FROM t', 0, 0, false],
    ['SELECT * FROM t JOIN o USING (i)', 1, 0, false],
    ['SELECT * FROM t FULL JOIN o USING (i)', 1, 0, false],
    ['SELECT * FROM t SEMI JOIN o USING (i)', 1, 0, false],
    ['SELECT * FROM t JOIN o ON t.i < o.i', 1, 0, false],
    ['SELECT * FROM t JOIN o ON t.i < o.i AND t.k > o.k', 1, 0, false],
    ['SELECT * FROM t JOIN o ON t.i + o.i = 3 OR t.k = 4', 1, 0, false],
    ['SELECT * FROM t ASOF JOIN o ON t.i = o.i AND t.ts >= o.ts', 1, 0, false],
    ['SELECT * FROM t, o', 1, 0, false],
    ['SELECT * FROM t POSITIONAL JOIN o', 1, 0, false],
    ['SELECT * FROM t JOIN o USING (i) JOIN t AS u USING (i)', 2, 0, false],
    ['SELECT * FROM t WHERE i IN (SELECT k FROM o)', 1, 0, false],
    ['SELECT * FROM t WHERE i NOT IN (SELECT k FROM o)', 1, 0, false],
    ['SELECT * FROM t WHERE EXISTS (SELECT 1 FROM o WHERE o.k = t.i)', 1, 0, false],
    ['SELECT count(*) FROM t WHERE i > (SELECT avg(i) FROM t)', 1, 0, true],
    ['SELECT *, (SELECT count(*) FROM o WHERE o.i < t.i) FROM t', 3, 0, true],
    // Lists of constants are no joins.
    ['SELECT * FROM t WHERE i IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)', 0, 0, false],
    // Set operations: a semi or anti join each; ALL numbers equal rows of both sides, and the others drop duplicates.
    ['SELECT i FROM t UNION ALL SELECT i FROM o', 0, 0, false],
    ['SELECT i FROM t UNION SELECT i FROM o', 0, 0, true],
    ['SELECT i FROM t INTERSECT SELECT i FROM o', 1, 0, true],
    ['SELECT i FROM t EXCEPT SELECT i FROM o', 1, 0, true],
    ['SELECT i FROM t INTERSECT ALL SELECT i FROM o', 1, 2, false],
    ['SELECT i FROM t EXCEPT ALL SELECT i FROM o', 1, 2, false],
    ['SELECT i FROM t EXCEPT SELECT i FROM o EXCEPT SELECT k FROM o', 2, 0, true],
    ['SELECT i FROM t INTERSECT SELECT i FROM o EXCEPT SELECT k FROM o INTERSECT SELECT 3', 3, 0, true],
    ['SELECT i FROM t EXCEPT ALL SELECT i FROM o EXCEPT ALL SELECT k FROM o', 2, 4, false],
    // Windows and aggregates.
    ['SELECT row_number() OVER () FROM t', 0, 1, false],
    ['SELECT sum(i) OVER (PARTITION BY k ORDER BY ts) FROM t', 0, 1, false],
    ['SELECT sum(n) OVER () FROM (SELECT k, count(*) AS n FROM t GROUP BY k)', 0, 1, true],
    ['SELECT max(i) FROM t', 0, 0, true],
    ['SELECT DISTINCT i FROM t', 0, 0, true],
    ['SELECT DISTINCT ON (k) i FROM t ORDER BY s', 0, 0, true],
    ['SELECT i, sum(k) FROM t GROUP BY ROLLUP (i, s)', 0, 0, true],
  ])('%s', async (sql, joins, windows, hasAggregates) => {
    const { aggregates, ...found } = await featuresOf(sql);
    expect({ ...found, hasAggregates: aggregates > 0 }).toMatchObject({ joins, windows, hasAggregates });
    expect(await physicalPlan(sql)).toEqual({ joins, hasWindows: windows > 0, hasAggregates });
  });
});

describe('scans and estimated rows', () => {
  test.each([
    ['SELECT * FROM t', 1, ROWS],
    ['SELECT * FROM t, o, t AS u', 3, 3 * ROWS],
    ['SELECT i FROM t EXCEPT ALL SELECT i FROM o', 2, 2 * ROWS],
    ['SELECT i FROM t LIMIT 3', 1, ROWS],
    ['SELECT count(*) FROM range(1000000)', 0, 0],
    ['SELECT 1', 0, 0],
  ])('%s', async (sql, scans, estimatedRows) => {
    expect(await featuresOf(sql)).toMatchObject({ scans, estimatedRows });
  });

  test('a filter over a scan makes the estimate smaller', async () => {
    const { estimatedRows } = await featuresOf("SELECT * FROM t WHERE k = 3 AND s LIKE '%a%'");
    expect(estimatedRows).toBeGreaterThan(0);
    expect(estimatedRows).toBeLessThan(ROWS / 10);
  });
});

test.each([
  ['SELECT i FROM t WHERE k > 3', true],
  ['SELECT i FROM t EXCEPT ALL SELECT i FROM o', true],
  ['SELECT i FROM t EXCEPT SELECT i FROM o', false],
  ['SELECT i FROM t', false],
])('%s: whether it may read many rows for each that it gives is %s', async (sql, selective) => {
  expect((await featuresOf(sql)).selective).toBe(selective);
});
