import { afterEach, expect, test, vi } from 'vitest';
import type { ScanFile, TaskSpec } from '#proto/task.ts';
import { plainSecurity } from '#shared/grpc/channel-security.ts';
import { DEFAULT_MLFQ } from '#shared/mlfq-spec.ts';
import { fixedKeyring } from '#shared/keyring.ts';
import { SkeinError } from '#shared/error.ts';
import { principalId, queryId, tenantId } from '#shared/id.ts';
import { silentLogger } from '#shared/log/logger.ts';
import type { Member, Membership } from '#shared/membership/member.ts';
import { must } from '#shared/must.ts';
import {
  SCRIPTED_RELEASE,
  startScriptedWorker,
  taskReport,
  type SpooledAnswer,
  type WorkerScript,
} from '#test/support/scripted/worker.ts';
import { WorkerPool } from '../cluster/worker-pool.ts';
import type { DistributedPlan, DistributionFacts, Fragment } from '../distributor/fragment.ts';
import { TextColumnReader } from '../sink/text-column.ts';
import { queryTimes } from './query-times.ts';
import type { PlannedScan } from './plan-scans.ts';
import { PastStages } from './past-stages.ts';
import type { Scheduler } from './scheduler.ts';
import { NO_PROGRESS, type RunProgress } from './run-progress.ts';
import { runStages, type StagedQuery, type StagedRun } from './run-stages.ts';

type Worker = Awaited<ReturnType<typeof startScriptedWorker>>;

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A task that a worker ran; `ran` lists them in the order in which they began. */
type Ran = { readonly worker: string; readonly spec: TaskSpec };
let ran: Ran[] = [];
let retries = 0;
/** Of each stage that was sent ahead, whether it followed. */
let ahead: boolean[] = [];

type Behaviour = {
  readonly spool?: (spec: TaskSpec, worker: Worker, cancelled: AbortSignal) => Promise<SpooledAnswer | undefined>;
  readonly stream?: (spec: TaskSpec, worker: Worker) => Promise<void>;
  readonly cancel?: (worker: Worker) => Promise<void>;
};

const keyring = fixedKeyring('s');
const security = plainSecurity(keyring);

/** Long enough for a machine that has a lot to do. */
const HEARTBEAT_TIMEOUT_MS = 1_500;

async function cluster(
  count: number,
  behaviour: Behaviour = {},
  options: { readonly joinLater?: boolean; readonly cores?: number } = {},
) {
  ran = [];
  retries = 0;
  ahead = [];
  const workers: Worker[] = [];
  for (let i = 0; i < count; i += 1) {
    const script: WorkerScript = {
      secret: 's',
      cores: options.cores ?? 1,
      spool: async (spec, cancelled) => {
        const worker = must(workers[i], 'it has started');
        ran.push({ worker: worker.address, spec });
        worker.held.add(spec.queryId);
        return (await behaviour.spool?.(spec, worker, cancelled)) ?? { report: taskReport(spec, 10) };
      },
      cancel: async () => behaviour.cancel?.(must(workers[i], 'it has started')),
      output: async function* (spec) {
        const worker = must(workers[i], 'it has started');
        ran.push({ worker: worker.address, spec });
        await behaviour.stream?.(spec, worker);
        yield { app_metadata: Buffer.from(JSON.stringify(taskReport(spec, 0))) };
      },
    };
    workers.push(await startScriptedWorker(script));
  }
  const running: Scheduler['running'] = new Map();
  const known = workers.map(({ address }): Member => ({ kind: 'worker', id: address, name: address, address }));
  let tell: (members: readonly Member[]) => void = () => undefined;
  const membership: Membership = {
    watch: (_kind, onChange) => {
      tell = onChange;
      onChange(options.joinLater === true ? known.slice(0, 1) : known);
    },
    close: () => Promise.resolve(),
  };
  const pool = new WorkerPool(membership, {
    security,
    coordinatorId: 'c',
    epoch: 1,
    heartbeatIntervalMs: 50,
    heartbeatTimeoutMs: HEARTBEAT_TIMEOUT_MS,
    mlfq: () => DEFAULT_MLFQ,
    release: SCRIPTED_RELEASE,
    log: silentLogger,
    ...queryTimes({ running, epoch: 1 }),
  });
  closers.push(() => pool.close(), ...workers.map((w) => w.kill));
  await vi.waitFor(() => expect(pool.liveCount()).toBe(options.joinLater === true ? 1 : count));
  const onRetry = (): void => void (retries += 1);
  const scheduler = {
    pool,
    keyring,
    epoch: 1,
    spillLimitBytes: 1,
    taskBytesMax: 100_000,
    workerWaitMs: 10_000,
    past: new PastStages(),
    onRetry,
    onAhead: (follows: boolean) => void ahead.push(follows),
    running,
  };
  /** Tells the coordinator of the workers that it does not know yet, and waits until they are live. */
  const join = async (): Promise<void> => {
    tell(known);
    await vi.waitFor(() => expect(pool.liveCount()).toBe(count));
  };
  return { scheduler, workers, join };
}

