import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSecret } from '#cli/secrets.ts';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD, skein, type StartedCluster } from '#test/support/cluster.ts';
import { startCoordinatorProcess, type CoordinatorProcess } from '#test/support/coordinator-process.ts';
import { startEtcd, type Etcd } from '#test/support/etcd.ts';
import { freePort } from '#test/support/postgres.ts';
import { createTestDatabase, startOwnCluster, type TestDatabase } from '#test/support/resources.ts';
import { WorkerMetrics } from '#test/support/worker-metrics.ts';

/** A lease lasts 5 s; then the other one starts its term and attaches to the workers. */
const TAKEOVER_MS_MAX = 20_000;
/** Time for which statements go on after SIGTERM. */
const DRAIN_MS = 25_000;
/** Some seconds. */
const SLOW = 'SELECT max(hash(n)) IS NOT NULL FROM range(200000000) AS r(n)';
const LONG = 'SELECT max(hash(n)) FROM range(20000000000) AS r(n)';

let etcd: Etcd;
let database: TestDatabase;
let cluster: StartedCluster;
let second: CoordinatorProcess;
let secondPostgres: string;

beforeAll(async () => {
  etcd = await startEtcd();
  database = await createTestDatabase();
  const env = { SKEIN_COORDINATOR_DRAIN_TIMEOUT: `${DRAIN_MS}ms` };
  cluster = await startOwnCluster({ env: { ...env, DATABASE_URL: database.url, ETCD_ENDPOINTS: etcd.endpoint } });
  secondPostgres = `postgres://127.0.0.1:${await freePort()}`;
  second = await startCoordinator();
}, 180_000);

afterAll(async () => {
  await second?.[Symbol.asyncDispose]();
  await cluster?.stop();
  await database?.[Symbol.asyncDispose]();
  await etcd?.[Symbol.asyncDispose]();
});

/** `skein coordinator` beside the launcher's own. */
async function startCoordinator(): Promise<CoordinatorProcess> {
  const file = JSON.parse(await readFile(join(cluster.dataDir, 'services.json'), 'utf8')) as {
    readonly catalog_internal_url: string;
  };
  return startCoordinatorProcess({
    'database.url': database.url,
    'cluster.etcd_endpoints': etcd.endpoint,
    data_dir: cluster.dataDir,
    'cluster.secret': must(readSecret(cluster.dataDir, 'cluster-secret'), 'the launcher has made it'),
    'catalog.url': cluster.catalogUrl,
    'catalog.internal_url': file.catalog_internal_url,
    'coordinator.drain_timeout': `${DRAIN_MS}ms`,
    'coordinator.postgres_port': new URL(secondPostgres).port,
    log_level: 'warn',
  });
}

type Answer = { readonly status: number; readonly body: Record<string, unknown>; readonly leader: string | null };

async function query(url: string, sql: string): Promise<Answer> {
  const response = await fetch(`${url}/api/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${await cluster.token()}` },
    body: JSON.stringify({ sql, timeout_ms: 60_000 }),
  });
  const leader = response.headers.get('x-skein-leader');
  return { status: response.status, body: (await response.json()) as Record<string, unknown>, leader };
}

const ready = (url: string): Promise<number> =>
  fetch(`${url}/health/ready`).then(
    (response) => response.status,
    () => 0,
  );

/** The URL of whichever of these leads first: after a lease has ended every candidate may. */
async function nextActive(...urls: readonly string[]): Promise<string> {
  const end = performance.now() + TAKEOVER_MS_MAX;
  for (;;) {
    const states = await Promise.all(urls.map(ready));
    const active = urls[states.indexOf(200)];
    if (active !== undefined) return active;
    if (performance.now() > end) throw new Error(`none of ${urls.join(', ')} is ready after ${TAKEOVER_MS_MAX} ms`);
    await sleep(100);
  }
}

const otherThan = (url: string): string => (url === second.url ? cluster.queryUrl : second.url);

async function untilStandby(url: string): Promise<void> {
  const end = performance.now() + TAKEOVER_MS_MAX;
  while ((await ready(url)) !== 503 && performance.now() < end) await sleep(100);
  expect((await query(url, 'SELECT 1')).body['error']).toBe('NOT_ACTIVE');
}

const coordinatorPid = async (): Promise<number> =>
  must(
    (await cluster.services()).find(({ kind }) => kind === 'coordinator'),
    'the launcher has a coordinator',
  ).pid;

test('the second coordinator is a standby: not ready, and its queries are refused with the reason', async () => {
  expect(await query(cluster.queryUrl, 'SELECT 1')).toMatchObject({ status: 200 });
  expect(await ready(second.url)).toBe(503);
  const { status, body, leader } = await query(second.url, 'SELECT 1');
  expect([status, body['error'], body['sql_state']]).toEqual([503, 'NOT_ACTIVE', '57P03']);
  expect(body['message']).toBe(`this coordinator is a standby: ${cluster.queryUrl} leads`);
  expect(leader).toBe(cluster.queryUrl);
});

test('skein sql follows a standby to the active one', async () => {
  const asked = await skein(['sql', '-e', 'SELECT 40 + 2'], {
    env: { SKEIN_DATA_DIR: cluster.dataDir, SKEIN_CLIENT_QUERY_URL: second.url },
  });
  expect([asked.code, asked.stdout.trim().split('\n').at(-1)]).toEqual([0, '42']);
});

