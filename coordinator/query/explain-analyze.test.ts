import { expect, test } from 'vitest';
import type { TaskReport } from '#proto/task.ts';
import { taskId } from '#shared/id.ts';
import type { PlannedScan } from '../scheduler/plan-scans.ts';
import { analyzeLines } from './explain-analyze.ts';

const scan: PlannedScan = {
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
  },
  report: {
    manifests: 2,
    manifestsPruned: 1,
    files: 9,
    filesPruned: 6,
    filesPrunedByPartition: 4,
    deleteFiles: 1,
    rows: 100,
    bytes: 1_000,
  },
};
const report: TaskReport = {
  taskId: taskId('t'),
  rows: 1,
  batches: 1,
  outputBytes: 40,
  scheduledMs: 7.4,
  quanta: 3,
  spilledBytes: 0,
  peakMemoryBytes: 5,
  bytesScanned: 600,
  scans: [{ scan: 0, files: 3, rowGroups: 5, rowGroupsPruned: 4, bytes: 600 }],
  partitions: [],
  receivedBytes: 0,
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
            operator_cardinality: 2,
            operator_rows_scanned: 15,
            operator_timing: 0.0004,
            children: [],
          },
        ],
      },
    ],
  },
};

test('what was pruned, read and spent', () => {
  expect(analyzeLines({ report, scans: [scan], planMs: 1, runMs: 2 })).toEqual([
    '',
    'planning 1.0 ms, execution 2.0 ms',
    'task: rows=1 batches=1 output_bytes=40 quanta=3 scheduled_ms=7 spilled_bytes=0 peak_memory_bytes=5 bytes_scanned=600',
    'scan 0 lake.tpch.orders: snapshot=7 manifests=2 manifests_pruned=1 files=9 files_pruned=6 files_pruned_by_partition=4 ' +
      'delete_files=1 row_groups=5 row_groups_pruned=4 bytes=600',
    '',
    'operators:',
    '  PROJECTION rows=1 time_ms=1.00',
    '    READ_PARQUET rows=2 rows_scanned=15 time_ms=0.40',
  ]);
});

test('without a profile there are no operators', () => {
  expect(analyzeLines({ report: { ...report, profile: null }, scans: [], planMs: 1, runMs: 2 })).toHaveLength(3);
});