const fragment = (changes: Partial<Fragment>): Fragment => ({
  stage: 0,
  plan: { kind: 'oneRow' },
  output: { kind: 'hash', keys: [], spreadNulls: false },
  partitions: 2,
  fields: [],
  sql: ['stage 0'],
  scans: [{ scan: 0, read: 'split' }],
  inputs: [],
  tasks: { kind: 'splits' },
  width: 1,
  collected: false,
  repeatable: true,
  estimate: { rows: 1, bytes: 1 },
  reason: '',
  ...changes,
});

/** So large that no slot takes its whole share in one batch. */
const FILES = Array.from({ length: 6 }, (_, i): ScanFile => ({
  path: `f${i}`,
  recordCount: 10,
  sizeBytes: 64 * 2 ** 20,
  rows: null,
  constants: {},
  deletes: [],
  firstRowId: null,
}));

/** Files -> hash in two partitions -> hash in two partitions -> the result. */
const FRAGMENTS: readonly Fragment[] = [
  fragment({}),
  fragment({
    stage: 1,
    sql: ['stage 1'],
    scans: [],
    inputs: [{ stage: 0, read: 'partition', fields: [], reads: 1 }],
    tasks: { kind: 'partitions' },
  }),
  fragment({
    stage: 2,
    output: null,
    sql: ['stage 2'],
    scans: [],
    inputs: [{ stage: 1, read: 'partition', fields: [], reads: 1 }],
    tasks: { kind: 'partitions' },
  }),
];

function query(changes: Partial<StagedQuery> = {}, fragments = FRAGMENTS): StagedQuery {
  const distributed: DistributedPlan = {
    kind: 'distributed',
    source: { kind: 'oneRow' },
    plan: { kind: 'oneRow' },
    fragments,
    joins: [],
    replacements: [],
    nextStage: fragments.length,
  };
  const scan = {
    spec: { tableName: 't', allowedRoots: ['/'], predicate: { kind: 'true' }, columns: [], files: FILES },
  };
  return {
    queryId: queryId('q'),
    tenant: tenantId('t'),
    principal: principalId('p'),
    context: { nowMicros: '0', timeZone: 'UTC', currentUser: 'u', currentCatalog: 'c', currentSchema: 's' },
    memoryLimitBytes: 5_000_000_000,
    growMemory: (bytes) => bytes,
    onWork: () => undefined,
    isPinned: () => false,
    killRank: () => null,
    profile: 'none',
    bounds: [],
    deadlineMs: Date.now() + 60_000,
    signal: new AbortController().signal,
    distributed,
    scans: [scan as unknown as PlannedScan],
    scanFacts: [],
    settings: { distribution: 'force', joinDistribution: 'auto', partitions: 2, stageWidth: 1 },
    distributor: { distribute: () => distributed, advance: () => distributed.source },
    encoding: { sql: (sql) => sql, newReader: () => new TextColumnReader() },
    sink: null,
    check: () => Promise.resolve(null),
    onRefused: () => undefined,
    rescan: () => Promise.resolve(new Map()),
    onRun: () => undefined,
    onStart: () => undefined,
    onBatch: () => undefined,
    mayStartOver: () => true,
    ...changes,
  };
}

const tasksOf = (stage: number): readonly Ran[] => ran.filter(({ spec }) => spec.sql[0] === `stage ${stage}`);
const filesOf = (tasks: readonly Ran[]): readonly string[] =>
  tasks.flatMap(({ spec }) => spec.scans.flatMap(({ files }) => files.map(({ path }) => path))).toSorted();
const ended = (workers: readonly Worker[], runs: ReadonlySet<string>) =>
  vi.waitFor(() => expect(workers.every((worker) => [...runs].every((id) => worker.ended.includes(id)))).toBe(true));
const runIds = (): ReadonlySet<string> => new Set(ran.map(({ spec }) => spec.queryId));

test('every file is read once, every partition has its task, and all workers forget the query', async () => {
  const { scheduler, workers } = await cluster(2);
  const run = await runStages(scheduler, query());
  expect(run).toMatchObject({ kind: 'staged', starts: 1, stages: [{ retries: 0 }, { tasks: [{}, {}] }, {}] });
  expect(filesOf(tasksOf(0))).toEqual(FILES.map(({ path }) => path));
  expect(new Set(tasksOf(0).map(({ worker }) => worker)).size).toBe(2);
  for (const stage of [1, 2]) {
    const sources = tasksOf(stage).map(({ spec }) => spec.inputs[0]?.sources.map(({ partition }) => partition));
    const producers = tasksOf(stage - 1).length;
    expect(sources.map((all) => [...new Set(all)].join()).toSorted()).toEqual(['0', '1']);
    expect(sources.every((all) => all?.length === producers)).toBe(true);
  }
  // Cancelled or not, one client's id is never another's run.
  expect([...runIds()]).toEqual([expect.stringMatching(/^q\.1\.[0-9a-f]{8}$/)]);
  await ended(workers, runIds());
  await vi.waitFor(() => expect(scheduler.running.size).toBe(0));
  expect(scheduler.pool.states().every(({ load }) => load === 0)).toBe(true);
});

