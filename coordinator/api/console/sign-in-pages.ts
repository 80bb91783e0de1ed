import type { FastifyReply, FastifyRequest } from 'fastify';
import { consoleBase, consoleRedirect, CONSOLE_CLIENT } from '#shared/config/sign-in-redirect.ts';
import { SkeinError } from '#shared/error.ts';
import type { Keyring } from '#shared/keyring.ts';
import type { DocumentedApp } from '../http/documented-app.ts';
import { stateCookieName } from './console-cookie.ts';
import { isOwnHost } from './own-page.ts';
import type { PersonSignIns } from './person-sign-ins.ts';
import { backOf, beginWaiting, endWaiting, WAIT_S } from './sign-in-state.ts';

export type SignInPageParts = {
  readonly keyring: Keyring;
  /** `coordinator.url` */
  readonly publicUrl: string;
  /** The address of the catalog, by which people reach its pages and by which it names itself. */
  readonly catalogUrl: string;
  readonly people: PersonSignIns;
  readonly nowMs: () => number;
  /** Gives the browser the session of a sign-in. */
  readonly setSession: (request: FastifyRequest, reply: FastifyReply, signIn: Begun) => void;
  readonly refuseHost: (reply: FastifyReply) => FastifyReply;
};

type Begun = { readonly id: string; readonly endsAtMs: number };
/** Why the sign-in page sends somebody back without a session, as the console's page has words for it. */
type Failure = 'denied' | 'expired' | 'unavailable';

/** The way to the sign-in page of the catalog (RFC 6749, 4.1, with PKCE), and back. */
export function signInPages(app: DocumentedApp, parts: SignInPageParts): void {
  const page = { config: { isPage: true }, schema: { hide: true } } as const;
  app.get('/console/sign-in', page, (request, reply) => leave(request, reply, parts));
  app.get('/console/signed-in', page, (request, reply) => comeBack(request, reply, parts));
  app.get('/console/account', page, (_request, reply) => reply.redirect(`${parts.catalogUrl}/account`, 303));
}

function leave(request: FastifyRequest, reply: FastifyReply, parts: SignInPageParts): FastifyReply {
  const { keyring, publicUrl, catalogUrl, nowMs } = parts;
  const { host } = request.headers;
  if (!isOwnHost(host, publicUrl)) return parts.refuseHost(reply);
  const back = backOf(textOf(request, 'back'));
  const base = consoleBase(publicUrl, `${request.protocol}://${host}`);
  // The person comes back to the one address that the catalog knows, which must then have the cookie.
  if (new URL(base).host !== host) {
    return reply.redirect(`${base}/console/sign-in?back=${encodeURIComponent(back)}`, 303);
  }
  const { cookie, state, challenge } = beginWaiting(back, keyring, nowMs());
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: CONSOLE_CLIENT,
    redirect_uri: consoleRedirect(base),
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  });
  keepState(request, reply, { base, value: cookie, maxAgeS: WAIT_S });
  return reply.redirect(`${catalogUrl}/oauth/authorize?${query.toString()}`, 303);
}

async function comeBack(request: FastifyRequest, reply: FastifyReply, parts: SignInPageParts): Promise<FastifyReply> {
  const { keyring, publicUrl, catalogUrl, nowMs, people } = parts;
  const { host } = request.headers;
  if (!isOwnHost(host, publicUrl)) return parts.refuseHost(reply);
  const base = consoleBase(publicUrl, `${request.protocol}://${host}`);
  const fail = (why: Failure): FastifyReply => reply.redirect(`/console/#sign-in=${why}`, 303);
  const waiting = endWaiting(stateOf(request, base), textOf(request, 'state'), { keyring, nowMs: nowMs() });
  keepState(request, reply, { base, value: '', maxAgeS: 0 });
  // RFC 9207: another server's answer is none of ours.
  if (waiting === undefined || textOf(request, 'iss') !== catalogUrl) return fail('expired');
  const code = textOf(request, 'code');
  if (code === '') return fail('denied');
  try {
    const begun = await people.begin({
      code,
      redirectUri: consoleRedirect(base),
      verifier: waiting.verifier,
      address: request.ip,
      agent: request.headers['user-agent'] ?? '',
    });
    parts.setSession(request, reply, begun);
    return await reply.redirect(waiting.back, 303);
  } catch (thrown) {
    const { code: error } = SkeinError.of(thrown);
    if (error === 'UNAUTHENTICATED') return fail('expired');
    if (error === 'CATALOG_UNAVAILABLE' || error === 'TOO_MANY_SIGN_INS') return fail('unavailable');
    throw thrown;
  }
}

function textOf({ query }: FastifyRequest, name: string): string {
  const value = (query as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' ? value : '';
}

const isHttps = (base: string): boolean => base.startsWith('https:');

function stateOf({ headers, socket }: FastifyRequest, base: string): string | undefined {
  const name = stateCookieName(socket.localPort ?? 0, isHttps(base));
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** Lax: the browser comes back from the catalog's site, which may be another than ours. */
function keepState(
  { socket }: FastifyRequest,
  reply: FastifyReply,
  { base, value, maxAgeS }: { readonly base: string; readonly value: string; readonly maxAgeS: number },
): void {
  const name = stateCookieName(socket.localPort ?? 0, isHttps(base));
  const secure = isHttps(base) ? '; Secure' : '';
  void reply.header('cache-control', 'no-store');
  void reply.header('referrer-policy', 'no-referrer');
  void reply.header('set-cookie', `${name}=${value}; Max-Age=${maxAgeS}; Path=/; HttpOnly; SameSite=Lax${secure}`);
}
