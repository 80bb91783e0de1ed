import type { TaskReport, TaskSpec } from '#shared/task/task.ts';
import type { PreparedSql } from './prepare-sql.ts';
import type { SlotJob } from '../turns/slot-messages.ts';
import type { TaskOutput } from './task-output.ts';
import type { TaskRun } from './task-run.ts';

/** Bytes of the column chunks that a task reads from storage. */
export const bytesOf = ({ reports }: Pick<PreparedSql, 'reports'>): number =>
  reports.reduce((sum, scan) => sum + scan.bytes, 0);

/**
 * Bytes that a task reads. The coordinator knows only file sizes; the worker knows the bytes that are left after row groups are pruned.
 */
export function taskBytes({ inputs }: TaskSpec, prepared: PreparedSql): number {
  return inputs.reduce((sum, { sources }) => sources.reduce((all, one) => all + one.bytes, sum), bytesOf(prepared));
}

/** A task that has ended well. */
export type TaskDone = {
  readonly run: TaskRun;
  readonly scans: TaskReport['scans'];
  readonly preparingMs: number;
};

/** The report to the coordinator of a task that has ended well. */
export function reportOf(
  { spec, receivedBytes, waits }: SlotJob,
  output: TaskOutput,
  { run, scans, preparingMs }: TaskDone,
): TaskReport {
  return {
    taskId: spec.taskId,
    rows: output.rows,
    batches: output.batches,
    outputBytes: output.bytes,
    scheduledMs: run.times.scheduledMs,
    waits: { ...waits, preparingMs, blockedMs: run.times.blockedMs },
    quanta: run.times.quanta,
    spilledBytes: run.peak.spilledBytes,
    peakMemoryBytes: run.peak.memoryBytes,
    bytesScanned: bytesOf({ reports: scans }),
    scans,
    // The spool fills in the partitions of a spooled output.
    partitions: [],
    ...run.written,
    receivedBytes,
    profile: run.profile,
  };
}
