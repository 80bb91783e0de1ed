import { Utf8 } from 'apache-arrow';
import { afterEach, expect, test, vi } from 'vitest';
import type { TaskSpec } from '#shared/task/task.ts';
import { plainSecurity } from '#shared/grpc/channel-security.ts';
import { DEFAULT_MLFQ } from '#shared/mlfq-spec.ts';
import { fixedKeyring } from '#shared/keyring.ts';
import { SkeinError } from '#shared/error.ts';
import { decodeFlightData } from '#shared/flight/flight-data.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { staticMembership } from '#shared/membership/static-membership.ts';
import { flightMessages } from '#test/support/scripted/messages.ts';
import { queryRun } from '#test/support/scripted/query-run.ts';
import {
  report,
  SCRIPTED_RELEASE,
  startScriptedWorker,
  type FlightMessage,
  type WorkerScript,
} from '#test/support/scripted/worker.ts';
import { WorkerPool } from '../cluster/worker-pool.ts';
import { CountedSink } from '../sink/counted-sink.ts';
import type { WholeFragment } from '../distributor/fragment.ts';
import { NARROW_MEMORY_BYTES } from './choose-width.ts';
import { runWhole, type WholeQuery } from './run-whole.ts';
import { NOT_RUN, type RunView } from './run-progress.ts';
import { carrierGate, type Scheduler } from './scheduler.ts';
import { patience } from '#test/support/run/slowness.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

const security = plainSecurity(fixedKeyring('s'));

type Worker = Awaited<ReturnType<typeof startScriptedWorker>>;
let retries: number;

const cluster = (...outputs: WorkerScript['output'][]): Promise<{ scheduler: Scheduler; workers: Worker[] }> =>
  clusterOf(outputs.map((output) => ({ secret: 's', output })));

async function clusterOf(scripts: readonly WorkerScript[]): Promise<{ scheduler: Scheduler; workers: Worker[] }> {
  retries = 0;
  const workers = await Promise.all(scripts.map((script) => startScriptedWorker(script)));
  const options = {
    security,
    coordinatorId: 'c',
    epoch: 1,
    heartbeatIntervalMs: 50,
    heartbeatTimeoutMs: 2_000,
    mlfq: () => DEFAULT_MLFQ,
  };
  const pool = new WorkerPool(staticMembership(workers.map((w) => w.address)), {
    ...options,
    release: SCRIPTED_RELEASE,
    log: silentLogger,
  });
  closers.push(() => pool.close(), ...workers.map((w) => w.kill));
  await vi.waitFor(() => expect(pool.liveCount()).toBe(workers.length));
  const onRetry = (): void => void (retries += 1);
  return {
    scheduler: {
      pool,
      keyring: security.keyring,
      epoch: 1,
      spillLimitBytes: 1,
      taskBytesMax: 10_000,
      workerWaitMs: 500,
      carriers: carrierGate(),
      onRetry,
      running: new Map(),
      renewKey: (_tenant, key) => Promise.resolve(key),
    },
    workers,
  };
}

const FRAGMENT: WholeFragment = {
  stage: 0,
  plan: null,
  partitions: 1,
  sql: ['select 1'],
  scans: [],
  inputs: [],
  tasks: { kind: 'single' },
  width: 1,
  collected: false,
  repeatable: false,
};

/** The messages of a result of one row: the schema and a batch. */
const resultOf = (row: string) =>
  flightMessages(new Utf8(), { json: [row] }).map((bytes): FlightMessage => {
    const { header, body } = decodeFlightData(bytes);
    return { data_header: header, data_body: body };
  }) as [FlightMessage, FlightMessage];

const [SCHEMA, ROW] = resultOf(',[1]');
const [, BIG_ROW] = resultOf('x'.repeat(1_000_000));

const query = (changes: Partial<WholeQuery> = {}): WholeQuery => ({
  ...queryRun(),
  fragment: FRAGMENT,
  scans: [],
  ...changes,
});

async function* messages(spec: TaskSpec) {
  yield SCHEMA;
  for (let i = 0; i < 3; i += 1) yield ROW;
  yield report(spec, 3);
}

async function* endless(_spec: TaskSpec, cancelled: AbortSignal) {
  yield SCHEMA;
  while (!cancelled.aborted) yield BIG_ROW;
}

// eslint-disable-next-line require-yield
async function* lost() {
  throw new SkeinError('WORKER_LOST', 'gone');
}

async function* lostLate() {
  yield SCHEMA;
  yield ROW;
  throw new SkeinError('WORKER_LOST', 'gone');
}

