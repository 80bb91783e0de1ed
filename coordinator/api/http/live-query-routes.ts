import type { FastifyInstance, FastifyRequest } from 'fastify';
import { SkeinError } from '#shared/error.ts';
import { isUuid, queryId as toQueryId } from '#shared/id.ts';
import type { Caller } from '../../auth/authenticate.ts';
import { LIVE_STATES, type LiveQuery } from '../../query/live-query.ts';
import type { QueryService } from '../../query/query-service.ts';

/** Statements of one answer, as of a page of the history. */
export const LIMIT_DEFAULT = 50;
export const LIMIT_MAX = 500;
/** Body limit of requests whose body is not read. */
const UNREAD_BODY_BYTES_MAX = 1_024;

type Options = {
  readonly queries: QueryService;
  /** @throws UNAUTHENTICATED */
  readonly onRequest: (request: FastifyRequest) => Promise<void>;
  readonly callerOf: (request: FastifyRequest) => Caller;
};

/** The routes of statements that wait or run now: list them, cancel one. */
export function liveQueryRoutes(app: FastifyInstance, { queries, onRequest, callerOf }: Options): void {
  app.get('/api/query', { onRequest }, (request) => {
    const state = LIVE_STATES.find((one) => one === parameter(request, 'state')) ?? null;
    if (state === null && parameter(request, 'state') !== null) {
      throw invalid(`state is one of ${LIVE_STATES.join(', ')}`);
    }
    const limit = limitOf(parameter(request, 'limit'));
    const asked = { state, owner: parameter(request, 'user_id'), limit };
    const { queries: found, total } = queries.live(callerOf(request), asked);
    return { queries: found.map(listed), total };
  });
  app.delete('/api/query/:id', { onRequest, bodyLimit: UNREAD_BODY_BYTES_MAX }, (request, reply) => {
    const { id } = request.params as { readonly id: string };
    const owner = parameter(request, 'user_id');
    if (!isUuid(id) || !queries.cancel(callerOf(request), toQueryId(id.toLowerCase()), owner)) {
      throw new SkeinError('QUERY_NOT_FOUND', `no query ${id.slice(0, 64)} is running`);
    }
    return reply.code(204).send();
  });
}

const invalid = (message: string): SkeinError => new SkeinError('INVALID_REQUEST', message);

/** @throws INVALID_REQUEST when it is given twice */
function parameter(request: FastifyRequest, name: string): string | null {
  const value = (request.query as Readonly<Record<string, string | readonly string[] | undefined>>)[name];
  if (value !== undefined && typeof value !== 'string') throw invalid(`${name} is given twice`);
  return value ?? null;
}

function limitOf(text: string | null): number {
  if (text === null) return LIMIT_DEFAULT;
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > LIMIT_MAX) throw invalid(`limit is a number from 1 to ${LIMIT_MAX}`);
  return limit;
}

const listed = ({ progress, ...query }: LiveQuery): object => ({
  query_id: query.queryId,
  state: query.state,
  sql: query.sql,
  user_id: query.principal,
  username: query.username,
  query_type: query.queryType,
  source: query.source,
  resource_group: query.resourceGroup,
  priority: query.priority,
  queued_at: new Date(query.queuedAtMs).toISOString(),
  started_at: query.startedAtMs === null ? null : new Date(query.startedAtMs).toISOString(),
  elapsed_ms: Math.round(query.elapsedMs),
  rows_produced: query.rowsProduced,
  bytes_scanned: progress.bytesScanned,
  tasks: progress.tasks,
  tasks_running: progress.tasksRunning,
  tasks_done: progress.tasksDone,
  workers: progress.workers,
});
