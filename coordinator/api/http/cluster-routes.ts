import type { FastifyRequest } from 'fastify';
import type { Caller } from '../../auth/authenticate.ts';
import { SERIES_STEP_MS } from '../../observe/cluster-series.ts';
import type { ClusterView } from '../../observe/cluster-view.ts';
import { clusterEntry, workerEntry } from '../../observe/entries.ts';
import type { ClusterEntry } from './api-types.ts';
import type { DocumentedApp } from './documented-app.ts';
import { GET_CLUSTER, GET_SERIES, PAGE_DEFAULT, type ClusterSeriesEntry } from './observe-operations.ts';

type Options = {
  readonly view: Pick<ClusterView, 'cluster' | 'series' | 'workloadProblem' | 'workersApart'>;
  /** @throws UNAUTHENTICATED */
  readonly onRequest: (request: FastifyRequest) => Promise<void>;
  readonly callerOf: (request: FastifyRequest) => Caller;
};

/** The routes of the cluster: its active coordinator and a page of its workers; the figures of the last hour. */
export function clusterRoutes(app: DocumentedApp, { view, onRequest, callerOf }: Options): void {
  app.get('/api/cluster', { schema: GET_CLUSTER, onRequest }, (request): ClusterEntry => {
    const { limit = PAGE_DEFAULT, offset = 0 } = request.query;
    const state = view.cluster();
    const { workers } = state;
    return {
      ...clusterEntry(state),
      workers: workers.slice(offset, offset + limit).map(workerEntry),
      total: workers.length,
      ...(isOperator(callerOf(request))
        ? { workload_file_problem: view.workloadProblem(), workers_apart: [...view.workersApart()] }
        : {}),
    };
  });
  app.get('/api/cluster/series', { schema: GET_SERIES, onRequest }, (request) => {
    const { after = 0 } = request.query;
    return seriesEntry(view.series().filter(({ atMs }) => Math.round(atMs / 1_000) > after));
  });
}

function seriesEntry(points: ReturnType<ClusterView['series']>): ClusterSeriesEntry {
  const of = (pick: (point: (typeof points)[number]) => number): number[] => points.map(pick);
  return {
    step_s: SERIES_STEP_MS / 1_000,
    seconds: of(({ atMs }) => Math.round(atMs / 1_000)),
    queries_running: of(({ running }) => running),
    queries_queued: of(({ queued }) => queued),
    running_by_class: {
      interactive: of(({ classes }) => classes.interactive.running),
      medium: of(({ classes }) => classes.medium.running),
      batch: of(({ classes }) => classes.batch.running),
    },
    slots: of(({ slots }) => slots),
    running_tasks: of(({ tasks }) => tasks),
    memory_limit_bytes: of(({ memoryLimitBytes }) => memoryLimitBytes),
    memory_granted_bytes: of(({ memoryGrantedBytes }) => memoryGrantedBytes),
    spool_bytes: of(({ spoolBytes }) => spoolBytes),
  };
}

/** An administrator with a token of the command line. The problem names a path and groups that tenants are not told of. */
const isOperator = ({ claims, decisions }: Caller): boolean =>
  claims.auth_method === 'operator' && decisions.get('query.list')?.allowed === true;
