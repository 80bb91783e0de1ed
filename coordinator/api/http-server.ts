import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Socket } from 'node:net';
import { SCOPES } from '#shared/authorization/token-claims.ts';
import type { Action } from '#shared/authorization/action.ts';
import { errorBody, SkeinError } from '#shared/error.ts';
import type { DoorTls } from '#shared/grpc/door-tls.ts';
import { BodyBudget, type HeldBody } from '#shared/http/body-budget.ts';
import { closeGently } from '#shared/http/close-gently.ts';
import { answerHalfClosed } from '#shared/http/half-closed.ts';
import type { QueryId } from '#shared/id.ts';
import type { Logger } from '#shared/log/logger.ts';
import { metricsAccess } from '#shared/metrics-access.ts';
import { limitNewcomers } from '#shared/newcomers/http-newcomers.ts';
import { peerOf, type Newcomers } from '#shared/newcomers/newcomers.ts';
import type { Authenticate, Caller } from '../auth/authenticate.ts';
import { requireAction } from '../auth/authenticate.ts';
import type { ClientTexts } from '../client-texts.ts';
import { timedOut } from '../query/active-query.ts';
import type { HistoryReader } from '../history/read-history.ts';
import type { ClusterView } from '../observe/cluster-view.ts';
import type { Events } from '../observe/event-hub.ts';
import type { QueryMetrics } from '../query/query-metrics.ts';
import type { QueryService } from '../query/query-service.ts';
import type { Inspector } from '../inspect/inspector.ts';
import type { KeptResults } from '../result/kept-results.ts';
import type { SessionKey } from '../session/session-store.ts';
import { browseRoutes, type BrowseApi } from './browse/browse-routes.ts';
import { statementRoutes } from './browse/statement-routes.ts';
import { administerRoutes, type AdministerApi } from './administer/administer-routes.ts';
import { inspectRoutes } from './inspect/inspect-routes.ts';
import { consoleRoutes, type ConsoleOptions } from './console/console-routes.ts';
import { AllAsRows } from './http/all-as-rows.ts';
import { ArrowResult } from './http/arrow-result.ts';
import { clusterRoutes } from './http/cluster-routes.ts';
import { documentedApp, type DocumentedApp } from './http/documented-app.ts';
import { answerStatementError, sendError } from './http/error-reply.ts';
import { eventRoutes } from './http/event-routes.ts';
import { groupRoutes } from './http/group-routes.ts';
import { historyRoutes } from './http/history-routes.ts';
import { JsonResult } from './http/json-result.ts';
import { liveQueryRoutes } from './http/live-query-routes.ts';
import { HEALTH, METRICS, OPENAPI, PROTECTED_RESOURCE, QUERY_BODY, READY, RUN_QUERY } from './http/operations.ts';
import { QUERY_ID_HEADER, sessionKey, sourceOf, traceParentOf, takeQueryId, takesArrow } from './http/post-query.ts';
import { checkQueryBody, type QueryBody } from './http/query-body.ts';
import { glimpseTimeout, READ_QUERY_BODY } from './http/read-query-body.ts';
import { cutSlowBodies } from './http/slow-bodies.ts';
import { stageRoutes, type StageApi } from './http/stage-routes.ts';
import type { TableApi } from './http/table-api.ts';
import { keptQueryRoutes, mayKeep, runKept, sendKept } from './http/kept-query.ts';
import { quarantineRoutes } from './http/quarantine-routes.ts';
import { whoamiRoutes } from './http/whoami-routes.ts';
import { tableRoutes } from './http/table-routes.ts';

