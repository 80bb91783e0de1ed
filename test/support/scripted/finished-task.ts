import { taskId } from '#shared/id.ts';
import type { PlanReport } from '#shared/iceberg/planning.ts';
import type { FinishedTask } from '#coordinator/scheduler/finished-task.ts';

/** A task that read three files and gave rows. */
export const finishedTask = (changes: Partial<FinishedTask> = {}): FinishedTask => ({
  ran: { worker: 'w', threads: 1, sentAtMs: 0, endedAtMs: 1 },
  taskId: taskId('t'),
  rows: 1,
  batches: 1,
  outputBytes: 40,
  scheduledMs: 7.4,
  waits: { inputsMs: 1, queuedMs: 2, preparingMs: 3, blockedMs: 4 },
  quanta: 3,
  spilledBytes: 0,
  peakMemoryBytes: 5,
  bytesScanned: 600,
  scans: [{ scan: 0, files: 3, rowGroups: 5, rowGroupsPruned: 4, bytes: 600 }],
  partitions: [],
  files: [],
  receivedBytes: 0,
  profile: null,
  ...changes,
});

/** The report of the scan that such tasks read: three of nine files. */
export const SCAN_REPORT: PlanReport = {
  manifests: 2,
  manifestsPruned: 1,
  files: 9,
  filesPruned: 6,
  filesPrunedByPartition: 4,
  deleteFiles: 1,
  rows: 100,
  bytes: 1_000,
};
