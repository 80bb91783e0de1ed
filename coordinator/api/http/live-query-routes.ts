import type { FastifyRequest } from 'fastify';
import { SkeinError } from '#shared/error.ts';
import { queryId as toQueryId, type QueryId } from '#shared/id.ts';
import type { Action } from '#shared/authorization/action.ts';
import type { Caller } from '../../auth/authenticate.ts';
import type { LiveQuery } from '../../operation/live-query.ts';
import type { QueryService } from '../../query/query-service.ts';
import type { LiveQueryEntry, QueryStateEntry } from './api-types.ts';
import type { DocumentedApp } from './documented-app.ts';
import { CANCEL_QUERY, END_SESSION, GET_QUERY, LIST_QUERIES, QUERIES_DEFAULT } from './operations.ts';
import { sessionKey } from './post-query.ts';

/** Body limit of requests whose body is not read. */
const UNREAD_BODY_BYTES_MAX = 1_024;

type Options = {
  readonly queries: QueryService;
  /** The check of a request that amounts to this action. */
  readonly allows: (action: Action) => (request: FastifyRequest) => Promise<void>;
  /** @throws UNAUTHENTICATED */
  readonly onRequest: (request: FastifyRequest) => Promise<void>;
  readonly callerOf: (request: FastifyRequest) => Caller;
};

/** The routes of statements that wait or run now: list them, look at one, cancel one; and the end of the session that they run in. */
export function liveQueryRoutes(app: DocumentedApp, { queries, allows, onRequest, callerOf }: Options): void {
  app.get('/api/query', { schema: LIST_QUERIES, onRequest: allows('query.read') }, (request) => {
    const { state = null, user_id: owner = null, limit = QUERIES_DEFAULT } = request.query;
    const { queries: found, total } = queries.live(callerOf(request), { state, owner, limit });
    return { queries: found.map(listed), total };
  });
  const get = { schema: GET_QUERY, attachValidation: true, onRequest: allows('query.read') };
  app.get('/api/query/:id', get, (request) => {
    const id = idOf(request);
    const { user_id: owner = null } = request.query;
    const found = id === null ? null : queries.find(callerOf(request), id, owner);
    if (found === null) throw noQuery(request.params.id);
    return stateOf(listed(found));
  });
  const cancel = {
    schema: CANCEL_QUERY,
    attachValidation: true,
    onRequest: allows('query.stop'),
    bodyLimit: UNREAD_BODY_BYTES_MAX,
  };
  app.delete('/api/query/:id', cancel, (request, reply) => {
    const id = idOf(request);
    const { user_id: owner = null } = request.query;
    if (id === null || !queries.cancel(callerOf(request), id, owner)) throw noQuery(request.params.id);
    return reply.code(204).send();
  });
  const end = { schema: END_SESSION, onRequest, bodyLimit: UNREAD_BODY_BYTES_MAX };
  app.delete('/api/session', end, async (request, reply) => {
    await queries.endSession(sessionKey(request, callerOf(request)));
    return reply.code(204).send();
  });
}

/** The id in the path; null when no query has an id of this form. @throws the validation error of another part of the request */
function idOf({ validationError, params }: IdRequest): QueryId | null {
  if (validationError?.validationContext === 'querystring') throw validationError;
  return validationError === undefined ? toQueryId(params.id.toLowerCase()) : null;
}

type IdRequest = Pick<FastifyRequest, 'validationError'> & { readonly params: { readonly id: string } };

const noQuery = (id: string): SkeinError => new SkeinError('QUERY_NOT_FOUND', `no query ${id.slice(0, 64)} is running`);

const stateOf = ({
  query_id,
  state,
  resource_group,
  queue_position,
  reason,
  workload_class,
  queued_at,
  started_at,
  elapsed_ms,
  ...entry
}: LiveQueryEntry): QueryStateEntry => {
  const { rows_produced, bytes_scanned, tasks, tasks_running, tasks_done, workers } = entry;
  const progress = { rows_produced, bytes_scanned, tasks, tasks_running, tasks_done, workers };
  const queue = { resource_group, queue_position, reason, workload_class };
  return { query_id, state, ...queue, queued_at, started_at, elapsed_ms, progress };
};

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
  workload_class: query.classification?.workClass ?? null,
  queue_position: query.waiting?.position ?? null,
  reason: query.waiting?.reason ?? null,
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
