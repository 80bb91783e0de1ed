import { expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import type { PlanNode, QueryRunProfile } from './profile-types.ts';
import type { Fragment, WholeFragment } from '../distributor/fragment.ts';
import type { FinishedTask } from '../scheduler/finished-task.ts';
import type { PlannedScan } from '../scheduler/plan-scans.ts';
import { NO_PROGRESS } from '../scheduler/run-progress.ts';
import type { StageReport } from '../scheduler/stage-report.ts';
import type { TaskAttempt } from '../scheduler/task-attempt.ts';
import { StatementProfile } from './statement-profile.ts';
import { finishedTask, SCAN_REPORT } from '#test/support/scripted/finished-task.ts';

const FACTS = {
  sql: 'SELECT 1',
  classification: { workClass: 'medium', reasons: ['1 join'], estimatedRows: 7.4, isSet: false },
  resourceGroup: '/root/etl',
  priority: 2,
} as const;

const report = (scheduledMs: number): FinishedTask =>
  finishedTask({
    scheduledMs,
    rows: 3,
    waits: { inputsMs: 0.26, queuedMs: 2, preparingMs: 3, blockedMs: 4 },
    spilledBytes: 10,
    receivedBytes: 8,
  });

const scan = {
  kind: 'iceberg',
  spec: { tableName: 'lake.tpch.orders', snapshotId: '7' },
  report: SCAN_REPORT,
} as unknown as PlannedScan;

const WHOLE: WholeFragment = {
  stage: 0,
  plan: null,
  partitions: 1,
  sql: [],
  scans: [{ scan: 0, read: 'all' }],
  inputs: [],
  tasks: { kind: 'single' },
  width: 1,
  collected: false,
  repeatable: false,
};
const FRAGMENT: Fragment = {
  ...WHOLE,
  stage: 3,
  plan: { kind: 'oneRow' },
  output: { kind: 'gather' },
  fields: [],
  inputs: [{ stage: 1, read: 'share', fields: [], reads: 1 }],
  tasks: { kind: 'splits' },
  estimate: { rows: 12.3, bytes: 99 },
  reason: 'why not',
};

const finished = (task: number, elapsedMs: number): TaskAttempt => ({
  task,
  worker: `w${task}`,
  threads: 1,
  sentAtMs: 1_100,
  end: { atMs: 1_100 + elapsedMs, event: { kind: 'finished', report: report(elapsedMs) } },
});

const stage = (changes: Partial<StageReport> = {}): StageReport => ({
  fragment: FRAGMENT,
  state: 'done',
  scans: [scan],
  dynamicFilters: [{ column: 'lake.tpch.orders.o_orderkey', stage: 1, text: 'o_orderkey from 1 to 9' }],
  tasks: [report(4), report(6)],
  tasksKnown: 2,
  attempts: [finished(0, 4), finished(1, 6)],
  retries: 1,
  skewed: 0,
  startedAtMs: 1_090,
  elapsedMs: 11,
  ...changes,
});
const view = (...stages: readonly StageReport[]) => ({ progress: NO_PROGRESS, stages });

let elapsedMs = 0;
const newProfile = (bytesMax = 100_000): StatementProfile => {
  elapsedMs = 0;
  return new StatementProfile({
    bytesMax,
    isTraced: false,
    elapsedMs: () => elapsedMs,
    nowMs: () => 1_000 + elapsedMs,
    queuedAtMs: 1_000,
  });
};
const TREE: PlanNode = { name: 'Scan lake.tpch.orders', details: [], stage: 0, children: [] };
const plan = () => ({ lines: ['Scan lake.tpch.orders'], estimatedRows: 5, treeOf: () => TREE });

type Profile = { readonly isCut: boolean; readonly queriesOmitted: number; readonly queries: QueryRunProfile[] };
const textOf = (profile: StatementProfile): string | null => profile.later(FACTS)?.() ?? null;
const read = (profile: StatementProfile, isOver = true): Profile =>
  JSON.parse((isOver ? textOf(profile) : profile.now(FACTS)) ?? 'null') as Profile;

test('a statement that has planned no query has no profile, and none is made when none is kept', () => {
  expect(textOf(newProfile())).toBeNull();
  const off = newProfile(0);
  off.planned(plan);
  expect(off.now(FACTS)).toBeNull();
  off.ended();
  expect(textOf(off)).toBeNull();
});

test('a query in stages: its times, its estimates beside what came, what was pruned, and each task', () => {
  const profile = newProfile();
  elapsedMs = 20;
  profile.planned(() => ({ lines: ['planned anew below'], estimatedRows: null, treeOf: () => null }));
  elapsedMs = 50;
  profile.waited(30);
  profile.planned(plan);
  elapsedMs = 55.04;
  profile.shaped({ kind: 'stages' });
  profile.runs(view());
  profile.runs(view(stage()));
  elapsedMs = 80;
  profile.ended();
  elapsedMs = 1_000;
  const { queries, ...rest } = read(profile);
  expect(rest).toEqual({
    workload: { class: 'medium', reasons: ['1 join'], estimatedRows: 7, resourceGroup: '/root/etl', priority: 2 },
    queriesOmitted: 0,
    isCut: false,
  });
  const times = { planMs: 20, queuedMs: 30, distributeMs: 5, runMs: 25 };
  expect(queries).toMatchObject([
    {
      runs: 'stages',
      reason: null,
      starts: 2,
      estimatedRows: 5,
      ...times,
      plan: ['Scan lake.tpch.orders'],
      planTree: TREE,
    },
  ]);
  const figures = { inputsMs: 0.3, queuedMs: 2, preparingMs: 3, blockedMs: 4, spilledBytes: 10, receivedBytes: 8 };
  expect(queries[0]?.stages).toMatchObject([
    {
      stage: 3,
      state: 'done',
      tasksBy: 'splits',
      output: 'gather',
      inputs: [{ stage: 1, read: 'share' }],
      startMs: 90,
      elapsedMs: 11,
      estimatedRows: 12,
      estimatedBytes: 99,
      rows: 6,
      outputBytes: 80,
      scheduledMs: 10,
      retries: 1,
      tasksKnown: 2,
      tasksDone: 2,
      scans: [
        {
          scan: 0,
          table: 'lake.tpch.orders',
          snapshot: '7',
          files: 9,
          filesPruned: 6,
          rowGroups: 10,
          rowGroupsPruned: 8,
        },
      ],
      tasks: [
        {
          task: 0,
          worker: 'w0',
          state: 'finished',
          startMs: 100,
          elapsedMs: 4,
          rows: 3,
          rowGroupsPruned: 4,
          ...figures,
        },
        { task: 1, worker: 'w1', elapsedMs: 6, scheduledMs: 6 },
      ],
      tasksOmitted: 0,
    },
  ]);
  expect(queries[0]?.stages[0]?.operators).toBeUndefined();
});

test('the bounds of dynamic filters are values of the data, and stay out', () => {
  const profile = newProfile();
  profile.planned(plan);
  profile.runs(view(stage()));
  profile.ended();
  const [query] = read(profile).queries;
  expect(query?.stages[0]?.dynamicFilters).toEqual([{ column: 'lake.tpch.orders.o_orderkey', stage: 1 }]);
});

test('while it runs it tells what is known so far; what has no end when the statement ends was stopped', () => {
  const profile = newProfile();
  profile.planned(plan);
  expect(read(profile, false).queries).toMatchObject([{ runs: null, starts: 0, stages: [] }]);
  profile.shaped({ kind: 'whole', reason: 'there is one worker' });
  const running: TaskAttempt = { task: 0, worker: 'w', threads: 2, sentAtMs: 1_100, end: null };
  const fragment = WHOLE;
  profile.runs(view(stage({ fragment, state: 'running', tasks: [], attempts: [running], tasksKnown: 1 })));
  elapsedMs = 150;
  const of = (state: string) => ({
    runs: 'whole',
    reason: 'there is one worker',
    stages: [{ state, output: 'result', estimatedRows: 5, rows: 0, tasks: [{ state, startMs: 100, elapsedMs: 50 }] }],
  });
  expect(read(profile, false).queries).toMatchObject([of('running')]);
  expect(read(profile, true).queries).toMatchObject([of('stopped')]);
});

test('attempts that did not finish say why', () => {
  const failed = (code: 'OUT_OF_MEMORY' | 'QUERY_CANCELLED'): TaskAttempt['end'] => ({
    atMs: 1_200,
    event: { kind: 'failed', error: new SkeinError(code, 'secret of a row') },
  });
  const ends: readonly TaskAttempt['end'][] = [
    failed('OUT_OF_MEMORY'),
    failed('QUERY_CANCELLED'),
    { atMs: 1_200, event: { kind: 'workerLost' } },
  ];
  const attempts = ends.map((end, task) => ({ task, worker: 'w', threads: 1, sentAtMs: 1_100, end }));
  const profile = newProfile();
  profile.planned(plan);
  profile.runs(view(stage({ state: 'failed', attempts, tasks: [] })));
  profile.ended();
  expect(read(profile).queries[0]?.stages[0]).toMatchObject({
    state: 'failed',
    tasks: [{ state: 'failed', error: 'OUT_OF_MEMORY' }, { state: 'stopped' }, { state: 'workerLost' }],
  });
  expect(textOf(profile)).not.toContain('secret');
});

test('several queries follow each other; beyond sixteen they are counted', () => {
  const profile = newProfile();
  for (let i = 0; i < 20; i += 1) {
    elapsedMs += 10;
    profile.planned(plan);
    elapsedMs += 5;
    profile.ended();
  }
  const { queries, queriesOmitted } = read(profile);
  expect([queries.length, queriesOmitted]).toEqual([16, 4]);
  expect(queries.map(({ planMs }) => planMs)).toEqual(Array.from({ length: 16 }, () => 10));
});

test('a query of a few tasks is put into words after its statement has ended, as it was then; a larger one at once', () => {
  let described = 0;
  const counted = (): ReturnType<typeof plan> => {
    described += 1;
    return plan();
  };
  const profile = newProfile();
  const run = (run: StageReport): void => {
    profile.planned(counted);
    profile.runs(view(run));
    elapsedMs += 10;
    profile.ended();
  };
  run(stage());
  const make = profile.later(FACTS);
  elapsedMs = 1_000;
  expect(described).toBe(0);
  expect(JSON.parse(make?.() ?? '')).toMatchObject({ queries: [{ runMs: 10 }] });
  expect(described).toBe(1);
  run(stage({ attempts: Array.from({ length: 17 }, (_, i) => finished(i, 1)) }));
  expect(described).toBe(2);
  run(stage({ scans: [{ ...scan, report: { ...scan.report, files: 257 } }] }));
  expect(described).toBe(3);
  run(stage({ tasks: [{ ...report(1), profile: {} }] }));
  expect(described).toBe(4);
  // With a large one among its queries, all are printed at once.
  profile.later(FACTS);
  expect(described).toBe(5);
  const long = newProfile();
  long.planned(counted);
  long.ended();
  long.later({ ...FACTS, sql: 'x'.repeat(10_001) });
  expect(described).toBe(6);
});

test('a profile that is too long loses its shortest tasks first, then more, and is never longer than its limit', () => {
  const attempts = Array.from({ length: 300 }, (_, i) => finished(i, (i * 7) % 300));
  const lost = { ...finished(299, 0), end: { atMs: 1_100, event: { kind: 'workerLost' } } } as const;
  const lines = Array.from({ length: 400 }, (_, i) => `line ${i} ${'x'.repeat(5_000)}`);
  const cut = (bytesMax: number): Profile | null => {
    const profile = newProfile(bytesMax);
    profile.planned(() => ({ lines, estimatedRows: 1, treeOf: () => null }));
    profile.runs(view(stage({ attempts: [...attempts.slice(0, -1), lost] })));
    profile.ended();
    const text = textOf(profile);
    expect(Buffer.byteLength(text ?? '')).toBeLessThanOrEqual(bytesMax);
    return text === null ? null : (JSON.parse(text) as Profile);
  };
  expect(cut(2 ** 20)).toMatchObject({ isCut: false, queries: [{ stages: [{ tasksOmitted: 0 }] }] });
  const less = cut(850_000);
  expect(less).toMatchObject({ isCut: true, queries: [{ stages: [{ tasksOmitted: 250 }] }] });
  const [kept = []] = less?.queries[0]?.stages.map(({ tasks }) => tasks) ?? [];
  expect(kept.at(-1)).toMatchObject({ state: 'workerLost' });
  expect(Math.min(...kept.slice(0, -1).map((task) => task.elapsedMs))).toBe(250);
  expect(cut(300_000)).toMatchObject({ isCut: true, queries: [{ stages: [{ tasksOmitted: 295 }] }] });
  expect(cut(100_000)).toMatchObject({ isCut: true, queries: [{ plan: { length: 10 }, stages: [{ tasks: [] }] }] });
  expect(cut(1_000)).toMatchObject({ isCut: true, queries: [], queriesOmitted: 1 });
  expect(cut(10)).toBeNull();
});