test('a run tells at any time how many of its tasks are known and done, what they read, and where they run', async () => {
  const seen: RunProgress[] = [];
  let progress: () => RunProgress = () => NO_PROGRESS;
  const spool = async (): Promise<undefined> => void seen.push(progress());
  const { scheduler } = await cluster(2, { spool });
  const run = await runStages(scheduler, query({ onRun: (_run, view) => (progress = () => view.progress) }));
  expect(
    seen.every(({ tasks, tasksDone, tasksRunning }) => tasksRunning > 0 && tasksDone + tasksRunning <= tasks),
  ).toBe(true);
  expect(seen.every(({ workers }) => workers.join() === 'scripted')).toBe(true);
  const counts = seen.map(({ tasks }) => tasks);
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  const tasks = (run as StagedRun & { kind: 'staged' }).stages.flatMap((stage) => stage.tasks);
  const bytesScanned = tasks.reduce((sum, task) => sum + task.bytesScanned, 0);
  expect(progress()).toMatchObject({ tasks: tasks.length, tasksDone: tasks.length, bytesScanned });
});

test('the time of tasks that run is told by their workers, counts once, and goes to all workers of the query', async () => {
  let worked = 0;
  let scheduled = 0;
  let coreMs: () => number = () => 0;
  const spool: Behaviour['spool'] = async (spec, worker) => {
    if (spec.scans.length === 0) return undefined;
    const before = worked;
    // The same time, told once more, does not count twice.
    for (const scheduledMs of [300, 300, 500]) {
      worker.time([{ query_id: spec.queryId, task_id: spec.taskId, scheduled_ms: scheduledMs }]);
      await vi.waitFor(() => expect(worked).toBe(before + scheduledMs));
    }
    expect(coreMs()).toBe(worked);
    const told = (): unknown => worker.beats.at(-1)?.queries;
    await vi.waitFor(() =>
      expect(told()).toEqual([{ query_id: spec.queryId, scheduled_ms: worked, pinned_to_top: true }]),
    );
    scheduled += 700;
    worker.time([]);
    return { report: { ...taskReport(spec, 10), scheduledMs: 700 } };
  };
  const { scheduler } = await cluster(1, { spool });
  const stages = await runStages(
    scheduler,
    query({
      isPinned: () => true,
      onWork: ({ scheduledMs }) => void (worked += scheduledMs),
      onRun: (_run, view) => (coreMs = () => view.progress.coreMs),
    }),
  );
  expect(stages.kind).toBe('staged');
  expect(scheduled).toBeGreaterThan(0);
  const others = tasksOf(1).length + tasksOf(2).length;
  expect(worked).toBe(scheduled + others * taskReport(must(ran[0], 'a task').spec, 0).scheduledMs);
  // The next tasks of the query begin with the time of those before.
  expect(tasksOf(1)[0]?.spec.scheduledMs).toBeGreaterThanOrEqual(scheduled);
});

test('tasks have the width of their fragment, and together no more cores than their worker', async () => {
  const running = new Map<string, number>();
  let most = 0;
  const spool: Behaviour['spool'] = async (spec, { address }) => {
    running.set(address, (running.get(address) ?? 0) + spec.threads);
    most = Math.max(most, ...running.values());
    await new Promise((resolve) => setTimeout(resolve, 50));
    running.set(address, (running.get(address) ?? 0) - spec.threads);
    return undefined;
  };
  const { scheduler } = await cluster(2, { spool }, { cores: 4 });
  const widths = [3, 'worker', 9] as const;
  await runStages(
    scheduler,
    query(
      { memoryLimitBytes: 4_000_000_000 },
      FRAGMENTS.map((one) => ({ ...one, width: widths[one.stage] ?? 1 })),
    ),
  );
  for (const [stage, threads] of [3, 4, 4].entries()) {
    expect(new Set(tasksOf(stage).map(({ spec }) => spec.threads))).toEqual(new Set([threads]));
  }
  expect(most).toBe(4);
  // Three of the worker's four cores get three quarters of its 1 GB.
  expect(new Set(tasksOf(0).map(({ spec }) => spec.memoryLimitBytes))).toEqual(new Set([750_000_000]));
});

test('tasks with a share of their worker take a few cores each, and one core where there is little to read', async () => {
  // Both are on one machine of 24 cores: each has twelve for two tasks.
  const { scheduler } = await cluster(2, {}, { cores: 24 });
  const wide = query(
    { settings: { ...query().settings, stageWidth: 'share' } },
    FRAGMENTS.map((one) => ({ ...one, width: 'share' })),
  );
  await runStages(scheduler, wide);
  expect(tasksOf(0).map(({ spec }) => [spec.threads, spec.memoryLimitBytes])).toEqual(
    tasksOf(0).map(() => [6, 500_000_000]),
  );
  expect(tasksOf(0).length).toBeLessThanOrEqual(FILES.length);
  expect(new Set(tasksOf(1).map(({ spec }) => spec.threads))).toEqual(new Set([1]));
});

