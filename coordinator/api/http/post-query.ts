import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SkeinError } from '#shared/error.ts';
import { isUuid, queryId as toQueryId, type QueryId } from '#shared/id.ts';
import type { Caller } from '../../auth/authenticate.ts';
import { ARROW_STREAM } from './arrow-result.ts';
import type { SessionKey } from '../../session/session-store.ts';

/** The header under which a query's id is given and answered. */
export const QUERY_ID_HEADER = 'x-skein-query-id';

const SOURCE_MAX = 256;

const invalid = (message: string): SkeinError => new SkeinError('INVALID_REQUEST', message);

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

/** @throws INVALID_REQUEST when the header is there and no UUID. */
export function checkQueryId(request: FastifyRequest): void {
  const given = header(request, QUERY_ID_HEADER);
  if (given !== undefined && !isUuid(given)) throw invalid('X-Skein-Query-Id must be a UUID');
}

/** The session that a request's statements belong to. @throws INVALID_REQUEST when `X-Skein-Session` is no UUID. */
export function sessionKey(request: FastifyRequest, caller: Caller): SessionKey {
  const { tenant, sub: principal, jti } = caller.claims;
  const given = header(request, 'x-skein-session');
  if (given === undefined) return { tenant, principal, kind: 'token', id: jti };
  if (!isUuid(given)) throw invalid('X-Skein-Session must be a UUID');
  return { tenant, principal, kind: 'named', id: given };
}

/** Whether the client asks for its result as an Arrow IPC stream. */
export function takesArrow({ headers: { accept = '' } }: FastifyRequest): boolean {
  return accept.split(',').some((one) => one.split(';')[0]?.trim().toLowerCase() === ARROW_STREAM);
}

export function sourceOf(request: FastifyRequest): string | null {
  const source = header(request, 'x-skein-source');
  if (source !== undefined && source.length > SOURCE_MAX) {
    throw invalid(`X-Skein-Source must be at most ${SOURCE_MAX} characters`);
  }
  return source ?? null;
}
