import type { QueryId } from '#shared/id.ts';
import type { Keyring } from '#shared/keyring.ts';
import type { LiveWorker, WorkerPool } from '../cluster/worker-pool.ts';
import type { ClusterFacts } from '../distributor/fragment.ts';

/** The services and limits that all queries of a coordinator share. */
export type Scheduler = {
  readonly pool: WorkerPool;
  readonly keyring: Keyring;
  readonly epoch: number;
  readonly spillLimitBytes: number;
  /** `worker.task_bytes_max` */
  readonly taskBytesMax: number;
  /** `coordinator.worker_wait` */
  readonly workerWaitMs: number;
  readonly onRetry: () => void;
  /** Ids of the current runs. A worker that holds tasks or output of any other run is told to end it. */
  readonly running: Set<QueryId>;
};

/** The workers that take tasks, as the distributor sees them. */
export const clusterFacts = ({ pool }: Scheduler): ClusterFacts => ({ workers: workerFacts(pool.open()) });

export const workerFacts = (workers: readonly LiveWorker[]): ClusterFacts['workers'] =>
  workers.map(({ info }) => ({ slots: info.cores, machine: info.machine }));
