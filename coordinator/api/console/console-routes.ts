import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { openConsoleCode } from '#shared/console/console-code.ts';
import { isOutsideToken } from '#shared/authorization/outside-token.ts';
import { SkeinError } from '#shared/error.ts';
import type { Keyring } from '#shared/keyring.ts';
import type { Authenticate, Caller } from '../../auth/authenticate.ts';
import type { SignIn } from '../../auth/sign-in.ts';
import type { DocumentedApp } from '../http/documented-app.ts';
import { cookieName, readCookie, setCookies } from './console-cookie.ts';
import { BUILD_COMMAND } from './build-state.ts';
import { ConsoleFiles } from './console-files.ts';
import {
  CONSOLE_SIGN_IN_BODY,
  END_CONSOLE_SESSION,
  OPEN_CONSOLE_SESSION,
  type ConsoleSignIn,
} from './console-operations.ts';
import { ConsoleSessions } from './console-sessions.ts';
import { contentPolicy, NONCE_PLACE } from './content-policy.ts';
import type { PersonSignIns } from './person-sign-ins.ts';
import { signInPages } from './sign-in-pages.ts';
import { CONSOLE_HEADER, isOwnHost, isOwnPage, isPublic, type Arrival } from './own-page.ts';

export type ConsoleOptions = {
  readonly keyring: Keyring;
  /** `coordinator.console_session_ttl` */
  readonly sessionTtlMs: number;
  /** `coordinator.url` */
  readonly publicUrl: string;
  readonly signIn: SignIn;
  /** Uses up the code of a link; false when it was used before. */
  readonly useCode: (id: string, untilMs: number) => Promise<boolean>;
  readonly nowMs: () => number;
  /** People who have signed in at the pages of the catalog, which are at `catalogUrl`. */
  readonly people: PersonSignIns;
  readonly catalogUrl: string;
};

type Parts = ConsoleOptions & { readonly authenticate: Authenticate };

/** Body limit of a sign-in: a token is a few KB. */
const SESSION_BODY_BYTES_MAX = 16 * 1024;

/**
 * Serves the console: its page, and the session that the page's requests have. Whatever else the page asks, it asks of `/api` as every other
 * client does. Beyond loopback there is no console but at the https address of `coordinator.url`.
 */
export function consoleRoutes(app: DocumentedApp, parts: Parts): void {
  const sessions = new ConsoleSessions({ ...parts, ttlMs: parts.sessionTtlMs });
  app.addHook('onRequest', asAuthorization(sessions, parts));
  pageRoutes(app, parts);
  sessionRoutes(app, parts, sessions);
  signInPages(app, {
    ...parts,
    setSession: (request, reply, signIn) => setSession(request, reply, parts, sessions.sealSignIn(signIn)),
    refuseHost: (reply) => refuseHost(reply, parts),
  });
}

/**
 * Makes the session of one of our own pages the `authorization` of its request. A request that another site has sent never gets it: it can
 * have neither our header, nor our Origin and Host.
 */
const asAuthorization =
  (sessions: ConsoleSessions, parts: Parts) =>
  async (request: FastifyRequest): Promise<void> => {
    if (request.headers[CONSOLE_HEADER] !== '1' || request.headers.authorization !== undefined) return;
    const cookie = cookieOf(request, parts);
    if (cookie === undefined) return;
    requireOwnPage(request, parts);
    request.headers.authorization = `Bearer ${await sessions.tokenOf(cookie)}`;
  };

function sessionRoutes(app: DocumentedApp, parts: Parts, sessions: ConsoleSessions): void {
  const onRequest = async (request: FastifyRequest): Promise<void> => requireOwnPage(request, parts);
  app.route({
    method: 'POST',
    url: '/api/console/session',
    schema: OPEN_CONSOLE_SESSION,
    config: CONSOLE_SIGN_IN_BODY,
    bodyLimit: SESSION_BODY_BYTES_MAX,
    onRequest,
    handler: async (request, reply) => {
      const { caller, token } = await signedIn(readBody(request), request, parts);
      const { value, maxAgeS } = sessions.seal(token, caller.claims.exp);
      setSession(request, reply, parts, { value, maxAgeS });
      return reply.code(204).send();
    },
  });
  app.route({
    method: 'DELETE',
    url: '/api/console/session',
    schema: END_CONSOLE_SESSION,
    onRequest,
    handler: async (request, reply) => {
      const cookie = cookieOf(request, parts);
      if (cookie !== undefined) await endQuietly(sessions, cookie);
      setSession(request, reply, parts, { value: '', maxAgeS: 0 });
      return reply.code(204).send();
    },
  });
}

/** A session that is over already needs no end. */
async function endQuietly(sessions: ConsoleSessions, cookie: string): Promise<void> {
  try {
    await sessions.end(cookie);
  } catch (error) {
    if (SkeinError.of(error).code !== 'UNAUTHENTICATED') throw error;
  }
}