export type HttpOptions = {
  readonly host: string;
  readonly port: number;
  /** The certificate of the doors; undefined: there is none. */
  readonly tls?: DoorTls | undefined;
  readonly bodyBytesMax: number;
  /** Limit on the total bytes of all request bodies in memory at one time. */
  readonly bodiesBytesMax: number;
  /** Time in which a client has to send its request. */
  readonly requestTimeoutMs: number;
  readonly holdbackBytes: number;
  readonly resultBytesMax: number;
  readonly timeoutMsMax: number;
  readonly authenticate: Authenticate;
  /** Connections that have not signed in. */
  readonly newcomers: Newcomers;
  readonly texts: ClientTexts;
  readonly queries: QueryService;
  /** The results that are kept beyond their statements. */
  readonly kept: KeptResults;
  readonly view: ClusterView;
  readonly events: Events;
  readonly history: Pick<HistoryReader, 'list' | 'find' | 'profile' | 'summary'>;
  readonly tables: TableApi;
  readonly browse: BrowseApi;
  readonly inspector: Inspector;
  readonly administer: AdministerApi;
  readonly stages: StageApi;
  /** Absent: `coordinator.console` is off. */
  readonly console?: ConsoleOptions | undefined;
  readonly metrics: QueryMetrics;
  /** `metrics.token` */
  readonly metricsToken: string;
  /** `coordinator.trusted_proxies` */
  readonly trustedProxies: readonly string[];
  /** Addresses by which clients reach this service ('' = the one that they use), and the catalog that signs their people in. */
  readonly addresses: { readonly query: string; readonly catalog: string };
  /** Returns the reason why this coordinator cannot take queries now; undefined = it can. */
  readonly notReady: () => string | undefined;
  readonly log: Logger;
};

/** A segment of a path: namespaces of several levels are long. */
const PARAM_LENGTH_MAX = 4_096;
const KEEP_ALIVE_MS = 75_000;
/** Upper limit of the interval, in ms, at which Node checks for clients that are too slow. */
const SLOW_CHECK_MS_MAX = 10_000;

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
    queryId: QueryId | null;
    /** Arrival of the request's head, in ms of the monotonic clock. */
    arrivedMs: number;
    /** Memory that is counted for the request's body. */
    bodyHeld: HeldBody | undefined;
  }
}

const callerOf = (request: FastifyRequest): Caller => {
  if (request.caller === null) throw new SkeinError('UNAUTHENTICATED', 'a bearer token is needed');
  return request.caller;
};

/** Starts the query HTTP API (service specification, Query HTTP API; design 3.9). */
export async function startHttp(options: HttpOptions): Promise<{ url: string; close(): Promise<void> }> {
  const app = httpApp(options);
  await listen(app, options);
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  const scheme = options.tls === undefined ? 'http' : 'https';
  return { url: `${scheme}://${host}:${port}`, close: () => closeGently(app) };
}

/** Builds the server with its routes; `startHttp` lets it listen. */
export function httpApp(options: HttpOptions): DocumentedApp {
  const app = documentedApp(
    {
      bodyLimit: options.bodyBytesMax,
      // Proxies whose X-Forwarded-For is believed.
      trustProxy: options.trustedProxies.length === 0 ? false : [...options.trustedProxies],
      keepAliveTimeout: KEEP_ALIVE_MS,
      // A file may take any time; `cutSlowBodies` limits the others.
      requestTimeout: 0,
      http: {
        headersTimeout: options.requestTimeoutMs,
        connectionsCheckingInterval: Math.min(SLOW_CHECK_MS_MAX, options.requestTimeoutMs / 2),
      },
      forceCloseConnections: 'idle',
      routerOptions: { maxParamLength: PARAM_LENGTH_MAX },
      exposeHeadRoutes: false,
      frameworkErrors: (error, _request, reply) => {
        void sendError(reply, error, options.log, false);
      },
      clientErrorHandler: answerBrokenHttp,
    },
    options.tls,
  );
  answerHalfClosed(app.server);
  limitNewcomers(app.server, options.newcomers);
  app.addHook('onRequest', cutSlowBodies(options.requestTimeoutMs, answerBrokenHttp));
  // Handlers parse their bodies themselves: a long one in a thread.
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.decorateRequest('caller', null);
  app.decorateRequest('queryId', null);
  app.decorateRequest('arrivedMs', 0);
  app.decorateRequest('bodyHeld', undefined);
  app.setErrorHandler((error, request, reply) => {
    const isPath = request.method === 'GET';
    return sendError(reply, error, options.log, isPath);
  });
  app.setNotFoundHandler((request, reply) => {
    const error = new SkeinError('NOT_FOUND', `${request.method} ${request.url.slice(0, 200)} does not exist`);
    return sendError(reply, error, options.log, true);
  });
  // After the document's own plugin, which is there once this one is loaded.
  void app.register((routes, _options, done) => {
    if (options.console !== undefined) {
      consoleRoutes(routes, { ...options.console, authenticate: options.authenticate });
    }
    openRoutes(routes, options);
    whoamiRoutes(routes, { onRequest: authenticator(options), callerOf });
    queryRoutes(routes, options);
    tableRoutes(routes, { tables: options.tables, onRequest: authenticator(options), callerOf });
    inspectRoutes(routes, { inspector: options.inspector, onRequest: authenticator(options), callerOf });
    administerRoutes(routes, { administer: options.administer, onRequest: authenticator(options), callerOf });
    browseRoutes(routes, { browse: options.browse, onRequest: authenticator(options), callerOf });
    statementRoutes(routes, {
      queries: options.queries,
      currentNames: options.browse.currentNames,
      onRequest: authenticator(options),
      callerOf,
    });
    quarantineRoutes(routes, { queries: options.queries, allows: (action) => allowing(options, action), callerOf });
    const { stages, log, newcomers } = options;
    stageRoutes(routes, { stages, newcomers, log, onRequest: authenticator(options), callerOf });
    done();
  });
  return app;
}

