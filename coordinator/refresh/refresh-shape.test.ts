import { beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { SCRIPTED_ASKER, scriptedTables } from '#test/support/scripted/tables.ts';
import { sessionPlanner } from '#test/support/session-planner.ts';
import { queryPreparer } from '../prepare/prepare-query.ts';
import type { Planner } from '../binding/planner.ts';
import { refreshShape, type MergedColumn } from './refresh-shape.ts';

const tables = scriptedTables({
  'lake.s.t': { columns: 'id long, k int, m decimal(9,2), d double, s string, tiny int, wide decimal(30,2)' },
  'lake.s.u': { columns: 'id long, s string' },
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

/** The shape of a refresh after new rows of the first table that the query names. */
async function shapeOf(sql: string): Promise<string> {
  const asked = {
    sql,
    offset: 0,
    context,
    asker: SCRIPTED_ASKER,
    tables,
    planner,
    signal: AbortSignal.timeout(10_000),
  };
  const shape = refreshShape(must((await prepare(asked)).plan, 'it has a plan'), 0);
  if (shape.kind === 'append') return 'append';
  return shape.kind === 'none' ? shape.reason : shape.columns.map(printColumn).join(' ');
}

function printColumn(column: MergedColumn): string {
  if (column.kind === 'aggregate') return column.by;
  return column.kind === 'average' ? `average:${column.scale}` : 'key';
}

test.each([
  ['SELECT id + 1 AS n FROM t WHERE k > 3 ORDER BY n', 'append'],
  ['SELECT t.id, u.s FROM t JOIN u USING (id)', 'append'],
  ['SELECT t.id, u.s FROM t LEFT JOIN u USING (id)', 'append'],
  ['SELECT t.id, u.s FROM t RIGHT JOIN u USING (id)', 'the table stands on the left of a right join'],
  ['SELECT t.id, u.s FROM t FULL JOIN u USING (id)', 'the table stands on the left of a full join'],
  ['SELECT t.id FROM t SEMI JOIN u USING (id)', 'append'],
  ['SELECT t.id, u.id AS other FROM t, u', 'append'],
  ['SELECT id FROM t LIMIT 3', 'it has a step (limit) that looks at more than one row'],
  ['SELECT DISTINCT k FROM t', 'it has a step (distinct) that looks at more than one row'],
  ['SELECT id, row_number() OVER () AS n FROM t', 'it has a step (window) that looks at more than one row'],
  ['SELECT id FROM t UNION ALL SELECT id FROM u', 'it has a step (union) that looks at more than one row'],
  ['SELECT s, sum(m) AS total, k, count(*) AS n FROM t GROUP BY s, k', 'key sum key sum'],
  ['SELECT min(id) AS low, max(m) AS high, sum(id)::BIGINT AS ids FROM t', 'min max sum'],
  ['SELECT sum(m)::DECIMAL(30, 4) AS total FROM t', 'sum'],
  ['SELECT sum(m)::BIGINT AS total FROM t', 'it aggregates below its last step'],
  ['SELECT sum(m) + 1 AS total FROM t', 'it aggregates below its last step'],
  ['SELECT k, sum(m) AS total FROM t GROUP BY k HAVING count(*) > 1', 'it aggregates below its last step'],
  ['SELECT sum(m) AS total FROM t GROUP BY k', 'it does not show all columns that it groups by'],
  ['SELECT k, sum(d) AS total FROM t GROUP BY k', 'parts of sum cannot be merged'],
  ['SELECT avg(m) AS mean, k, mean(k) FILTER (WHERE id > 1) AS other FROM t GROUP BY k', 'average:2 key average:0'],
  ['SELECT k, avg(id) AS mean FROM t GROUP BY k', 'key average:0'],
  ['SELECT k, avg(tiny::TINYINT + 1) AS mean FROM t GROUP BY k', 'key average:0'],
  [
    'SELECT k, avg(d) AS mean FROM t GROUP BY k',
    'parts of avg over DOUBLE cannot be merged, because a sum of floating point depends on the order of rows',
  ],
  [
    'SELECT k, avg(wide) AS mean FROM t GROUP BY k',
    'parts of avg over DECIMAL(30,2) cannot be merged, because their sum may be too long for a DECIMAL',
  ],
  ['SELECT k, avg(id::HUGEINT) AS mean FROM t GROUP BY k', 'parts of avg over HUGEINT cannot be merged'],
  ['SELECT k, avg(DISTINCT id) AS mean FROM t GROUP BY k', 'parts of avg cannot be merged'],
  ['SELECT k, avg(make_timestamp(id)) AS mean FROM t GROUP BY k', 'parts of avg over TIMESTAMP cannot be merged'],
  ['SELECT k, round(avg(m), 2) AS mean FROM t GROUP BY k', 'it aggregates below its last step'],
  ['SELECT k, count(DISTINCT s) AS n FROM t GROUP BY k', 'parts of count cannot be merged'],
  ['SELECT k, min(s, 2) AS lowest FROM t GROUP BY k', 'parts of min cannot be merged'],
  ['SELECT k, s, count(*) AS n FROM t GROUP BY ROLLUP (k, s)', 'it has grouping sets'],
  ['SELECT k, count(*) FILTER (WHERE m > 1) AS n FROM t GROUP BY k', 'key sum'],
  ['SELECT u.s, count(*) AS n FROM t JOIN u USING (id) GROUP BY u.s', 'key sum'],
  [
    'SELECT n, count(*) AS c FROM (SELECT k, count(*) AS n FROM t GROUP BY k) GROUP BY n',
    'it aggregates below its last step',
  ],
])('%s: %s', async (sql, shape) => expect(await shapeOf(sql)).toBe(shape));
