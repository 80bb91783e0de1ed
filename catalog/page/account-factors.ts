import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { SCOPES } from '#shared/authorization/token-claims.ts';
import { isUuid } from '#shared/id.ts';
import type { Found } from '../sign-in/browser-sign-ins.ts';
import { isFresh, newRecoveryCodesOf } from '../sign-in/factor-steps.ts';
import { createOwnToken, dropAuthenticator, dropOwnToken, dropPasskey, listOwnTokens } from '../sign-in/own-account.ts';
import { countRecoveryCodes, datesOfAuthenticator } from '../store/postgres/factor-store.ts';
import { listPasskeys, type Passkey } from '../store/postgres/passkey-store.ts';
import { authenticatorPage, codesPage } from './factor-pages.ts';
import { field, form, html, page, type Html } from './html.ts';
import { newPasskeyForm, PASSKEY_SCRIPT } from './passkey-pages.ts';
import { formText, keep, refusalOf, send, signInOf, type PageParts } from './page-parts.ts';

type Handle = (found: Found, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

type Guard = (handle: Handle) => (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** Nobody who is in another step than the last gets to a handler; a refusal leads back to the account. */
const guardOf =
  (parts: PageParts): Guard =>
  (handle) =>
  async (request, reply) => {
    const found = await signInOf(request, parts);
    if (found?.signIn.step !== 'done') return reply.redirect('/sign-in', 303);
    try {
      return await handle(found, request, reply);
    } catch (thrown) {
      const { error, status } = refusalOf(thrown);
      const back = html`<p><a href="/account">Back to your account</a></p>`;
      return send(reply, page('Not possible', back, { error }), status);
    }
  };

/** The parts of `/account` about second factors and personal access tokens. */
export function accountFactors(app: FastifyInstance, parts: PageParts): void {
  const { context } = parts;
  const signedIn = guardOf(parts);
  app.get(
    '/account/authenticator',
    signedIn(async (found, _request, reply) => send(reply, await authenticatorPage(parts, found, reply))),
  );
  app.post(
    '/account/authenticator/remove',
    signedIn(async (found, _request, reply) => {
      keep(reply, parts, await dropAuthenticator(context, found));
      return reply.redirect('/account', 303);
    }),
  );
  app.get(
    '/account/passkey',
    signedIn(async (found, _request, reply) => {
      const made = await newPasskeyForm(parts, found, reply, reply.generateCsrf());
      const content = html`${made}
        <p><a href="/account">Back to your account</a></p>`;
      return send(reply, page('Add a passkey', content, { script: PASSKEY_SCRIPT }));
    }),
  );
  app.post(
    '/account/passkey/remove',
    signedIn(async (found, request, reply) => {
      const id = formText(request, 'passkey');
      if (isUuid(id)) keep(reply, parts, await dropPasskey(context, found, id));
      return reply.redirect('/account', 303);
    }),
  );
  app.post(
    '/account/recovery-codes',
    signedIn(async (found, _request, reply) => send(reply, codesPage(await newRecoveryCodesOf(context, found)))),
  );
  app.post(
    '/account/token',
    signedIn(async (found, request, reply) => {
      const days = Number(formText(request, 'days'));
      const scope = Object.keys(SCOPES).filter((one) => formText(request, `scope ${one}`) !== '');
      const token = {
        name: formText(request, 'name').trim(),
        days: Number.isInteger(days) ? days : 0,
        scope: scope.join(' '),
      };
      const { rows } = await createOwnToken(context, found, token);
      return send(reply, tokenPage(rows[0]?.[1] ?? ''));
    }),
  );
  app.post(
    '/account/token/drop',
    signedIn(async (found, request, reply) => {
      keep(reply, parts, await dropOwnToken(context, found, formText(request, 'name')));
      return reply.redirect('/account', 303);
    }),
  );
}

const dayOf = (date: Date): string => date.toISOString().slice(0, 10);

/** The second factors of the account page. */
export async function factorSection({ context }: PageParts, found: Found, csrf: string): Promise<Html> {
  const { user } = found;
  const [app, codes, passkeys] = await Promise.all([
    datesOfAuthenticator(context.store.db, user.id),
    countRecoveryCodes(context.store.db, user.id),
    listPasskeys(context.store.db, user.id),
  ]);
  const used = app?.usedAt === undefined || app.usedAt === null ? '' : `, last used on ${dayOf(app.usedAt)}`;
  const has =
    app === undefined
      ? 'You have no authenticator app.'
      : `Authenticator app, set up on ${dayOf(app.createdAt)}${used}.`;
  if (!isFresh(context, found)) {
    return html`<h2>Second factor</h2>
      <p>${has}</p>
      <p>
        To change it, <a href="/sign-in?again=1">sign in again</a>: that is done within five minutes of signing in.
      </p>`;
  }
  return html`<h2>Second factor</h2>
    <p>${has}</p>
    <p>
      <a href="/account/authenticator"
        >Set up ${app === undefined ? 'an authenticator app' : 'another one in its place'}</a
      >
    </p>
    ${app === undefined ? undefined : form('/account/authenticator/remove', csrf, 'Remove the authenticator app', html``)}
    <ul>
      ${passkeys.map(
        (passkey) =>
          html` <li>
            ${passkeyText(passkey)}
            ${form(
              '/account/passkey/remove',
              csrf,
              `Remove ${passkey.name}`,
              html`<input type="hidden" name="passkey" value="${passkey.id}" />`,
            )}
          </li>`,
      )}
    </ul>
    <p><a href="/account/passkey">Add a passkey</a></p>
    ${
      user.factors.length === 0
        ? undefined
        : html`<p>${String(codes)} recovery codes are left.</p>
            ${form('/account/recovery-codes', csrf, 'Make ten new recovery codes', html``)}`
    }`;
}

const passkeyText = ({ name, createdAt, usedAt }: Passkey): string =>
  `Passkey ${name}, made on ${dayOf(createdAt)}${usedAt === null ? '' : `, last used on ${dayOf(usedAt)}`}`;

/** The personal access tokens of the account page. */
export async function tokenSection({ context }: PageParts, found: Found, csrf: string): Promise<Html> {
  const tokens = await listOwnTokens(context, found);
  return html`<h2>Personal access tokens</h2>
    <p>Programs use one in the place of your password.</p>
    <ul>
      ${tokens.map(
        ({ name, scopes, expiresAt }) =>
          html` <li>
            <strong>${name}</strong>, until ${dayOf(expiresAt)}<br /><small>${scopes.join(' ')}</small>
            ${form('/account/token/drop', csrf, `Drop ${name}`, html`<input type="hidden" name="name" value="${name}" />`)}
          </li>`,
      )}
    </ul>
    <details>
      <summary>Make a token</summary>
      ${form(
        '/account/token',
        csrf,
        'Make the token',
        html`${field({ name: 'name', label: 'Name', autocomplete: 'off' })}
          ${field({ name: 'days', label: 'Days that it lasts (1 to 365)', autocomplete: 'off', value: '90', isNumber: true })}
          <fieldset>
            <legend>What it may do</legend>
            ${found.user.scopes.map(
              (scope) =>
                html` <p>
                  <label><input type="checkbox" name="scope ${scope}" checked /> ${scope}</label>
                </p>`,
            )}
          </fieldset>`,
      )}
    </details>`;
}

/** A token, shown this once. */
const tokenPage = (token: string): Html =>
  page(
    'Your new token',
    html`<p>Copy it now: it is not shown again.</p>
      <p><code>${token}</code></p>
      <p><a href="/account">I have kept it: back to your account</a></p>`,
  );
