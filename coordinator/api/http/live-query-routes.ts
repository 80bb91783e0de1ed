import type { FastifyRequest } from 'fastify';
import { SkeinError } from '#shared/error.ts';
import { queryId as toQueryId } from '#shared/id.ts';
import type { Caller } from '../../auth/authenticate.ts';
import type { LiveQuery } from '../../query/live-query.ts';
import type { QueryService } from '../../query/query-service.ts';
import type { LiveQueryEntry } from './api-types.ts';
import type { DocumentedApp } from './documented-app.ts';
import { CANCEL_QUERY, LIST_QUERIES, QUERIES_DEFAULT } from './operations.ts';

/** Body limit of requests whose body is not read. */
const UNREAD_BODY_BYTES_MAX = 1_024;

type Options = {
  readonly queries: QueryService;
  /** @throws UNAUTHENTICATED */
  readonly onRequest: (request: FastifyRequest) => Promise<void>;
  readonly callerOf: (request: FastifyRequest) => Caller;
};

/** The routes of statements that wait or run now: list them, cancel one. */
export function liveQueryRoutes(app: DocumentedApp, { queries, onRequest, callerOf }: Options): void {
  app.get('/api/query', { schema: LIST_QUERIES, onRequest }, (request) => {
    const { state = null, user_id: owner = null, limit = QUERIES_DEFAULT } = request.query;
    const { queries: found, total } = queries.live(callerOf(request), { state, owner, limit });
    return { queries: found.map(listed), total };
  });
  const cancel = { schema: CANCEL_QUERY, attachValidation: true, onRequest, bodyLimit: UNREAD_BODY_BYTES_MAX };
  app.delete('/api/query/:id', cancel, (request, reply) => {
    const { validationError } = request;
    if (validationError?.validationContext === 'querystring') throw validationError;
    const { id } = request.params;
    // No query has an id of another form.
    const isId = validationError === undefined;
    const { user_id: owner = null } = request.query;
    if (!isId || !queries.cancel(callerOf(request), toQueryId(id.toLowerCase()), owner)) {
      throw new SkeinError('QUERY_NOT_FOUND', `no query ${id.slice(0, 64)} is running`);
    }
    return reply.code(204).send();
  });
}

const listed = ({ progress, ...query }: LiveQuery): LiveQueryEntry => ({
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
  workers: [...progress.workers],
});
