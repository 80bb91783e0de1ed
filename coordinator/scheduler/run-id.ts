import { randomUUID } from 'node:crypto';
import { queryId, type QueryId } from '#shared/id.ts';

/** The id of one run of a query, `<query>.<epoch>.<8 digits>`: two clients may choose the same query id, and a query may start over. */
export const newRunId = (query: QueryId, epoch: number): QueryId =>
  queryId(`${query}.${epoch}.${randomUUID().slice(0, 8)}`);

/** The epoch of the coordinator that made a run's id; NaN for an id of another form. */
export const epochOfRun = (run: QueryId): number => Number(/\.(\d+)\.[0-9a-f]{8}$/.exec(run)?.[1]);
