import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD, type Cluster } from '#test/support/cluster.ts';
import { breakOff, copyIn, copyOut } from '#test/support/postgres-copy.ts';
import { createTestDatabase, sharedCluster, type TestDatabase } from '#test/support/resources.ts';

/** COPY FROM STDIN through the Postgres wire, beside Postgres itself: the same rows, the same errors. */
let cluster: Cluster;
let url: URL;
let ours: pg.Client;
let theirs: pg.Client;
let database: TestDatabase;

const TABLE = `in${process.pid}`;
const COLUMNS = `i INTEGER, t TEXT, n NUMERIC(9,2), f DOUBLE PRECISION, b BOOLEAN, d DATE, m TIMESTAMP, raw BYTEA, l INTEGER[], tl TEXT[]`;

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  [url.username, url.password] = [cluster.ready.user, ADMIN_PASSWORD];
  database = await createTestDatabase();
  ours = new pg.Client({ connectionString: url.href });
  theirs = new pg.Client({ connectionString: database.url });
  await Promise.all([ours.connect(), theirs.connect()]);
  await ours.query('CREATE SCHEMA IF NOT EXISTS lake.pgcopy; USE lake.pgcopy');
  for (const client of [ours, theirs]) await client.query(`CREATE TABLE ${TABLE} (${COLUMNS})`);
});
afterAll(async () => {
  await ours.query(`DROP TABLE IF EXISTS ${TABLE}`);
  await Promise.all([ours.end(), theirs.end()]);
  await database[Symbol.asyncDispose]();
});

const OUT = `COPY (SELECT * FROM ${TABLE} ORDER BY i) TO STDOUT`;

const ROWS = [
  [
    '1',
    'plain',
    '1.5',
    '0.1',
    't',
    '2024-02-29',
    '2024-02-29 12:34:56.123456',
    '\\\\x00ff',
    '{1,NULL,3}',
    '{a,"b,c",NULL}',
  ],
  ['2', '\\N', '\\N', '\\N', '\\N', '\\N', '\\N', '\\N', '\\N', '\\N'],
  ['3', 'tab\\tline\\nback\\\\ \\x41\\101', '-0.05', 'NaN', 'off', 'infinity', '-infinity', '', '{}', '{""}'],
  ['4', '', ' 7 ', '-Infinity', 'yes', '0044-03-15 BC', '0044-03-15 12:00:00 BC', 'a\\\\\\\\b', '{0}', '{"\\\\""}'],
].map((row) => row.join('\t'));

test('rows in text are those that Postgres reads, in whatever pieces they come; they come out as they went in', async () => {
  const text = ROWS.map((row) => `${row}\n`).join('');
  for (const client of [ours, theirs]) {
    expect(await copyIn(client, `COPY ${TABLE} FROM STDIN`, text.slice(0, 7), text.slice(7, 60), text.slice(60))).toBe(
      4,
    );
  }
  const [given, expected] = [await copyOut(ours, OUT), await copyOut(theirs, OUT)].map(String);
  expect(given).toBe(expected);
});

test.each(['(FORMAT csv, HEADER match)', '(FORMAT binary)', "(FORMAT csv, QUOTE '~', NULL 'none')", "(DELIMITER '|')"])(
  'what comes out in the form %s goes in again',
  async (options) => {
    const before = await copyOut(ours, OUT);
    const bytes = await copyOut(theirs, `${OUT} ${options.replace('match', 'true')}`);
    for (const client of [ours, theirs]) {
      await client.query(`DELETE FROM ${TABLE}`);
      expect(await copyIn(client, `COPY ${TABLE} FROM STDIN ${options}`, bytes)).toBe(4);
    }
    expect((await copyOut(ours, OUT)).toString()).toBe(before.toString());
  },
);

test('a list of columns, fields in quotes with lines of their own, CRLF, the end of the data', async () => {
  for (const client of [ours, theirs]) {
    await client.query(`DELETE FROM ${TABLE}`);
    expect(
      await copyIn(client, `COPY ${TABLE} (t, i) FROM STDIN CSV FORCE NOT NULL t`, '"a\nb ""c""",10\r\n,11\r\n"",12'),
    ).toBe(3);
    expect(await copyIn(client, `COPY ${TABLE} (i) FROM STDIN`, '13\n\\.\n')).toBe(1);
    expect(await copyIn(client, `COPY ${TABLE} FROM STDIN`)).toBe(0);
  }
  expect((await copyOut(ours, OUT)).toString()).toBe((await copyOut(theirs, OUT)).toString());
  // It has nothing to freeze, where Postgres wants a table of the same transaction.
  await ours.query('BEGIN');
  expect(await copyIn(ours, `COPY ${TABLE} (i) FROM STDIN (FREEZE)`, '14\n')).toBe(1);
  await ours.query('ROLLBACK');
});