/** By what an operator has: people sign in at the catalog's page. @throws UNAUTHENTICATED, WRONG_PASSWORD, TOO_MANY_SIGN_INS, CATALOG_UNAVAILABLE */
async function signedIn(
  shown: ConsoleSignIn,
  request: FastifyRequest,
  { authenticate, signIn, keyring, nowMs, useCode }: Parts,
): Promise<{ readonly caller: Caller; readonly token: string }> {
  const address = request.ip;
  if ('token' in shown) return byToken(shown.token, authenticate, signIn, address);
  const { id, token, untilMs } = openConsoleCode(shown.code, keyring, nowMs());
  const caller = await authenticate(`Bearer ${token}`, address);
  if (await useCode(id, untilMs)) return { caller, token };
  throw new SkeinError('UNAUTHENTICATED', 'the link was used before: skein console prints another');
}

/** A personal access token, or one of an identity provider, becomes an access token, with which the session ends. */
async function byToken(token: string, authenticate: Authenticate, signIn: SignIn, address: string) {
  if (token.startsWith('skein_pat_') || isOutsideToken(token)) return signIn('', token, { address, tenant: null });
  return { caller: await authenticate(`Bearer ${token}`, address), token };
}

function readBody({ body }: FastifyRequest): ConsoleSignIn {
  const fail = (): never => {
    throw new SkeinError('INVALID_REQUEST', 'the body has code, or token');
  };
  const parsed: unknown = Buffer.isBuffer(body) ? parseJson(body.toString(), fail) : undefined;
  if (typeof parsed !== 'object' || parsed === null) return fail();
  const members = parsed as Readonly<Record<string, unknown>>;
  const areTexts = Object.values(members).every((value) => typeof value === 'string');
  const names = Object.keys(members).toSorted().join();
  const isOne = ['code', 'token'].includes(names);
  return areTexts && isOne ? (members as ConsoleSignIn) : fail();
}

function parseJson(text: string, fail: () => never): unknown {
  try {
    // A short text, no numbers.
    return JSON.parse(text);
  } catch {
    return fail();
  }
}

function pageRoutes(app: DocumentedApp, parts: Parts): void {
  const files = new ConsoleFiles();
  const page = { config: { isPage: true }, schema: { hide: true } } as const;
  app.get('/', page, (_request, reply) => reply.redirect('/console/'));
  app.get('/console', page, (_request, reply) => reply.redirect('/console/'));
  app.get('/console/*', page, async (request, reply) => {
    if (!isOwnHost(request.headers.host, parts.publicUrl)) return refuseHost(reply, parts);
    const path = (request.params as { readonly '*': string })['*'];
    const file = await files.find(path, request.headers['accept-encoding'] ?? '');
    if (file === undefined) return files.isThere ? reply.code(404).send() : refuseMissing(reply);
    void reply.headers({
      'content-type': file.type,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      vary: 'accept-encoding',
      'cache-control': file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-store',
      ...(file.encoding === undefined ? {} : { 'content-encoding': file.encoding }),
    });
    if (file.type !== PAGE) return reply.send(file.bytes);
    const nonce = randomBytes(16).toString('base64');
    void reply.header('content-security-policy', contentPolicy(nonce));
    const advice = (await files.isOld()) ? BUILD_COMMAND : '';
    return reply.send(file.bytes.toString().replaceAll(NONCE_PLACE, nonce).replace(BUILD_PLACE, advice));
  });
}

const PAGE = 'text/html; charset=utf-8';
/** Where the page has the command that builds it anew, if it is old. */
const BUILD_PLACE = '__BUILD__';

const refuseHost = (reply: FastifyReply, { publicUrl }: Parts): FastifyReply =>
  reply
    .code(403)
    .type('text/plain; charset=utf-8')
    .send(
      publicUrl.startsWith('https:')
        ? `The console is at ${publicUrl}/console/\n`
        : 'Beyond this machine there is a console at the https address of coordinator.url only, which is not set.\n',
    );

const refuseMissing = (reply: FastifyReply): FastifyReply =>
  reply.code(503).type('text/plain; charset=utf-8').send(`The console is not built. Run: ${BUILD_COMMAND}\n`);

const arrivalOf = (request: FastifyRequest, { publicUrl }: Parts): Arrival => ({
  host: request.headers.host,
  origin: request.headers.origin,
  isSecure: request.protocol === 'https' || isPublic(request.headers.host ?? '', publicUrl),
});

/** @throws FORBIDDEN unless one of our own pages has sent the request */
function requireOwnPage(request: FastifyRequest, parts: Parts): void {
  const hasHeader = request.headers[CONSOLE_HEADER] === '1';
  if (hasHeader && isOwnPage(arrivalOf(request, parts), parts.publicUrl)) return;
  throw new SkeinError('FORBIDDEN', 'this is for the pages of the console alone');
}

function cookieOf(request: FastifyRequest, parts: Parts): string | undefined {
  const { isSecure } = arrivalOf(request, parts);
  return readCookie(request.headers.cookie, cookieName(request.socket.localPort ?? 0, isSecure));
}

function setSession(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: Parts,
  { value, maxAgeS }: { readonly value: string; readonly maxAgeS: number },
): void {
  const { isSecure } = arrivalOf(request, parts);
  const name = cookieName(request.socket.localPort ?? 0, isSecure);
  void reply.header('set-cookie', setCookies(name, value, { isSecure, maxAgeS }));
}
