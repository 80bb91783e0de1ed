import type { QueryId, TaskId } from '#shared/id.ts';
import { FairGate } from '#shared/fair/fair-gate.ts';
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
  /** Tasks that carry rows of clients, each of which is in memory while its task runs. */
  readonly carriers: FairGate;
  readonly onRetry: () => void;
  /** The current runs by their ids. A worker that holds tasks or output of any other run is told to end it. */
  readonly running: Map<QueryId, TimedRun>;
};

/** Tasks that carry parts of rows at once: each part, 8 MiB as a rule, is in memory about twice. */
const CARRIERS = 3;
/** More than any cluster has cores. */
const CARRIERS_WAITING = 100_000;

export const carrierGate = (): FairGate =>
  new FairGate({ atOnce: CARRIERS, waitingMax: CARRIERS_WAITING, what: 'tasks that carry rows' });

/** The workers that take tasks, as the distributor sees them. */
export const clusterFacts = ({ pool }: Scheduler): ClusterFacts => ({ workers: workerFacts(pool.together()) });

export const workerFacts = (workers: readonly LiveWorker[]): ClusterFacts['workers'] =>
  workers.map(({ info }) => ({ slots: info.cores, machine: info.machine }));
