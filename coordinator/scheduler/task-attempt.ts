import type { FinishedTask } from './finished-task.ts';
import type { TaskEvent } from './task-state.ts';

/** One attempt to run a task of a stage on a worker. */
export type TaskAttempt = {
  /** Number of the task in its stage, from 0. */
  readonly task: number;
  /** Name of the worker. */
  readonly worker: string;
  readonly threads: number;
  /** Milliseconds since 1970. */
  readonly sentAtMs: number;
  /** Null while it runs. */
  readonly end: AttemptEnd | null;
};

/** `atMs`: milliseconds since 1970. */
type AttemptEnd = { readonly atMs: number; readonly event: TaskEvent };

/** The attempts of a stage's tasks, in the order in which they were sent. A task that ran again has several. */
export class TaskAttempts {
  readonly #all: TaskAttempt[] = [];

  get all(): readonly TaskAttempt[] {
    return this.#all;
  }

  /** Outputs of the tasks that have finished, each by its last attempt. */
  finished(): readonly FinishedTask[] {
    const ends = this.#all.flatMap(({ task, end }) =>
      end?.event.kind === 'finished' ? [[task, end.event.report] as const] : [],
    );
    return [...new Map(ends).values()];
  }

  /** Notes that an attempt was sent. Call the function that it returns once, with the end of the attempt. */
  begin(task: number, ran: Pick<FinishedTask['ran'], 'worker' | 'threads'>): (event: TaskEvent) => void {
    const attempt: TaskAttempt = { task, ...ran, sentAtMs: Date.now(), end: null };
    const index = this.#all.push(attempt) - 1;
    return (event) => {
      this.#all[index] = { ...attempt, end: { atMs: Date.now(), event } };
    };
  }
}
