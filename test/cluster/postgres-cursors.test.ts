import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD, type Cluster } from '#test/support/cluster.ts';
import { OF_TYPES } from '#test/support/postgres-values.ts';
import { PostgresWire } from '#test/support/postgres-wire.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** Portals and cursors of the Postgres wire, which are one thing. */
let cluster: Cluster;
let url: URL;
let client: pg.Client;

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  url.username = cluster.ready.user;
  url.password = ADMIN_PASSWORD;
  client = new pg.Client({ connectionString: url.href });
  await client.connect();
});
afterAll(() => client.end());

const BINARY: object = { binary: true };
const raw = { rowMode: 'array', types: { getTypeParser: () => (value: unknown) => value } } as const;
const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'none',
    (error: unknown) => (error as { readonly code?: string }).code,
  );

test('values of all types are the same through a cursor, in text and in binary', async () => {
  // Kept rows have the forms of Arrow, in which whole numbers have 38 digits.
  const list = OF_TYPES.filter(([sql]) => !sql.endsWith('HUGEINT'))
    .map(([sql], i) => `${sql} AS c${i}`)
    .join(', ');
  const sql = `SELECT ${list} UNION ALL SELECT ${list}`;
  await client.query(`BEGIN; DECLARE c CURSOR FOR ${sql}`);
  for (const form of [{}, BINARY]) {
    const direct = await client.query({ text: sql, ...raw, ...form });
    const fetched = await client.query({ text: 'FETCH ALL FROM c', ...raw, ...form });
    expect(fetched.fields).toEqual(direct.fields);
    expect(fetched.rows).toEqual(direct.rows);
    expect([fetched.command, fetched.rowCount]).toEqual(['FETCH', 2]);
    const backwards = await client.query({ text: 'FETCH BACKWARD ALL FROM c', ...raw, ...form });
    expect(backwards.rows).toEqual(direct.rows);
  }
  await client.query('ROLLBACK');
});

test('a portal gives its rows by and by, also after Sync and beside other statements, and ends with its transaction', async () => {
  await using wire = await PostgresWire.open(url);
  expect(await wire.query('BEGIN')).toEqual(['C BEGIN', 'Z T']);
  const sql = 'SELECT i FROM range(5) t(i) ORDER BY i';
  wire.parse('', sql).bind('p', '').execute('p', 2).sync();
  expect(await wire.ready()).toEqual(['1', '2', 'D 0', 'D 1', 's', 'Z T']);
  wire.parse('', 'SELECT 7 AS other').bind('', '').execute('', 1).execute('p', 2).sync();
  expect(await wire.ready()).toEqual(['1', '2', 'D 7', 's', 'D 2', 'D 3', 's', 'Z T']);
  // A portal is a cursor: FETCH and MOVE know it, and a cursor is a portal.
  expect(await wire.query('MOVE 1 FROM p')).toEqual(['C MOVE 1', 'Z T']);
  wire.execute('p', 1).execute('p', 0).sync();
  expect(await wire.ready()).toEqual(['C SELECT 0', 'C SELECT 0', 'Z T']);
  expect(await wire.query(`DECLARE c CURSOR FOR ${sql}`)).toEqual(['C DECLARE CURSOR', 'Z T']);
  wire.describe('P', 'c').execute('c', 1).execute('c', 0).sync();
  expect(await wire.ready()).toEqual(['T i', 'D 0', 's', 'D 1', 'D 2', 'D 3', 'D 4', 'C SELECT 4', 'Z T']);
  // One that has not run yet does so when FETCH asks for it.
  wire.parse('', sql).bind('q', '').sync();
  expect(await wire.ready()).toEqual(['1', '2', 'Z T']);
  expect(await wire.query('FETCH 1 FROM q')).toEqual(['T i', 'D 0', 'C FETCH 1', 'Z T']);
  expect(await wire.query('COMMIT')).toEqual(['C COMMIT', 'Z I']);
  wire.execute('p', 1).sync();
  expect(await wire.ready()).toEqual(['E 34000', 'Z I']);
});

test('outside of a transaction a portal ends with the Sync, and names are taken once', async () => {
  await using wire = await PostgresWire.open(url);
  wire
    .parse('', 'SELECT 1 AS a UNION ALL SELECT 1')
    .bind('p', '')
    .execute('p', 1)
    .execute('p', 1)
    .execute('p', 1)
    .sync();
  expect(await wire.ready()).toEqual(['1', '2', 'D 1', 's', 'D 1', 's', 'C SELECT 0', 'Z I']);
  wire.execute('p', 1).sync();
  expect(await wire.ready()).toEqual(['E 34000', 'Z I']);
  await wire.query('BEGIN');
  expect(await wire.query('DECLARE c CURSOR FOR SELECT 1')).toEqual(['C DECLARE CURSOR', 'Z T']);
  wire.parse('', 'SELECT 1').bind('c', '').sync();
  expect(await wire.ready()).toEqual(['1', 'E 42P03', 'Z E']);
  await wire.query('ROLLBACK');
  // A cursor of several statements of one Query is within their transaction.
  expect(await wire.query('DECLARE c CURSOR FOR SELECT 2 AS a; FETCH c; CLOSE c')).toEqual([
    'C DECLARE CURSOR',
    'T a',
    'D 2',
    'C FETCH 1',
    'C CLOSE CURSOR',
    'Z I',
  ]);
});

test('a cursor holds no place: its rows are kept, up to the limit of the session, and go with the connection', async () => {
  const other = new pg.Client({ connectionString: url.href });
  await other.connect();
  await other.query('DECLARE h CURSOR WITH HOLD FOR SELECT range AS i FROM range(200000)');
  const { rows } = await client.query(
    "FROM (SHOW QUERIES) AS q WHERE contains(CAST(q AS VARCHAR), 'FROM range(200000)')",
  );
  expect(rows.filter((row: object) => JSON.stringify(row).includes('DECLARE h'))).toEqual([]);
  expect((await other.query('MOVE 150000 FROM h')).rowCount).toBe(150_000);
  expect((await other.query('FETCH 3 FROM h')).rows).toEqual([{ i: '150000' }, { i: '150001' }, { i: '150002' }]);
  expect(await codeOf(other.query('FETCH FROM nothing'))).toBe('34000');
  await other.end();
});
