import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { silentLogger } from '#shared/log/logger.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { startWorker, type RunningWorker } from '#worker/main.ts';
import { startCoordinator, type RunningCoordinator } from './main.ts';
import { patience } from '#test/support/run/slowness.ts';

/**
 * Which group a statement runs in, by its request, its session and its text, and what `/api/qos/stats` tells of it (service specification,
 * Resource group, Query HTTP API). Nobody else uses the one worker, so the figures are exact.
 */
let catalog: TestCatalog;
let worker: RunningWorker;
let coordinator: RunningCoordinator;

/** Rules by which statements go to different groups; `zoe` is the id of a user, whose name no rule has. */
const workload = (zoe: string): string => `
resource_groups:
  - name: root
    groups:
      - {name: of_tenant}
      - {name: of_user}
      - {name: of_user_id}
      - {name: of_source}
      - {name: of_pool}
      - {name: both}
      - name: narrow
        hard_concurrency_limit: 1
        soft_concurrency_limit: 3
        scheduling_policy: query_priority
        groups: [{name: inner}]
      - {name: writes, groups: [{name: inserts}, {name: updates}, {name: deletes}]}
routing_rules:
  - {match_tenant: rival, target_group: root.of_tenant}
  - {match_source: narrow, target_group: root.narrow.inner}
  - {match_user: ann, target_group: root.of_user}
  - {match_user: ${zoe}, target_group: root.of_user_id}
  - {match_source: dashboard, match_resource_pool: nightly, target_group: root.both}
  - {match_source: dashboard, target_group: root.of_source}
  - {match_resource_pool: nightly, target_group: root.of_pool}
  - {match_query_type: insert, target_group: root.writes.inserts}
  - {match_query_type: update, target_group: root.writes.updates}
  - {match_query_type: delete, target_group: root.writes.deletes}
`;

beforeAll(async () => {
  catalog = await startTestCatalog();
  await tokenOf('third', 'zoe');
  const workloadFile = join(catalog.dataDir, 'rules.yaml');
  await writeFile(workloadFile, workload(String(decodeJwt(await tokenOf('fourth', 'zoe')).sub)));
  const base = {
    ...catalog.config,
    'worker.port': 0,
    'worker.cores': 2,
    'planner.processes': 1,
    // Several heartbeats come while a query is on a level.
    'cluster.heartbeat_interval': 100,
  };
  worker = await startWorker(base, silentLogger);
  const config = {
    ...base,
    'coordinator.http_port': 0,
    'coordinator.workload_file': workloadFile,
    'catalog.url': catalog.running.url,
    'catalog.internal_url': [catalog.running.internalAddress],
    'cluster.workers': [worker.url],
  };
  coordinator = await startCoordinator(config, silentLogger);
  const ready = async (): Promise<number> => (await fetch(`${coordinator.queryUrl}/health/ready`)).status;
  await vi.waitFor(async () => expect(await ready()).toBe(200), { timeout: patience(10_000) });
  await query('CREATE TABLE lake.default.routed (a INT)');
  await query('CREATE TABLE lake.default.joined AS SELECT range AS a FROM range(10000)');
});

afterAll(async () => {
  await coordinator?.close();
  await worker?.close();
  await catalog?.[Symbol.asyncDispose]();
});

type Sent = {
  readonly token?: string;
  readonly source?: string;
  readonly session?: string;
  readonly signal?: AbortSignal;
};

function post(sql: string, { token = catalog.token, source, session, signal }: Sent): Promise<Response> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    ...(source === undefined ? {} : { 'x-skein-source': source }),
    ...(session === undefined ? {} : { 'x-skein-session': session }),
  };
  const body = JSON.stringify({ sql });
  return fetch(`${coordinator.queryUrl}/api/query`, { method: 'POST', headers, body, signal: signal ?? null });
}

/** Runs a statement that must succeed, and returns its id. */
async function query(sql: string, sent: Sent = {}): Promise<string> {
  const response = await post(sql, sent);
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
  return response.headers.get('x-skein-query-id') ?? '';
}

type Recorded = { readonly resourceGroup: string; readonly priority: number };

/** The record of a statement that must succeed. */
async function recordOf(sql: string, sent: Sent = {}): Promise<Recorded> {
  const id = await query(sql, sent);
  const headers = { authorization: `Bearer ${sent.token ?? catalog.token}` };
  const response = await fetch(`${coordinator.queryUrl}/api/query-history/${id}`, { headers });
  return (await response.json()) as Recorded;
}