async function listen(app: DocumentedApp, { host, port }: HttpOptions): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw new SkeinError('PORT_IN_USE', `cannot listen on ${host}:${port}`, { cause: error });
  }
}

/** Answers 400 on a connection whose request is not valid HTTP, comes too slowly, or has too long headers, and closes it. */
function answerBrokenHttp(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const isSlow = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const message = isSlow ? 'the request did not come in time' : 'the request is not valid HTTP';
  const body = JSON.stringify(errorBody(new SkeinError('INVALID_REQUEST', message)));
  const head = [
    'HTTP/1.1 400 Bad Request',
    'content-type: application/json',
    `content-length: ${body.length}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** Routes without a user: health is open to all, metrics to this machine and to any token. */
function openRoutes(app: DocumentedApp, options: HttpOptions): void {
  app.get('/health', { schema: HEALTH }, () => ({ status: 'ok' }));
  app.get('/health/ready', { schema: READY }, (_request, reply) => {
    const reason = options.notReady();
    return reply
      .code(reason === undefined ? 200 : 503)
      .send(reason === undefined ? { status: 'ready' } : { status: 'not ready', reason });
  });
  app.get('/.well-known/oauth-protected-resource', { schema: PROTECTED_RESOURCE }, ({ protocol, host }) => ({
    resource: options.addresses.query || `${protocol}://${host}`,
    authorization_servers: [options.addresses.catalog],
    bearer_methods_supported: ['header'],
    scopes_supported: Object.keys(SCOPES),
  }));
  app.get('/openapi.json', { schema: OPENAPI }, () => app.swagger());
  const access = metricsAccess({ token: options.metricsToken, verify: options.authenticate });
  app.get('/metrics', { schema: METRICS }, async (request, reply) => {
    await access({ peer: request.socket.remoteAddress, headers: request.headers });
    options.newcomers.signedIn(peerOf(request.socket));
    const text = await options.metrics.registry.metrics();
    return reply.type(options.metrics.registry.contentType).send(text);
  });
}

/** Checks a request before its body is read. @throws UNAUTHENTICATED, FORBIDDEN */
type Check = (request: FastifyRequest) => Promise<void>;

/** Checks the token of a request. */
const authenticator =
  (options: HttpOptions): Check =>
  async (request) => {
    request.caller = await options.authenticate(request.headers.authorization, request.ip);
    options.newcomers.signedIn(peerOf(request.socket));
  };

/** Checks the token of a request, and that the caller may do these actions. */
const allowing =
  (options: HttpOptions, ...actions: readonly Action[]): Check =>
  async (request) => {
    const caller = await options.authenticate(request.headers.authorization, request.ip);
    request.caller = caller;
    options.newcomers.signedIn(peerOf(request.socket));
    for (const action of actions) requireAction(caller, action);
  };

