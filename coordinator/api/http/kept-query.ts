import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SkeinError } from '#shared/error.ts';
import type { QueryId } from '#shared/id.ts';
import { beginsPrivately } from '#shared/sql/private-statement.ts';
import type { Caller } from '../../auth/authenticate.ts';
import type { HistoryReader } from '../../history/read-history.ts';
import type { QueryService, StatementRequest } from '../../query/query-service.ts';
import type { KeptResult } from '../../result/kept-result.ts';
import type { KeptResults } from '../../result/kept-results.ts';
import { replayResult } from '../../result/replay-result.ts';
import { AllAsRows } from './all-as-rows.ts';
import { ArrowResult } from './arrow-result.ts';
import type { DocumentedApp } from './documented-app.ts';
import { answerStatementError } from './error-reply.ts';
import { CUT_HEADER, type ResponseLimits } from './held-response.ts';
import { JsonResult } from './json-result.ts';
import { DROP_RESULT, GET_RESULT } from './operations.ts';
import { QUERY_ID_HEADER, takesArrow } from './post-query.ts';

type KeptOptions = ResponseLimits & {
  readonly kept: KeptResults;
  readonly queries: Pick<QueryService, 'execute'>;
  readonly history: Pick<HistoryReader, 'find'>;
};

type Routes = KeptOptions & {
  /** @throws UNAUTHENTICATED, FORBIDDEN */
  readonly onRequest: (request: FastifyRequest) => Promise<void>;
  readonly callerOf: (request: FastifyRequest) => Caller;
};

/** Whether a statement's rows may be kept: those of statements about accounts, tokens and the like may be secrets, and never are. */
export const mayKeep = (sql: string): boolean => !beginsPrivately(sql);

/** The routes of results that are kept: read one from its first row, forget one. */
export function keptQueryRoutes(app: DocumentedApp, { onRequest, callerOf, ...options }: Routes): void {
  const read = { schema: GET_RESULT, onRequest };
  app.get('/api/query/:id/result', read, async (request, reply) => {
    const { claims } = callerOf(request);
    const { id } = request.params;
    const result = options.kept.find(claims, id);
    if (result === undefined) throw notKept(id);
    return sendKept(result, { request, reply, queryId: id.toLowerCase(), sql: result.sql, limits: options });
  });
  app.delete('/api/query/:id/result', { schema: DROP_RESULT, onRequest }, async (request, reply) => {
    const { id } = request.params;
    if (!options.kept.drop(callerOf(request).claims, id, DROPPED)) throw notKept(id);
    return reply.code(204).send();
  });
}

const DROPPED = new SkeinError('QUERY_CANCELLED', 'the result was dropped');

const notKept = (id: string): SkeinError =>
  new SkeinError('QUERY_NOT_FOUND', `no result of the query ${id.slice(0, 64)} is kept for you`);

/** A statement whose result is to be kept. */
export type KeptRequest = Omit<StatementRequest, 'sink' | 'clientGone'>;

/**
 * The result of a statement that goes on without its client. It runs once, however often it is sent under its id.
 * @throws INVALID_REQUEST when the id is that of another statement, or its result is no longer kept; QUEUE_FULL
 */
export async function runKept(
  asked: KeptRequest,
  { kept, queries, history, isNamed }: KeptOptions & { readonly isNamed: boolean },
): Promise<KeptResult> {
  const { caller, queryId } = asked;
  const print = printOf(asked);
  const known = (): KeptResult | undefined => kept.find(caller.claims, queryId, print);
  const found = known();
  if (found !== undefined) return found;
  const ran = isNamed && (await hasRun(asked, history));
  // Another sending of the same statement may have begun it meanwhile: then that is the record.
  const meanwhile = known();
  if (meanwhile !== undefined) return meanwhile;
  if (ran) throw alreadyRan(queryId);
  return begin(asked, { kept, queries, print });
}

function begin(
  asked: KeptRequest,
  { kept, queries, print }: Pick<KeptOptions, 'kept' | 'queries'> & { readonly print: string },
): KeptResult {
  const { caller, queryId } = asked;
  const result = kept.open(caller.claims, queryId, { print, sql: asked.sql });
  const running = queries.execute({ ...asked, clientGone: result.gone, sink: result });
  running.catch((thrown: unknown) => {
    const error = SkeinError.of(thrown);
    // One that has not begun may be sent again under its id; who waits for this one is told by the result.
    result.fail(error);
    if (error.code === 'NOT_ACTIVE') kept.drop(caller.claims, queryId, error);
  });
  return result;
}

async function hasRun({ caller, queryId }: KeptRequest, history: KeptOptions['history']): Promise<boolean> {
  const record = await history.find(caller, queryId);
  return record?.userId === caller.claims.sub;
}

const alreadyRan = (queryId: QueryId): SkeinError =>
  new SkeinError('INVALID_REQUEST', `a statement was sent under the id ${queryId} before, and its result is not kept`);

/** A statement and its values as a short text; of the statement itself nothing can be read in it. */
const printOf = ({ sql, parameters, rowLimit, orderBy }: KeptRequest): string =>
  createHash('sha256')
    .update(JSON.stringify([sql, parameters, rowLimit, orderBy]))
    .digest('base64');

type Sending = {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly queryId: string;
  /** The text in which an error has its place. */
  readonly sql: string;
  readonly limits: ResponseLimits;
};

/** Answers with a kept result in the form that the request accepts. A client that leaves changes nothing of it. */
export async function sendKept(
  result: KeptResult,
  { request, reply, queryId, sql, limits: { holdbackBytes, resultBytesMax } }: Sending,
): Promise<FastifyReply> {
  const response = reply.raw;
  const gone = new AbortController();
  const onClose = (): void => gone.abort(new SkeinError('QUERY_CANCELLED', 'the client has disconnected'));
  response.once('close', onClose);
  const Result = takesArrow(request) ? ArrowResult : JsonResult;
  const headers = { [QUERY_ID_HEADER]: queryId, ...(result.isCut ? { [CUT_HEADER]: 'true' } : {}) };
  const sink = new AllAsRows(new Result(response, headers, { holdbackBytes, resultBytesMax }));
  try {
    await replayResult(result, sink, { holdbackBytes, signal: gone.signal });
    return reply.hijack();
  } catch (error) {
    if (!sink.committed) return answerStatementError(reply, error, sql);
    // As for a statement that streams: nobody takes a broken answer for a whole one.
    response.destroy();
    return reply.hijack();
  } finally {
    response.off('close', onClose);
  }
}
