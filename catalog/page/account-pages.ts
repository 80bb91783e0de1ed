import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CONSOLE_CLIENT, parseRedirect } from '#shared/config/sign-in-redirect.ts';
import { isUuid } from '#shared/id.ts';
import { listAppSignIns } from '../sign-in/app-sign-ins.ts';
import { endSignIns, listSignIns, setNewPassword, type Found } from '../sign-in/browser-sign-ins.ts';
import { factorSection, tokenSection } from './account-factors.ts';
import { identitySection } from './provider-pages.ts';
import { field, form, html, page, type Html } from './html.ts';
import { forget, formText, keep, refusalOf, send, signInOf, type PageParts } from './page-parts.ts';

type Handler = (found: Found, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** `/account`: what a person sees and changes of himself. */
export function accountPages(app: FastifyInstance, parts: PageParts): void {
  /** Nobody who is in another step than the last gets here. */
  const signedIn =
    (handle: Handler) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const found = await signInOf(request, parts);
      return found?.signIn.step === 'done' ? handle(found, request, reply) : reply.redirect('/sign-in', 303);
    };
  app.get(
    '/account',
    signedIn(async (found, _request, reply) => send(reply, await accountPage(parts, found, reply))),
  );
  app.post(
    '/account/password',
    signedIn(async (found, request, reply) => {
      const password = formText(request, 'new_password');
      const shown = { password, oldPassword: formText(request, 'password'), address: request.ip };
      try {
        keep(reply, parts, await setNewPassword(parts.context, found, shown));
        return await reply.redirect('/account', 303);
      } catch (thrown) {
        const { error, status } = refusalOf(thrown);
        return send(reply, await accountPage(parts, found, reply, error), status);
      }
    }),
  );
  app.post(
    '/account/end',
    signedIn(async (found, request, reply) => {
      const id = formText(request, 'sign_in');
      if (id !== 'all' && !isUuid(id)) return reply.redirect('/account', 303);
      await endSignIns(parts.context, found, id === 'all' ? undefined : id);
      if (id === 'all' || id === found.signIn.id) return forget(reply, parts).redirect('/sign-in', 303);
      return reply.redirect('/account', 303);
    }),
  );
}

/** The addresses of the consoles that people of this catalog sign in to. */
const consoles = (redirects: readonly string[]): readonly string[] =>
  redirects.flatMap((text) => {
    const entry = parseRedirect(text);
    return entry?.clientId === CONSOLE_CLIENT ? [new URL(entry.address).origin] : [];
  });

async function accountPage(parts: PageParts, found: Found, reply: FastifyReply, error?: string): Promise<Html> {
  const { context } = parts;
  const csrf = reply.generateCsrf();
  const [signIns, apps] = await Promise.all([listSignIns(context, found), listAppSignIns(context, found)]);
  const hidden = (value: string): Html => html`<input type="hidden" name="sign_in" value="${value}" />`;
  return page(
    'Your account',
    html`<p>You are signed in as <strong>${found.user.username}</strong> of <strong>${found.user.tenant}</strong>.</p>
      ${form('/sign-out', csrf, 'Sign out', html``)}
      <h2>Password</h2>
      ${form(
        '/account/password',
        csrf,
        'Change the password',
        html`${field({ name: 'password', label: 'Current password', type: 'password', autocomplete: 'current-password' })}
        ${field({ name: 'new_password', label: 'New password', type: 'password', autocomplete: 'new-password' })}`,
      )}
      ${await identitySection(parts, found, csrf)} ${await factorSection(parts, found, csrf)}
      ${await tokenSection(parts, found, csrf)}
      <h2>Where you are signed in</h2>
      <ul>
        ${signIns.map(
          ({ id, authenticatedAt, address, agent }) =>
            html` <li>
              ${authenticatedAt.toISOString().slice(0, 16).replace('T', ' ')} UTC, from
              ${address}${id === found.signIn.id ? ' (this browser)' : ''} <br /><small>${agent}</small
              >${form('/account/end', csrf, 'End', hidden(id))}
            </li>`,
        )}
        ${apps.map(
          ({ id, startedAt, address, agent, clientId }) =>
            html` <li>
              ${startedAt.toISOString().slice(0, 16).replace('T', ' ')} UTC, from ${address}, the program ${clientId}
              <br /><small>${agent}</small>${form('/account/end', csrf, 'End', hidden(id))}
            </li>`,
        )}
      </ul>
      ${form('/account/end', csrf, 'End all', hidden('all'))}
      ${consoles(context.config['catalog.sign_in_redirects']).map(
        (base) => html`<p><a href="${base}/console/">Back to the console</a></p>`,
      )}`,
    error === undefined ? {} : { error },
  );
}
