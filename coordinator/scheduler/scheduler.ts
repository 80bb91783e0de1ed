import type { QueryId, TaskId } from '#shared/id.ts';
import type { TaskTime } from '../cluster/worker-info.ts';
import type { LiveWorker, WorkerPool } from '../cluster/worker-pool.ts';
import type { ClusterFacts } from '../distributor/fragment.ts';
import type { KeyServices, RunKeys } from './run-keys.ts';

/** A run of a query, as its workers' heartbeats concern it. */
export interface TimedRun {
  /** Scheduled time over the whole cluster so far, in ms. */
  readonly scheduledMs: number;
  /** Whether its tasks stay on the top level of the slots. */
  readonly isPinned: boolean;
  /** A task that runs has cost so much by now. */
  timed(task: TaskId, costs: Pick<TaskTime, 'scheduledMs' | 'bytesScanned'>): void;
  /** The keys of its running tasks. */
  readonly keys: RunKeys;
}

/** The services and limits that all queries of a coordinator share. */
export type Scheduler = KeyServices & {
  readonly pool: WorkerPool;
  readonly epoch: number;
  readonly spillLimitBytes: number;
  /** `worker.task_bytes_max` */
  readonly taskBytesMax: number;
  /** `coordinator.worker_wait` */
  readonly workerWaitMs: number;
  readonly onRetry: () => void;
  /** The current runs by their ids. A worker that holds tasks or output of any other run is told to end it. */
  readonly running: Map<QueryId, TimedRun>;
};

/** The workers that take tasks, as the distributor sees them. */
export const clusterFacts = ({ pool }: Scheduler): ClusterFacts => ({ workers: workerFacts(pool.together()) });

export const workerFacts = (workers: readonly LiveWorker[]): ClusterFacts['workers'] =>
  workers.map(({ info }) => ({ slots: info.cores, machine: info.machine }));
