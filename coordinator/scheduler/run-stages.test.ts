import { expect, test, vi } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import {
  cluster,
  ended,
  FILES,
  filesOf,
  fragment,
  FRAGMENTS,
  HEARTBEAT_TIMEOUT_MS,
  query,
  ran,
  retries,
  runIds,
  tasksOf,
  type Behaviour,
  type Worker,
} from '#test/support/scripted/staged-query.ts';
import { taskReport } from '#test/support/scripted/worker.ts';
import { NO_PROGRESS, type RunProgress } from './run-progress.ts';
import { runStages, type StagedQuery, type StagedRun } from './run-stages.ts';
import { patience } from '#test/support/run/slowness.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

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
  expect(performance.now() - startMs).toBeLessThan(HEARTBEAT_TIMEOUT_MS + 4_000 * machineSlowness());
  const frozen = must(hung, 'a worker hung');
  expect(tasksOf(2).every(({ worker }) => worker !== frozen.address)).toBe(true);
  expect(frozen.held.size).toBe(1);
  frozen.thaw();
  await vi.waitFor(() => expect(frozen.held.size).toBe(0), { timeout: patience(5_000) });
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
