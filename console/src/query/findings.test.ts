import { expect, test } from 'vitest';
import type { QueryProfileEntry } from '#coordinator/api/http/api-types.ts';
import type { QueryRunProfile, ScanProfile, StageProfile } from '#coordinator/profile/profile-types.ts';
import { findings } from './findings.ts';

const STAGE: StageProfile = {
  stage: 2,
  state: 'done',
  tasksBy: 'splits',
  output: 'hash',
  partitions: 8,
  estimatedBytes: null,
  batches: 1,
  quanta: 1,
  inputsMs: 0,
  queuedMs: 0,
  preparingMs: 0,
  blockedMs: 0,
  receivedBytes: 0,
  skewSplits: 0,
  dynamicFilters: [],
  tasksOmitted: 0,
  reason: null,
  inputs: [],
  estimatedRows: null,
  rows: 10,
  outputBytes: 0,
  spilledBytes: 0,
  peakMemoryBytes: 0,
  bytesScanned: 0,
  scheduledMs: 0,
  startMs: 0,
  elapsedMs: 0,
  retries: 0,
  tasksKnown: 1,
  tasksDone: 1,
  scans: [],
  tasks: [],
};
const RUN: QueryRunProfile = {
  runs: 'stages',
  reason: null,
  starts: 1,
  startMs: 0,
  planMs: 10,
  queuedMs: 0,
  distributeMs: 10,
  runMs: 1_000,
  estimatedRows: null,
  plan: [],
  planTree: null,
  stages: [STAGE],
};
const tasks = (...times: readonly number[]): StageProfile['tasks'] =>
  times.map((elapsedMs, task) => ({ task, worker: 'w', threads: 1, state: 'finished', startMs: 0, elapsedMs }));
const profile = (run: Partial<QueryRunProfile>): QueryProfileEntry => ({
  queryId: 'q',
  status: 'completed',
  queuedAt: '',
  startedAt: null,
  endedAt: null,
  queries: [{ ...RUN, ...run }],
});
const ofStage = (stage: Partial<StageProfile>): QueryProfileEntry => profile({ stages: [{ ...STAGE, ...stage }] });
const ofScan = (scan: Partial<ScanProfile>): QueryProfileEntry =>
  ofStage({ scans: [{ scan: 0, snapshot: null, table: 'lake.s.t', ...scan }] });
const MIB = 2 ** 20;

test('a query without anything has no findings', () => {
  expect(findings(profile({}))).toEqual([]);
  expect(findings({ ...profile({}), queries: undefined } as unknown as QueryProfileEntry)).toEqual([]);
});

test.each<[string, QueryProfileEntry, string, QueryProfileEntry]>([
  ['waited', profile({ queuedMs: 4_000 }), 'waited 4.0 s of 5.0 s', profile({ queuedMs: 199, runMs: 1 })],
  ['spilled', ofStage({ spilledBytes: 3 * MIB }), 'Stage 2 wrote 3.0 MiB to disk', ofStage({ spilledBytes: 0 })],
  [
    'skewed',
    ofStage({ tasks: tasks(100, 110, 120, 900) }),
    'took 900 ms, the middle one 120 ms',
    ofStage({ tasks: tasks(100, 110, 120, 300) }),
  ],
  [
    'estimate',
    ofStage({ estimatedRows: 50_000, rows: 100 }),
    '100 rows where 50,000 were expected',
    ofStage({ estimatedRows: 900, rows: 100 }),
  ],
  ['unpruned', ofScan({ files: 12 }), 'read all 12 files of lake.s.t', ofScan({ files: 12, filesPruned: 1 })],
  [
    'smallFiles',
    ofScan({ files: 30, filesPruned: 5, bytes: 25 * MIB }),
    '25 were read, 1.0 MiB of each',
    ofScan({ files: 30, filesPruned: 5, bytes: 250 * MIB }),
  ],
  ['deletes', ofScan({ deleteFiles: 3 }), '3 delete files of lake.s.t', ofScan({ deleteFiles: 0 })],
  ['retries', ofStage({ retries: 1 }), '1 task of stage 2 ran again', profile({ starts: 1 })],
  ['retries', profile({ starts: 2 }), 'It began 2 times', profile({ starts: 1 })],
])('%s', (rule, fires, sentence, doesNotFire) => {
  const found = findings(fires).filter((finding) => finding.rule === rule);
  expect(found).toHaveLength(1);
  expect(found[0]?.text).toContain(sentence);
  expect(findings(doesNotFire).filter((finding) => finding.rule === rule)).toEqual([]);
});
