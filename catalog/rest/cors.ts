import type { FastifyReply, FastifyRequest } from 'fastify';

/** Response headers that a browser may expose to a web client (fetch.spec.whatwg.org, "CORS protocol"). */
const EXPOSED = 'ETag, Idempotency-Key, Retry-After, WWW-Authenticate';
const METHODS = 'GET, HEAD, POST, DELETE';
const PREFLIGHT_SECONDS = '600';
/** The form of a preflight's list of header names, which the answer echoes. */
const REQUESTED_HEADERS = /^[A-Za-z0-9-]+(\s*,\s*[A-Za-z0-9-]+){0,50}$/;

/**
 * Answers CORS requests of the origins that the operator allows. The service uses no cookies, so an origin gets only what its token gives.
 * @returns whether the request was a preflight, and is answered
 */
export function allowOrigin(origins: ReadonlySet<string>, request: FastifyRequest, reply: FastifyReply): boolean {
  const { origin } = request.headers;
  if (origins.size === 0 || origin === undefined) return false;
  reply.header('vary', 'Origin');
  if (!origins.has('*') && !origins.has(origin)) return false;
  reply.header('access-control-allow-origin', origin);
  reply.header('access-control-expose-headers', EXPOSED);
  if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return false;
  const wanted = request.headers['access-control-request-headers'] ?? '';
  reply.header('access-control-allow-methods', METHODS);
  if (REQUESTED_HEADERS.test(wanted)) reply.header('access-control-allow-headers', wanted);
  reply.header('access-control-max-age', PREFLIGHT_SECONDS);
  void reply.code(204).send();
  return true;
}
