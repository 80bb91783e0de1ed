import { expect, test } from 'vitest';
import { historyRow } from '#test/support/api-fixtures.ts';
import type { QueryRunProfile, StageProfile, TaskProfile } from '../profile/profile-types.ts';
import { statementSpans, type StatementSpan } from './statement-spans.ts';

const T0 = Date.parse('2026-01-01T00:00:00Z');
const row = historyRow({
  status: 'completed',
  query_type: 'insert',
  queued_at: new Date(T0),
  started_at: new Date(T0 + 5),
  ended_at: new Date(T0 + 100),
  rows_produced: 7,
  sql: 'a text that stays here',
});

const task = (changes: Partial<TaskProfile> = {}): TaskProfile => ({
  task: 0,
  worker: 'worker-1',
  threads: 2,
  state: 'finished',
  startMs: 20,
  elapsedMs: 30,
  rows: 3,
  scheduledMs: 12.5,
  blockedMs: 1,
  ...changes,
});
const stage = (changes: Partial<StageProfile> = {}): StageProfile =>
  ({
    stage: 3,
    state: 'done',
    startMs: 19,
    elapsedMs: 40,
    tasksKnown: 2,
    rows: 3,
    estimatedRows: 5,
    bytesScanned: 9,
    spilledBytes: 0,
    scans: [{ scan: 0, table: 'lake.a.b', snapshot: null }],
    tasks: [task(), task({ task: 1, worker: 'worker-2' })],
    ...changes,
  }) as StageProfile;
const query = (changes: Partial<QueryRunProfile> = {}): QueryRunProfile => ({
  runs: 'stages',
  reason: null,
  starts: 1,
  startMs: 0,
  planMs: 10,
  queuedMs: 5,
  distributeMs: 4,
  runMs: 60,
  estimatedRows: 5,
  plan: ['Scan'],
  planTree: null,
  stages: [stage()],
  ...changes,
});

/** Each span with its begin and end after that of the statement, those within it below. */
const lines = ({ name, startMs, endMs, children }: StatementSpan, depth = 0): readonly string[] => [
  `${' '.repeat(depth)}${name} ${startMs - T0}-${endMs - T0}`,
  ...children.flatMap((child) => lines(child, depth + 1)),
];

test('a statement has its steps one after the other, and stages with their tasks', () => {
  const spans = statementSpans({ row, workClass: 'medium', queries: [query()] });
  expect(lines(spans)).toEqual([
    'insert 0-100',
    ' plan 0-10',
    ' queue 10-15',
    ' distribute 15-19',
    ' stage 3 19-59',
    '  task 0 20-50',
    '  task 1 20-50',
  ]);
  expect(spans.attributes).toMatchObject({
    'db.operation.name': 'INSERT',
    'db.response.returned_rows': 7,
    'skein.query_id': row.query_id,
    'skein.workload_class': 'medium',
  });
  const [, , , ofStage] = spans.children;
  expect(ofStage?.attributes).toMatchObject({ 'skein.estimated_rows': 5, 'skein.tables': 'lake.a.b' });
  expect(ofStage?.children[1]?.attributes).toMatchObject({ 'skein.worker': 'worker-2', 'skein.scheduled_ms': 12.5 });
  expect(JSON.stringify(spans)).not.toContain('a text');
});

test('what failed says with which code, up to the statement', () => {
  const failed = task({ state: 'failed', error: 'DIVISION_BY_ZERO' });
  const { error, children } = statementSpans({
    row: { ...row, status: 'failed', error_code: 'DIVISION_BY_ZERO' },
    workClass: null,
    queries: [query({ stages: [stage({ state: 'failed', tasks: [failed, task({ state: 'stopped' })] })] })],
  });
  const below = children.at(-1);
  expect([error, below?.error, below?.children[0]?.error, below?.children[1]?.error]).toEqual([
    'DIVISION_BY_ZERO',
    'DIVISION_BY_ZERO',
    'DIVISION_BY_ZERO',
    null,
  ]);
});

test('nothing ends after its statement; a query that was never distributed has no such step, one without a query no step', () => {
  const short = { ...row, ended_at: new Date(T0 + 12) };
  const spans = statementSpans({ row: short, workClass: null, queries: [query({ runs: null, stages: [] })] });
  expect(lines(spans)).toEqual(['insert 0-12', ' plan 0-10', ' queue 10-12']);
  const late = query({ runs: null, startMs: 50, stages: [] });
  const [, ...below] = lines(statementSpans({ row: short, workClass: null, queries: [late] }));
  expect(below).toEqual([' plan 12-12', ' queue 12-12']);
  expect(lines(statementSpans({ row: short, workClass: null, queries: [] }))).toEqual(['insert 0-12']);
});

test('a statement of very many tasks has a thousand of them', () => {
  const tasks = Array.from({ length: 600 }, (_, i) => task({ task: i }));
  const stages = [stage({ tasks }), stage({ stage: 4, tasks }), stage({ stage: 5, tasks })];
  const { children } = statementSpans({ row, workClass: null, queries: [query({ stages })] });
  expect(children.map((child) => child.children.length)).toEqual([0, 0, 0, 600, 400, 0]);
});