test('when a worker dies, only its running tasks and those whose output it held run again', async () => {
  let victim: string | undefined;
  const { scheduler } = await cluster(2, {
    spool: async (spec, worker) => {
      if (spec.sql[0] !== 'stage 1' || victim !== undefined) return undefined;
      victim = worker.address;
      worker.kill();
      return new Promise(() => undefined);
    },
  });
  const run = await runStages(scheduler, query());
  expect(run).toMatchObject({ kind: 'staged', starts: 1 });
  // Each share that was lost has run once more as it was, and no other has.
  const runs = new Map<string, string[]>();
  for (const task of tasksOf(0)) {
    const share = filesOf([task]).join();
    runs.set(share, [...(runs.get(share) ?? []), task.worker]);
  }
  const lost = [...runs.values()].filter(([worker]) => worker === victim);
  const kept = [...runs.values()].filter(([worker]) => worker !== victim);
  expect([lost.length > 0, kept.length > 0]).toEqual([true, true]);
  for (const workers of lost) expect([workers.length, workers[1] === victim]).toEqual([2, false]);
  for (const workers of kept) expect(workers).toHaveLength(1);
  expect(tasksOf(2).every(({ worker }) => worker !== victim)).toBe(true);
  const partitions = 2;
  expect(retries).toBe(tasksOf(0).length - runs.size + tasksOf(1).length - partitions);
});

/** So small that every slot takes its whole share in one task. */
const SMALL = {
  spec: {
    tableName: 't',
    allowedRoots: ['/'],
    predicate: { kind: 'true' },
    columns: [],
    files: FILES.map((file) => ({ ...file, sizeBytes: 1_000 })),
  },
} as unknown as PlannedScan;

/** Files -> one task, which gives the result. */
const GATHERED: readonly Fragment[] = [
  fragment({ output: { kind: 'gather' }, partitions: 1 }),
  fragment({
    stage: 1,
    output: null,
    sql: ['stage 1'],
    scans: [],
    inputs: [{ stage: 0, read: 'all', fields: [], reads: 1 }],
    tasks: { kind: 'single' },
  }),
];

test('the last task comes to its worker while those whose rows it reads still run, and names them', async () => {
  const came = Promise.withResolvers<void>();
  const { scheduler } = await cluster(2, {
    spool: () => came.promise.then(() => undefined),
    stream: () => Promise.resolve(came.resolve()),
  });
  const run = await runStages(scheduler, query({ scans: [SMALL] }, GATHERED));
  expect(run).toMatchObject({ kind: 'staged', starts: 1, stages: [{ retries: 0 }, { retries: 0, tasks: [{}] }] });
  const read = tasksOf(1).flatMap(({ spec }) => spec.inputs[0]?.sources ?? []);
  const gave = tasksOf(0).map(({ spec, worker }) => ({ taskId: spec.taskId, address: worker, awaited: true }));
  expect(read.toSorted((a, b) => (a.taskId < b.taskId ? -1 : 1))).toMatchObject(
    gave.toSorted((a, b) => (a.taskId < b.taskId ? -1 : 1)),
  );
  expect(scheduler.pool.states().every(({ load }) => load === 0)).toBe(true);
});

test('when a task that the last one waits for is lost with its worker, both run again, and only the lost one counts', async () => {
  const came = Promise.withResolvers<void>();
  let victims = 0;
  const { scheduler } = await cluster(2, {
    spool: async (_spec, worker) => {
      await came.promise;
      if (victims++ > 0) return undefined;
      worker.kill();
      return new Promise(() => undefined);
    },
    stream: async (spec) => {
      came.resolve();
      if (spec.inputs[0]?.sources.some(({ awaited }) => awaited) === true) await new Promise(() => undefined);
    },
  });
  const run = await runStages(scheduler, query({ scans: [SMALL] }, GATHERED));
  expect(run).toMatchObject({ kind: 'staged', starts: 1, stages: [{}, { retries: 0, tasks: [{}] }] });
  expect(tasksOf(1)).toHaveLength(2);
  expect(
    tasksOf(1)
      .at(-1)
      ?.spec.inputs[0]?.sources.some(({ awaited }) => awaited),
  ).toBe(false);
  const finished = (run as StagedRun & { kind: 'staged' }).stages[0]?.tasks.length ?? 0;
  expect(retries).toBe(tasksOf(0).length - finished);
});

/** A scan of a table, as small as `SMALL`. */
const VERSIONED = {
  ...SMALL,
  kind: 'files',
  spec: { ...(SMALL as unknown as { spec: object }).spec, tableUuid: 't', snapshotId: '1' },
  report: { files: FILES.length },
} as unknown as PlannedScan;

type SpoolOf = (spec: TaskSpec, cancelled: AbortSignal) => Promise<SpooledAnswer | undefined>;

const isAwaiting = ({ inputs }: TaskSpec): boolean =>
  inputs.length > 0 && inputs.every(({ sources }) => sources.length > 0 && sources.every(({ awaited }) => awaited));

