import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD } from '#test/support/cluster.ts';
import { copyOut } from '#test/support/postgres-copy.ts';
import { createTestDatabase, sharedCluster, type TestDatabase } from '#test/support/resources.ts';

/** COPY through the Postgres wire, beside Postgres itself: the same bytes. */
let ours: pg.Client;
let theirs: pg.Client;
let database: TestDatabase;

beforeAll(async () => {
  const { cluster } = await sharedCluster();
  const url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  [url.username, url.password] = [cluster.ready.user, ADMIN_PASSWORD];
  database = await createTestDatabase();
  ours = new pg.Client({ connectionString: url.href });
  theirs = new pg.Client({ connectionString: database.url });
  await Promise.all([ours.connect(), theirs.connect()]);
  await ours.query('CREATE SCHEMA IF NOT EXISTS lake.pgcopy; USE lake.pgcopy');
  await theirs.query("SET TIME ZONE 'UTC'");
});
afterAll(async () => {
  await ours.query(`DROP TABLE IF EXISTS ${TABLE}`);
  await Promise.all([ours.end(), theirs.end()]);
  await database[Symbol.asyncDispose]();
});

const TABLE = `t${process.pid}`;

/** A query that both understand: values of many types, and texts that mean something in each form. */
const QUERY = `SELECT i::INTEGER AS i, t, n::NUMERIC(9,2) AS n, f::DOUBLE PRECISION AS f, b, d::DATE AS "D,1", l
  FROM (VALUES
    (1, 'plain', 1.5, 0.1, true, '2024-02-29', ARRAY['a', 'b,c', NULL, 'NULL', '"\\']),
    (2, NULL, NULL, NULL, NULL, NULL, NULL),
    (3, 'tab' || chr(9) || 'line' || chr(10) || 'back\\slash "quote" ''single''', -0.05, 'nan', false, 'infinity', ARRAY['']),
    (4, '\\N', 0, '-infinity', false, '0044-03-15 BC', ARRAY['x']),
    (5, '', 7, 1e20, true, '1999-12-31', ARRAY['ä' || chr(13)]),
    (6, '\\.', 7, 1e20, true, '1999-12-31', ARRAY[chr(8) || chr(11) || chr(12)])
  ) AS v(i, t, n, f, b, d, l) ORDER BY i`;
/** DuckDB reads the era in another form. */
const ourQuery = QUERY.replace('0044-03-15 BC', '0044-03-15 (BC)');

const OPTIONS = [
  '',
  '(FORMAT text)',
  "(DELIMITER ',', NULL '')",
  "(DELIMITER '|', NULL 'null', HEADER)",
  "(DELIMITER ' ', HEADER true)",
  '(FORMAT csv)',
  'CSV HEADER',
  "WITH (FORMAT csv, HEADER, DELIMITER ';', QUOTE '''', ESCAPE '\\')",
  "WITH CSV NULL AS '1' FORCE QUOTE t, n",
  "(FORMAT csv, FORCE_QUOTE *, NULL 'x')",
  "(FORMAT csv, DELIMITER '-')",
  "DELIMITER AS '~' NULL AS 'none'",
  '(FORMAT binary)',
  'WITH BINARY',
  "(FORMAT 'csv', ENCODING 'UTF8', FREEZE false)",
];

test.each(OPTIONS)('COPY TO STDOUT %s gives the bytes that Postgres gives', async (options) => {
  const expected = await copyOut(theirs, `COPY (${QUERY}) TO STDOUT ${options}`);
  const given = await copyOut(ours, `COPY (${ourQuery}) TO STDOUT ${options}`);
  expect(given.toString('latin1')).toBe(expected.toString('latin1'));
});

test('tables and some of their columns, and no rows, are copied; one column alone is written as Postgres does', async () => {
  await ours.query(`CREATE TABLE ${TABLE} AS SELECT i::INTEGER AS i, 'v' || i AS v FROM range(10000) r(i)`);
  const lines = Array.from({ length: 10_000 }, (_, i) => `v${i},${i}`);
  const copied = (await copyOut(ours, `COPY ${TABLE} (v, i) TO STDOUT CSV`)).toString().trimEnd().split('\n');
  expect(copied.toSorted()).toEqual(lines.toSorted());
  expect((await copyOut(ours, `COPY lake.pgcopy.${TABLE} TO STDOUT`)).toString().split('\n')).toHaveLength(10_001);
  for (const options of ['CSV', 'CSV HEADER', '(FORMAT text)', '(FORMAT binary)']) {
    for (const query of ['SELECT 1 AS a WHERE false', "VALUES ('\\.'), (''), (NULL)"]) {
      const sql = `COPY (${query}) TO STDOUT ${options}`;
      const both = [await copyOut(ours, sql), await copyOut(theirs, sql)].map((bytes) => bytes.toString('latin1'));
      expect(both[0]?.replace('col0', 'column1')).toBe(both[1]);
    }
  }
});

const failure = async (client: pg.Client, sql: string): Promise<{ code?: string; position?: string }> =>
  copyOut(client, sql).then(
    () => ({ code: 'none' }),
    (error: unknown) => error as { code?: string; position?: string },
  );

test.each([
  "COPY (SELECT 1) TO STDOUT (DELIMITER 'ab')",
  "COPY (SELECT 1) TO STDOUT (DELIMITER 'a')",
  "COPY (SELECT 1) TO STDOUT (QUOTE '\"')",
  'COPY (SELECT 1) TO STDOUT (FORMAT binary, HEADER)',
  'COPY (SELECT 1) TO STDOUT (FORMAT csv, FORMAT csv)',
  'COPY (SELECT 1) TO STDOUT (FORMAT xml)',
  'COPY (SELECT 1) TO STDOUT (HEADER match)',
  'COPY (SELECT 1) TO STDOUT (no_such 1)',
  "COPY (SELECT 1) TO STDOUT (NULL E'\\n')",
  'COPY (SELECT 1) TO STDOUT (FREEZE)',
  'COPY (SELECT 1) TO STDOUT (FREEZE 7)',
  'COPY (SELECT 1) FROM STDIN',
  'COPY (SELECT 1) TO STDOUT (FORMAT csv',
])('%s is refused with the code of Postgres', async (sql) => {
  const { code } = await failure(theirs, sql);
  expect(await failure(ours, sql)).toMatchObject({ code });
});

test('errors have their place in the whole statement, and leave the connection as it was', async () => {
  const sql = 'COPY (SELECT 1,\n nothing) TO STDOUT';
  expect(await failure(ours, sql)).toMatchObject({ code: '42703', position: String(sql.indexOf('nothing') + 1) });
  expect(await failure(ours, 'COPY missing TO STDOUT')).toMatchObject({ code: '42P01', position: '6' });
  expect((await ours.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
});
