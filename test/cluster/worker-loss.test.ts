import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { StartedCluster } from '#test/support/cluster.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { WorkerMetrics } from '#test/support/worker-metrics.ts';

let cluster: StartedCluster;

beforeAll(async () => {
  cluster = await startOwnCluster();
});

afterAll(() => cluster?.stop());

test('a worker killed in the middle of a query costs at most that query; the next ones answer, and it comes back', async () => {
  const metrics = WorkerMetrics.of(cluster);
  const before = (await cluster.services()).filter((s) => s.kind === 'worker');
  const LONG = 'SELECT max(hash(n)) FROM range(20000000000) AS r(n)';
  const answers = [cluster.query(LONG, { timeoutMs: 20_000 }), cluster.query(LONG, { timeoutMs: 20_000 })];
  await metrics.until('skein_worker_tasks_running', (n) => n >= 2, 10_000);
  const victim = must(before[0], 'two workers');
  process.kill(victim.pid, 'SIGKILL');
  for (let i = 0; i < 10; i++) expect(await cluster.sql(`SELECT ${i}`)).toEqual([[i]]);
  const codes = (await Promise.all(answers)).map(({ status, body }) => (status === 200 ? 'ok' : body.error));
  for (const code of codes) expect(['WORKER_LOST', 'QUERY_TIMEOUT', 'ok']).toContain(code);
  await waitFor(async () => {
    const now = (await cluster.services()).filter((s) => s.kind === 'worker');
    return now.length === before.length && now.every((s) => s.state === 'up' && s.pid !== victim.pid);
  });
  expect(cluster.log).toContain(victim.name);
  expect(await cluster.sql('SELECT count(*) FROM range(1000)')).toEqual([[1_000]]);
}, 120_000);

async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 30_000;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error('the workers did not come back');
    await sleep(500);
  }
}
