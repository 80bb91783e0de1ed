import type { FastifyRequest } from 'fastify';
import type { ClusterView, WorkerView } from '../../observe/cluster-view.ts';
import type { ClusterEntry, WorkerEntry } from './api-types.ts';
import type { DocumentedApp } from './documented-app.ts';
import { GET_CLUSTER, PAGE_DEFAULT } from './observe-operations.ts';

type Options = {
  readonly view: Pick<ClusterView, 'cluster'>;
  /** @throws UNAUTHENTICATED */
  readonly onRequest: (request: FastifyRequest) => Promise<void>;
};

/** The route of the cluster: its active coordinator and a page of its workers. */
export function clusterRoutes(app: DocumentedApp, { view, onRequest }: Options): void {
  app.get('/api/cluster', { schema: GET_CLUSTER, onRequest }, (request): ClusterEntry => {
    const { limit = PAGE_DEFAULT, offset = 0 } = request.query;
    const { coordinator, running, queued, workers } = view.cluster();
    return {
      coordinator: {
        id: coordinator.id,
        version: coordinator.release.skein,
        duckdb_version: coordinator.release.duckdb,
        epoch: coordinator.epoch,
        active_since: timeOf(coordinator.activeSinceMs),
      },
      queries_running: running,
      queries_queued: queued,
      workers: workers.slice(offset, offset + limit).map(workerEntry),
      total: workers.length,
    };
  });
}

const workerEntry = (worker: WorkerView): WorkerEntry => ({
  name: worker.name,
  state: worker.state,
  since: timeOf(worker.sinceMs),
  version: worker.release?.skein ?? null,
  duckdb_version: worker.release?.duckdb ?? null,
  slots: worker.slots,
  threads: worker.threads,
  running_tasks: worker.runningTasks,
  memory_limit_bytes: worker.memoryLimitBytes,
  memory_granted_bytes: worker.memoryGrantedBytes,
  spool_bytes: worker.spoolBytes,
});

const timeOf = (ms: number): string => new Date(ms).toISOString();
