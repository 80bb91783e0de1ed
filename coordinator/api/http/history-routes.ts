import type { FastifyReply, FastifyRequest } from 'fastify';
import { SkeinError } from '#shared/error.ts';
import type { Caller } from '../../auth/authenticate.ts';
import { ALL_RECORDS, RECORDS_DEFAULT, type HistoryRequest } from '../../history/history-request.ts';
import type { HistoryReader } from '../../history/read-history.ts';
import type { DocumentedApp } from './documented-app.ts';
import { GET_PROFILE, GET_RECORD, LIST_HISTORY, NO_FILTER, SUMMARIZE_HISTORY } from './history-operations.ts';

type Options = {
  readonly history: Pick<HistoryReader, 'list' | 'find' | 'profile' | 'summary'>;
  /** @throws UNAUTHENTICATED */
  readonly onRequest: (request: FastifyRequest) => Promise<void>;
  readonly callerOf: (request: FastifyRequest) => Caller;
};

/** The routes of the query history: a page of it, one record, and how a query ran. */
export function historyRoutes(app: DocumentedApp, { history, onRequest, callerOf }: Options): void {
  app.get('/api/query-history', { schema: LIST_HISTORY, onRequest }, async (request, reply) => {
    const { limit = RECORDS_DEFAULT, offset = 0, ...given } = request.query;
    // The pages that follow leave out what has come since, so that no record is on two of them.
    const { to = new Date(Date.now() + 1).toISOString() } = given;
    const records = await history.list(callerOf(request), {
      ...filtersOf({ ...given, to }),
      limit,
      offset,
      sort: given.sort ?? null,
      allFields: given.fields === 'all',
    });
    if (records.length === limit) linkNext(reply, { ...request.query, to, limit, offset: offset + limit });
    return records;
  });
  app.get('/api/query-history/summary', { schema: SUMMARIZE_HISTORY, onRequest }, (request) => {
    const { by = null, bucket_s: bucketSeconds = null, ...given } = request.query;
    return history.summary(callerOf(request), filtersOf(given), { by, bucketSeconds });
  });
  app.get('/api/query-history/:id', { schema: GET_RECORD, onRequest }, async (request) => {
    const record = await history.find(callerOf(request), request.params.id.toLowerCase());
    if (record === undefined) throw notFound(request.params.id);
    return record;
  });
  app.get('/api/query-history/:id/profile', { schema: GET_PROFILE, onRequest }, async (request, reply) => {
    const profile = await history.profile(callerOf(request), request.params.id.toLowerCase());
    if (profile === undefined) throw notFound(request.params.id);
    // It is JSON already, and may be long.
    return reply.type('application/json; charset=utf-8').serializer(asIs).send(profile);
  });
}

type Filters = {
  readonly status?: string;
  readonly user_id?: string;
  readonly query_type?: string;
  readonly resource_group?: string;
  readonly min_duration_ms?: number;
  readonly text?: string;
  readonly from?: string;
  readonly to?: string;
};

/** @throws INVALID_REQUEST */
const filtersOf = (given: Filters): HistoryRequest => ({
  ...ALL_RECORDS,
  status: filterOf(given.status),
  user: given.user_id ?? null,
  queryType: filterOf(given.query_type),
  resourceGroup: given.resource_group ?? null,
  minDurationMs: given.min_duration_ms ?? null,
  text: given.text ?? null,
  from: given.from === undefined ? null : timeOf('from', given.from),
  to: given.to === undefined ? null : timeOf('to', given.to),
});

const filterOf = (given = NO_FILTER): string | null => (given === NO_FILTER ? null : given);

/** @throws INVALID_REQUEST for a time that the format allows and no clock shows: a leap second */
function timeOf(name: string, text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime()))
    throw new SkeinError('INVALID_REQUEST', `${name} must be a time that a clock shows`);
  return time;
}

const asIs = (text: unknown): string => text as string;

function linkNext(reply: FastifyReply, query: Readonly<Record<string, string | number | undefined>>): void {
  const next = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) next.set(name, String(value));
  void reply.header('link', `</api/query-history?${next.toString()}>; rel="next"`);
}

const notFound = (id: string): SkeinError =>
  new SkeinError('QUERY_NOT_FOUND', `the history has no query ${id.slice(0, 64)}`);