type Failure = { readonly code: string; readonly where: string; readonly message: string };
const failure = async (client: pg.Client, sql: string, ...pieces: readonly string[]): Promise<Partial<Failure>> =>
  copyIn(client, sql, ...pieces).then(
    () => ({ code: 'none' }),
    (error: unknown) => error as Failure,
  );

test.each([
  ['(i, t)', '1\ta\n2\n'],
  ['(i, t)', '1\ta\n2\tb\tc\n'],
  ['(i, t)', '1\ta\nx\tb\n'],
  ['(i)', '1\n2\n3000000000\n'],
  ['(d)', '2024-01-01\n2024-13-01\n'],
  ['(i, b)', '1\tt\n2\tperhaps\n'],
  ['(l)', '{1}\n{1\n'],
  ['(l)', '{1,x}\n'],
  ['(raw)', '\\\\x0\n'],
  ['(no_such)', '1\n'],
] as const)('COPY %s of %j fails as in Postgres, and no row stays', async (columns, text) => {
  const sql = `COPY ${TABLE} ${columns} FROM STDIN`;
  const before = (await ours.query(`SELECT count(*) AS n FROM ${TABLE}`)).rows;
  const { code, where } = await failure(theirs, sql, text);
  const given = await failure(ours, sql, text);
  expect(given.where).toBe(where);
  // DuckDB has one code for values that it cannot convert.
  const own = code === '22007' || code === '22008' || code === '22003' ? [code, '22P02', '22003'] : [code];
  expect(own).toContain(given.code);
  expect((await ours.query(`SELECT count(*) AS n FROM ${TABLE}`)).rows).toEqual(before);
});

test('a transaction holds the rows until it is committed, and fails with them', async () => {
  const count = async (): Promise<unknown> => (await ours.query(`SELECT count(*)::INTEGER AS n FROM ${TABLE}`)).rows[0];
  await ours.query(`DELETE FROM ${TABLE}`);
  await ours.query('BEGIN');
  expect(await copyIn(ours, `COPY ${TABLE} (i) FROM STDIN`, '1\n2\n')).toBe(2);
  expect(await count()).toEqual({ n: 2 });
  await ours.query('ROLLBACK');
  expect(await count()).toEqual({ n: 0 });
  await ours.query('BEGIN');
  expect((await failure(ours, `COPY ${TABLE} (i) FROM STDIN`, '1\nx\n')).code).toBe('22P02');
  expect((await failure(ours, `COPY ${TABLE} (i) FROM STDIN`, '1\n')).code).toBe('25P02');
  await ours.query('ROLLBACK');
});

test('many rows are one write', async () => {
  const rows = Array.from({ length: 100_000 }, (_, i) => `${i}\tvalue ${i}\n`).join('');
  expect(await copyIn(ours, `COPY ${TABLE} (i, t) FROM STDIN`, rows)).toBe(100_000);
  const { rows: found } = await ours.query(
    `SELECT count(*)::INTEGER AS n, count(DISTINCT t)::INTEGER AS t, sum(i)::BIGINT AS s FROM ${TABLE}`,
  );
  expect(found).toEqual([{ n: 100_000, t: 100_000, s: '4999950000' }]);
});

test('a client that goes in the middle leaves no row', async () => {
  const other = new pg.Client({ connectionString: url.href });
  await other.connect();
  await ours.query(`DELETE FROM ${TABLE}`);
  await breakOff(other, `COPY lake.pgcopy.${TABLE} (i) FROM STDIN`, '1\n2\n');
  expect((await ours.query(`SELECT count(*)::INTEGER AS n FROM ${TABLE}`)).rows).toEqual([{ n: 0 }]);
});

test('who may read alone cannot copy in', async () => {
  const own = new URL(url);
  own.password = await cluster.token({ scope: ['catalog:read', 'namespace:read', 'table:read'] });
  const other = new pg.Client({ connectionString: own.href });
  await other.connect();
  expect((await failure(other, `COPY lake.pgcopy.${TABLE} (i) FROM STDIN`, '1\n')).code).toBe('42501');
  expect((await copyOut(other, `COPY lake.pgcopy.${TABLE} TO STDOUT`)).toString()).toBe('');
  await other.end();
});
