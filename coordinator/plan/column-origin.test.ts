import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { SCRIPTED_ASKER, scriptedTables } from '#test/support/scripted/tables.ts';
import { sessionPlanner } from '#test/support/session-planner.ts';
import type { Planner } from '../binding/planner.ts';
import { queryPreparer } from '../prepare/prepare-query.ts';
import { columnOrigins } from './column-origin.ts';

const COLUMNS = ['i', 'k', 's'];
const tables = scriptedTables({
  'lake.s.t': { columns: 'i int, k int, s string', rows: 1_000 },
  'lake.s.o': { columns: 'i int, k int, s string', rows: 1_000 },
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
afterAll(() => planner.close());

/** The origins of each column, as `t.i`; several with a `+`, none as an empty text. */
async function origins(sql: string): Promise<string> {
  const signal = AbortSignal.timeout(30_000);
  const query = await prepare({ sql, offset: 0, context, asker: SCRIPTED_ASKER, tables, planner, signal });
  const plan = must(query.plan, 'a plan');
  const nameOf = (scan: number): string => {
    const table = query.scans[scan];
    return table?.kind === 'iceberg' ? must(table.tableName.at(-1), 'a name') : '?';
  };
  const found = query.columns.map((_, i) =>
    columnOrigins(plan, i)
      .map(({ scan, column }) => `${nameOf(scan)}.${COLUMNS[column]}`)
      .join('+'),
  );
  return found.join(', ');
}

test.each([
  ['SELECT s, i, i + 1 AS n FROM t', 't.s, t.i, '],
  ['SELECT * FROM t WHERE k > 5 ORDER BY s LIMIT 3', 't.i, t.k, t.s'],
  ['SELECT o.s, t.k FROM t JOIN o USING (i)', 'o.s, t.k'],
  ['SELECT t.s, o.k FROM t LEFT JOIN o ON t.i = o.i AND o.k > 3 WHERE t.k < 9', 't.s, o.k'],
  ['SELECT k, s FROM t WHERE i IN (SELECT k FROM o)', 't.k, t.s'],
  ['SELECT k, s FROM t WHERE NOT EXISTS (SELECT 1 FROM o WHERE o.i = t.k)', 't.k, t.s'],
  ['SELECT s, k IN (SELECT i FROM o) FROM t', 't.s, '],
  ['SELECT t.k, o.s FROM t, o', 't.k, o.s'],
  ['SELECT s, count(*), max(k) FROM t GROUP BY s', 't.s, , '],
  ['SELECT DISTINCT s FROM t', 't.s'],
  ['SELECT s, row_number() OVER (ORDER BY k) FROM t', 't.s, '],
  ['SELECT s, unnest([i, k]) FROM t', 't.s, '],
  ['SELECT i FROM t UNION ALL SELECT k FROM o', 't.i+o.k'],
  ['SELECT i FROM t UNION ALL SELECT 1', ''],
  ['WITH c AS MATERIALIZED (SELECT k, s FROM t) SELECT a.s, b.k FROM c AS a JOIN c AS b USING (k)', 't.s, t.k'],
  ['WITH RECURSIVE r(n) AS (SELECT i FROM t UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT n FROM r', ''],
  ['SELECT 1, NULL', ', '],
])('%s', async (sql, expected) => {
  expect(await origins(sql)).toBe(expected);
});