test('the active one killed: one of the others takes over, ends what it left, and one stands by', async () => {
  const metrics = WorkerMetrics.of(cluster);
  const lost = query(cluster.queryUrl, LONG);
  await metrics.until('skein_worker_tasks_running', (n) => n > 0, 20_000);
  const broken = expect(lost).rejects.toMatchObject({ cause: { code: 'UND_ERR_SOCKET' } });
  process.kill(await coordinatorPid(), 'SIGKILL');
  await broken;
  // Either the standby leads, or the coordinator that the launcher has restarted.
  const active = await nextActive(second.url, cluster.queryUrl);
  expect((await query(active, 'SELECT count(*) FROM range(1000)')).body['rows']).toEqual([[1_000]]);
  await metrics.until('skein_worker_tasks', (n) => n === 0, 15_000);
  expect(await metrics.sum('skein_worker_spool_bytes')).toBe(0);
  await untilStandby(otherThan(active));
});

test('the active one hangs: it is fenced by the epoch of the next, and its queries end when it wakes', async () => {
  const metrics = WorkerMetrics.of(cluster);
  const active = await nextActive(second.url, cluster.queryUrl);
  const standby = otherThan(active);
  const pid = active === second.url ? second.pid : await coordinatorPid();
  const lost = query(active, LONG);
  await metrics.until('skein_worker_tasks_running', (n) => n > 0, 20_000);
  process.kill(pid, 'SIGSTOP');
  try {
    expect(await nextActive(standby)).toBe(standby);
    expect((await query(standby, 'SELECT 2')).body['rows']).toEqual([[2]]);
    await metrics.until('skein_worker_tasks', (n) => n === 0, 15_000);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  const { status, body } = await lost;
  // A process that wakes up runs its timers first and finds its lease expired.
  expect([status, body['error']]).toEqual([503, 'NOT_ACTIVE']);
  await untilStandby(active);
  expect((await query(standby, 'SELECT 3')).body['rows']).toEqual([[3]]);
});

/** A connection of the Postgres wire to one of the two. */
async function connect(url: string): Promise<pg.Client> {
  const address = new URL(url === second.url ? secondPostgres : must(cluster.ready.postgres_url, 'it has a port'));
  [address.username, address.password] = [cluster.ready.user, ADMIN_PASSWORD];
  const client = new pg.Client({ connectionString: address.href });
  await client.connect();
  return client;
}

const ending = (client: pg.Client): Promise<string | undefined> =>
  new Promise((resolve) => client.on('error', ({ code }: Error & { readonly code?: string }) => resolve(code)));

test('SIGTERM: the standby leads at once, what runs ends there within its time, and the rest is told to ask again', async () => {
  const metrics = WorkerMetrics.of(cluster);
  const active = await nextActive(second.url, cluster.queryUrl);
  const standby = otherThan(active);
  await query(active, 'CREATE TABLE lake."default".drained (a BIGINT)');
  await expect(connect(standby)).rejects.toMatchObject({ code: '57P03' });
  const [idle, within] = [await connect(active), await connect(active)];
  const [idleEnds, withinEnds] = [ending(idle), ending(within)];
  await within.query('BEGIN; DECLARE c CURSOR FOR SELECT 7 AS seven');
  const slow = query(active, SLOW);
  const write = query(
    active,
    'INSERT INTO lake."default".drained SELECT max(hash(n)) % 2 + 1 FROM range(200000000) AS r(n)',
  );
  const long = query(active, LONG);
  await metrics.until('skein_worker_tasks_running', (n) => n >= 2, 20_000);
  const startMs = performance.now();
  process.kill(active === second.url ? second.pid : await coordinatorPid(), 'SIGTERM');
  expect(await nextActive(standby)).toBe(standby);
  // Less than a lease: it was handed over.
  expect(performance.now() - startMs).toBeLessThan(4_500);
  expect((await query(standby, 'SELECT 4')).body['rows']).toEqual([[4]]);
  const refused = await query(active, 'SELECT 5');
  expect([refused.status, refused.body['error'], refused.leader]).toEqual([503, 'NOT_ACTIVE', standby]);
  // A connection ends at once, or with its transaction; the client's library goes on to the next address.
  expect(await idleEnds).toBe('57P01');
  await expect(connect(active)).rejects.toMatchObject({ code: '57P03' });
  expect((await within.query('FETCH c')).rows).toEqual([{ seven: 7 }]);
  await within.query('COMMIT');
  expect(await withinEnds).toBe('57P01');
  expect(await slow).toMatchObject({ status: 200, body: { rows: [[true]] } });
  expect(await write).toMatchObject({ status: 200 });
  expect((await query(standby, 'SELECT count(*) FROM lake."default".drained')).body['rows']).toEqual([[1]]);
  const ended = await long;
  expect([ended.status, ended.body['error']]).toEqual([503, 'NOT_ACTIVE']);
  expect(performance.now() - startMs).toBeLessThan(DRAIN_MS + 5_000);
  await metrics.until('skein_worker_tasks', (n) => n === 0, 15_000);
});