test('rows come in order, then the report; the memory limit is that of the worker', async () => {
  const specs: TaskSpec[] = [];
  const { scheduler, workers } = await cluster(async function* (spec) {
    specs.push(spec);
    yield* messages(spec);
  });
  const seen: string[] = [];
  const runs: string[] = [];
  const result = await runWhole(
    scheduler,
    query({ onRun: (run) => void runs.push(run), onBatch: ({ body }) => void seen.push(body.toString()) }),
  );
  expect(seen).toEqual([',[1]', ',[1]', ',[1]']);
  expect(runs).toEqual([specs[0]?.queryId]);
  expect(result).toMatchObject({ rows: 3, bytesScanned: 7 });
  expect(specs[0]).toMatchObject({ threads: 1, memoryLimitBytes: NARROW_MEMORY_BYTES, epoch: 1, keepJoinOrder: false });
  await runWhole(scheduler, query({ fragment: { ...FRAGMENT, width: 'worker' } }));
  expect(specs[1]).toMatchObject({ threads: 2, memoryLimitBytes: 1_000_000_000 });
  // Rows that were streamed need not be forgotten.
  expect(workers[0]?.ended).toEqual([]);
  expect(scheduler.running.size).toBe(0);
  expect(workers[0]?.cancelled).toEqual([]);
  expect(scheduler.pool.states()[0]?.load).toBe(0);
});

test('a slow reader stops the worker from sending, and a cancel stops the task', async () => {
  const { scheduler, workers } = await cluster(endless);
  const abort = new AbortController();
  const held = runWhole(scheduler, query({ signal: abort.signal, onBatch: () => new Promise(() => undefined) }));
  held.catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 300));
  // The server's own stream takes 16 before it says stop.
  expect(workers[0]?.messagesSent()).toBeLessThan(22);
  const running = runWhole(scheduler, query({ signal: abort.signal }));
  setTimeout(() => abort.abort(new SkeinError('QUERY_TIMEOUT', 'too long')), 50);
  await expect(running).rejects.toMatchObject({ code: 'QUERY_TIMEOUT' });
  // Also the one whose reader has stopped reading.
  await expect(held).rejects.toMatchObject({ code: 'QUERY_TIMEOUT' });
  expect(workers[0]?.cancelled.map((c) => c.code)).toEqual(['QUERY_TIMEOUT', 'QUERY_TIMEOUT']);
});

test('a task of a lost worker runs once more on another, but not when the client has seen rows', async () => {
  let calls = 0;
  const once: WorkerScript['output'] = async function* (spec) {
    calls += 1;
    yield* calls === 1 ? lostLate() : messages(spec);
  };
  const { scheduler } = await cluster(once, once);
  let starts = 0;
  await runWhole(scheduler, query({ onStart: () => void (starts += 1) }));
  expect([starts, retries]).toEqual([2, 1]);
  const late = await cluster(lostLate, lostLate);
  const sent = runWhole(late.scheduler, query({ mayStartOver: () => false }));
  await expect(sent).rejects.toMatchObject({ code: 'WORKER_LOST', message: expect.stringContaining('had been sent') });
  expect(retries).toBe(0);
  const all = await cluster(lost, lost, lost);
  await expect(runWhole(all.scheduler, query())).rejects.toMatchObject({ code: 'WORKER_LOST' });
  expect(retries).toBe(1);
});

test.each([
  ['lost', 4],
  ['doubled', 2],
])(
  'a task of which rows were %s on their way fails the query: its report says how many it gave',
  async (_what, given) => {
    const { scheduler } = await cluster(async function* (spec) {
      yield SCHEMA;
      for (let i = 0; i < 3; i += 1) yield ROW;
      yield report(spec, given);
    });
    const failed = { code: 'INTERNAL_ERROR', message: expect.stringContaining(`${given} were given, 3 arrived`) };
    await expect(runWhole(scheduler, query())).rejects.toMatchObject(failed);
    expect(retries).toBe(0);
  },
);

