import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD, type Cluster } from '#test/support/cluster.ts';
import { PostgresWire } from '#test/support/postgres-wire.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';

/** Prepared statements of a session: those of Parse and of PREPARE are the same. */
let cluster: Cluster;
let url: URL;

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  url.username = cluster.ready.user;
  url.password = ADMIN_PASSWORD;
});

test('EXECUTE and DEALLOCATE know those of Parse, and Bind those of PREPARE', async () => {
  await using wire = await PostgresWire.open(url);
  wire.parse('p', 'SELECT $1::INTEGER + 1 AS a').sync();
  expect(await wire.ready()).toEqual(['1', 'Z I']);
  expect(await wire.query('EXECUTE p(41)')).toEqual(['T a', 'D 42', 'C SELECT 1', 'Z I']);
  wire.parse('p', 'SELECT 1').sync();
  expect(await wire.ready()).toEqual(['E 42P05', 'Z I']);
  expect(await wire.query('PREPARE p AS SELECT 1')).toEqual(['E 42P05', 'Z I']);
  expect(await wire.query('DEALLOCATE p')).toEqual(['C DEALLOCATE', 'Z I']);
  wire.bind('', 'p', ['1']).sync();
  expect(await wire.ready()).toEqual(['E 26000', 'Z I']);
  expect(await wire.query('PREPARE q (INTEGER) AS SELECT $1 * 2 AS twice')).toEqual(['C PREPARE', 'Z I']);
  wire.describe('S', 'q').bind('', 'q', ['21']).execute('').close('S', 'q').close('S', 'q').sync();
  expect(await wire.ready()).toEqual(['t', 'T twice', '2', 'D 42', 'C SELECT 1', '3', '3', 'Z I']);
  expect(await wire.query('EXECUTE q(1)')).toEqual(['E 26000', 'Z I']);
  wire.parse('r', 'SET jit = off').bind('', 'r').execute('').sync();
  expect(await wire.ready()).toEqual(['1', '2', 'C SET', 'Z I']);
  expect(await wire.query('DISCARD ALL')).toEqual(['C DISCARD ALL', 'Z I']);
  wire.bind('', 'r').sync();
  expect(await wire.ready()).toEqual(['E 26000', 'Z I']);
});

test('EXECUTE and FETCH through Parse have their columns, and a Query ends what has no name', async () => {
  await using wire = await PostgresWire.open(url);
  await wire.query("BEGIN; PREPARE p AS SELECT 1 AS a, 'x' AS b; DECLARE c CURSOR FOR SELECT 2 AS d");
  for (const [sql, columns, row] of [
    ['EXECUTE p', 'T a,b', 'D 1|x'],
    ['FETCH ALL FROM c', 'T d', 'D 2'],
  ] as const) {
    wire.parse('', sql).describe('S', '').bind('', '').describe('P', '').execute('').sync();
    const answers = await wire.ready();
    expect(answers.filter((answer) => /^[TDE]/.test(answer))).toEqual([columns, columns, row]);
  }
  wire.parse('', 'SELECT 1').sync();
  await wire.ready();
  await wire.query('SELECT 1');
  wire.bind('', '').sync();
  expect(await wire.ready()).toEqual(['E 26000', 'Z E']);
});

test('a driver that names its statements runs them again, also after DEALLOCATE ALL', async () => {
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  const named = { name: 'again', text: 'SELECT $1::INTEGER AS n' };
  for (const n of [1, 2]) expect((await client.query({ ...named, values: [n] })).rows).toEqual([{ n }]);
  await client.query('DEALLOCATE ALL');
  await expect(client.query({ ...named, values: [3] })).rejects.toMatchObject({ code: '26000' });
  await client.end();
});

test('a client that wants to replicate is refused, and one that says no is not', async () => {
  const open = async (replication: string): Promise<unknown> => {
    const client = new pg.Client({ connectionString: url.href, replication } as pg.ClientConfig);
    return client.connect().then(
      () => client.end(),
      (error: unknown) => (error as { readonly code?: string }).code,
    );
  };
  expect(await open('database')).toBe('0A000');
  expect(await open('true')).toBe('0A000');
  expect(await open('off')).toBeUndefined();
});

/** Statements that a client sends at once, each of which asks nothing of others. */
const AHEAD = 1_500;

test.each(['one Query', 'a pipeline'])('others are served between the statements of %s', async (how) => {
  const other = new pg.Client({ connectionString: url.href });
  await other.connect();
  await using wire = await PostgresWire.open(url);
  const done = new AbortController();
  const send = async (): Promise<readonly string[]> => {
    const set = "SET own.name = 'x'";
    if (how === 'one Query') return wire.query(`${set};`.repeat(AHEAD));
    wire.parse('p', set);
    for (let i = 0; i < AHEAD; i += 1) wire.bind('', 'p').execute('');
    return wire.sync().ready();
  };
  const sent = send().finally(() => done.abort());
  let served = 0;
  for (; !done.signal.aborted; served += 1) await other.query('SHOW timezone');
  expect((await sent).filter((answer) => answer === 'C SET')).toHaveLength(AHEAD);
  // Two were served before and behind them all, when they kept the event loop.
  expect(served).toBeGreaterThan(10);
  await other.end();
});

/** Longest time, in milliseconds, that a small query of another client takes beside a long list: a turn of the door is 50 ms at most. */
const WAIT_MAX_MS = patience(300);

test.each([14_000, 140_000])('others are served while a list of %d numbers is looked through', async (count) => {
  const [client, other] = [
    new pg.Client({ connectionString: url.href }),
    new pg.Client({ connectionString: url.href }),
  ];
  await Promise.all([client.connect(), other.connect()]);
  await other.query('SELECT 1');
  const list = Array.from({ length: count }, (_, i) => i + 100_000);
  const state = { isDone: false };
  const sql = 'SELECT count(*)::INTEGER AS n FROM generate_series(1, 5) AS g(i) WHERE i = ANY($1)';
  const asked = client.query<{ n: number }>(sql, [list]).then(
    ({ rows }) => rows[0]?.n,
    // A list that is too long to be planned is refused.
    (error: unknown) => (error instanceof pg.DatabaseError ? error.code : error),
  );
  const sent = asked.finally(() => (state.isDone = true));
  let [longestMs, served] = [0, 0];
  for (; !state.isDone; served += 1) {
    const begin = performance.now();
    await other.query('SELECT 1');
    longestMs = Math.max(longestMs, performance.now() - begin);
  }
  expect([0, '54001']).toContain(await sent);
  expect(served).toBeGreaterThan(10);
  expect(longestMs).toBeLessThan(WAIT_MAX_MS);
  await Promise.all([client.end(), other.end()]);
});
