import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { beforeAll, expect, test } from 'vitest';
import { orderDifferences, orderedAnswer } from '#test/support/ordered-answer.ts';

let duckdb: DuckDBConnection;

beforeAll(async () => {
  duckdb = await (await DuckDBInstance.create()).connect();
  await duckdb.run(
    "CREATE TABLE t AS FROM (VALUES (1, 'a', 2.5::DOUBLE), (2, 'b', 1), (3, 'a', 1), (4, NULL, 0)) v(id, s, d)",
  );
});

test.each([
  ['no order', 'SELECT id FROM t', [[1, 2, 3, 4]]],
  ['a column', 'SELECT id FROM t ORDER BY id DESC', [[4], [3], [2], [1]]],
  ['equal keys', 'SELECT id FROM t ORDER BY d', [[4], [2, 3], [1]]],
  ['a number', 'SELECT id, s FROM t ORDER BY 2 DESC NULLS LAST', [[2], [1, 3], [4]]],
  ['a name of the result before one of a table', 'SELECT id, -id AS d FROM t ORDER BY d', [[4], [3], [2], [1]]],
  ['a key that is no column of the result', 'SELECT id FROM t ORDER BY t.s NULLS FIRST', [[4], [1, 3], [2]]],
  ['an expression', 'SELECT id FROM t ORDER BY CASE WHEN d > 1 THEN 0 ELSE 1 END, id % 2', [[1], [2, 4], [3]]],
  ['an aggregate', 'SELECT s AS id FROM t GROUP BY s ORDER BY count(*), sum(d)', [[null], ['b'], ['a']]],
  ['the order of a part is none of the whole', 'SELECT id FROM (SELECT id FROM t ORDER BY id)', [[1, 2, 3, 4]]],
  ['a set operation', 'SELECT 2 AS x UNION ALL SELECT 1 ORDER BY x', [[1], [2]]],
])('%s', async (_name, sql, groups) => {
  const answer = await orderedAnswer(duckdb, sql);
  expect(answer.groups.map((rows) => new Set(rows.map((row) => row[0])))).toEqual(
    groups.map((ids) => new Set<unknown>(ids)),
  );
});

test('rows may change places where the keys are equal, and nowhere else', async () => {
  const answer = await orderedAnswer(duckdb, 'SELECT id FROM t ORDER BY d');
  const differs = (...ids: readonly number[]): string | null =>
    orderDifferences(
      ids.map((id) => [id]),
      answer,
    );
  expect(differs(4, 2, 3, 1)).toBeNull();
  expect(differs(4, 3, 2, 1)).toBeNull();
  expect(differs(2, 4, 3, 1)).toContain('order, from row 0');
  expect(differs(4, 2, 1, 3)).toContain('order, from row 1');
  expect(differs(4, 2, 3)).toContain('3 rows, expected 4');
  expect(differs(4, 2, 2, 1)).toContain('rows differ');
});

test('two doubles that differ in their last digit alone are equal keys', async () => {
  const answer = await orderedAnswer(
    duckdb,
    'SELECT id FROM (VALUES (1, 0.3::DOUBLE), (2, 0.1::DOUBLE + 0.2)) v(id, d) ORDER BY d',
  );
  expect(answer.groups).toEqual([[[1], [2]]]);
});