/** A cluster that has run a query of three stages, and another run of the query, in which `spool` takes the tasks. */
async function ranOnce(fragments = FRAGMENTS, onPlan: (facts: DistributionFacts) => void = () => undefined) {
  let spool: SpoolOf = () => Promise.resolve(undefined);
  const { scheduler, ...rest } = await cluster(2, { spool: (spec, _worker, cancelled) => spool(spec, cancelled) });
  const run = async (by: SpoolOf): Promise<StagedRun> => {
    spool = by;
    ran = [];
    const plan = query({ scans: [VERSIONED] }, fragments);
    const distribute: StagedQuery['distributor']['distribute'] = (_plan, facts) => {
      onPlan(facts);
      return plan.distributed;
    };
    return await runStages(scheduler, { ...plan, distributor: { ...plan.distributor, distribute } });
  };
  await run(spool);
  return { run, scheduler, ...rest };
}

test('the tasks of a stage come while those run that it reads, when these give what they gave before, and run once', async () => {
  const { run, scheduler } = await ranOnce();
  expect(tasksOf(1).some(({ spec }) => isAwaiting(spec))).toBe(false);
  const came = Promise.withResolvers<void>();
  const again = await run(async (spec) => {
    if (spec.scans.length === 0 && isAwaiting(spec) && tasksOf(1).length === 2) came.resolve();
    await came.promise;
    return undefined;
  });
  expect(again).toMatchObject({
    kind: 'staged',
    starts: 1,
    stages: [{ retries: 0 }, { retries: 0, tasks: [{}, {}] }, {}],
  });
  expect(tasksOf(1).map(({ spec }) => isAwaiting(spec))).toEqual([true, true]);
  const sources = tasksOf(1).flatMap(({ spec }) => spec.inputs[0]?.sources ?? []);
  expect(sources.map(({ partition }) => partition).toSorted((a, b) => a - b)).toEqual([0, 0, 1, 1]);
  expect(sources.map(({ rows, bytes }) => [rows, bytes])).toEqual(sources.map(() => [10, 10]));
  expect(new Set(sources.map(({ taskId }) => taskId))).toEqual(new Set(tasksOf(0).map(({ spec }) => spec.taskId)));
  expect(new Set(tasksOf(1).map(({ worker }) => worker)).size).toBe(2);
  expect([tasksOf(2).length > 0, retries, ahead[0]]).toEqual([true, 0, true]);
  expect(scheduler.pool.states().every(({ load }) => load === 0)).toBe(true);
});

test('when they give something else, what was sent ahead ends, and the query is planned by what they gave', async () => {
  const { run, scheduler } = await ranOnce();
  const came = Promise.withResolvers<void>();
  let withdrawn = 0;
  const again = await run(async (spec, cancelled) => {
    if (spec.scans.length > 0) {
      await came.promise;
      return { report: taskReport(spec, 11) };
    }
    if (!isAwaiting(spec)) return undefined;
    if (tasksOf(1).length === 2) came.resolve();
    await new Promise((resolve) => cancelled.addEventListener('abort', resolve));
    withdrawn += 1;
    return undefined;
  });
  expect(again).toMatchObject({ kind: 'staged', starts: 1, stages: [{}, { retries: 0, tasks: [{}, {}] }, {}] });
  expect(tasksOf(1).map(({ spec }) => isAwaiting(spec))).toEqual([true, true, false, false]);
  await vi.waitFor(() => expect(withdrawn).toBe(2));
  expect([retries, ahead]).toEqual([0, [false]]);
  expect(scheduler.pool.states().every(({ load }) => load === 0)).toBe(true);
});

test('what may come out otherwise when it is made again is not read ahead', async () => {
  const { run } = await ranOnce(FRAGMENTS.map((one) => ({ ...one, repeatable: one.stage > 0 })));
  await run(async (spec) => {
    if (spec.scans.length > 0) await new Promise((resolve) => setTimeout(resolve, 100));
    return undefined;
  });
  expect(tasksOf(1).map(({ spec }) => isAwaiting(spec))).toEqual([false, false]);
});

/** Two scans -> each task of the third stage reads all of both -> the result. */
const TWO_SCANS: readonly Fragment[] = [
  fragment({ output: { kind: 'broadcast' }, partitions: 1 }),
  fragment({ stage: 1, sql: ['stage 1'] }),
  fragment({
    stage: 2,
    sql: ['stage 2'],
    scans: [],
    inputs: [
      { stage: 0, read: 'all', fields: [], reads: 1 },
      { stage: 1, read: 'partition', fields: [], reads: 1 },
    ],
    tasks: { kind: 'partitions' },
  }),
  fragment({
    stage: 3,
    output: null,
    sql: ['stage 3'],
    scans: [],
    inputs: [{ stage: 2, read: 'partition', fields: [], reads: 1 }],
    tasks: { kind: 'partitions' },
  }),
];