/** The group that a statement was admitted to. */
const groupOf = async (sql: string, sent: Sent = {}): Promise<string> => (await recordOf(sql, sent)).resourceGroup;

/** A token of the administrator of a tenant that is made for it, whose id is its name. */
async function tokenOf(tenant: string, user: string): Promise<string> {
  await catalog.call('CreateTenant', { name: tenant, admin_user: user, admin_password: 'a long enough password' });
  return catalog.mint({ tenant, user });
}

/** A session in which a resource pool is set. */
async function inPool(pool: string): Promise<string> {
  const session = randomUUID();
  await query(`SET service.resource_pool = '${pool}'`, { session });
  return session;
}

describe('a statement goes by', () => {
  test('match_tenant: the tenant of its token', async () => {
    expect(await groupOf('SELECT 1', { token: await tokenOf('rival', 'eve') })).toBe('/root/of_tenant');
    expect(await groupOf('SELECT 1', { token: await tokenOf('rivals', 'eve') })).toBe('/root');
  });

  test('match_user: the name of its user, or the id', async () => {
    expect(await groupOf('SELECT 1', { token: await tokenOf('second', 'ann') })).toBe('/root/of_user');
    expect(await groupOf('SELECT 1', { token: await catalog.mint({ tenant: 'fourth', user: 'zoe' }) })).toBe(
      '/root/of_user_id',
    );
    // Another user of the same name.
    expect(await groupOf('SELECT 1', { token: await catalog.mint({ tenant: 'third', user: 'zoe' }) })).toBe('/root');
  });

  test('match_source: the source that its request names', async () => {
    expect(await groupOf('SELECT 1', { source: 'dashboard' })).toBe('/root/of_source');
    expect(await groupOf('SELECT 1', { source: 'Dashboard' })).toBe('/root');
    expect(await groupOf('SELECT 1')).toBe('/root');
  });

  test('match_resource_pool: the pool that its session has set', async () => {
    expect(await groupOf('SELECT 1', { session: await inPool('nightly') })).toBe('/root/of_pool');
    expect(await groupOf('SELECT 1', { session: await inPool('daily') })).toBe('/root');
    const session = await inPool('nightly');
    await query('RESET service.resource_pool', { session });
    expect(await groupOf('SELECT 1', { session })).toBe('/root');
  });

  test('match_query_type and target_group: its kind, into a group below a group', async () => {
    expect(await groupOf('INSERT INTO lake.default.routed VALUES (1), (2)')).toBe('/root/writes/inserts');
    expect(await groupOf('INSERT INTO lake.default.routed SELECT 3')).toBe('/root/writes/inserts');
    expect(await groupOf('UPDATE lake.default.routed SET a = 4 WHERE a = 1')).toBe('/root/writes/updates');
    expect(await groupOf('DELETE FROM lake.default.routed WHERE a = 4')).toBe('/root/writes/deletes');
    expect(await groupOf('SELECT a FROM lake.default.routed')).toBe('/root');
  });

  test('the first rule that matches, all of it', async () => {
    const session = await inPool('nightly');
    expect(await groupOf('SELECT 1', { session, source: 'dashboard' })).toBe('/root/both');
    const insert = 'INSERT INTO lake.default.routed VALUES (5)';
    expect(await groupOf(insert, { session, source: 'dashboard' })).toBe('/root/both');
    expect(await groupOf(insert, { session })).toBe('/root/of_pool');
    expect(await groupOf(insert, { source: 'etl' })).toBe('/root/writes/inserts');
  });
});

