import type { FastifyRequest } from 'fastify';
import { SkeinError } from '#shared/error.ts';
import type { Caller } from '../../auth/authenticate.ts';
import type { CurrentNames } from '../../session/current-names.ts';
import type { SessionKey } from '../../session/session-store.ts';
import type { DocumentedApp } from '../http/documented-app.ts';
import { sessionKey } from '../http/post-query.ts';
import {
  COMPLETE,
  COMPLETE_BODY,
  COMPLETE_BYTES_MAX,
  LIST_OBJECTS,
  type CompleteRequest,
} from './browse-operations.ts';
import { complete } from './complete.ts';
import { keyOf, type Objects } from './objects.ts';

export type BrowseApi = {
  readonly objects: Objects;
  readonly currentNames: (caller: Caller, session: SessionKey) => Promise<CurrentNames>;
};

type Parts = {
  readonly browse: BrowseApi;
  readonly onRequest: (request: FastifyRequest) => Promise<void>;
  readonly callerOf: (request: FastifyRequest) => Caller;
};

const LIMIT_DEFAULT = 100;
/** Longest that a list is read, which may be asked of the catalog for the first time. */
const READ_MS_MAX = 30_000;

/** Routes for people who look, and for editors. */
export function browseRoutes(app: DocumentedApp, { browse, onRequest, callerOf }: Parts): void {
  app.get('/api/objects', { schema: LIST_OBJECTS, onRequest }, async (request) => {
    const { limit = LIMIT_DEFAULT, descending, ...place } = request.query;
    const signal = AbortSignal.timeout(READ_MS_MAX);
    const asked = { ...place, limit, descending: descending === 'true' };
    const { objects, more, total } = await browse.objects.list(callerOf(request), asked, signal);
    const last = objects.at(-1);
    if (total !== undefined) return { objects, next: null, total };
    return { objects, next: more && last !== undefined ? keyOf(last) : null };
  });
  app.route({
    method: 'POST',
    url: '/api/complete',
    schema: COMPLETE,
    config: COMPLETE_BODY,
    bodyLimit: 2 * COMPLETE_BYTES_MAX,
    onRequest,
    handler: async (request) => {
      const caller = callerOf(request);
      const { sql, position } = readBody(request);
      const current = await browse.currentNames(caller, sessionKey(request, caller));
      return complete(browse.objects, caller, { sql, position, current, signal: AbortSignal.timeout(READ_MS_MAX) });
    },
  });
}

/** @throws INVALID_REQUEST, PAYLOAD_TOO_LARGE */
function readBody({ body }: FastifyRequest): CompleteRequest {
  const wrong = new SkeinError('INVALID_REQUEST', 'the body has sql, a text, and position, an offset in it');
  let parsed: unknown;
  try {
    // A text and a small number.
    parsed = Buffer.isBuffer(body) ? JSON.parse(body.toString()) : undefined;
  } catch {
    throw wrong;
  }
  const { sql, position } = (parsed ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof sql !== 'string' || typeof position !== 'number' || !Number.isInteger(position)) throw wrong;
  if (position < 0 || position > sql.length) throw wrong;
  if (sql.length > COMPLETE_BYTES_MAX) {
    throw new SkeinError(
      'PAYLOAD_TOO_LARGE',
      `proposals are made for texts of at most ${COMPLETE_BYTES_MAX} characters`,
    );
  }
  return { sql, position };
}