test('when an output is lost before the rest of its wave ends, the query is planned by what was given, and it is made again', async () => {
  const planned: (number | undefined)[] = [];
  const { run, workers } = await ranOnce(TWO_SCANS, (facts) => void planned.push(facts.stages.get(0)?.rows));
  const given = planned.at(-1);
  planned.length = 0;
  const ended = Promise.withResolvers<void>();
  let isDead = false;
  const again = await run(async (spec) => {
    // Made again, it takes longer than what is left of the wave.
    if (spec.sql[0] === 'stage 0' && isDead) await new Promise((resolve) => setTimeout(resolve, 500));
    if (spec.sql[0] !== 'stage 1') return undefined;
    if (tasksOf(2).length < 2) await vi.waitFor(() => expect(tasksOf(2)).toHaveLength(2));
    const victim = must(workers[0], 'a worker');
    const isVictims = ran.some((one) => one.spec.taskId === spec.taskId && one.worker === victim.address);
    if (isVictims) {
      victim.kill();
      isDead = true;
      ended.resolve();
      return new Promise(() => undefined);
    }
    await ended.promise;
    await new Promise((resolve) => setTimeout(resolve, 200));
    return undefined;
  });
  expect(again).toMatchObject({ kind: 'staged', starts: 1 });
  expect([planned.length > 1, new Set(planned)]).toEqual([true, new Set([given])]);
  expect(ahead[0]).toBe(false);
});

test('a task that was sent ahead and fails is sent again when it is known that its stage follows, and fails the query then', async () => {
  const { run } = await ranOnce();
  const failing = (isOver: (spec: TaskSpec) => boolean): Promise<StagedRun> => {
    const failed = Promise.withResolvers<void>();
    return run(async (spec) => {
      if (spec.scans.length > 0) {
        await failed.promise;
        // The coordinator hears of the failure first.
        await new Promise((resolve) => setTimeout(resolve, 100));
      } else if (!isOver(spec)) {
        failed.resolve();
        throw new SkeinError('DIVISION_BY_ZERO', 'a division by zero');
      }
      return undefined;
    });
  };
  const once = await failing((spec) => !isAwaiting(spec));
  expect(once).toMatchObject({ kind: 'staged', starts: 1, stages: [{}, { tasks: [{}, {}] }, {}] });
  expect(tasksOf(1).map(({ spec }) => isAwaiting(spec))).toContain(true);
  await expect(failing(() => false)).rejects.toMatchObject({ code: 'DIVISION_BY_ZERO' });
  expect(tasksOf(1).some(({ spec }) => !isAwaiting(spec))).toBe(true);
});

test('a reader that was sent early does not wait for a lost worker whose output came with its report', async () => {
  const reading = Promise.withResolvers<string>();
  const { scheduler, workers } = await cluster(2, {
    spool: async (spec, worker) => {
      const reader = await reading.promise;
      const report = taskReport(spec, 10);
      const partitions = report.partitions.map((one) => ({ ...one, messages: ['AA=='] }));
      if (worker.address !== reader) {
        setTimeout(() => worker.kill(), 100);
        return { report: { ...report, partitions } };
      }
      await vi.waitFor(() => expect(scheduler.pool.liveCount()).toBe(1));
      return { report: { ...report, partitions } };
    },
    stream: async (spec, worker) => {
      reading.resolve(worker.address);
      if (isAwaiting(spec)) await new Promise(() => undefined);
    },
  });
  const run = await runStages(scheduler, query({ scans: [SMALL] }, GATHERED));
  expect(run).toMatchObject({ kind: 'staged', starts: 1, stages: [{ retries: 0 }, { retries: 0, tasks: [{}] }] });
  expect(tasksOf(1).map(({ spec }) => isAwaiting(spec))).toEqual([true, false]);
  expect(workers).toHaveLength(2);
});

test('a task that two workers die of fails its query, and says so', async () => {
  const { scheduler } = await cluster(3, {
    spool: async (spec, worker) => {
      if (spec.sql[0] !== 'stage 1' || spec.inputs[0]?.sources[0]?.partition !== 1) return undefined;
      worker.kill();
      return new Promise(() => undefined);
    },
  });
  await expect(runStages(scheduler, query())).rejects.toMatchObject({
    code: 'WORKER_LOST',
    message: expect.stringContaining('2 workers were lost while they ran the same task'),
  });
});

test('a task whose connection breaks runs again on the same worker; the others, and what is held, stay as they are', async () => {
  let cut: string | undefined;
  const { scheduler } = await cluster(2, {
    spool: async (spec, worker) => {
      if (spec.sql[0] !== 'stage 1' || cut !== undefined) return undefined;
      cut = worker.address;
      worker.cutTasks();
      return new Promise(() => undefined);
    },
  });
  const lives = scheduler.pool.live().map(({ lost }) => lost);
  const { stages } = (await runStages(scheduler, query())) as { stages: readonly { retries: number }[] };
  expect(stages.map((stage) => stage.retries)).toEqual([0, 1, 0]);
  expect(tasksOf(1).filter(({ worker }) => worker === cut)).toHaveLength(2);
  expect(lives.map(({ aborted }) => aborted)).toEqual([false, false]);
});

test('a worker that is lost just after a connection to it broke costs the task, and not the query', async () => {
  let victim: string | undefined;
  const never = new Promise<void>(() => undefined);
  const { scheduler } = await cluster(2, {
    stream: async (_spec, worker) => {
      if (victim !== undefined) return undefined;
      victim = worker.address;
      worker.cutTasks();
      return never;
    },
    // The error of the broken connection is on its way, and waits for this.
    cancel: async (worker) => {
      worker.cutBeats();
      return never;
    },
  });
  expect(await runStages(scheduler, query())).toMatchObject({ kind: 'staged', starts: 1 });
  expect(tasksOf(2).map(({ worker }) => worker === victim)).toContain(true);
  expect(tasksOf(2).at(-1)?.worker).not.toBe(victim);
});

