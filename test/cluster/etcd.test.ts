import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { readSecret } from '#cli/secrets.ts';
import { must } from '#shared/must.ts';
import { startEtcd } from '#test/support/etcd.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { WorkerMetrics } from '#test/support/worker-metrics.ts';
import { gauge, startWorkerProcess, workerSettings } from '#test/support/worker-process.ts';
import { patience } from '#test/support/run/slowness.ts';

/** A lease lasts 5 s; a killed holder's key may stay that long, and the list of members comes every 5 s at the latest. */
const NOTICED_MS_MAX = 15_000;

test('with ETCD_ENDPOINTS workers are found through their leases, also after one was killed', async () => {
  await using etcd = await startEtcd();
  await using cluster = await startOwnCluster({ env: { ETCD_ENDPOINTS: etcd.endpoint } });
  const members = () => etcd.keys('/skein/members/worker/');
  expect((await members()).length).toBe(2);
  expect(await cluster.sql('SELECT 1')).toEqual([[1]]);
  const before = await members();
  const victim = must(
    (await cluster.services()).find((s) => s.kind === 'worker'),
    'a worker',
  );
  process.kill(victim.pid, 'SIGKILL');
  const end = performance.now() + NOTICED_MS_MAX;
  for (;;) {
    const now = await members();
    if (now.length === 2 && now.filter((key) => before.includes(key)).length === 1) break;
    if (performance.now() > end) throw new Error(`members after ${NOTICED_MS_MAX} ms: ${now.join(', ')}`);
    await sleep(200);
  }
  for (let i = 0; i < 10; i++) expect(await cluster.sql(`SELECT ${i}`)).toEqual([[i]]);
});

test('a stopped cluster leaves no member behind', async () => {
  await using etcd = await startEtcd();
  const cluster = await startOwnCluster({ env: { ETCD_ENDPOINTS: etcd.endpoint } });
  await expect.poll(() => etcd.keys('/skein/members/worker/')).toHaveLength(2);
  await expect.poll(() => etcd.keys('/skein/members/catalog/')).toHaveLength(1);
  await expect.poll(() => etcd.keys('/skein/members/coordinator/')).toHaveLength(1);
  await cluster.stop();
  expect(await etcd.keys('/skein/members/')).toEqual([]);
});

/** A query with a first stage of some seconds in a few tasks, and a second stage. */
const STAGED =
  'SELECT count(*), sum(h), max(k) FROM (SELECT k, max(hash(m, n)) AS h FROM ' +
  '(SELECT l_orderkey AS k, max(hash(l_comment)) AS m FROM tpch.lineitem GROUP BY ALL), range(50000) AS r(n) GROUP BY k)';

test('a worker that joins takes work of a query that runs', async () => {
  await using etcd = await startEtcd();
  await using cluster = await startOwnCluster({
    workers: 1,
    args: ['--worker-cores', '1'],
    env: { ETCD_ENDPOINTS: etcd.endpoint },
  });
  await cluster.load(['tpch', '--scale', '0.01']);
  const sessionId = randomUUID();
  await cluster.sql("SET skein.distribution = 'single'", { sessionId });
  const expected = await cluster.sql(STAGED, { sessionId, timeoutMs: 100_000 });
  await cluster.sql("SET skein.distribution = 'force'", { sessionId });
  await cluster.sql('SET skein.partitions = 16', { sessionId });
  const answer = cluster.sql(STAGED, { sessionId, timeoutMs: 100_000 });
  const metrics = WorkerMetrics.of(cluster);
  await metrics.until('skein_worker_tasks_running', (n) => n > 0, 30_000);
  await using joined = await startWorkerProcess({
    ...workerSettings(cluster.dataDir, 'joined'),
    'cluster.secret': must(readSecret(cluster.dataDir, 'cluster-secret'), 'the launcher has made it'),
    'cluster.etcd_endpoints': etcd.endpoint,
    'worker.cores': '1',
  });
  await expect.poll(() => gauge(joined, 'tasks'), { timeout: 60_000, interval: 20 }).toBeGreaterThan(0);
  expect(await answer).toEqual(expected);
  await expect.poll(() => gauge(joined, 'tasks'), { timeout: patience(10_000) }).toBe(0);
  expect(await gauge(joined, 'spool_bytes')).toBe(0);
}, 240_000);

test('beside a coordinator that leads, another cluster on the same etcd says that it stands by, and never that it is ready', async () => {
  await using etcd = await startEtcd();
  await using first = await startOwnCluster({ env: { ETCD_ENDPOINTS: etcd.endpoint } });
  const second = startOwnCluster({ env: { ETCD_ENDPOINTS: etcd.endpoint, SKEIN_UP_READY_TIMEOUT: '8s' } });
  await expect(second).rejects.toThrow('standby');
  expect(await first.sql('SELECT 1')).toEqual([[1]]);
}, 240_000);
