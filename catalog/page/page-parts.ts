import type { FastifyReply, FastifyRequest } from 'fastify';
import { atLocalhost } from '#shared/config/loopback.ts';
import { SkeinError, type ErrorCode } from '#shared/error.ts';
import type { CatalogContext } from '../context.ts';
import { findSignIn, type Browser, type Found, type ReachedStep } from '../sign-in/browser-sign-ins.ts';
import { STEP_MS } from '../sign-in/sign-in-step.ts';
import type { BrowserSignIn } from '../store/postgres/browser-sign-in-store.ts';
import type { Html } from './html.ts';

export type PageParts = {
  readonly context: CatalogContext;
  /** The attributes of our cookies. */
  readonly cookies: {
    readonly path: '/';
    readonly httpOnly: true;
    readonly sameSite: 'lax';
    readonly secure: boolean;
  };
  /** The names of the cookies: of the sign-in, of the forms, and of the request of a client that waits for the sign-in. */
  readonly session: string;
  readonly csrf: string;
  readonly next: string;
  /** A sign-in at an identity provider, while the browser is there. */
  readonly outside: string;
};

/** The text of a form's field; '' when it is not there, or there twice. */
export function formText({ body }: FastifyRequest, name: string): string {
  if (typeof body !== 'object' || body === null || Buffer.isBuffer(body)) return '';
  const value = (body as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' ? value : '';
}

export function queryText({ query }: FastifyRequest, name: string): string {
  const value = (query as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' ? value : '';
}

export const browserOf = (request: FastifyRequest, { session }: PageParts): Browser => ({
  address: request.ip,
  agent: request.headers['user-agent'] ?? '',
  secret: request.cookies[session],
});

export const signInOf = (request: FastifyRequest, { context, session }: PageParts): Promise<Found | undefined> =>
  findSignIn(context, request.cookies[session]);

/** Gives the browser the secret of the step that it has reached. The forms before it are no longer good. */
export function keep(reply: FastifyReply, { cookies, session, csrf, context }: PageParts, reached: ReachedStep): void {
  const maxAge = Math.max(0, Math.floor((reached.endsAtMs - context.clock.nowMs()) / 1_000));
  void reply.setCookie(session, reached.secret, { ...cookies, maxAge }).clearCookie(csrf, cookies);
}

export const forget = (reply: FastifyReply, { cookies, session, csrf, next }: PageParts): FastifyReply =>
  reply.clearCookie(session, cookies).clearCookie(csrf, cookies).clearCookie(next, cookies);

/** The request of a client that waits until the person has signed in, at `afterMs` or later. */
type Waiting = { readonly query: string; readonly afterMs: number };

export function postpone(reply: FastifyReply, { cookies, next }: PageParts, { query, afterMs }: Waiting): void {
  const value = `${afterMs}.${Buffer.from(query).toString('base64url')}`;
  void reply.setCookie(next, value, { ...cookies, maxAge: STEP_MS / 1_000 });
}

/** The request does not wait any more. */
export const proceed = (reply: FastifyReply, { cookies, next }: PageParts): FastifyReply =>
  reply.clearCookie(next, cookies);

const WAITING = /^(\d{1,15})\.([\w-]{1,4000})$/;

/** The address to which one goes who is signed in; undefined = a client waits that wants him to sign in again. */
export function wayOn(
  request: FastifyRequest,
  { next }: PageParts,
  { authenticatedAt }: BrowserSignIn,
): string | undefined {
  const [, after, query] = WAITING.exec(request.cookies[next] ?? '') ?? [];
  if (after === undefined || query === undefined) return '/account';
  if (authenticatedAt.getTime() < Number(after)) return undefined;
  return `/oauth/authorize?${new URLSearchParams(Buffer.from(query, 'base64url').toString()).toString()}`;
}

/** Whether a client waits that wants the person to sign in again. */
export const waitsForNew = (request: FastifyRequest, { next }: PageParts): boolean =>
  Number(WAITING.exec(request.cookies[next] ?? '')?.[1] ?? 0) > 0;

/** Where a form of the last step leads. */
export const afterLastStep = (request: FastifyRequest, { next }: PageParts): string =>
  request.cookies[next] === undefined ? '/account' : '/sign-in';

/** The address of the catalog, as it names itself to clients. */
export function issuerOf(request: FastifyRequest, { context }: PageParts): string {
  const known = context.config['catalog.public_url'];
  return known === '' ? atLocalhost(`${request.protocol}://${request.host}`) : known.replace(/\/$/, '');
}

export const send = (reply: FastifyReply, content: Html, status = 200): FastifyReply =>
  reply.code(status).type('text/html; charset=utf-8').send(content.text);

/** The refusal of a form, which the form shows again. @throws any other error */
export function refusalOf(error: unknown): { readonly error: string; readonly status: number } {
  if (!(error instanceof SkeinError)) throw error;
  if (!SHOWN.includes(error.code)) throw error;
  // A browser that gets 401 looks for a challenge, which a form has not.
  return { error: sentence(error.message), status: error.code === 'WRONG_PASSWORD' ? 403 : error.entry.http };
}

/** Refusals that the form shows. */
const SHOWN: readonly ErrorCode[] = [
  'WRONG_PASSWORD',
  'PASSWORD_POLICY',
  'InvalidInvitation',
  'TOO_MANY_SIGN_INS',
  'FORBIDDEN',
  'INVALID_STATE',
  'INVALID_REQUEST',
  'ALREADY_EXISTS',
  'LIMIT_REACHED',
  'TOKEN_NOT_FOUND',
];

const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
