import { STATUS_CODES, type Server } from 'node:http';
import type { Socket } from 'node:net';
import {
  fastify,
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { Action } from '#shared/authorization/action.ts';
import { SkeinError } from '#shared/error.ts';
import type { DoorTls } from '#shared/grpc/door-tls.ts';
import { httpsServer } from '#shared/grpc/https-server.ts';
import type { HeldBody } from '#shared/http/body-budget.ts';
import { answerHalfClosed } from '#shared/http/half-closed.ts';
import { limitNewcomers } from '#shared/newcomers/http-newcomers.ts';
import { peerOf } from '#shared/newcomers/newcomers.ts';
import { printJson } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import type { TokenClaims } from '#shared/authorization/token-claims.ts';
import { decide } from '../authorization/decide.ts';
import { securableOfPath } from '../authorization/securable.ts';
import type { CatalogContext } from '../context.ts';
import { toCatalogError } from '../store/postgres/errors.ts';
import { isPage, pages } from '../page/pages.ts';
import { scimRoutes } from '../scim/scim-routes.ts';
import { AnswerBudget } from './answer-budget.ts';
import { BodyReader } from './body-reader.ts';
import { allowOrigin } from './cors.ts';
import { idempotencyKeyOf, requestHash } from './idempotency-key.ts';
import { runOnce } from './run-once.ts';
import { icebergError } from './iceberg-error.ts';
import type { Answer, OpenRequest, Operation, RestRequest } from './rest-operation.ts';
import { OPERATIONS } from './operations.ts';
import { forAddress, onBehalfOf } from '../store/postgres/on-behalf-of.ts';
import { plainUnit } from '../store/postgres/transact.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The memory reserved for the request's body; undefined for a request without one. */
    bodyHeld: HeldBody | undefined;
  }
}

/** Longest path segment, so longest name, in its escaped form. */
const SEGMENT_LENGTH_MAX = 8_192;
/** Upper limit of the interval at which Node checks for slow clients; half of `catalog.request_timeout` when that is shorter. */
const SLOW_CHECK_MS_MAX = 30_000;
/** An idle connection is closed this long after the longest operation would have answered. */
const STANDSTILL_MS = 60_000;

/** Methods whose request bodies are not read. */
const BODILESS = new Set(['GET', 'HEAD']);

/** `Retry-After` of a 503: Postgres or the storage does not answer. */
const RETRY_AFTER_SECONDS = '1';

/** The REST service, not yet listening. */
export function createServer(context: CatalogContext, tls?: DoorTls): FastifyInstance {
  const { 'catalog.body_bytes_max': bytesMax, 'catalog.trusted_proxies': trustedProxies } = context.config;
  const timeoutMs = context.config['catalog.request_timeout'];
  const limits = {
    requestTimeout: timeoutMs,
    // The time limit of the request includes that of its head.
    http: { headersTimeout: timeoutMs, connectionsCheckingInterval: Math.min(SLOW_CHECK_MS_MAX, timeoutMs / 2) },
    connectionTimeout: context.config['catalog.plan_timeout'] + STANDSTILL_MS,
  };
  const secure: FastifyHttpOptions<Server> =
    tls === undefined ? limits : { ...limits, serverFactory: (listener) => httpsServer(tls, listener, limits) };
  const app = fastify({
    ...secure,
    bodyLimit: bytesMax,
    // Proxies whose X-Forwarded-For is believed.
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: SEGMENT_LENGTH_MAX },
    clientErrorHandler: (error, socket) => refuseConnection(socket, (error as { code?: string }).code),
    frameworkErrors: (error, _request, reply) => void sendError(context, reply as FastifyReply, error),
    forceCloseConnections: 'idle',
    // A request that comes on an open connection while the server closes is answered as ever, not by the framework's own 503.
    return503OnClosing: false,
    // Java's client writes a space of a name as `+`, and a plus as %2B.
    rewriteUrl: ({ url = '/' }) => {
      const query = url.indexOf('?');
      return query === -1 ? url.replaceAll('+', '%20') : url.slice(0, query).replaceAll('+', '%20') + url.slice(query);
    },
  });
  answerHalfClosed(app.server);
  limitNewcomers(app.server, context.newcomers);
  // Every body is taken as bytes: clients send JSON with all sorts of content types.
  app.decorateRequest('bodyHeld', undefined);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  const origins = new Set(context.config['catalog.cors_origins']);
  app.addHook('onRequest', (request, reply, done) => {
    if (!isPage(request.url) && allowOrigin(origins, request, reply)) return;
    // An unknown route is answered without waiting for a body.
    if (request.is404) return void sendError(context, reply, noRoute(request));
    done();
  });
  app.setErrorHandler((error, _request, reply) => sendError(context, reply, error));
  app.setNotFoundHandler((request, reply) => sendError(context, reply, noRoute(request)));
  const budget = new AnswerBudget(context.config['catalog.answers_bytes_max']);
  const bytesInAllMax = context.config['catalog.bodies_bytes_max'];
  const bodies = new BodyReader({ bytesMax, bytesInAllMax, readers: context.readers });
  for (const operation of OPERATIONS) addRoute(app, context, operation, { budget, bodies });
  void app.register((own) => pages(own, context, tls));
  void app.register((own) => scimRoutes(own, context));
  return app;
}

