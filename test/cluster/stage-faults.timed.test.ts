import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Json } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import type { StartedCluster, WorkerAddress } from '#test/support/cluster.ts';
import { createTestDatabase, startOwnCluster, type TestDatabase } from '#test/support/resources.ts';
import { WorkerMetrics } from '#test/support/worker-metrics.ts';

/** A query with a quick first stage, whose partitions stay on both workers, and a second stage of some seconds that reads them. */
const STAGED =
  'SELECT count(*), sum(h), max(k) FROM (SELECT k, max(hash(m, n)) AS h FROM ' +
  '(SELECT l_orderkey AS k, max(hash(l_comment)) AS m FROM tpch.lineitem GROUP BY ALL), range(2500) AS r(n) GROUP BY k)';
/** The same with a second stage that takes minutes on any machine. */
const STAGED_LONG = STAGED.replace('range(2500)', 'range(2500000)');
/** One task that takes minutes, and can only run on one worker at a time. */
const ONE_LONG_TASK =
  'SELECT max(hash(r_comment, n)) FROM tpch.region, range(20000000000) AS r(n) GROUP BY r_regionkey';

/** The cluster's own database, so that its history can be read. */
let own: TestDatabase;
let database: Client;
let cluster: StartedCluster;
let expected: readonly (readonly Json[])[];
const sessionId = randomUUID();

beforeAll(async () => {
  own = await createTestDatabase();
  cluster = await startOwnCluster({ workers: 2, args: ['--worker-cores', '1'], env: { DATABASE_URL: own.url } });
  database = new Client({ connectionString: own.url });
  await database.connect();
  // Several files, so that both workers run a part of the first stage.
  await cluster.load(['tpch', '--scale', '0.01'], { 'load.data_file_bytes': 200_000 });
  await cluster.sql("SET skein.distribution = 'single'", { sessionId });
  expected = await cluster.sql(STAGED, { sessionId });
}, 300_000);

// A coordinator that was killed has forgotten its sessions.
beforeEach(async () => {
  await cluster.sql("SET skein.distribution = 'force'", { sessionId });
  await cluster.sql('SET skein.partitions = 6', { sessionId });
});

afterAll(async () => {
  await database?.end();
  await cluster?.stop();
  await own?.[Symbol.asyncDispose]();
});

/** The record of a query in the history, once it has ended, or once it says that it runs. */
const record = (queryId: string, when: 'ended' | 'running' = 'ended'): Promise<Readonly<Record<string, unknown>>> =>
  until(`the record of a query: ${when}`, async () => {
    const condition = when === 'ended' ? 'ended_at is not null' : "status = 'running'";
    const query = `select * from coordinator.query_history where query_id = $1 and ${condition}`;
    return (await database.query<Record<string, unknown>>(query, [queryId])).rows[0];
  });

/** A gauge of one worker; undefined while it does not answer. */
async function gauge({ metricsUrl }: WorkerAddress, name: string): Promise<number | undefined> {
  const page = await fetch(metricsUrl, { signal: AbortSignal.timeout(1_000) }).then(
    (r) => r.text(),
    () => '',
  );
  const match = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(page);
  return match === null ? undefined : Number(match[1]);
}

async function until<T>(what: string, find: () => Promise<T | undefined>, timeoutMs = 30_000): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    if (performance.now() > end) throw new Error(`${what}: not within ${timeoutMs} ms`);
    await sleep(20);
  }
}

/** Waits for a worker that runs a task and holds the output of an earlier one. */
const inTheMiddle = (): Promise<WorkerAddress> =>
  until('a worker in the middle of a query', async () => {
    for (const worker of cluster.workers()) {
      const running = (await gauge(worker, 'skein_worker_tasks_running')) ?? 0;
      if (running > 0 && ((await gauge(worker, 'skein_worker_tasks')) ?? 0) > running) return worker;
    }
    return undefined;
  });

const allUp = (): Promise<true> =>
  until('all workers up', async () => {
    const known = await cluster.services();
    // Between the two questions the coordinator may have ended.
    const page = await fetch(`${cluster.queryUrl}/metrics`).then(
      (response) => response.text(),
      () => '',
    );
    return known.every(({ state }) => state === 'up') && page.includes('skein_workers_live 2') ? true : undefined;
  });

async function retries(): Promise<number> {
  const page = await fetch(`${cluster.queryUrl}/metrics`).then((response) => response.text());
  return Number(/^skein_task_retries_total (\d+)$/m.exec(page)?.[1] ?? 0);
}

/** Checks that no task, no spooled byte and no granted memory is left, and that the cluster answers. */
async function nothingIsLeft(): Promise<void> {
  await allUp();
  const metrics = WorkerMetrics.of(cluster);
  await metrics.until('skein_worker_tasks', (n) => n === 0, 10_000);
  await metrics.until('skein_worker_spool_bytes', (n) => n === 0, 10_000);
  expect(await metrics.sum('skein_worker_memory_granted_bytes')).toBe(0);
  expect(await cluster.sql('SELECT count(*) FROM tpch.region')).toEqual([[5]]);
}

