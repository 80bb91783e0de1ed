import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { toDataURL } from 'qrcode';
import type { NewAuthenticator } from '../factor/enrolment.ts';
import type { Found } from '../sign-in/browser-sign-ins.ts';
import { newAuthenticator, showCode, switchOnAuthenticator } from '../sign-in/factor-steps.ts';
import { field, form, html, page, type Html } from './html.ts';
import { newPasskeyForm, PASSKEY_SCRIPT, passkeyForm } from './passkey-pages.ts';
import { formText, keep, refusalOf, send, signInOf, type PageParts } from './page-parts.ts';

/** The steps of a second factor: showing it, and setting one up. */
export function factorPages(app: FastifyInstance, parts: PageParts): void {
  app.post('/sign-in/factor', (request, reply) => factorStep(request, reply, parts));
  app.post('/sign-in/authenticator', (request, reply) => authenticatorStep(request, reply, parts));
}

async function factorStep(request: FastifyRequest, reply: FastifyReply, parts: PageParts): Promise<FastifyReply> {
  const found = await signInOf(request, parts);
  if (found?.signIn.step !== 'factor') return reply.redirect('/sign-in', 303);
  const recovery = formText(request, 'recovery_code');
  const shown =
    recovery === ''
      ? ({ kind: 'code', code: formText(request, 'code') } as const)
      : ({ kind: 'recovery code', code: recovery } as const);
  try {
    keep(reply, parts, await showCode(parts.context, found, shown, request.ip));
    return await reply.redirect('/sign-in', 303);
  } catch (thrown) {
    const { error, status } = refusalOf(thrown);
    return send(reply, await factorPage(parts, found, reply, error), status);
  }
}

/** The first code of a new authenticator, in the sign-in or on the account page. */
async function authenticatorStep(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: PageParts,
): Promise<FastifyReply> {
  const found = await signInOf(request, parts);
  const step = found?.signIn.step;
  if (found === undefined || (step !== 'set up factor' && step !== 'done')) return reply.redirect('/sign-in', 303);
  try {
    const { reached, codes } = await switchOnAuthenticator(parts.context, found, formText(request, 'code'), request.ip);
    keep(reply, parts, reached);
    return await send(reply, codesPage(codes));
  } catch (thrown) {
    const { error, status } = refusalOf(thrown);
    const shown =
      step === 'done' ? authenticatorPage(parts, found, reply, error) : setUpPage(parts, found, reply, error);
    return send(reply, await shown, status);
  }
}

const CODE = {
  name: 'code',
  label: 'Code of your authenticator app',
  autocomplete: 'one-time-code',
  isNumber: true,
} as const;

/** Asks for the second factor of one who has shown his password. */
export async function factorPage(parts: PageParts, found: Found, reply: FastifyReply, error?: string): Promise<Html> {
  const csrf = reply.generateCsrf();
  const { factors } = found.user;
  const recovery = { name: 'recovery_code', label: 'Recovery code', autocomplete: 'off' } as const;
  return page(
    'Show your second factor',
    html`${await passkeyForm(parts, found, reply, csrf)}
      ${factors.includes('totp') ? form('/sign-in/factor', csrf, 'Go on', field(CODE)) : undefined}
      <details>
        <summary>I have lost it</summary>
        <p>Use one of your recovery codes, and set up a new factor. Who has none left asks an administrator.</p>
        ${form('/sign-in/factor', csrf, 'Use the recovery code', field(recovery))}
      </details>
      <p><a href="/sign-out">Sign in as somebody else</a></p>`,
    { script: PASSKEY_SCRIPT, ...(error === undefined ? {} : { error }) },
  );
}

/** Sets up the factor that a sign-in asks for. */
export async function setUpPage(parts: PageParts, found: Found, reply: FastifyReply, error?: string): Promise<Html> {
  const csrf = reply.generateCsrf();
  const given = await newAuthenticator(parts.context, found);
  return page(
    'Set up a second factor',
    html`<p>Your account signs in with a second factor beside the password.</p>
      ${await newPasskeyForm(parts, found, reply, csrf)} ${await authenticatorForm(given, csrf)}`,
    { script: PASSKEY_SCRIPT, ...(error === undefined ? {} : { error }) },
  );
}

/** Sets up an authenticator from the account page. @throws FORBIDDEN */
export async function authenticatorPage(
  parts: PageParts,
  found: Found,
  reply: FastifyReply,
  error?: string,
): Promise<Html> {
  const given = await newAuthenticator(parts.context, found);
  return page(
    'Set up an authenticator app',
    html`${await authenticatorForm(given, reply.generateCsrf())}
      <p><a href="/account">Back to your account</a></p>`,
    error === undefined ? {} : { error },
  );
}

async function authenticatorForm({ secret, uri }: NewAuthenticator, csrf: string): Promise<Html> {
  const image = await toDataURL(uri, { margin: 2, width: 220 });
  return html`<h2>Authenticator app</h2>
    <p>Scan this with an authenticator app on your phone, then type the code that the app shows.</p>
    <p><img src="${image}" width="220" height="220" alt="QR code for an authenticator app" /></p>
    <p>Or type this key into the app: <code>${secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code></p>
    ${form('/sign-in/authenticator', csrf, 'Switch it on', field(CODE))}`;
}

/** Shows recovery codes, this once. */
export const codesPage = (codes: readonly string[]): Html =>
  page(
    'Your recovery codes',
    html`<p>
        Keep these where your phone is not. Each signs you in once, with your password, when your second factor is lost.
        They are not shown again.
      </p>
      <ul class="codes">
        ${codes.map((code) => html` <li><code>${code}</code></li>`)}
      </ul>
      <p><a href="/sign-in">I have kept them: go on</a></p>`,
  );
