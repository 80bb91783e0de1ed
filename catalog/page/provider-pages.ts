import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SkeinError } from '#shared/error.ts';
import { isUuid } from '#shared/id.ts';
import { addressKey } from '#shared/newcomers/address-key.ts';
import type { Found } from '../sign-in/browser-sign-ins.ts';
import { listIdentities, requireOwnSignIn, unlinkIdentity } from '../sign-in/linked-identities.ts';
import { beginOutsideSignIn, finishOutsideSignIn } from '../sign-in/outside-sign-ins.ts';
import { STEP_MS } from '../sign-in/sign-in-step.ts';
import { providersForPeople } from '../store/postgres/provider-store.ts';
import { hasSeveralTenants } from '../store/postgres/tenant-store.ts';
import { form, html, page, type Html } from './html.ts';
import {
  afterLastStep,
  browserOf,
  formText,
  issuerOf,
  keep,
  queryText,
  refusalOf,
  send,
  signInOf,
  waitsForNew,
  type PageParts,
} from './page-parts.ts';

/** `/sign-in/provider`, from where a browser goes to an identity provider, `/sign-in/callback`, to where it comes back, and links of accounts. */
export function providerPages(app: FastifyInstance, parts: PageParts): void {
  app.get('/sign-in/provider', (request, reply) => toProvider(request, reply, parts));
  app.get('/sign-in/callback', (request, reply) => fromProvider(request, reply, parts));
  app.post('/account/link', (request, reply) => link(request, reply, parts));
  app.post('/account/unlink', (request, reply) => unlink(request, reply, parts));
}

async function toProvider(request: FastifyRequest, reply: FastifyReply, parts: PageParts): Promise<FastifyReply> {
  const tenant = queryText(request, 'tenant');
  // Each way is a row, and anybody may ask for one.
  const seconds = parts.context.tokenLimits.address.take(`provider ${addressKey(request.ip)}`);
  if (seconds > 0) {
    void reply.header('retry-after', String(seconds));
    return failed(reply, 'Too many sign-ins from this address: try again in a minute.', 429);
  }
  if (tenant.includes('\0')) return reply.redirect('/sign-in', 303);
  try {
    const way = await beginOutsideSignIn(parts.context, {
      tenant: tenant === '' ? undefined : tenant,
      provider: queryText(request, 'provider'),
      origin: issuerOf(request, parts),
      isAgain: waitsForNew(request, parts) || queryText(request, 'again') !== '',
    });
    if (way === undefined) return await reply.redirect('/sign-in', 303);
    keepWay(reply, parts, way.secret);
    return await reply.redirect(way.address, 303);
  } catch (error) {
    if (!(error instanceof SkeinError) || error.code !== 'INVALID_REQUEST') throw error;
    return failed(reply, 'The identity provider does not answer: try again, or sign in otherwise.', 503);
  }
}

const keepWay = (reply: FastifyReply, { cookies, outside }: PageParts, secret: string): void =>
  void reply.setCookie(outside, secret, { ...cookies, maxAge: STEP_MS / 1_000 });

async function fromProvider(request: FastifyRequest, reply: FastifyReply, parts: PageParts): Promise<FastifyReply> {
  const { context, cookies, outside } = parts;
  const secret = request.cookies[outside] ?? '';
  void reply.clearCookie(outside, cookies);
  if (queryText(request, 'error') !== '') return failed(reply, 'The identity provider has not signed you in.', 403);
  const answer = {
    state: queryText(request, 'state'),
    code: queryText(request, 'code'),
    iss: queryText(request, 'iss'),
    secret,
  };
  try {
    const reached = await finishOutsideSignIn(context, browserOf(request, parts), answer, issuerOf(request, parts));
    keep(reply, parts, reached);
    return await reply.redirect(reached.step === 'done' ? afterLastStep(request, parts) : '/sign-in', 303);
  } catch (thrown) {
    const { error, status } = refusalOf(thrown);
    const isRefused = thrown instanceof SkeinError && thrown.code === 'WRONG_PASSWORD';
    return failed(reply, isRefused ? 'You cannot sign in here with this identity.' : error, status);
  }
}