test('a task under which connections break again and again fails its query, and no other worker is tried', async () => {
  const { scheduler } = await cluster(2, {
    spool: async (spec, worker) => {
      if (spec.sql[0] !== 'stage 1' || spec.inputs[0]?.sources[0]?.partition !== 1) return undefined;
      worker.cutTasks();
      return new Promise(() => undefined);
    },
  });
  await expect(runStages(scheduler, query())).rejects.toMatchObject({
    code: 'CONNECTION_LOST',
    message: expect.stringContaining('3 connections to a worker broke while it ran the same task'),
  });
  const tries = tasksOf(1).filter(({ spec }) => spec.inputs[0]?.sources[0]?.partition === 1);
  expect(new Set(tries.map(({ worker }) => worker)).size).toBe(1);
});

test('an input that a task cannot read is made again, although its worker is there', async () => {
  let told = false;
  const { scheduler } = await cluster(2, {
    spool: async (spec) => {
      const source = spec.inputs[0]?.sources[0];
      if (spec.sql[0] !== 'stage 1' || source === undefined || told) return undefined;
      told = true;
      return { lost: { address: source.address, taskId: source.taskId } };
    },
  });
  expect(await runStages(scheduler, query())).toMatchObject({ kind: 'staged', starts: 1 });
  const counts = new Map<string, number>();
  for (const task of tasksOf(0)) counts.set(filesOf([task]).join(), (counts.get(filesOf([task]).join()) ?? 0) + 1);
  expect([...counts.values()].filter((count) => count !== 1)).toEqual([2]);
});

test('the result task names a lost input by its error', async () => {
  let told = false;
  const { scheduler } = await cluster(2, {
    stream: async (spec) => {
      const source = spec.inputs[0]?.sources[0];
      if (told || source === undefined) return;
      told = true;
      throw new SkeinError('INPUT_LOST', 'an input of the task was lost', { lostTask: source.taskId });
    },
  });
  expect(await runStages(scheduler, query())).toMatchObject({ kind: 'staged', starts: 1 });
  expect(tasksOf(1)).toHaveLength(3);
});

test('a lost output that cannot be reproduced exactly restarts the query, unless rows were sent', async () => {
  let told = false;
  const fragments = FRAGMENTS.map((one) => (one.stage === 0 ? { ...one, repeatable: false } : one));
  const behaviour: Behaviour = {
    spool: async (spec) => {
      const source = spec.inputs[0]?.sources[0];
      if (spec.sql[0] !== 'stage 1' || source === undefined || told) return undefined;
      told = true;
      return { lost: { address: source.address, taskId: source.taskId } };
    },
  };
  const { scheduler, workers } = await cluster(2, behaviour);
  expect(await runStages(scheduler, query({}, fragments))).toMatchObject({ kind: 'staged', starts: 2 });
  expect(runIds().size).toBe(2);
  await ended(workers, runIds());
  told = false;
  await expect(runStages(scheduler, query({ mayStartOver: () => false }, fragments))).rejects.toMatchObject({
    code: 'WORKER_LOST',
  });
});

test('a worker that hangs is given up after the heartbeat timeout, with the reads from it; when it wakes it is told to forget', async () => {
  let hung: Worker | undefined;
  const { scheduler } = await cluster(2, {
    spool: async (spec, worker) => {
      if (spec.sql[0] !== 'stage 1' || hung !== undefined) return undefined;
      hung = worker;
      worker.freeze();
      return new Promise(() => undefined);
    },
  });
  const startMs = performance.now();
  expect(await runStages(scheduler, query())).toMatchObject({ kind: 'staged', starts: 1 });
  expect(performance.now() - startMs).toBeLessThan(HEARTBEAT_TIMEOUT_MS + 4_000);
  const frozen = must(hung, 'a worker hung');
  expect(tasksOf(2).every(({ worker }) => worker !== frozen.address)).toBe(true);
  expect(frozen.held.size).toBe(1);
  frozen.thaw();
  await vi.waitFor(() => expect(frozen.held.size).toBe(0), { timeout: 5_000 });
});

test('a worker’s queries of a coordinator that has taken over are not ended', async () => {
  const { workers } = await cluster(1);
  const worker = must(workers[0], 'a worker');
  for (const id of ['a.1.00000000', 'b.2.00000000', 'c']) worker.held.add(id);
  await vi.waitFor(() => expect(worker.ended).toContain('a.1.00000000'));
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect([...worker.held]).toEqual(['b.2.00000000', 'c']);
});

