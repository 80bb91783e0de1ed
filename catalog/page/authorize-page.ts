import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SCOPES } from '#shared/authorization/token-claims.ts';
import { SHOWN_CODE } from '#shared/config/sign-in-redirect.ts';
import { grantScopes, requestedScopes } from '../token/grant-scopes.ts';
import { allowApp } from '../sign-in/app-sign-ins.ts';
import type { Found } from '../sign-in/browser-sign-ins.ts';
import { readAuthorizeRequest, type AuthorizeRequest, type AuthorizeRefusal } from './authorize-request.ts';
import { html, page, type Html } from './html.ts';
import { issuerOf, postpone, proceed, send, signInOf, type PageParts } from './page-parts.ts';

/** A request that is being answered. */
type Turn = { readonly request: FastifyRequest; readonly reply: FastifyReply; readonly parts: PageParts };

/**
 * `/oauth/authorize` (RFC 6749, 4.1.1, with PKCE): sends a browser back to the client with a code, once its person has signed in, and for
 * clients on his own machine once he has agreed by a click.
 */
export function authorizePage(app: FastifyInstance, parts: PageParts): void {
  app.get('/oauth/authorize', (request, reply) => authorize({ request, reply, parts }));
  app.post('/oauth/authorize', (request, reply) => decide({ request, reply, parts }));
}

async function authorize(turn: Turn): Promise<FastifyReply> {
  const { request, reply, parts } = turn;
  const asked = readAuthorizeRequest(request.query, parts.context.config['catalog.sign_in_redirects']);
  if (asked.kind !== 'request') return refuse(turn, asked);
  const found = await signInOf(request, parts);
  const nowMs = parts.context.clock.nowMs();
  const isSignedIn = found?.signIn.step === 'done' && isRecent(asked, found, nowMs);
  if (!isSignedIn || asked.prompt === 'login') {
    if (asked.prompt === 'none') return goBack(turn, asked, { error: 'login_required' });
    // Whoever is signed in already is asked again when the client says so: his sign-in is then no older than this moment.
    const afterMs = found?.signIn.step === 'done' ? nowMs : 0;
    postpone(reply, parts, { query: asked.query, afterMs });
    return reply.redirect(signInPage(asked), 303);
  }
  proceed(reply, parts);
  if (!asked.client.asks) return allow(turn, asked, found);
  if (asked.prompt === 'none') return goBack(turn, asked, { error: 'interaction_required' });
  return send(nameReturn(reply, asked), questionPage(found, asked, reply));
}

function signInPage({ tenant, provider }: Pick<AuthorizeRequest, 'tenant' | 'provider'>): string {
  const query = new URLSearchParams({
    ...(tenant === undefined ? {} : { tenant }),
    ...(provider === undefined ? {} : { provider }),
  }).toString();
  return query === '' ? '/sign-in' : `/sign-in?${query}`;
}

const isRecent = ({ maxAgeMs }: AuthorizeRequest, { signIn }: Found, nowMs: number): boolean =>
  maxAgeMs === undefined || nowMs - signIn.authenticatedAt.getTime() <= maxAgeMs;

/** The answer to the question. */
async function decide(turn: Turn): Promise<FastifyReply> {
  const { request, reply, parts } = turn;
  const { answer, ...fields } = (request.body ?? {}) as Readonly<Record<string, unknown>>;
  const asked = readAuthorizeRequest(fields, parts.context.config['catalog.sign_in_redirects']);
  if (asked.kind !== 'request') return refuse(turn, asked);
  const found = await signInOf(request, parts);
  if (found?.signIn.step !== 'done' || !isRecent(asked, found, parts.context.clock.nowMs())) {
    postpone(reply, parts, { query: asked.query, afterMs: 0 });
    // The policy lets no form lead to a provider: its link stands on the page.
    return reply.redirect(signInPage({ tenant: asked.tenant, provider: undefined }), 303);
  }
  if (answer !== 'allow') return goBack(turn, asked, { error: 'access_denied' });
  return allow(turn, asked, found);
}

