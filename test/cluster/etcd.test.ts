import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { startCluster } from '#test/support/cluster.ts';
import { startEtcd } from '#test/support/etcd.ts';
import { services } from '#test/support/worker-metrics.ts';

/** A lease lasts 5 s; a killed holder's key may stay that long, and the list of members comes every 5 s at the latest. */
const NOTICED_MS_MAX = 15_000;

test('with ETCD_ENDPOINTS workers are found through their leases, also after one was killed', async () => {
  await using etcd = await startEtcd();
  await using cluster = await startCluster({ env: { ETCD_ENDPOINTS: etcd.endpoint } });
  const members = () => etcd.keys('/skein/members/worker/');
  expect((await members()).length).toBe(2);
  expect(await cluster.sql('SELECT 1')).toEqual([[1]]);
  const before = await members();
  const victim = must(
    (await services(cluster)).find((s) => s.kind === 'worker'),
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
  const cluster = await startCluster({ env: { ETCD_ENDPOINTS: etcd.endpoint } });
  expect((await etcd.keys('/skein/members/')).length).toBeGreaterThan(0);
  await cluster.stop();
  expect(await etcd.keys('/skein/members/')).toEqual([]);
});
