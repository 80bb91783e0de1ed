import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Json } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import type { StartedCluster } from '#test/support/cluster.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { WorkerMetrics } from '#test/support/worker-metrics.ts';

/** Kills a worker under queries that run whole; `stage-faults.timed.test.ts` does so under queries in stages. */
let cluster: StartedCluster;

beforeAll(async () => {
  cluster = await startOwnCluster();
});

afterAll(() => cluster?.stop());

beforeEach(async () => {
  await until('all workers up', async () => {
    const known = await cluster.services();
    const page = await metricsPage();
    return known.every(({ state }) => state === 'up') && page.includes('skein_workers_live 2') ? true : undefined;
  });
});

/** A second or more on any machine; its one row comes at its end. */
const LONG = 'SELECT count(*), max(hash(n)) FROM range(500000000) AS r(n)';
const TIMEOUT_MS = 100_000;

type Worker = { readonly name: string; readonly pid: number; readonly metrics: WorkerMetrics };

const workers = (): readonly Worker[] =>
  cluster.workers().map(({ name, pid, metricsUrl }) => ({ name, pid, metrics: new WorkerMetrics([metricsUrl]) }));

const metricsPage = (): Promise<string> => fetch(`${cluster.queryUrl}/metrics`).then((response) => response.text());

type Counts = { readonly retries: number; readonly lost: number };

/** Tasks that ran again so far, and queries that have failed with WORKER_LOST. */
async function counts(): Promise<Counts> {
  const page = await metricsPage();
  const count = (pattern: RegExp): number => Number(pattern.exec(page)?.[1] ?? 0);
  return {
    retries: count(/^skein_task_retries_total (\d+)$/m),
    lost: count(/^skein_queries_total\{status="failed",query_type="select",code="WORKER_LOST"\} (\d+)$/m),
  };
}

async function until<T>(what: string, find: () => Promise<T | undefined>): Promise<T> {
  const end = performance.now() + 30_000;
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    if (performance.now() > end) throw new Error(`${what}: not within 30 s`);
    await sleep(20);
  }
}

const runsATask = async ({ metrics }: Worker): Promise<boolean> =>
  (await metrics.sum('skein_worker_tasks_running')) > 0;

async function answered(sql: string): Promise<readonly (readonly Json[])[]> {
  return cluster.sql(sql, { timeoutMs: TIMEOUT_MS });
}

test('a worker killed: what it had given nothing of runs again on the other one, whose own query goes on; it comes back', async () => {
  const expected = await answered(LONG);
  const [before, known] = [await counts(), workers()];
  const answers = [answered(LONG), answered(LONG)];
  // Each worker gets one: the second query goes to the worker with the lower load.
  for (const worker of known) await until('a task', async () => ((await runsATask(worker)) ? true : undefined));
  const victim = must(known[0], 'two workers');
  process.kill(victim.pid, 'SIGKILL');
  const { retries } = before;
  await until('it runs again', async () => ((await counts()).retries > retries ? true : undefined));
  for (let i = 0; i < 10; i++) expect(await answered(`SELECT ${i}`)).toEqual([[i]]);
  expect(await Promise.all(answers)).toEqual([expected, expected]);
  expect(await counts()).toEqual({ ...before, retries: retries + 1 });
  const again = await until('the worker comes back', async () =>
    (await cluster.services()).find(
      ({ name, state, pid }) => name === victim.name && state === 'up' && pid !== victim.pid,
    ),
  );
  expect(workers().map(({ pid }) => pid)).toEqual([again.pid, known[1]?.pid]);
}, 180_000);

test('a worker killed: rows that have left do not come twice, the answer breaks off, and its query failed with WORKER_LOST', async () => {
  const before = await counts();
  const response = await fetch(`${cluster.queryUrl}/api/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${await cluster.token()}` },
    body: JSON.stringify({ sql: "SELECT n, repeat('x', 200) AS s FROM range(1000000000) AS r(n)" }),
  });
  const reader = must(response.body, 'a body').getReader();
  const first = await reader.read();
  expect([response.status, Buffer.from(first.value ?? []).toString('utf8', 0, 12)]).toEqual([200, '{"columns":[']);
  // The task waits for its reader, so it exists for as long as the client does not read.
  const busy = await until('the worker of the task', async () => {
    for (const worker of workers()) if (await holdsATask(worker)) return worker;
    return undefined;
  });
  process.kill(busy.pid, 'SIGKILL');
  await expect(readAll(reader)).rejects.toMatchObject({ message: 'terminated' });
  expect(await counts()).toEqual({ ...before, lost: before.lost + 1 });
  expect(await answered('SELECT count(*) FROM range(1000)')).toEqual([[1_000]]);
});

const holdsATask = async ({ metrics }: Worker): Promise<boolean> => (await metrics.sum('skein_worker_tasks')) > 0;

async function readAll(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  while (!(await reader.read()).done);
}
