import type { TaskSpec } from '#shared/task/task.ts';
import type { TaskId } from '#shared/id.ts';
import type { RowsPart } from '../binding/table-rows.ts';
import type { LiveWorker } from '../cluster/worker-pool.ts';
import type { StageRun } from './stage-run.ts';

/** A task that a worker runs, or waits to run. */
export type RunningTask = {
  readonly stage: StageRun;
  /** The rows that it carries. */
  readonly part: RowsPart | undefined;
  readonly worker: LiveWorker;
  readonly reads: ReadonlySet<TaskId>;
  /** It was sent before the tasks that it reads had ended. */
  readonly isEarly: boolean;
  /** It waits for the ends of tasks that it reads, and takes no core meanwhile. */
  waits: boolean;
  readonly stop: AbortController;
  readonly threads: number;
  /** Its scheduled time so far, as its worker's heartbeats tell it, in ms. */
  timedMs: number;
  /** Resolves when the task has ended, or has been given up. */
  readonly ended: PromiseWithResolvers<void>;
};

/** A task that is sent now. */
export const runningTask = (
  sent: Pick<RunningTask, 'stage' | 'worker' | 'isEarly' | 'part'> & { readonly spec: TaskSpec },
): RunningTask => {
  const { stage, worker, isEarly, part, spec } = sent;
  return {
    stage,
    part,
    worker,
    reads: new Set(spec.inputs.flatMap(({ sources }) => sources.map((source) => source.taskId))),
    isEarly,
    waits: isEarly,
    stop: new AbortController(),
    threads: spec.threads,
    timedMs: 0,
    ended: Promise.withResolvers(),
  };
};

/** A reader that was sent early asks the worker for what came with a report, too. One that gives rows has read all. */
export const asksWorker = ({ isEarly, stage }: RunningTask, id: TaskId): boolean =>
  isEarly && stage.result?.hasDelivered(id) !== true;
