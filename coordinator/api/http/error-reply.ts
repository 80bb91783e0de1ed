import type { FastifyError, FastifyReply } from 'fastify';
import { errorBody, SkeinError } from '#shared/error.ts';
import type { Logger } from '#shared/log/logger.ts';
import { NotActive } from '../../cluster/not-active.ts';

/** Codes that mean "no such thing": 400 for a statement, 404 for a path that names the thing. */
const MISSING: ReadonlySet<string> = new Set(['TABLE_NOT_FOUND', 'SCHEMA_NOT_FOUND', 'CATALOG_NOT_FOUND']);

/** `Retry-After` when a queue is full, in seconds. */
const RETRY_AFTER_S = 1;

/** Turns any error of a request, also fastify's own, into one of the catalogue. */
export function toSkeinError(thrown: unknown): SkeinError {
  if (thrown instanceof SkeinError) return thrown;
  const error = thrown as Partial<FastifyError>;
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new SkeinError('PAYLOAD_TOO_LARGE', 'the request body is too large');
  }
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new SkeinError('INVALID_REQUEST', 'the content type must be application/json');
  }
  const status = error.statusCode;
  if (status !== undefined && status >= 400 && status < 500) {
    return new SkeinError('INVALID_REQUEST', 'the request is not valid JSON or not a valid request', { cause: thrown });
  }
  return SkeinError.of(thrown);
}

/** Answers with the error; `isPath` when the request's path names the thing that is missing. */
export function answerError(reply: FastifyReply, error: SkeinError, isPath: boolean): FastifyReply {
  if (error.code === 'UNAUTHENTICATED') void reply.header('www-authenticate', 'Bearer');
  if (error instanceof NotActive && error.leader !== undefined) void reply.header('x-skein-leader', error.leader);
  if (error.code === 'QUEUE_FULL') void reply.header('retry-after', RETRY_AFTER_S);
  return reply.code(isPath && MISSING.has(error.code) ? 404 : error.entry.http).send(errorBody(error));
}

/** The header with the place of an error in its statement. */
const POSITION_HEADER = 'x-skein-position';

/** As `answerError`, for an error of a statement: with its place, in characters from 1, which are code points. */
export function answerStatementError(reply: FastifyReply, thrown: unknown, sql: string): FastifyReply {
  const error = toSkeinError(thrown);
  const { position } = error;
  if (position !== undefined && position >= 0 && position <= sql.length) {
    void reply.header(POSITION_HEADER, String(Array.from(sql.slice(0, position)).length + 1));
  }
  return answerError(reply, error, false);
}

/** As `answerError`, for an error that nobody has logged yet. */
export function sendError(reply: FastifyReply, thrown: unknown, log: Logger, isPath: boolean): FastifyReply {
  const error = toSkeinError(thrown);
  // A standby refuses by design, and a page that is open there asks it every few seconds.
  const isTrouble =
    (error.entry.kind === 'internal' || error.entry.kind === 'external') && !(error instanceof NotActive);
  if (isTrouble) log.error({ err: error }, 'request failed');
  return answerError(reply, error, isPath);
}
