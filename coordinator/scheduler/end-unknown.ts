import type { QueryId } from '#shared/id.ts';
import type { Keyring } from '#shared/keyring.ts';
import type { WorkerInfo, WorkerLink } from '../cluster/worker-link.ts';
import { epochOfRun } from './run-id.ts';
import { endQuery } from './spooled-task.ts';

type Options = { readonly running: ReadonlySet<QueryId>; readonly epoch: number; readonly keyring: Keyring };

/**
 * Ends what a worker holds of queries that do not run here: it hung when they ended, or they are of a coordinator that is gone. Its
 * beats name them, so one whose end is lost is ended at the next. Queries of a later epoch belong to who has taken over from us.
 */
export const endUnknown =
  ({ running, epoch, keyring }: Options) =>
  ({ client }: WorkerLink, { queryIds }: WorkerInfo): void => {
    for (const queryId of queryIds) {
      if (!running.has(queryId) && epochOfRun(queryId) <= epoch) void endQuery(client, keyring, queryId);
    }
  };
