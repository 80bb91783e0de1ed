import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import type { Json } from '#shared/json.ts';
import { unnamedColumns } from './unnamed-columns.ts';

const connection = await (await DuckDBInstance.create(':memory:')).connect();

async function found(sql: string): Promise<readonly string[]> {
  const asked = `SELECT json_serialize_sql($1::VARCHAR, skip_null := false, skip_empty := false)`;
  const reader = await connection.runAndReadAll(asked, [sql]);
  const tree = JSON.parse(String(reader.getRows()[0]?.[0])) as Json;
  expect(tree).toMatchObject({ error: false });
  return unnamedColumns(tree, sql).map(({ start, end }) => sql.slice(start, end));
}

test.each([
  ['SELECT a, (SELECT max(b) FROM s.t), s.t.c + 1 FROM s.t', ['(SELECT max(b) FROM s.t)', 's.t.c + 1']],
  ["SELECT 'ü', EXISTS (FROM t) /* e */ , 1", ['EXISTS (FROM t)']],
  ['SELECT DISTINCT ON (a, (SELECT 1)) a IN (SELECT b FROM t) FROM t', ['a IN (SELECT b FROM t)']],
  ['SELECT ALL 1 + (TABLE t) UNION SELECT 2 - (TABLE t)', ['1 + (TABLE t)', '2 - (TABLE t)']],
  ['SELECT (SELECT a FROM t) IS DISTINCT FROM 5 FROM t', ['(SELECT a FROM t) IS DISTINCT FROM 5']],
  [
    'SELECT (SELECT EXISTS (FROM t) FROM u), [(SELECT a FROM t)][1] FROM u',
    ['(SELECT EXISTS (FROM t) FROM u)', 'EXISTS (FROM t)', '[(SELECT a FROM t)][1]'],
  ],
  ['SELECT (SELECT a FROM t ORDER BY ALL)', ['(SELECT a FROM t ORDER BY ALL)']],
  [
    'SELECT unnest([(SELECT a FROM t)]), unnest((SELECT b FROM t)) + 1, unnest(range((SELECT 2 FROM t)))',
    ['unnest([(SELECT a FROM t)])', 'unnest((SELECT b FROM t)) + 1', 'unnest(range((SELECT 2 FROM t)))'],
  ],
  ['SELECT unnest(c.s.t.a), unnest([(SELECT s FROM t)], recursive := true) FROM c.s.t', []],
  ['FROM t SELECT max(a) AS "from", (SELECT a FROM t)', ['(SELECT a FROM t)']],
  ['SELECT x FROM (SELECT (SELECT a FROM t)) AS q(x)', ['(SELECT a FROM t)']],
  ['WITH c AS (SELECT (SELECT a FROM t)) FROM c', ['(SELECT a FROM t)']],
  ['SELECT (WITH c AS (SELECT a FROM t) SELECT a FROM c), -1', ['(WITH c AS (SELECT a FROM t) SELECT a FROM c)']],
  ['SELECT {a: (SELECT a FROM t), "b": 1}, FROM t', ['{a: (SELECT a FROM t), "b": 1}']],
  [
    'SELECT sum(a) OVER (ORDER BY (SELECT a FROM t)), (SELECT a FROM t) x FROM t',
    ['sum(a) OVER (ORDER BY (SELECT a FROM t))'],
  ],
  // No name is needed for an alias, a plain column, a text without names, many columns at once.
  ['SELECT (SELECT a FROM t) AS x, s.t.a, a + 1, x: (SELECT a FROM t) FROM s.t', []],
  [
    'SELECT COLUMNS(*) + (SELECT a FROM t), unnest(ARRAY (SELECT a FROM t)) FROM t',
    ['unnest(ARRAY (SELECT a FROM t))'],
  ],
  ['SELECT a FROM t WHERE a IN (SELECT b FROM t) ORDER BY (SELECT a FROM t)', []],
])('%s', async (sql, expected) => {
  expect(await found(sql)).toEqual(expected);
});
