import type { FastifyRequest } from 'fastify';
import type { Caller } from '../../auth/authenticate.ts';
import type { ClusterView } from '../../observe/cluster-view.ts';
import { clusterEntry, workerEntry } from '../../observe/entries.ts';
import type { ClusterEntry } from './api-types.ts';
import type { DocumentedApp } from './documented-app.ts';
import { GET_CLUSTER, PAGE_DEFAULT } from './observe-operations.ts';

type Options = {
  readonly view: Pick<ClusterView, 'cluster' | 'workloadProblem' | 'workersApart'>;
  /** @throws UNAUTHENTICATED */
  readonly onRequest: (request: FastifyRequest) => Promise<void>;
  readonly callerOf: (request: FastifyRequest) => Caller;
};

/** The route of the cluster: its active coordinator and a page of its workers. */
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
}

/** An administrator with a token of the command line. The problem names a path and groups that tenants are not told of. */
const isOperator = ({ claims, decisions }: Caller): boolean =>
  claims.auth_method === 'operator' && decisions.get('query.list')?.allowed === true;
