import type { TaskId } from '#shared/id.ts';
import type { LiveWorker } from '../cluster/worker-pool.ts';
import type { StageRun } from './stage-run.ts';

/** A task that a worker runs, or waits to run. */
export type RunningTask = {
  readonly stage: StageRun;
  readonly worker: LiveWorker;
  readonly reads: ReadonlySet<TaskId>;
  /** It was sent before the tasks that it reads had ended, and takes no core. */
  readonly isEarly: boolean;
  /** It waits for the ends of tasks that it reads. */
  waits: boolean;
  readonly stop: AbortController;
  readonly threads: number;
  /** Its scheduled time so far, as its worker's heartbeats tell it, in ms. */
  timedMs: number;
  /** Resolves when the task has ended, or has been given up. */
  readonly ended: PromiseWithResolvers<void>;
};
