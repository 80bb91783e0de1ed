import type { QueryId } from '#shared/id.ts';
import type { WorkerInfo, WorkerLink } from '../cluster/worker-link.ts';
import { endQuery } from './spooled-task.ts';

/**
 * Ends what a worker holds of queries that do not run here: it hung when they ended, or they are of a coordinator that is gone. Its
 * beats name them, so one whose end is lost is ended at the next.
 */
export const endUnknown =
  (running: ReadonlySet<QueryId>, secret: string) =>
  ({ client }: WorkerLink, { queryIds }: WorkerInfo): void => {
    for (const queryId of queryIds) if (!running.has(queryId)) void endQuery(client, secret, queryId);
  };
