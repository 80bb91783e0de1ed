import type { SkeinError } from '#shared/error.ts';
import type { TaskEnd, TaskSink } from './execute-task.ts';

/** The end of a task that gave no report: it failed, or an input of it was lost. */
export type TaskFailure = Exclude<TaskEnd, { kind: 'finished' }>;

/** The output of a task, from its first row until it is freed. */
export interface HeldOutput extends TaskSink {
  /** Called when the task ended without a report from its slot. */
  fail(failure: TaskFailure): void;
  /** Called when the task is stopped: readers get this error instead of the rows that they have not read. */
  stop(error: SkeinError): void;
  /** Frees memory and files; called once, after the task has left its slot. */
  free(): Promise<void>;
}