test('rows that were still on their way to the client when their worker died are found before its last byte', async () => {
  let tries = 0;
  const diesOnce: WorkerScript['output'] = async function* (spec) {
    tries += 1;
    yield SCHEMA;
    yield ROW;
    if (tries === 1) await new Promise(() => undefined);
    yield report(spec, 1);
  };
  const { scheduler, workers } = await cluster(diesOnce, diesOnce);
  const rows: string[] = [];
  const sink = new CountedSink({
    encoding: 'json',
    committed: false,
    progress: 0,
    planned: () => undefined,
    start: () => void (rows.length = 0),
    batch: ({ body }) => void rows.push(body.toString()),
    hold: () => undefined,
    release: () => Promise.resolve(),
    changed: () => undefined,
    finish: () => undefined,
  });
  const open = Promise.withResolvers<void>();
  const onStart = (): void => sink.start();
  // As rows once waited for the catalog: they belong to the result before it has them, and nothing takes them back.
  const onBatch: WholeQuery['onBatch'] = (batch) => open.promise.then(() => sink.batch(batch));
  const running = runWhole(scheduler, query({ onStart, onBatch }));
  await vi.waitFor(() => expect(workers.some((worker) => worker.messagesSent() === 2)).toBe(true));
  // The row has come when a whole turn of the coordinator's has passed.
  await new Promise((resolve) => setTimeout(resolve, 50));
  workers.find((worker) => worker.messagesSent() > 0)?.kill();
  await vi.waitFor(() => expect(tries).toBe(2), { timeout: patience(5_000) });
  open.resolve();
  const { rows: given } = await running;
  expect([given, rows.length, retries]).toEqual([1, 2, 1]);
  expect(() => sink.finish({ rowCount: given, elapsedMs: 1 })).toThrow('1 were given, 2 arrived');
});

test('the only worker is killed: the query waits until it is back, and no longer than it may', async () => {
  const { scheduler, workers } = await cluster(endless);
  const address = workers[0]?.address ?? '';
  const run = runWhole({ ...scheduler, workerWaitMs: 10_000 }, query());
  await vi.waitFor(() => expect(workers[0]?.messagesSent()).toBeGreaterThan(0));
  workers[0]?.kill();
  await vi.waitFor(() => expect(scheduler.pool.liveCount()).toBe(0));
  const back = await startScriptedWorker({ secret: 's', output: endless }, Number(address.split(':')[1]));
  await vi.waitFor(() => expect(back.messagesSent()).toBeGreaterThan(0), { timeout: patience(5_000) });
  expect(retries).toBe(1);
  // A second loss is one too many; the task may be what kills them.
  back.kill();
  await expect(run).rejects.toMatchObject({ code: 'WORKER_LOST', message: expect.stringContaining('2 workers') });
  await expect(runWhole(scheduler, query())).rejects.toMatchObject({ code: 'NO_WORKERS' });
});

test('when the connection breaks and the worker lives, the query runs there again, and the worker is not lost', async () => {
  let cuts = 0;
  let workers: Worker[] = [];
  const cut = (times: number): WorkerScript['output'] =>
    async function* (spec) {
      if (cuts < times) {
        yield SCHEMA;
        yield ROW;
        cuts += 1;
        // The row is on its way.
        await new Promise((resolve) => setTimeout(resolve, 100));
        for (const worker of workers) worker.cutTasks();
        await new Promise(() => undefined);
      }
      yield* messages(spec);
    };
  const twice = await cluster(cut(2), cut(2));
  ({ workers } = twice);
  const lives = twice.scheduler.pool.live().map(({ lost }) => lost);
  expect(await runWhole(twice.scheduler, query())).toMatchObject({ rows: 3 });
  expect([cuts, retries]).toEqual([2, 2]);
  // The other one was never tried, and no life of a worker has ended.
  expect(workers.map((worker) => worker.messagesSent()).toSorted((a, b) => a - b)).toEqual([0, 9]);
  expect(lives.map(({ aborted }) => aborted)).toEqual([false, false]);
  cuts = 0;
  await expect(runWhole(twice.scheduler, query({ mayStartOver: () => false }))).rejects.toMatchObject({
    code: 'CONNECTION_LOST',
  });
  expect(cuts).toBe(1);
  const always = await cluster(cut(100), cut(100));
  ({ workers } = always);
  cuts = 0;
  await expect(runWhole(always.scheduler, query())).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
  expect([cuts, retries]).toEqual([3, 2]);
  expect(workers.map((worker) => worker.messagesSent()).toSorted((a, b) => a - b)).toEqual([0, 6]);
});

test('a query that is stopped just after its connection broke ends with the reason of the stop', async () => {
  const abort = new AbortController();
  let workers: readonly Worker[] = [];
  const script: WorkerScript = {
    secret: 's',
    output: async function* () {
      yield SCHEMA;
      yield ROW;
      workers[0]?.cutTasks();
      await new Promise(() => undefined);
    },
    // The error of the broken connection is on its way, and waits for this.
    cancel: async () => abort.abort(new SkeinError('QUERY_TIMEOUT', 'too long')),
  };
  const one = await clusterOf([script]);
  ({ workers } = one);
  const run = runWhole(one.scheduler, query({ signal: abort.signal }));
  await expect(run).rejects.toMatchObject({ code: 'QUERY_TIMEOUT' });
});

