import type { FastifyReply, FastifyRequest } from 'fastify';
import { SkeinError, type ErrorCode } from '#shared/error.ts';
import type { CatalogContext } from '../context.ts';
import { findSignIn, type Browser, type Found, type ReachedStep } from '../sign-in/browser-sign-ins.ts';
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
  /** The names of the cookies: of the sign-in, and of the forms. */
  readonly session: string;
  readonly csrf: string;
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

export const forget = (reply: FastifyReply, { cookies, session, csrf }: PageParts): FastifyReply =>
  reply.clearCookie(session, cookies).clearCookie(csrf, cookies);

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
const SHOWN: readonly ErrorCode[] = ['WRONG_PASSWORD', 'PASSWORD_POLICY', 'InvalidInvitation', 'TOO_MANY_SIGN_INS'];

const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