test.each([
  ['broadcast', /broadcast/, /hash\(/],
  ['partitioned', /hash\(/, /broadcast/],
])('a %s join makes a query medium', async (distribution, exchange, other) => {
  const session = randomUUID();
  await query("SET skein.distribution = 'force'", { session });
  await query(`SET skein.join_distribution = '${distribution}'`, { session });
  const join = 'SELECT count(*) FROM lake.default.joined AS l JOIN lake.default.joined AS r USING (a)';
  const plan = await (await post(`EXPLAIN (TYPE DISTRIBUTED) ${join}`, { session })).text();
  expect(plan).toMatch(exchange);
  expect(plan).not.toMatch(other);
  expect(plan).toMatch(/Workload class: medium \(1 join, /);
  expect((await recordOf(join, { session })).priority).toBe(2);
});

describe('/api/qos/stats', () => {
  type Stats = {
    readonly resource_groups: readonly ({ readonly path: string } & Readonly<Record<string, unknown>>)[];
    readonly mlfq: { readonly level_scheduled_ms: readonly number[] } & Readonly<Record<string, unknown>>;
  };
  const stats = async (): Promise<Stats> => {
    const headers = { authorization: `Bearer ${catalog.token}` };
    return (await (await fetch(`${coordinator.queryUrl}/api/qos/stats`, { headers })).json()) as Stats;
  };
  const ENDLESS = 'SELECT max(hash(n)) FROM range(1000000000000) AS r(n)';
  const IDLE = { running: 0, max_concurrent: 2, tracked_queries: 0, level_queue_depths: [0, 0, 0, 0, 0] };

  test('mlfq: a query that computes is on level 0 for a second, then on level 1, and its time is theirs', async () => {
    await expect.poll(stats, { timeout: patience(10_000) }).toMatchObject({ mlfq: IDLE });
    const before = (await stats()).mlfq.level_scheduled_ms;
    expect(before).toHaveLength(5);
    const session = randomUUID();
    // The class has a low priority: a query of a high one stays on level 0.
    await query("SET service.workload_class = 'batch'", { session });
    const leave = new AbortController();
    const left = post(ENDLESS, { session, signal: leave.signal }).catch(() => undefined);
    const busy = { running: 1, max_concurrent: 2, tracked_queries: 1 };
    await expect
      .poll(stats, { timeout: 10_000, interval: 20 })
      .toMatchObject({ mlfq: { ...busy, level_queue_depths: [1, 0, 0, 0, 0] } });
    await expect
      .poll(stats, { timeout: patience(20_000) })
      .toMatchObject({ mlfq: { ...busy, level_queue_depths: [0, 1, 0, 0, 0] } });
    const grown = async (): Promise<readonly number[]> =>
      (await stats()).mlfq.level_scheduled_ms.map((ms, level) => ms - (before[level] ?? 0));
    await expect.poll(async () => (await grown())[1], { timeout: patience(20_000) }).toBeGreaterThan(200);
    const [first = 0, , ...deeper] = await grown();
    expect(first).toBeGreaterThan(900);
    expect(deeper).toEqual([0, 0, 0]);
    leave.abort();
    await left;
    await expect.poll(stats, { timeout: patience(10_000) }).toMatchObject({ mlfq: IDLE });
  });

  test('a group counts what runs and what waits in it or below it, here and in SHOW RESOURCE GROUPS', async () => {
    const leave = new AbortController();
    const sent = Array.from({ length: 3 }, () =>
      post(ENDLESS, { source: 'narrow', signal: leave.signal }).catch(() => undefined),
    );
    const counts = { running: 1, queued: 2 };
    const narrow = { path: 'root.narrow', ...counts, hard_concurrency_limit: 1, scheduling_policy: 'query_priority' };
    const group = async (path: string): Promise<unknown> =>
      (await stats()).resource_groups.find((one) => one.path === path);
    await expect.poll(() => group('root.narrow'), { timeout: patience(10_000) }).toEqual(narrow);
    expect(await group('root.narrow.inner')).toMatchObject(counts);
    expect(await group('root')).toMatchObject(counts);
    const shown = await post('SHOW RESOURCE GROUPS', {});
    const { rows } = (await shown.json()) as { readonly rows: readonly (readonly unknown[])[] };
    const row = rows.find(([path]) => path === 'root.narrow') ?? [];
    expect(row.slice(0, -1)).toEqual(['root.narrow', 1, 2, 1, 3, 'query_priority']);
    leave.abort();
    await Promise.all(sent);
    await expect.poll(() => group('root'), { timeout: patience(10_000) }).toMatchObject({ running: 0, queued: 0 });
  });

  test('resource_groups: every group that its statements can reach, by its dotted path', async () => {
    const below = ['of_user', 'of_user_id', 'both', 'narrow', 'of_source', 'of_pool', 'writes'];
    const deeper = ['narrow.inner', ...['inserts', 'updates', 'deletes'].map((name) => `writes.${name}`)];
    const paths = ['root', ...[...below, ...deeper].map((name) => `root.${name}`)];
    const { resource_groups: groups } = await stats();
    expect(groups.map(({ path }) => path).toSorted()).toEqual(paths.toSorted());
    const members = ['path', 'running', 'queued', 'hard_concurrency_limit', 'scheduling_policy'];
    for (const group of groups) expect(Object.keys(group)).toEqual(members);
  });
});
