import type { TaskReport } from '#shared/task/task.ts';
import type { Json } from '#shared/json.ts';
import type { MemoryUse } from '../duckdb/instance-pool.ts';
import type { TaskTimes } from './slot-scheduler.ts';

/** Measurements of a task that succeeded. */
export type TaskRun = {
  readonly times: TaskTimes;
  readonly peak: MemoryUse;
  readonly profile: Json;
  readonly written: Pick<TaskReport, 'files' | 'replaced' | 'unloaded' | 'loads'>;
};

/** The profile is that of the first statement, which computes the rows. */
export const addRuns = (one: TaskRun, next: TaskRun): TaskRun => ({
  ...one,
  times: {
    scheduledMs: one.times.scheduledMs + next.times.scheduledMs,
    quanta: one.times.quanta + next.times.quanta,
    blockedMs: one.times.blockedMs + next.times.blockedMs,
  },
  peak: {
    memoryBytes: Math.max(one.peak.memoryBytes, next.peak.memoryBytes),
    spilledBytes: Math.max(one.peak.spilledBytes, next.peak.spilledBytes),
  },
});

/** A task that has nothing to do, because none of its files can be read. */
export const NO_RUN: Omit<TaskRun, 'written'> = {
  times: { scheduledMs: 0, quanta: 0, blockedMs: 0 },
  peak: { memoryBytes: 0, spilledBytes: 0 },
  profile: null,
};