const failed = (reply: FastifyReply, error: string, status: number): FastifyReply =>
  send(reply, page('Not signed in', html`<p><a href="/sign-in">Sign in</a></p>`, { error }), status);

/** The links to the providers of a tenant; of several tenants only those of one that is named. */
export async function providerLinks({ context }: PageParts, tenant: string): Promise<Html | undefined> {
  const { db } = context.store;
  if (tenant === '' && (await hasSeveralTenants(db))) return undefined;
  const providers = tenant.includes('\0') ? [] : await providersForPeople(db, tenant === '' ? undefined : tenant);
  if (providers.length === 0) return undefined;
  return html`<ul class="providers">
    ${providers.map(({ name, label }) => {
      const query = new URLSearchParams({ provider: name, ...(tenant === '' ? {} : { tenant }) }).toString();
      return html`<li><a href="/sign-in/provider?${query}">Continue with ${label ?? name}</a></li>`;
    })}
  </ul>`;
}

/** The way to a provider is a link: the policy lets no form lead elsewhere. */
async function link(request: FastifyRequest, reply: FastifyReply, parts: PageParts): Promise<FastifyReply> {
  const found = await signInOf(request, parts);
  if (found?.signIn.step !== 'done') return reply.redirect('/sign-in', 303);
  try {
    requireOwnSignIn(parts.context, found);
    const way = await beginOutsideSignIn(parts.context, {
      tenant: found.user.tenant,
      provider: formText(request, 'provider'),
      origin: issuerOf(request, parts),
      isAgain: true,
      links: found.user.id,
    });
    if (way === undefined) return await reply.redirect('/account', 303);
    keepWay(reply, parts, way.secret);
    return await send(
      reply,
      page(
        'Link an identity',
        html`<p><a href="${way.address}">Sign in there</a> to link it with your account here.</p>`,
      ),
    );
  } catch (thrown) {
    const { error, status } = refusalOf(thrown);
    return send(
      reply,
      page('Not linked', html`<p><a href="/sign-in?again=1">Sign in again</a></p>`, { error }),
      status,
    );
  }
}

async function unlink(request: FastifyRequest, reply: FastifyReply, parts: PageParts): Promise<FastifyReply> {
  const found = await signInOf(request, parts);
  const provider = formText(request, 'provider');
  if (found?.signIn.step !== 'done' || !isUuid(provider)) return reply.redirect('/sign-in', 303);
  try {
    keep(reply, parts, await unlinkIdentity(parts.context, found, provider));
    return await reply.redirect('/account', 303);
  } catch (thrown) {
    const { error, status } = refusalOf(thrown);
    return send(reply, page('Not possible', html`<p><a href="/account">Your account</a></p>`, { error }), status);
  }
}

/** The part of `/account` about identities; undefined where the organisation has no provider for people. */
export async function identitySection({ context }: PageParts, found: Found, csrf: string): Promise<Html | undefined> {
  const [identities, providers] = await Promise.all([
    listIdentities(context, found),
    providersForPeople(context.store.db, found.user.tenant),
  ]);
  if (identities.length === 0 && providers.length === 0) return undefined;
  const named = (provider: string): Html => html`<input type="hidden" name="provider" value="${provider}" />`;
  const open = providers.filter(({ id }) => !identities.some(({ providerId }) => providerId === id));
  return html`<h2>Identities</h2>
    <ul>
      ${identities.map(
        ({ providerId, provider, label, subject }) =>
          html`<li>
            ${label ?? provider} <br /><small>${subject}</small
            >${form('/account/unlink', csrf, 'Unlink', named(providerId))}
          </li>`,
      )}
    </ul>
    ${open.map(({ name, label }) => form('/account/link', csrf, `Link ${label ?? name}`, named(name)))}`;
}