/** Status and message by Node's reason for refusing a connection. */
const REFUSALS: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'the head of the request is too long'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request did not come in time'],
};

/** Answers bytes that never become a request, in the error envelope too, and closes the connection. */
function refuseConnection(socket: Socket, code = ''): void {
  if (!socket.writable) return void socket.destroy();
  const [status, message] = REFUSALS[code] ?? [400, 'the request is no HTTP'];
  const body = JSON.stringify({ error: { message, type: 'BadRequestException', code: status } });
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}`;
  socket.end(
    `${head}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
}

const noRoute = ({ method, url }: FastifyRequest): SkeinError =>
  new SkeinError('NOT_FOUND', `No route for request: ${method} ${url}`);

function addRoute(
  app: FastifyInstance,
  context: CatalogContext,
  operation: Operation,
  { budget, bodies }: { readonly budget: AnswerBudget; readonly bodies: BodyReader },
): void {
  const [method = '', template = ''] = operation.endpoint.split(' ');
  app.route({
    method,
    // For the router a hyphen ends a parameter's name.
    url: template.replaceAll(/\{([a-z-]+)\}/g, (_all, name: string) => `:${name.replaceAll('-', '_')}`),
    ...(operation.bodyBytesMax === undefined ? {} : { bodyLimit: operation.bodyBytesMax }),
    errorHandler: (error, _request, reply) => void sendError(context, reply, error, operation.printError),
    onRequest: async (request, reply) => {
      const stop = context.metrics.requestSeconds.startTimer({ operation: operation.id });
      reply.raw.once('close', () => stop({ status: String(reply.statusCode) }));
      // Authorise before the body arrives: a client without a token must not make the service buffer one.
      if (operation.action === null || BODILESS.has(method)) return;
      const { tenant } = await authorise(context, operation, operation.action, request);
      request.bodyHeld = bodies.expect(tenant, request.headers, reply.raw);
    },
    handler: async (request, reply) => {
      // Authorise again: the token may expire while the body arrives.
      const claims =
        operation.action === null ? undefined : await authorise(context, operation, operation.action, request);
      if (claims !== undefined) budget.requireRoom(claims.tenant);
      const answered = (): Promise<Answer> => answer({ context, bodies }, operation, request, claims);
      const result = printed(
        await (claims === undefined
          ? forAddress(request.ip, answered)
          : onBehalfOf({ tenant: claims.tenant, principal: claims.sub }, answered)),
      );
      context.at('before-reply');
      if (claims !== undefined && !reply.raw.closed) {
        // Checked again for reads, as many may have started at once. A change is always answered, because it has happened.
        if (method === 'GET') budget.requireRoom(claims.tenant);
        reply.raw.once('close', budget.take(claims.tenant, result.text?.length ?? 0));
      }
      return send(reply, result);
    },
  });
}

/** @param claims of an authorised caller: the body is read only then */
async function answer(
  { context, bodies }: { readonly context: CatalogContext; readonly bodies: BodyReader },
  operation: Operation,
  request: FastifyRequest,
  claims: TokenClaims | undefined,
): Promise<Answer> {
  const open = openRequest(context, request);
  const payload = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  if (operation.action === null) return operation.handle(context, { ...open, payload });
  const caller = must(claims, 'authorised');
  const held = request.bodyHeld ?? { tenant: caller.tenant, bytes: 0, isReleased: true };
  const bytes = await bodies.unpack(held, payload, request.headers['content-encoding']);
  const { id, handle, replay, takesLarge, filesGate } = operation;
  const body = await bodies.read(held, bytes, takesLarge === true);
  const checked = { ...open, claims: caller, ...body, isOfClient: true } as const;
  if (filesGate !== undefined) await asRefusal(context, operation, checked, () => filesGate(context, checked));
  const key = replay === undefined ? undefined : idempotencyKeyOf(open);
  if (replay === undefined || key === undefined) return handle(context, checked, plainUnit(context.store.db));
  const { config, clock, store } = context;
  return runOnce(context, {
    use: { principal: caller.sub, catalog: open.params['prefix'] ?? '', key, operation: id },
    requestHash: requestHash(request.method, request.originalUrl, bytes),
    expiresAt: new Date(clock.nowMs() + config['catalog.idempotency_lifetime']),
    run: (unit) => handle(context, checked, unit),
    replay: () => replay(context, checked, plainUnit(store.db)),
    printError: icebergError,
  });
}