test('without a fault the stages give the rows of one worker', async () => {
  const queryId = randomUUID();
  expect(await cluster.sql(STAGED, { sessionId, queryId })).toEqual(expected);
  const { status, fragments } = await record(queryId);
  expect([status, Number(fragments) > 1]).toEqual(['completed', true]);
  await nothingIsLeft();
}, 120_000);

test('a worker killed in the middle: its tasks and what it held run again, and the answer is right', async () => {
  const before = await retries();
  const answer = cluster.query(STAGED, { sessionId, timeoutMs: 100_000 });
  const victim = await inTheMiddle();
  process.kill(victim.pid, 'SIGKILL');
  const { body } = await answer;
  expect(body.message).toBeUndefined();
  expect(body.rows).toEqual(expected);
  expect(await retries()).toBeGreaterThan(before);
  await nothingIsLeft();
}, 180_000);

test('a worker that hangs is found in 5 s, the answer is right, and it holds nothing when it wakes', async () => {
  const answer = cluster.query(STAGED, { sessionId, timeoutMs: 100_000 });
  const victim = await inTheMiddle();
  process.kill(victim.pid, 'SIGSTOP');
  const stopped = performance.now();
  try {
    await until('the coordinator finds it', async () => {
      const page = await fetch(`${cluster.queryUrl}/metrics`).then((response) => response.text());
      return page.includes('skein_workers_live 1') ? true : undefined;
    });
    expect(performance.now() - stopped).toBeLessThan(5_500);
    const { body } = await answer;
    expect(body.message).toBeUndefined();
    expect(body.rows).toEqual(expected);
  } finally {
    process.kill(victim.pid, 'SIGCONT');
  }
  await nothingIsLeft();
}, 180_000);

test('a task that two workers die of fails its query, and the cluster lives', async () => {
  const answer = cluster.query(ONE_LONG_TASK, { sessionId, timeoutMs: 100_000 });
  const killed = new Set<number>();
  while (killed.size < 2) {
    const runs = async (worker: WorkerAddress): Promise<boolean> =>
      ((await gauge(worker, 'skein_worker_tasks_running')) ?? 0) > 0;
    const busy = await until('the long task runs', async () => {
      for (const worker of cluster.workers()) {
        // The stage before it ends at once.
        if (!killed.has(worker.pid) && (await runs(worker)) && (await sleep(300, true)) && (await runs(worker)))
          return worker;
      }
      return undefined;
    });
    process.kill(busy.pid, 'SIGKILL');
    killed.add(busy.pid);
  }
  const { status, body } = await answer;
  expect([status, body.error]).toEqual([503, 'WORKER_LOST']);
  expect(body.message).toContain('2 workers were lost while they ran the same task');
  await nothingIsLeft();
}, 180_000);

test('a timeout and a client that leaves end all stages everywhere', async () => {
  const late = await cluster.query(STAGED_LONG, { sessionId, timeoutMs: 700 });
  expect(late.body.error).toBe('QUERY_TIMEOUT');
  await nothingIsLeft();
  const leave = new AbortController();
  const left = expect(cluster.query(STAGED_LONG, { sessionId, signal: leave.signal })).rejects.toMatchObject({
    name: 'AbortError',
  });
  await inTheMiddle();
  leave.abort();
  await left;
  await nothingIsLeft();
}, 120_000);

test('the coordinator killed: workers free everything, it comes back, and history says what became of the query', async () => {
  const queryId = randomUUID();
  const broken = expect(cluster.query(STAGED_LONG, { sessionId, queryId })).rejects.toMatchObject({
    cause: { code: 'UND_ERR_SOCKET' },
  });
  await inTheMiddle();
  // History is written after the statement: a record that is not written when the coordinator dies is lost.
  await record(queryId, 'running');
  const coordinator = must(
    (await cluster.services()).find(({ kind }) => kind === 'coordinator'),
    'a coordinator',
  );
  process.kill(coordinator.pid, 'SIGKILL');
  await broken;
  const metrics = WorkerMetrics.of(cluster);
  await metrics.until('skein_worker_tasks', (n) => n === 0, 12_000);
  await metrics.until('skein_worker_spool_bytes', (n) => n === 0, 2_000);
  await nothingIsLeft();
  expect(await record(queryId)).toMatchObject({ status: 'failed', error_code: 'NOT_ACTIVE' });
}, 120_000);

test('a worker that drains finishes its tasks and gives what it holds; the query does not notice', async () => {
  const before = await retries();
  const answer = cluster.query(STAGED, { sessionId, timeoutMs: 100_000 });
  const { name } = await inTheMiddle();
  const drained = cluster.cli(['worker', 'drain', name]);
  const { body } = await answer;
  expect(body.message).toBeUndefined();
  expect(body.rows).toEqual(expected);
  expect((await drained).code).toBe(0);
  expect(await retries()).toBe(before);
}, 180_000);