async function allow(turn: Turn, asked: AuthorizeRequest, found: Found): Promise<FastifyReply> {
  const { reply, parts } = turn;
  const requested = requestedScopes(asked.scope);
  if (requested === 'unknown') return goBack(turn, asked, { error: 'invalid_scope' });
  const scopes = grantScopes(requested, Object.keys(SCOPES));
  const code = await allowApp(parts.context, found, { client: asked.client, challenge: asked.challenge, scopes });
  if (asked.client.redirectUri === SHOWN_CODE) return send(reply, codePage(code));
  return goBack(turn, asked, { code });
}

/** Sends the browser back to the client. A client without an address sees the refusal here. */
function goBack(
  turn: Turn,
  { client, state }: Pick<AuthorizeRequest, 'client' | 'state'>,
  answer: { readonly code: string } | { readonly error: string; readonly why?: string },
): FastifyReply {
  const { reply } = turn;
  if (client.redirectUri === SHOWN_CODE) {
    const text = 'error' in answer ? (answer.why ?? `The sign-in was refused: ${answer.error}.`) : '';
    return send(reply, page('Not signed in', html``, { error: text }), 400);
  }
  const url = new URL(client.redirectUri);
  if ('code' in answer) url.searchParams.set('code', answer.code);
  else {
    url.searchParams.set('error', answer.error);
    if (answer.why !== undefined) url.searchParams.set('error_description', answer.why);
  }
  if (state !== undefined) url.searchParams.set('state', state);
  url.searchParams.set('iss', issuerOf(turn.request, turn.parts));
  return reply.redirect(url.href, 303);
}

/** A browser follows an address only when it is that of a client of ours; any other fault is told to the client. */
function refuse(turn: Turn, refusal: AuthorizeRefusal): FastifyReply {
  if (refusal.kind === 'no client') return send(turn.reply, page('Not possible', html``, { error: refusal.why }), 400);
  return goBack(turn, refusal, { error: refusal.error, why: refusal.why });
}

/** The policy forbids forms to lead elsewhere, also by a redirect: this page alone may lead to the address behind its button. */
function nameReturn(reply: FastifyReply, { client }: AuthorizeRequest): FastifyReply {
  const { origin } = new URL(client.redirectUri);
  if (client.redirectUri === SHOWN_CODE) return reply;
  const policy = String(reply.getHeader('content-security-policy') ?? '');
  return reply.header('content-security-policy', policy.replace("form-action 'self'", `form-action 'self' ${origin}`));
}

function questionPage({ user }: Found, { client, query }: AuthorizeRequest, reply: FastifyReply): Html {
  const isShown = client.redirectUri === SHOWN_CODE;
  const csrf = reply.generateCsrf();
  const fields = [...new URLSearchParams(query)].map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  );
  return page(
    'Sign in to the terminal?',
    html`<p>You are signed in as <strong>${user.username}</strong> of <strong>${user.tenant}</strong>.</p>
      <p>
        The command <code>skein login</code> asks to act as you${isShown ? ' in another place' : ' on this computer'}.
        Agree only if you have just started it yourself${isShown ? ', and never give the code to anybody' : ''}.
      </p>
      <form method="post" action="/oauth/authorize">
        <input type="hidden" name="_csrf" value="${csrf}" />${fields}
        <p>
          <button type="submit" name="answer" value="allow">Sign in</button>
          <button type="submit" name="answer" value="deny" class="second">Cancel</button>
        </p>
      </form>`,
  );
}

const codePage = (code: string): Html =>
  page(
    'Your code',
    html`<p>Paste this into the terminal in which you have started <code>skein login</code>, within a minute:</p>
      <p><output class="code">${code}</output></p>
      <p>Nobody else needs it, whoever asks.</p>`,
  );
