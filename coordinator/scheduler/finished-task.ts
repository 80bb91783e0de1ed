import type { TaskReport } from '#shared/task/task.ts';

/** A worker's report of a task that succeeded, with the place and time of its run. */
export type FinishedTask = TaskReport & { readonly ran: TaskRan };

type TaskRan = {
  /** Name of the worker. */
  readonly worker: string;
  readonly threads: number;
  /** Milliseconds since 1970. */
  readonly sentAtMs: number;
  readonly endedAtMs: number;
};

/** Time that a task has had on cores, in ms. */
export const coreMs = ({ scheduledMs, ran }: FinishedTask): number => scheduledMs * ran.threads;
