import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD, type Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';

/** Settings, connections and statements as tools of Postgres ask for them. */
let cluster: Cluster;
let url: URL;
let admin: pg.Client;
const USER = `activity${process.pid}`;
const PASSWORD = 'Correct-Horse-7';

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  admin = await connected(cluster.ready.user, ADMIN_PASSWORD);
  await admin.query(`CREATE USER ${USER} EMAIL '${USER}@example.com' PASSWORD '${PASSWORD}'`);
});
afterAll(async () => {
  await admin.query(`DROP USER ${USER}`);
  await admin.end();
});

async function connected(user: string, password: string): Promise<pg.Client> {
  const own = new URL(url);
  [own.username, own.password] = [user, password];
  const client = new pg.Client({ connectionString: own.href });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

const asUser = (): Promise<pg.Client> => connected(USER, PASSWORD);
const rowsOf = async (client: pg.Client, text: string, values: readonly unknown[] = []): Promise<readonly unknown[]> =>
  (await client.query({ text, values: [...values], rowMode: 'array' })).rows;
const one = async (client: pg.Client, text: string): Promise<unknown> =>
  ((await rowsOf(client, text))[0] as readonly unknown[])[0];
const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'none',
    (error: unknown) => (error as pg.DatabaseError).code,
  );
const pidOf = async (client: pg.Client): Promise<number> => (await one(client, 'SELECT pg_backend_pid()')) as number;

/** Seconds of work, which a test ends long before. */
const LONG = 'SELECT sum(hash(a.i, b.i) % 7) FROM range(10000000) AS a(i), range(100000) AS b(i)';

/** Waits until a statement of a connection runs. */
async function untilRunning(pid: number): Promise<void> {
  const running = `SELECT count(*)::INTEGER FROM pg_stat_activity WHERE pid = ${pid} AND state = 'active' AND query LIKE 'SELECT sum%'`;
  const end = performance.now() + patience(20_000);
  while ((await one(admin, running)) !== 1) {
    if (performance.now() > end) throw new Error('it does not run');
    await sleep(50);
  }
}

test('pg_settings has every setting that SHOW knows, with the value that SHOW and current_setting give', async () => {
  await using client = await disposable(asUser());
  await client.query(`SET statement_timeout = '5min'; SET work_mem = '8MB'; SET myapp.user = 'ann'`);
  const found = (await rowsOf(client, 'SELECT name, setting FROM pg_settings')) as string[][];
  expect(found.length).toBeGreaterThan(60);
  for (const [name = '', setting] of found) expect([name, await one(client, `SHOW ${name}`)]).toEqual([name, setting]);
  const names = ['statement_timeout', 'TimeZone', 'work_mem', 'myapp.user'];
  const given = names.map((name) => `WHEN '${name}' THEN current_setting('${name}')`).join(' ');
  const read = await rowsOf(
    client,
    `SELECT name, setting = CASE name ${given} END, setting, unit, source FROM pg_catalog.pg_settings
     WHERE name IN (${names.map((name) => `'${name}'`).join(', ')}) ORDER BY name`,
  );
  expect(read).toEqual([
    ['TimeZone', true, 'UTC', null, 'default'],
    ['myapp.user', true, 'ann', null, 'session'],
    ['statement_timeout', true, '300000', 'ms', 'session'],
    ['work_mem', true, '8MB', null, 'session'],
  ]);
});

test('a principal sees its own connections and statements, an administrator those of the tenant', async () => {
  await using client = await disposable(asUser());
  await using other = await disposable(asUser());
  const [own, second, admins] = [await pidOf(client), await pidOf(other), await pidOf(admin)];
  const listed = async (by: pg.Client): Promise<readonly unknown[]> =>
    rowsOf(
      by,
      `SELECT pid, usename, state FROM pg_stat_activity WHERE pid IN (${own}, ${second}, ${admins}) ORDER BY 3, 1`,
    );
  expect(await listed(client)).toEqual([
    [own, USER, 'active'],
    [second, USER, 'idle'],
  ]);
  expect(await listed(admin)).toHaveLength(3);
  await other.query(`BEGIN; SET application_name = 'loader'`);
  expect(await rowsOf(client, `SELECT state, application_name FROM pg_stat_activity WHERE pid = ${second}`)).toEqual([
    ['idle in transaction', 'loader'],
  ]);
});

test('pg_cancel_backend cancels a statement, pg_terminate_backend ends a connection, and each only one’s own', async () => {
  await using client = await disposable(asUser());
  await using busy = await disposable(asUser());
  const pid = await pidOf(busy);
  const failed = codeOf(busy.query(LONG));
  await untilRunning(pid);
  expect(await rowsOf(client, 'SELECT pg_cancel_backend($1)', [pid])).toEqual([[true]]);
  expect(await failed).toBe('57014');
  expect(await one(busy, 'SELECT 1')).toBe(1);
  expect(await one(client, `SELECT pg_catalog.pg_terminate_backend(${pid})`)).toBe(true);
  expect(await codeOf(busy.query('SELECT 1'))).not.toBe('none');
  expect(await one(client, `SELECT count(*)::INTEGER FROM pg_stat_activity WHERE pid = ${pid}`)).toBe(0);
  expect(await one(client, `SELECT pg_terminate_backend(${pid})`)).toBe(false);
  const admins = await pidOf(admin);
  for (const name of ['pg_cancel_backend', 'pg_terminate_backend']) {
    expect(await codeOf(client.query(`SELECT ${name}(${admins})`))).toBe('42501');
    expect(await codeOf(client.query(`SELECT ${name}(pid) FROM pg_stat_activity`))).toBe('0A000');
  }
  expect(await one(admin, 'SELECT 1')).toBe(1);
  expect(await one(admin, `SELECT pg_terminate_backend(${await pidOf(client)})`)).toBe(true);
  expect(await codeOf(client.query('SELECT 1'))).not.toBe('none');
});

test('a statement of another protocol has a number of its own', async () => {
  const running = cluster.query(LONG);
  let pid: number | undefined;
  for (
    const end = performance.now() + patience(20_000);
    pid === undefined && performance.now() < end;
    await sleep(50)
  ) {
    const [row] = await rowsOf(
      admin,
      `SELECT pid FROM pg_stat_activity WHERE query LIKE 'SELECT sum%' AND client_port IS NULL`,
    );
    [pid] = (row ?? []) as number[];
  }
  expect(await one(admin, `SELECT pg_cancel_backend(${must(pid, 'it is listed')})`)).toBe(true);
  expect((await running).body.error).toBe('QUERY_CANCELLED');
});

async function disposable(opened: Promise<pg.Client>): Promise<pg.Client & AsyncDisposable> {
  const client = await opened;
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end().catch(() => undefined) });
}
