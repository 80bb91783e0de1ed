import { expect, test, vi } from 'vitest';
import type { TaskSpec } from '#proto/task.ts';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import {
  ahead,
  cluster,
  FILES,
  forgetRan,
  fragment,
  FRAGMENTS,
  query,
  ran,
  retries,
  tasksOf,
} from '#test/support/scripted/staged-query.ts';
import { taskReport, type SpooledAnswer } from '#test/support/scripted/worker.ts';
import type { DistributionFacts, Fragment } from '../distributor/fragment.ts';
import type { PlannedScan } from './plan-scans.ts';
import { runStages, type StagedQuery, type StagedRun } from './run-stages.ts';

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
    forgetRan();
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
