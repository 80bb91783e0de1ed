import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import type { Json } from '#shared/json.ts';
import { findReferences } from './find-references.ts';
import { spliceTables, workerSql } from './splice-tables.ts';

const connection = await (await DuckDBInstance.create(':memory:')).connect();

/** The scans of a query, in the order of its text. */
async function scansOf(sql: string): Promise<readonly number[]> {
  const asked = `SELECT json_serialize_sql($1::VARCHAR, skip_null := false, skip_empty := false)`;
  const reader = await connection.runAndReadAll(asked, [sql]);
  const found = findReferences(JSON.parse(String(reader.getRows()[0]?.[0])) as Json, { catalog: 'c', schema: 's' });
  const tables = found.tables.map((table) => ({ ...table, at: null }));
  const parts = workerSql(spliceTables(sql, { ...found, tables, names: [] }));
  return parts.flatMap((part) => (typeof part === 'object' && 'scan' in part ? [part.scan] : []));
}

test.each([
  ['SELECT (SELECT max(a) FROM t), 1 FROM u GROUP BY (SELECT max(a) FROM t)', [0, 1, 0]],
  ['SELECT (SELECT max(a) FROM S.T), (SELECT MAX("a") FROM s.t)', [0, 0]],
  ['SELECT (SELECT 1 FROM t, u) AS x, (SELECT 1 FROM t, u)', [0, 1, 0, 1]],
  [
    'SELECT x IN (SELECT a FROM t), (SELECT (SELECT a FROM u) FROM t), (SELECT (SELECT a FROM u) FROM t), (SELECT a FROM u)',
    [0, 1, 2, 1, 2, 1],
  ],
  ["SELECT (SELECT a FROM t WHERE b = 'x'), (SELECT a FROM t WHERE b = 'X')", [0, 1]],
  ['SELECT (SELECT a FROM t), (SELECT b FROM t), (SELECT a FROM t AS t2)', [0, 1, 2]],
  ['SELECT * FROM (SELECT a FROM t) x, (SELECT a FROM t) y', [0, 1]],
  // A name is one of WITH here, and a table's there.
  ['SELECT (WITH t AS (SELECT 1 AS a) SELECT (SELECT a FROM t)), (SELECT a FROM t)', [0]],
  [
    'SELECT (WITH t AS (SELECT 1) SELECT (SELECT 1 FROM t, u)), (WITH u AS (SELECT 1) SELECT (SELECT 1 FROM t, u)), (SELECT 1 FROM t, u)',
    [0, 1, 2, 3],
  ],
])('%s', async (sql, scans) => {
  expect(await scansOf(sql)).toEqual(scans);
});

test('in a query of very many levels none is looked for', async () => {
  const levels = 400;
  const around = `${'SELECT * FROM ('.repeat(levels)}SELECT (SELECT 1 FROM t), (SELECT 1 FROM t)${')'.repeat(levels)}`;
  expect(await scansOf(around)).toEqual([0, 1]);
  expect(await scansOf(around.slice('SELECT * FROM ('.length * (levels - 20), -(levels - 20)))).toEqual([0, 0]);
});