test('a worker that drains gets no new tasks, and what it holds is read', async () => {
  let drained: Worker | undefined;
  const { scheduler } = await cluster(2, {
    spool: async (spec, worker) => {
      if (spec.sql[0] !== 'stage 0' || drained !== undefined) return undefined;
      drained = worker;
      worker.drain();
      await vi.waitFor(() => expect(scheduler.pool.liveCount()).toBe(1));
      return undefined;
    },
  });
  expect(await runStages(scheduler, query())).toMatchObject({ kind: 'staged', stages: [{ retries: 0 }, {}, {}] });
  const address = must(drained, 'a worker drained').address;
  expect(tasksOf(0).filter(({ worker }) => worker === address)).toHaveLength(1);
  expect([...tasksOf(1), ...tasksOf(2)].some(({ worker }) => worker === address)).toBe(false);
  const sources = tasksOf(1).flatMap(({ spec }) => spec.inputs.flatMap((input) => input.sources));
  expect(sources.some((source) => source.address === address)).toBe(true);
});

test('a task refused by a draining worker runs elsewhere and counts no retry', async () => {
  let refused: Worker | undefined;
  const { scheduler } = await cluster(2, {
    spool: (_spec, worker) => {
      refused ??= worker;
      return refused === worker
        ? Promise.reject(new SkeinError('WORKER_DRAINING', 'it drains'))
        : Promise.resolve(undefined);
    },
  });
  const { stages } = (await runStages(scheduler, query())) as { stages: readonly { retries: number }[] };
  expect(stages.map((stage) => stage.retries)).toEqual([0, 0, 0]);
});

test('a worker that joins has tasks from then on', async () => {
  let joined = false;
  const { scheduler, workers, join } = await cluster(
    2,
    {
      spool: async () => {
        if (!joined) await join();
        joined = true;
        return undefined;
      },
    },
    { joinLater: true },
  );
  await runStages(scheduler, query());
  for (const stage of [0, 1]) {
    expect(new Set(tasksOf(stage).map(({ worker }) => worker))).toEqual(new Set(workers.map(({ address }) => address)));
  }
});

test('a plan that never comes to its last fragment runs whole', async () => {
  const { scheduler, workers } = await cluster(1);
  const first = query().distributed;
  const distributor: StagedQuery['distributor'] = {
    advance: () => first.source,
    // Always the same plan, under new numbers.
    distribute: (_plan, { nextStage }) => ({
      ...first,
      fragments: [fragment({ stage: nextStage }), must(first.fragments.at(-1), 'a last fragment')],
      nextStage: nextStage + 1,
    }),
  };
  const run = await runStages(scheduler, query({ distributor }));
  expect(run).toMatchObject({ kind: 'whole', reason: expect.stringContaining('12 waves') });
  await ended(workers, runIds());
});

test('a cancel ends the query on every worker, whatever its tasks do', async () => {
  const abort = new AbortController();
  const { scheduler, workers } = await cluster(2, {
    spool: async (spec) => (spec.sql[0] === 'stage 1' ? new Promise(() => undefined) : undefined),
  });
  const run = runStages(scheduler, query({ signal: abort.signal }));
  await vi.waitFor(() => expect(tasksOf(1)).toHaveLength(2));
  abort.abort(new SkeinError('QUERY_TIMEOUT', 'too long'));
  await expect(run).rejects.toMatchObject({ code: 'QUERY_TIMEOUT' });
  await ended(workers, runIds());
  // The scheduler hears of it through a stream that its worker ends.
  await vi.waitFor(() => expect(scheduler.running.size).toBe(0));
});

test("an error of a task's ends the query with its code", async () => {
  const { scheduler, workers } = await cluster(2, {
    spool: async (spec) => {
      if (spec.sql[0] === 'stage 1') throw new SkeinError('OUT_OF_MEMORY', 'too much');
      return undefined;
    },
  });
  await expect(runStages(scheduler, query())).rejects.toMatchObject({ code: 'OUT_OF_MEMORY', message: 'too much' });
  await ended(workers, runIds());
});

test('a fragment that DuckDB does not bind after a stage has run makes the query run whole before a task of it starts', async () => {
  const { scheduler, workers } = await cluster(2);
  const whole = { kind: 'whole', reason: 'no' } as const;
  const run = await runStages(scheduler, query({ check: () => Promise.resolve(whole) }));
  expect(run).toEqual(whole);
  expect(tasksOf(0)).not.toHaveLength(0);
  expect(tasksOf(1)).toHaveLength(0);
  await ended(workers, runIds());
});

test('a fragment that a worker does not bind makes its query run whole; once rows have left, it is a fault of ours', async () => {
  const { scheduler, workers } = await cluster(2, {
    spool: async (spec) => {
      if (spec.sql[0] === 'stage 1') throw new SkeinError('FRAGMENT_REFUSED', 'syntax error');
      return undefined;
    },
  });
  const refused: unknown[] = [];
  const onRefused: StagedQuery['onRefused'] = ({ stage }, why) => refused.push([stage, why]);
  const run = await runStages(scheduler, query({ onRefused }));
  expect(run).toEqual({ kind: 'whole', reason: 'a worker did not bind a fragment of it: syntax error' });
  expect(refused).toEqual([[1, 'syntax error']]);
  await ended(workers, runIds());
  const late = runStages(scheduler, query({ onRefused, mayStartOver: () => false }));
  await expect(late).rejects.toMatchObject({ code: 'INTERNAL_ERROR', message: 'internal error' });
  expect(refused).toHaveLength(2);
});