test('a query goes on to the next worker from those that refuse it, which is no retry; without another it fails', async () => {
  // eslint-disable-next-line require-yield
  const refuses: WorkerScript['output'] = async function* () {
    throw new SkeinError('WORKER_DRAINING', 'the worker is shutting down');
  };
  const takes = await cluster(refuses, refuses, messages);
  const before = retries;
  expect(await runWhole(takes.scheduler, query())).toMatchObject({ rows: 3 });
  const takesNothing = await cluster(refuses, refuses);
  await expect(runWhole(takesNothing.scheduler, query())).rejects.toMatchObject({ code: 'NO_WORKERS' });
  expect(retries).toBe(before);
});

test('a worker that ends itself because of another query costs nothing, and one that is alone is waited for', async () => {
  let calls = 0;
  const hangsOnce: WorkerScript['output'] = async function* (spec, cancelled) {
    calls += 1;
    yield* calls <= 2 ? endless(spec, cancelled) : messages(spec);
  };
  const { scheduler, workers } = await cluster(hangsOnce);
  const run = runWhole(scheduler, query());
  for (const attempt of [1, 2]) {
    await vi.waitFor(() => expect(calls).toBe(attempt), { timeout: patience(5_000) });
    workers[0]?.endFor('another');
    await vi.waitFor(() => expect(scheduler.pool.liveCount()).toBe(0));
    workers[0]?.endFor(undefined);
  }
  expect(await run).toMatchObject({ rows: 3 });
  expect(retries).toBe(0);
});

test('a query for which a worker ends itself is not tried again', async () => {
  const { scheduler, workers } = await cluster(endless, endless);
  let runId = '';
  const run = runWhole(scheduler, query({ onRun: (id) => void (runId = id) }));
  run.catch(() => undefined);
  await vi.waitFor(() => expect(workers.some((worker) => worker.messagesSent() > 0)).toBe(true));
  for (const worker of workers) worker.endFor(runId);
  await expect(run).rejects.toMatchObject({ code: 'QUERY_KILLED' });
  expect(retries).toBe(0);
});

test('a run tells what its task has read that failed, and one that was stopped', async () => {
  let view: RunView = NOT_RUN;
  const onRun: WholeQuery['onRun'] = (_id, run) => void (view = run);
  // eslint-disable-next-line require-yield
  const failing = await cluster(async function* () {
    throw new SkeinError('DIVISION_BY_ZERO', 'no', { bytesScanned: 1_234 });
  });
  await expect(runWhole(failing.scheduler, query({ onRun }))).rejects.toMatchObject({ code: 'DIVISION_BY_ZERO' });
  expect([view.progress.bytesScanned, view.stages.length]).toEqual([1_234, 1]);
  const stopped = await clusterOf([{ secret: 's', output: endless, bytesScanned: 56 }]);
  const abort = new AbortController();
  const onBatch = (): undefined => {
    abort.abort(new SkeinError('QUERY_CANCELLED', 'enough'));
  };
  const { signal } = abort;
  const run = runWhole(stopped.scheduler, query({ onRun, onBatch, signal }));
  await expect(run).rejects.toMatchObject({ code: 'QUERY_CANCELLED' });
  expect(view.progress.bytesScanned).toBe(56);
});

test('a task that no worker would take is refused before it is sent', async () => {
  const { scheduler, workers } = await cluster(messages);
  const sql = [`select '${'x'.repeat(20_000)}'`];
  await expect(runWhole(scheduler, query({ fragment: { ...FRAGMENT, sql } }))).rejects.toMatchObject({
    code: 'STATEMENT_TOO_COMPLEX',
  });
  expect(workers[0]?.messagesSent()).toBe(0);
});

test("an error of the worker's keeps its code", async () => {
  // eslint-disable-next-line require-yield
  const { scheduler } = await cluster(async function* () {
    throw new SkeinError('OUT_OF_MEMORY', 'too much');
  });
  await expect(runWhole(scheduler, query())).rejects.toMatchObject({ code: 'OUT_OF_MEMORY', message: 'too much' });
  const refusing = await startScriptedWorker({
    secret: 's',
    output: endless,
    refuseStart: () => {
      throw new SkeinError('UNAUTHENTICATED', 'the ticket has expired');
    },
  });
  closers.push(refusing.kill);
  const pool = new WorkerPool(staticMembership([refusing.address]), {
    security,
    coordinatorId: 'c',
    epoch: 1,
    heartbeatIntervalMs: 50,
    heartbeatTimeoutMs: 2_000,
    mlfq: () => DEFAULT_MLFQ,
    release: SCRIPTED_RELEASE,
    log: silentLogger,
  });
  closers.push(() => pool.close());
  await vi.waitFor(() => expect(pool.liveCount()).toBe(1));
  await expect(runWhole({ ...scheduler, pool }, query())).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
});
