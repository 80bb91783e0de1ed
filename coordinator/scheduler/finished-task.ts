import type { TaskReport } from '#proto/task.ts';

/** What a worker reports of a task that succeeded, and where and when it ran. */
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