/** Tells the log of a refusal where keys or signatures were asked for. */
async function asRefusal(
  context: CatalogContext,
  { delegates }: Operation,
  request: RestRequest,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (delegates !== undefined) {
      const object = securableOfPath(request.params);
      const table = object.kind === 'table' ? { catalog: object.catalog, ident: object } : null;
      const asked = { event: delegates, principal: request.claims, table, method: 'POST', key: '' };
      context.delegationLog.refused(asked, SkeinError.of(error).message);
    }
    throw error;
  }
}

/**
 * Verifies the caller's token, and that it may do the action to what the path names; returns its claims. A handler asks again for objects
 * that only the body names.
 * @throws UNAUTHENTICATED, FORBIDDEN
 */
async function authorise(
  context: CatalogContext,
  { delegates }: Operation,
  action: Action,
  request: FastifyRequest,
): Promise<TokenClaims> {
  const { authorization } = request.headers;
  const claims = await forAddress(request.ip, () => context.bearers.verify(authorization, request.ip));
  context.newcomers.signedIn(peerOf(request.socket));
  const object = securableOfPath(pathParams(request));
  const decision = decide(claims, action, object);
  if (decision.allowed) return claims;
  if (delegates !== undefined) {
    const table = object.kind === 'table' ? { catalog: object.catalog, ident: object } : null;
    const asked = { event: delegates, principal: claims, table, method: request.method, key: '' };
    context.delegationLog.refused(asked, decision.reason);
  }
  throw new SkeinError('FORBIDDEN', decision.reason);
}

const pathParams = ({ params }: FastifyRequest): OpenRequest['params'] =>
  Object.fromEntries(
    Object.entries(params as Readonly<Record<string, string>>).map(([name, value]) => [
      name.replaceAll('_', '-'),
      value,
    ]),
  );

const openRequest = (context: CatalogContext, request: FastifyRequest): OpenRequest => ({
  params: pathParams(request),
  query: singleValues(request.query as Readonly<Record<string, string | readonly string[]>>),
  headers: request.headers,
  remoteAddress: request.ip,
  origin: originOf(context, request),
});

/** Headers of proxies, which may be known by another address than the one that they pass on. */
const FORWARDING = ['forwarded', 'via', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-for'] as const;

function originOf({ config }: CatalogContext, { headers, protocol, host }: FastifyRequest): string | undefined {
  const known = config['catalog.public_url'];
  if (known !== '') return known.endsWith('/') ? known.slice(0, -1) : known;
  if (FORWARDING.some((name) => headers[name] !== undefined)) return undefined;
  return /^[A-Za-z0-9.:[\]-]{1,300}$/.test(host) ? `${protocol}://${host}` : undefined;
}

/** @throws INVALID_REQUEST on a parameter given twice. */
function singleValues(query: Readonly<Record<string, string | readonly string[]>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => {
      if (typeof value !== 'string') throw new SkeinError('INVALID_REQUEST', `the parameter ${name} is given twice`);
      return [name, value];
    }),
  );
}

const printed = ({ body, ...rest }: Answer): Answer =>
  body === undefined ? rest : { ...rest, text: rest.text ?? printJson(body) };

function send(reply: FastifyReply, { status, body, text, contentType, headers }: Answer): FastifyReply {
  reply.code(status);
  if (headers !== undefined) reply.headers(headers);
  if (body === undefined && text === undefined) return reply.send();
  return reply.type(contentType ?? 'application/json').send(text ?? printJson(body));
}

function sendError(
  context: CatalogContext,
  reply: FastifyReply,
  thrown: unknown,
  print: (error: SkeinError) => Answer = icebergError,
): FastifyReply {
  const error = fastifyError(thrown) ?? toCatalogError(thrown);
  const answer = print(error);
  const { status } = answer;
  if (status >= 500) context.log.error({ err: error, url: reply.request.url.split('?')[0] }, 'a request failed');
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  if (status === 503) reply.header('retry-after', RETRY_AFTER_SECONDS);
  // An answer to HEAD has no body, and must not claim the length of one.
  return send(reply, reply.request.method === 'HEAD' ? { status } : answer);
}

/** Maps Fastify's own errors; undefined for any other value. */
function fastifyError(thrown: unknown): SkeinError | undefined {
  const { code, statusCode, message } = thrown as { code?: unknown; statusCode?: number; message?: string };
  if (typeof code !== 'string' || !code.startsWith('FST_')) return undefined;
  if (statusCode === 413) return new SkeinError('PAYLOAD_TOO_LARGE', 'the request body is longer than the limit');
  if (statusCode !== undefined && statusCode < 500) return new SkeinError('INVALID_REQUEST', message ?? 'bad request');
  return undefined;
}
