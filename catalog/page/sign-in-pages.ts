import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { acceptInvitation, beginSignIn, endSignIn, setNewPassword } from '../sign-in/browser-sign-ins.ts';
import { hasSeveralTenants } from '../store/postgres/tenant-store.ts';
import { field, form, html, page, type Html } from './html.ts';
import {
  afterLastStep,
  browserOf,
  forget,
  formText,
  keep,
  queryText,
  refusalOf,
  send,
  signInOf,
  wayOn,
  type PageParts,
} from './page-parts.ts';
import { providerLinks } from './provider-pages.ts';
import { factorPage, setUpPage } from './factor-pages.ts';

/** `/sign-in`, `/sign-in/invitation` and `/sign-out`. */
export function signInPages(app: FastifyInstance, parts: PageParts): void {
  app.get('/sign-in', async (request, reply) => {
    // One changes factors after signing in again; the sign-in that he has ends when he has shown his password.
    const isAgain = queryText(request, 'again') !== '';
    const found = isAgain ? undefined : await signInOf(request, parts);
    const next = found?.signIn.step === 'done' ? wayOn(request, parts, found.signIn) : undefined;
    if (next !== undefined) return reply.redirect(next, 303);
    if (found?.signIn.step === 'factor') return send(reply, await factorPage(parts, found, reply));
    if (found?.signIn.step === 'set up factor') return send(reply, await setUpPage(parts, found, reply));
    if (found?.signIn.step === 'new password') return send(reply, newPasswordPage(reply));
    const [tenant, provider] = [queryText(request, 'tenant'), queryText(request, 'provider')];
    if (provider !== '' && !isAgain) {
      const query = new URLSearchParams({ provider, ...(tenant === '' ? {} : { tenant }) }).toString();
      return reply.redirect(`/sign-in/provider?${query}`, 303);
    }
    return send(reply, await passwordPage(parts, reply, { tenant }));
  });
  app.post('/sign-in', (request, reply) => passwordStep(request, reply, parts));
  app.post('/sign-in/password', (request, reply) => newPasswordStep(request, reply, parts));
  app.get('/sign-in/invitation', (_request, reply) => send(reply, invitationPage(reply)));
  app.post('/sign-in/invitation', (request, reply) => invitationStep(request, reply, parts));
  app.get('/sign-out', (_request, reply) =>
    send(reply, page('Sign out', form('/sign-out', reply.generateCsrf(), 'Sign out', html``))),
  );
  app.post('/sign-out', async (request, reply) => {
    await endSignIn(parts.context, browserOf(request, parts).secret);
    return forget(reply, parts).redirect('/sign-in', 303);
  });
}

async function passwordStep(request: FastifyRequest, reply: FastifyReply, parts: PageParts): Promise<FastifyReply> {
  const shown = { tenant: formText(request, 'tenant'), user: formText(request, 'username') };
  try {
    const password = formText(request, 'password');
    const reached = await beginSignIn(parts.context, browserOf(request, parts), { ...shown, password });
    keep(reply, parts, reached);
    return await reply.redirect(reached.step === 'done' ? afterLastStep(request, parts) : '/sign-in', 303);
  } catch (thrown) {
    const { error, status } = refusalOf(thrown);
    return send(reply, await passwordPage(parts, reply, { ...shown, error }), status);
  }
}

async function newPasswordStep(request: FastifyRequest, reply: FastifyReply, parts: PageParts): Promise<FastifyReply> {
  const found = await signInOf(request, parts);
  if (found?.signIn.step !== 'new password') return reply.redirect('/sign-in', 303);
  try {
    const password = formText(request, 'new_password');
    const shown = { password, oldPassword: '', address: request.ip };
    const reached = await setNewPassword(parts.context, found, shown);
    keep(reply, parts, reached);
    return await reply.redirect(reached.step === 'done' ? afterLastStep(request, parts) : '/sign-in', 303);
  } catch (thrown) {
    const { error, status } = refusalOf(thrown);
    return send(reply, newPasswordPage(reply, error), status);
  }
}

async function invitationStep(request: FastifyRequest, reply: FastifyReply, parts: PageParts): Promise<FastifyReply> {
  const token = formText(request, 'invitation_token').trim();
  try {
    const password = formText(request, 'new_password');
    const tenant = await acceptInvitation(parts.context, { token, password, address: request.ip });
    return await reply.redirect(`/sign-in?tenant=${encodeURIComponent(tenant)}`, 303);
  } catch (thrown) {
    const { error, status } = refusalOf(thrown);
    return send(reply, invitationPage(reply, { token, error }), status);
  }
}

type Shown = { readonly tenant: string; readonly user?: string; readonly error?: string };

async function passwordPage(parts: PageParts, reply: FastifyReply, shown: Shown): Promise<Html> {
  const { context } = parts;
  const tenant = { name: 'tenant', label: 'Organisation', autocomplete: 'organization', value: shown.tenant };
  const isAsked = await hasSeveralTenants(context.store.db);
  const others = await providerLinks(parts, shown.tenant);
  const content = html`${others}${form(
    '/sign-in',
    reply.generateCsrf(),
    'Sign in',
    html`${isAsked ? field(tenant) : undefined}
    ${field({ name: 'username', label: 'User name or email', autocomplete: 'username', value: shown.user ?? '' })}
    ${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' })}`,
  )}`;
  return page('Sign in', content, shown.error === undefined ? {} : { error: shown.error });
}

const NEW_PASSWORD = {
  name: 'new_password',
  label: 'New password',
  type: 'password',
  autocomplete: 'new-password',
} as const;

const newPasswordPage = (reply: FastifyReply, error?: string): Html =>
  page(
    'Choose a new password',
    html`<p>Your password must be changed before you go on.</p>
      ${form('/sign-in/password', reply.generateCsrf(), 'Set the password', field(NEW_PASSWORD))}`,
    error === undefined ? {} : { error },
  );

const invitationPage = (reply: FastifyReply, shown: { readonly token?: string; readonly error?: string } = {}): Html =>
  page(
    'Accept an invitation',
    form(
      '/sign-in/invitation',
      reply.generateCsrf(),
      'Set the password',
      html`${field({ name: 'invitation_token', label: 'Invitation (the text behind # in its address)', autocomplete: 'off', value: shown.token ?? '' })}
      ${field(NEW_PASSWORD)}`,
    ),
    { script: '/sign-in/invitation.js', ...(shown.error === undefined ? {} : { error: shown.error }) },
  );
