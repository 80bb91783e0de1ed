import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { relyingParty, type RelyingParty } from '../factor/passkeys.ts';
import type { Found } from '../sign-in/browser-sign-ins.ts';
import { addPasskey, askForNewPasskey, askForPasskey, showPasskey } from '../sign-in/passkey-steps.ts';
import { field, html, page, type Html } from './html.ts';
import { formText, keep, refusalOf, send, signInOf, type PageParts } from './page-parts.ts';

/** The script of the passkeys' forms: the library's part for browsers, and ours, which puts its answer into the form. */
export const PASSKEY_SCRIPT = '/sign-in/passkey.js';
const OURS = `
for (const form of document.querySelectorAll('form[data-passkey]')) {
  const answer = form.elements.namedItem('answer');
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const { startRegistration, startAuthentication } = SimpleWebAuthnBrowser;
    const ask = form.dataset.passkey === 'make' ? startRegistration : startAuthentication;
    ask({ optionsJSON: JSON.parse(form.dataset.options) }).then(
      (shown) => {
        answer.value = JSON.stringify(shown);
        form.submit();
      },
      () => {
        form.querySelector('[role=status]').textContent = 'The browser has shown no passkey. Load the page to try again.';
      },
    );
  });
}
`;
/** The package names no other file than its modules; the one for script elements lies beside them. */
const libraryScript = (): string => {
  const module = createRequire(import.meta.url).resolve('@simplewebauthn/browser');
  return readFileSync(join(dirname(module), '..', 'dist/bundle/index.umd.min.js'), 'utf8');
};

export function passkeyPages(app: FastifyInstance, parts: PageParts): void {
  const script = `${libraryScript()}\n${OURS}`;
  app.get(PASSKEY_SCRIPT, (_request, reply) => reply.type('text/javascript; charset=utf-8').send(script));
  app.post('/sign-in/passkey', (request, reply) =>
    passkeyStep(request, reply, parts, (found, site) =>
      found.signIn.step === 'factor'
        ? showPasskey(parts.context, found, site, { answer: formText(request, 'answer'), address: request.ip })
        : addPasskey(parts.context, found, site, {
            answer: formText(request, 'answer'),
            name: formText(request, 'passkey_name'),
            address: request.ip,
          }),
    ),
  );
}

async function passkeyStep(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: PageParts,
  work: (found: Found, site: RelyingParty) => ReturnType<typeof showPasskey>,
): Promise<FastifyReply> {
  const found = await signInOf(request, parts);
  const site = siteOf(request, parts);
  if (found === undefined || site === undefined) return reply.redirect('/sign-in', 303);
  try {
    keep(reply, parts, await work(found, site));
    return await reply.redirect('/sign-in', 303);
  } catch (thrown) {
    const { error, status } = refusalOf(thrown);
    return send(reply, page('Not possible', html`<p><a href="/sign-in">Try again</a></p>`, { error }), status);
  }
}

/** The site of our passkeys: by the configuration, and on one machine by the port, never by what the browser says. */
const siteOf = ({ socket }: FastifyRequest, { context: { config } }: PageParts): RelyingParty | undefined =>
  relyingParty(config['catalog.public_url'], socket.localPort ?? config['catalog.port']);

/** Whether the browser has come by the address that passkeys are bound to. */
const isThere = ({ headers }: FastifyRequest, site: RelyingParty): boolean =>
  headers.host === new URL(site.origin).host;

const elsewhere = (site: RelyingParty): Html =>
  html`<p>Passkeys work at <a href="${site.origin}/sign-in">${site.origin}/sign-in</a>.</p>`;

/** The form that shows a passkey; undefined: the user has none. */
export async function passkeyForm(
  parts: PageParts,
  found: Found,
  { request }: FastifyReply,
  csrf: string,
): Promise<Html | undefined> {
  const site = siteOf(request, parts);
  if (site === undefined || !found.user.factors.includes('passkey')) return undefined;
  if (!isThere(request, site)) return elsewhere(site);
  const options = await askForPasskey(parts.context, found, site);
  return options === undefined ? undefined : scripted('show', options, csrf, 'Use a passkey', html``);
}

/** The form that makes a passkey. @throws UNAUTHENTICATED, FORBIDDEN */
export async function newPasskeyForm(
  parts: PageParts,
  found: Found,
  { request }: FastifyReply,
  csrf: string,
): Promise<Html | undefined> {
  const site = siteOf(request, parts);
  if (site === undefined) return undefined;
  const name = { name: 'passkey_name', label: 'Name of the passkey', autocomplete: 'off', value: 'Passkey' } as const;
  const body = isThere(request, site)
    ? scripted('make', await askForNewPasskey(parts.context, found, site), csrf, 'Make a passkey', field(name))
    : elsewhere(site);
  return html`<h2>Passkey</h2>
    <p>Your phone, your computer or a security key proves that it is you. The password stays.</p>
    ${body}`;
}

const scripted = (kind: 'show' | 'make', options: string, csrf: string, button: string, content: Html): Html =>
  html` <form method="post" action="/sign-in/passkey" data-passkey="${kind}" data-options="${options}">
      <input type="hidden" name="_csrf" value="${csrf}" />
      <input type="hidden" name="answer" value="" />
      ${content}
      <p><button type="submit">${button}</button></p>
      <p role="status"></p>
    </form>
    <noscript><p>Passkeys need JavaScript.</p></noscript>`;
