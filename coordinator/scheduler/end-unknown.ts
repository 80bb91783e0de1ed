import type { QueryId } from '#shared/id.ts';
import type { WorkerInfo } from '../cluster/worker-info.ts';
import type { WorkerLink } from '../cluster/worker-link.ts';
import { epochOfRun } from './run-id.ts';
import { endQuery } from './spooled-task.ts';

export type HeldEpochs = {
  readonly running: ReadonlyMap<QueryId, unknown>;
  readonly epoch: number;
  /** Epochs of coordinators before this one whose queries go on. */
  readonly ending: () => readonly number[];
};

/**
 * Ends the queries that a worker holds but this coordinator does not run: the worker hung when they ended, or their coordinator is gone.
 * Its heartbeats name them, so a lost EndQuery call is repeated at the next. Queries of a later epoch belong to the coordinator that took
 * over.
 */
export const endUnknown =
  ({ running, epoch, ending }: HeldEpochs) =>
  ({ calls }: WorkerLink, { queryIds }: WorkerInfo): void => {
    for (const queryId of queryIds) {
      const theirs = epochOfRun(queryId);
      if (!running.has(queryId) && theirs <= epoch && !ending().includes(theirs)) void endQuery(calls, queryId);
    }
  };