function queryRoutes(app: DocumentedApp, options: HttpOptions): void {
  const authenticate = authenticator(options);
  const { bodyBytesMax, bodiesBytesMax } = options;
  const bodies = new BodyBudget({ bytesMax: bodyBytesMax, bytesInAllMax: bodiesBytesMax });
  app.route({
    method: 'POST',
    url: '/api/query',
    schema: RUN_QUERY,
    config: QUERY_BODY,
    // Checked before the body is read, so that no body is buffered for a client without a token.
    onRequest: async (request, reply) => {
      request.arrivedMs = performance.now();
      request.queryId = takeQueryId(request, reply);
      await authenticate(request);
      request.bodyHeld = bodies.expect(callerOf(request).claims.tenant, request.headers, reply.raw);
    },
    handler: (request, reply) => {
      if (request.bodyHeld !== undefined) bodies.received(request.bodyHeld, bodyOf(request).length);
      return postQuery(request, reply, options);
    },
  });
  const { queries, view, events, history } = options;
  const allows = (action: Action): Check => allowing(options, action);
  liveQueryRoutes(app, { queries, allows, onRequest: authenticate, callerOf });
  keptQueryRoutes(app, { ...options, onRequest: allows('query.read'), callerOf });
  groupRoutes(app, { view, onRequest: allows('stats.read'), callerOf });
  clusterRoutes(app, { view, onRequest: allows('stats.read'), callerOf });
  eventRoutes(app, {
    events,
    authenticate: options.authenticate,
    onRequest: allowing(options, 'query.read', 'stats.read'),
    callerOf,
  });
  historyRoutes(app, { history, onRequest: allows('query.read'), callerOf });
}

async function postQuery(request: FastifyRequest, reply: FastifyReply, options: HttpOptions): Promise<FastifyReply> {
  const caller = callerOf(request);
  const { arrivedMs } = request;
  const queryId = request.queryId ?? takeQueryId(request, reply);
  const session = sessionKey(request, caller);
  const source = sourceOf(request);
  const response = reply.raw;
  const gone = new AbortController();
  const onClose = (): void => {
    if (!response.writableFinished) gone.abort(new SkeinError('QUERY_CANCELLED', 'the client has disconnected'));
  };
  response.once('close', onClose);
  const { holdbackBytes, resultBytesMax } = options;
  const Result = takesArrow(request) ? ArrowResult : JsonResult;
  const limits = { holdbackBytes, resultBytesMax };
  const sink = new AllAsRows(new Result(response, { [QUERY_ID_HEADER]: queryId }, limits));
  let sql = '';
  try {
    const { keep, rowLimit, orderBy, ...body } = await readBody(request, caller, {
      options,
      session,
      clientGone: gone.signal,
    });
    ({ sql } = body);
    const rows = { ...(rowLimit === undefined ? {} : { rowLimit }), ...(orderBy === undefined ? {} : { orderBy }) };
    const traceParent = traceParentOf(request);
    const asked = { caller, session, queryId, ...body, ...rows, arrivedMs, source, traceParent };
    if (keep && mayKeep(sql)) {
      const isNamed = request.headers[QUERY_ID_HEADER] !== undefined;
      const result = await runKept(asked, { ...options, isNamed });
      return await sendKept(result, { request, reply, queryId, sql, limits });
    }
    await options.queries.execute({ ...asked, clientGone: gone.signal, sink });
    return reply.hijack();
  } catch (error) {
    if (!sink.committed) return answerStatementError(reply, error, sql);
    // The answer sent so far is incomplete: break the connection, so that nobody takes it for a whole one.
    response.destroy();
    return reply.hijack();
  } finally {
    response.off('close', onClose);
  }
}

const bodyOf = ({ body }: FastifyRequest): Buffer => (Buffer.isBuffer(body) ? body : Buffer.alloc(0));

type BodyReading = {
  readonly options: HttpOptions;
  readonly session: SessionKey;
  readonly clientGone: AbortSignal;
};

/** @throws INVALID_REQUEST, STATEMENT_TOO_COMPLEX, QUEUE_FULL, QUERY_TIMEOUT, the reason of `clientGone` */
async function readBody(
  request: FastifyRequest,
  { claims }: Caller,
  { options, session, clientGone }: BodyReading,
): Promise<QueryBody> {
  const { texts, queries, timeoutMsMax } = options;
  const bytes = bodyOf(request);
  const timeoutMs = Math.min(timeoutMsMax, glimpseTimeout(bytes) ?? queries.timeoutMs(session));
  const late = new AbortController();
  const leftMs = request.arrivedMs + timeoutMs - performance.now();
  const timer = setTimeout(() => late.abort(timedOut(timeoutMs)), leftMs);
  const about = {
    asker: { tenant: claims.tenant, principal: claims.sub },
    what: 'the request body',
    bytes: bytes.length,
    signal: AbortSignal.any([clientGone, late.signal]),
  };
  try {
    return checkQueryBody(request, await texts.work(READ_QUERY_BODY, bytes, about), timeoutMsMax);
  } finally {
    clearTimeout(timer);
  }
}
