import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isUuid, queryId as toQueryId, type QueryId } from '#shared/id.ts';
import type { Caller } from '../../auth/authenticate.ts';
import { ARROW_STREAM } from './arrow-result.ts';
import type { SessionKey } from '../../session/session-store.ts';

/** The header under which a query's id is given and answered. */
export const QUERY_ID_HEADER = 'x-skein-query-id';

function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** The id of the request's query: that of its header, or a new one. The answer carries it, whatever happens. */
export function takeQueryId(request: FastifyRequest, reply: FastifyReply): QueryId {
  const given = header(request, QUERY_ID_HEADER);
  const id = toQueryId(given !== undefined && isUuid(given) ? given.toLowerCase() : randomUUID());
  void reply.header(QUERY_ID_HEADER, id);
  return id;
}

/** The session that a request's statements belong to. Its headers have been checked. */
export function sessionKey(request: FastifyRequest, caller: Caller): SessionKey {
  const { tenant, sub: principal, jti } = caller.claims;
  const given = header(request, 'x-skein-session');
  if (given === undefined) return { tenant, principal, kind: 'token', id: jti };
  return { tenant, principal, kind: 'named', id: given };
}

/** Whether the client asks for its result as an Arrow IPC stream. */
export function takesArrow({ headers: { accept = '' } }: FastifyRequest): boolean {
  return accept.split(',').some((one) => one.split(';')[0]?.trim().toLowerCase() === ARROW_STREAM);
}

/** A header that is not as it should be is ignored, as its specification wants. */
export const traceParentOf = (request: FastifyRequest): string | null => header(request, 'traceparent') ?? null;

export const sourceOf = (request: FastifyRequest): string | null => header(request, 'x-skein-source') ?? null;
