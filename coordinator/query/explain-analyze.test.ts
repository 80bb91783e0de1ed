import { expect, test } from 'vitest';
import type { PlannedScan } from '../scheduler/plan-scans.ts';
import type { Fragment } from '../distributor/fragment.ts';
import type { StageReport } from '../scheduler/stage-report.ts';
import type { QueryStages } from '../scheduler/distribute-query.ts';
import type { QueryOutcome } from './execute-query.ts';
import type { Classification } from '../workload/classify.ts';
import { explainAnalyze } from './explain-analyze.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';
import { finishedTask, SCAN_REPORT } from '#test/support/scripted/finished-task.ts';

const CLASS: Classification = {
  workClass: 'medium',
  reasons: ['1 join', 'about 200,000 rows'],
  estimatedRows: 200_000,
  isSet: false,
};

const scan: PlannedScan = {
  kind: 'files',
  spec: {
    tableName: 'lake.tpch.orders',
    tableUuid: 'u',
    snapshotId: '7',
    schemaId: 0,
    columns: [],
    files: [],
    nameMapping: null,
    predicate: { kind: 'true' },
    allowedRoots: [],
    credential: FILE_CREDENTIAL,
  },
  report: SCAN_REPORT,
};
const report = finishedTask({
  profile: {
    latency: 1,
    children: [
      {
        operator_name: 'PROJECTION',
        operator_cardinality: 1,
        operator_rows_scanned: 0,
        operator_timing: 0.001,
        children: [
          {
            operator_name: 'READ_PARQUET ',
            extra_info: '{Filters=\'a="__estimated_cardinality__=9"\', __estimated_cardinality__=7}',
            operator_cardinality: 2,
            operator_rows_scanned: 15,
            operator_timing: 0.0004,
            children: [],
          },
        ],
      },
    ],
  },
});

type Outcome = Omit<QueryOutcome, 'query'>;

const outcome: Outcome = {
  rows: 1,
  bytesScanned: 600,
  fragments: 1,
  scans: [scan],
  files: [],
  replaced: [],
  unloaded: [],
  run: { kind: 'whole', reason: 'there is one worker', report },
};

test('it shows pruned files, rows read and time spent', () => {
  expect(explainAnalyze({ plan: ['Scan'], outcome, planMs: 1, runMs: 2, classification: CLASS }, 'text')).toEqual([
    'Scan',
    '',
    'planning 1.0 ms, execution 2.0 ms, one worker (there is one worker)',
    'Workload class: medium (1 join, about 200,000 rows)',
    'task: rows=1 batches=1 output_bytes=40 quanta=3 inputs_ms=1 queued_ms=2 preparing_ms=3 scheduled_ms=7.4 blocked_ms=4 ' +
      'spilled_bytes=0 peak_memory_bytes=5 bytes_scanned=600 received_bytes=0',
    'scan 0 lake.tpch.orders: snapshot=7 manifests=2 manifests_pruned=1 files=9 files_pruned=6 files_pruned_by_partition=4 ' +
      'delete_files=1 row_groups=5 row_groups_pruned=4 bytes=600',
    '',
    'operators:',
    '  PROJECTION rows=1 time_ms=1.00',
    '    READ_PARQUET rows=2 estimated_rows=7 rows_scanned=15 time_ms=0.40',
    '',
  ]);
});

test('a stage adds its tasks up, operator by operator; the same as JSON', () => {
  const fragment: Fragment = {
    stage: 3,
    plan: { kind: 'oneRow' },
    output: { kind: 'gather' },
    partitions: 1,
    fields: [],
    sql: [],
    scans: [{ scan: 0, read: 'split' }],
    inputs: [],
    tasks: { kind: 'splits' },
    width: 1,
    collected: false,
    repeatable: true,
    estimate: { rows: 1, bytes: 1 },
    reason: 'why not',
  };
  const stage: StageReport<Fragment> = {
    fragment,
    scans: [scan],
    dynamicFilters: [{ column: 'o_orderkey', stage: 1, text: 'o_orderkey from 1 to 9' }],
    state: 'done',
    tasksKnown: 2,
    attempts: [],
    tasks: [report, { ...report, peakMemoryBytes: 9 }],
    retries: 1,
    skewed: 2,
    startedAtMs: 1,
    elapsedMs: 11.6,
  };
  const plan = { kind: 'stages' } as QueryStages;
  const staged: Outcome = { ...outcome, run: { kind: 'staged', plan, stages: [stage], starts: 1 } };
  const text = explainAnalyze({ plan: [], outcome: staged, planMs: 1, runMs: 2, classification: CLASS }, 'text').join(
    '\n',
  );
  expect(text).toContain(
    'stage 3 by splits -> gather: tasks=2 estimated_rows=1 rows=2 batches=2 output_bytes=80 quanta=6',
  );
  expect(text).toContain('peak_memory_bytes=9');
  expect(text).toContain('elapsed_ms=12 retries=1 skew_splits=2');
  expect(text).toContain('row_groups=10 row_groups_pruned=8 bytes=1200');
  expect(text).toContain('dynamic filter: o_orderkey from 1 to 9');
  expect(text).toContain('    READ_PARQUET rows=4 estimated_rows=14 rows_scanned=30 time_ms=0.80');
  const [json = ''] = explainAnalyze({ plan: [], outcome: staged, planMs: 1, runMs: 2, classification: CLASS }, 'json');
  expect(JSON.parse(json)).toMatchObject({
    workload_class: 'medium',
    class_reasons: ['1 join', 'about 200,000 rows'],
    estimated_rows: 200_000,
    fragments: [
      {
        stage: 3,
        tasks: 2,
        rows: 2,
        operators: [{ name: 'PROJECTION', tasks: 2, children: [{ rows: 4, estimated_rows: 14 }] }],
      },
    ],
  });
});

test('without a profile there are no operators', () => {
  const bare: Outcome = { ...outcome, run: { kind: 'whole', reason: '', report: { ...report, profile: null } } };
  expect(
    explainAnalyze({ plan: [], outcome: bare, planMs: 1, runMs: 2, classification: CLASS }, 'text').join(),
  ).not.toContain('operators');
});
