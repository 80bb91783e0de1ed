import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PIVOT_COLUMNS_MAX, fillPivots } from './fill-pivots.ts';

let duckdb: DuckDBConnection;
beforeAll(async () => {
  duckdb = await (await DuckDBInstance.create(':memory:')).connect();
  await duckdb.run(`CREATE TABLE t AS SELECT * FROM (VALUES
    (1, DATE '2020-01-01', 2.5, true, 'it''s', 10), (2, DATE '2020-01-02', 1.5, false, 'b', 20), (1, NULL, NULL, NULL, NULL, 5)
  ) AS x(i, d, y, b, s, v)`);
});
afterAll(() => duckdb.closeSync());

const rowsOf = async (sql: string): Promise<unknown> => {
  const reader = await duckdb.runAndReadAll(sql);
  const rows = reader.getRowsJson().map((row) => JSON.stringify(row));
  return [reader.columnNames(), rows.toSorted()];
};

/** The query with its values, which DuckDB itself reads. */
async function filled(sql: string): Promise<string> {
  const query = await fillPivots({ text: sql, offset: 0 }, async ({ text }) => {
    const reader = await duckdb.runAndReadAll(text);
    return reader.getRowsJson().map(([value]) => value as string);
  });
  return query.text;
}

describe('the values make it the query that DuckDB makes of it', () => {
  test.each([
    'PIVOT t ON i USING sum(v) GROUP BY b',
    'PIVOT t ON y USING sum(v) GROUP BY i',
    'PIVOT t ON d, b USING sum(v), count(*) GROUP BY i',
    'PIVOT t ON s',
    "PIVOT t ON s || ',' USING max(v) GROUP BY b ORDER BY b LIMIT 2",
    'PIVOT t ON (i + 1) USING sum(v) AS total GROUP BY b',
    'PIVOT t ON i IN (1, 2), s USING sum(v) GROUP BY b',
    'PIVOT t AS one ON i USING sum(v) GROUP BY b',
    'PIVOT (SELECT i, b, v FROM t WHERE v > 5) ON CASE WHEN i IN (1) THEN 1 ELSE 2 END USING sum(v) GROUP BY b',
    'PIVOT t JOIN (SELECT 1 AS j, 3 AS k) ON i = j ON k USING sum(v) GROUP BY b',
    'WITH c AS (FROM t), e AS (SELECT * FROM c) PIVOT e ON i USING sum(v) GROUP BY b',
    'WITH p AS (PIVOT t ON i USING sum(v) GROUP BY b) SELECT * FROM p WHERE b',
    'PIVOT t ON i USING sum(v) GROUP BY b UNION ALL BY NAME PIVOT t ON i USING max(v) GROUP BY b',
    'PIVOT (PIVOT t ON i USING sum(v) GROUP BY b) ON b USING sum("1")',
    'SELECT (SELECT count(*) FROM (PIVOT t ON i USING sum(v) GROUP BY b)) AS n, (SELECT max(v) FROM t) AS "pivot"',
    'pivot_wider t on i using sum(v) group by b -- PIVOT t ON x',
  ])('%s', async (sql) => {
    const text = await filled(sql);
    expect(text).toContain(' IN (');
    expect(await rowsOf(text)).toEqual(await rowsOf(sql));
  });
});

test('common tables of queries around it are known, which DuckDB forgets', async () => {
  const pivot = (source: string): string =>
    `SELECT * FROM (WITH e AS (FROM ${source}) PIVOT e ON i USING sum(v) GROUP BY b) AS q`;
  expect(await rowsOf(await filled(`WITH c AS (FROM t) ${pivot('c')}`))).toEqual(await rowsOf(pivot('t')));
});

test.each([
  'SELECT 1',
  "SELECT 'PIVOT t ON x', pivot FROM pivot",
  'PIVOT t ON i IN (1, 2) USING sum(v)',
  'FROM t PIVOT (sum(v) FOR i IN (1, 2))',
  'FROM (SELECT i, v FROM t) PIVOT (sum(v) FOR i IN (1, 2)) AS p JOIN t ON t.i = 1',
  'UNPIVOT t ON i, v',
])('%s has no values to find', async (sql) => {
  expect(await filled(sql)).toBe(sql);
});

test('positions are those of the query', async () => {
  const sql = 'WITH c AS (FROM t) PIVOT c ON i USING sum(v) GROUP BY b';
  const queries: string[] = [];
  const query = await fillPivots({ text: sql, offset: 7 }, (one) => {
    queries.push(one.text);
    expect(one.toSource(one.text.lastIndexOf(' c ') + 1)).toBe(sql.indexOf('c ON'));
    return Promise.resolve(['a', 'b']);
  });
  expect(queries).toHaveLength(1);
  expect(query.text).toBe("WITH c AS (FROM t) PIVOT c ON i IN ('a', 'b') USING sum(v) GROUP BY b");
  expect(query.toSource(query.text.indexOf('sum'))).toBe(sql.indexOf('sum'));
});

test('more columns than the limit, or none, is an error with its place', async () => {
  const query = { text: 'PIVOT t ON i, b', offset: 3 };
  const many = Array.from({ length: PIVOT_COLUMNS_MAX / 2 + 1 }, (_, i) => String(i));
  const lists = [many, ['x', 'y']];
  await expect(fillPivots(query, () => Promise.resolve(lists.shift() ?? []))).rejects.toMatchObject({
    code: 'STATEMENT_TOO_COMPLEX',
    message: 'the PIVOT has more than 10000 columns',
    position: 17,
  });
  await expect(fillPivots(query, () => Promise.resolve([]))).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    position: 14,
  });
});
