import cookie from '@fastify/cookie';
import csrfProtection from '@fastify/csrf-protection';
import formbody from '@fastify/formbody';
import helmet from '@fastify/helmet';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { atLocalhost } from '#shared/config/loopback.ts';
import { parseRedirect } from '#shared/config/sign-in-redirect.ts';
import type { DoorTls } from '#shared/grpc/door-tls.ts';
import { SkeinError } from '#shared/error.ts';
import type { CatalogContext } from '../context.ts';
import { toCatalogError } from '../store/postgres/errors.ts';
import { forAddress } from '../store/postgres/on-behalf-of.ts';
import { INVITATION_SCRIPT, STYLE } from './assets.ts';
import { authorizePage } from './authorize-page.ts';
import { accountFactors } from './account-factors.ts';
import { accountPages } from './account-pages.ts';
import { factorPages } from './factor-pages.ts';
import { html, page } from './html.ts';
import { isOwnAddress, isOwnOrigin, ownAddress, type OwnAddress } from './own-address.ts';
import { passkeyPages } from './passkey-pages.ts';
import type { PageParts } from './page-parts.ts';
import { providerPages } from './provider-pages.ts';
import { signInPages } from './sign-in-pages.ts';

const ROOTS = ['/', '/sign-in', '/sign-out', '/account', '/oauth/authorize'];

/** Whether an address is one of the pages': no other origin may read them. */
export const isPage = (url: string): boolean =>
  ROOTS.some((root) => url === root || (url.startsWith(root) && /^[/?]/.test(url.slice(root.length))));

/** The pages by which people sign in; REST beside them keeps its bodies, its errors and its origins. */
export async function pages(app: FastifyInstance, context: CatalogContext, tls?: DoorTls): Promise<void> {
  const own = ownAddress(context.config['catalog.public_url'], tls && (() => tls.material.cert));
  // Cookies know no ports: two catalogs on one machine keep apart by name.
  const named = (name: string): string => `${own.isSecure ? '__Host-' : ''}${name}-${context.config['catalog.port']}`;
  const cookies = { path: '/', httpOnly: true, sameSite: 'lax', secure: own.isSecure } as const;
  const parts: PageParts = {
    context,
    cookies,
    session: named('skein-session'),
    csrf: named('skein-form'),
    next: named('skein-next'),
    outside: named('skein-outside'),
  };
  // A long body of another kind is not read.
  app.removeAllContentTypeParsers();
  await app.register(cookie);
  await app.register(formbody, { bodyLimit: FORM_BYTES_MAX });
  await app.register(csrfProtection, { cookieKey: parts.csrf, cookieOpts: cookies });
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { ...POLICY, formAction: ["'self'", ...clientOrigins(context.config['catalog.sign_in_redirects'])] },
    },
    referrerPolicy: { policy: 'same-origin' },
    xFrameOptions: { action: 'deny' },
    strictTransportSecurity: own.isSecure,
  });
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('cache-control', 'no-store');
    // Nobody signs in for a connection of the pages, which would be cut between two of its requests.
    void reply.header('connection', 'close');
    requireOwn(own, request);
    const elsewhere = atName(own, request);
    if (elsewhere !== undefined) return reply.redirect(elsewhere, 307);
  });
  app.addHook('preHandler', (request, reply, done) => {
    const goOn = (): void => forAddress(request.ip, done);
    if (request.method === 'POST') app.csrfProtection(request, reply, goOn);
    else goOn();
  });
  app.setErrorHandler((error, _request, reply) => sendError(context, reply, error));
  // Whoever opens the catalog's address in a browser comes to his account, after he has signed in.
  app.get('/', (_request, reply) => reply.redirect('/sign-in', 303));
  app.get('/sign-in/style.css', (_request, reply) => reply.type('text/css; charset=utf-8').send(STYLE));
  app.get('/sign-in/invitation.js', (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(INVITATION_SCRIPT),
  );
  signInPages(app, parts);
  factorPages(app, parts);
  passkeyPages(app, parts);
  accountPages(app, parts);
  authorizePage(app, parts);
  accountFactors(app, parts);
  providerPages(app, parts);
}

/** Two passwords, or a token, and some words. */
const FORM_BYTES_MAX = 16 * 1024;

const POLICY = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'", 'data:'],
  frameAncestors: ["'none'"],
  baseUri: ["'none'"],
};

/**
 * Where the last form of a sign-in may lead by redirects, which browsers take for a part of it: to the clients that the operator has named,
 * which get their code without another click.
 */
const clientOrigins = (redirects: readonly string[]): readonly string[] => [
  ...new Set(
    redirects.flatMap((text) => {
      const entry = parseRedirect(text);
      return entry === undefined ? [] : [new URL(entry.address).origin];
    }),
  ),
];

/** @throws FORBIDDEN */
function requireOwn(own: OwnAddress, { headers, socket, method }: FastifyRequest): void {
  if (!isOwnAddress(own, { host: headers.host, localAddress: socket.localAddress })) {
    throw new SkeinError(
      'FORBIDDEN',
      own.publicHost === undefined
        ? 'Beyond this machine the pages are served over https only: at catalog.public_url, or by the names of catalog.tls_cert.'
        : `The pages are at https://${own.publicHost}/sign-in`,
    );
  }
  if (method === 'POST' && !isOwnOrigin(own, headers.origin, headers.host)) {
    throw new SkeinError('FORBIDDEN', 'The form was sent from another page.');
  }
}

/** The same page at localhost, where the request has come to an address of loopback: browsers keep passkeys for names alone. */
function atName(own: OwnAddress, { headers, socket, method, protocol, url }: FastifyRequest): string | undefined {
  if (method !== 'GET' || headers.host === undefined) return undefined;
  const [came, named] = [`${protocol}://${headers.host}`, atLocalhost(`${protocol}://${headers.host}`)];
  const { host } = new URL(named);
  return came === named || !isOwnAddress(own, { host, localAddress: socket.localAddress }) ? undefined : named + url;
}

function sendError(context: CatalogContext, reply: FastifyReply, thrown: unknown): FastifyReply {
  const { code = '', statusCode = 500 } = thrown as { readonly code?: unknown; readonly statusCode?: number };
  const isOfFramework = typeof code === 'string' && code.startsWith('FST_') && statusCode < 500;
  const error = isOfFramework ? undefined : toCatalogError(thrown);
  const status = error === undefined ? statusCode : error.entry.http;
  if (status >= 500) context.log.error({ err: thrown, url: reply.request.url.split('?')[0] }, 'a page failed');
  const why = error === undefined ? 'The form is no longer good: load the page again.' : error.message;
  const text = status >= 500 ? 'Something went wrong: try again.' : why;
  const content = html`<p><a href="/sign-in">Sign in</a></p>`;
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .send(page('Not possible', content, { error: text }).text);
}
