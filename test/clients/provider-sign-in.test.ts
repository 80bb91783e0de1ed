import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import axe from 'axe-core';
import { decodeJwt } from 'jose';
import { generateSync } from 'otplib';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { startChromium } from '#test/support/chromium.ts';
import { OIDC_CLIENT, startOidcIssuer, type OidcIssuer, type OidcPerson } from '#test/support/oidc-issuer.ts';
import { statementRunner } from '#test/support/run-statements.ts';

/** Debian's chromium goes to a real OpenID provider and back: to the account, to a second factor of ours, and to the terminal. */
let catalog: TestCatalog;
let issuer: OidcIssuer;
let browser: Browser;
let home: string;

beforeAll(async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  home = `http://localhost:${port}`;
  issuer = await startOidcIssuer([`${home}/sign-in/callback`]);
  catalog = await startTestCatalog({ ...issuer.settings, 'catalog.port': port });
  await statementRunner(catalog).run('admin', {
    kind: 'create_provider',
    name: 'corp',
    ifNotExists: false,
    issuer: issuer.issuer,
    audiences: ['skein:default'],
    ...OIDC_CLIENT,
    provision: 'USERS',
    domains: ['example.com'],
    label: 'Example & Co',
  });
  browser = await startChromium();
});
beforeEach(() => {
  issuer.person = person('bea');
});
afterAll(async () => {
  await browser?.close();
  await catalog?.[Symbol.asyncDispose]();
  await issuer?.[Symbol.asyncDispose]();
});

const person = (name: string): OidcPerson => ({ sub: `id of ${name}`, claims: { preferred_username: name } });
const heading = (page: Page): Promise<string> => page.getByRole('heading', { level: 1 }).innerText();
/** A browser of its own, which trusts the authority of the provider. */
const newPage = (javaScriptEnabled = true): Promise<Page> =>
  browser.newPage({ javaScriptEnabled, ignoreHTTPSErrors: true, viewport: { width: 320, height: 640 } });

test.each([true, false])(
  'from the page to the provider and to the account, with JavaScript: %s',
  async (javaScriptEnabled) => {
    const page = await newPage(javaScriptEnabled);
    const faults: string[] = [];
    page.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())));
    await page.goto(`${home}/sign-in`);
    if (javaScriptEnabled) {
      const found = (await page.evaluate(`${axe.source}; axe.run()`)) as { readonly violations: readonly object[] };
      expect(found.violations).toEqual([]);
    }
    await page.getByRole('link', { name: 'Continue with Example & Co' }).click();
    await page.getByText('You are signed in as bea').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    expect(await heading(page)).toBe('Sign in');
    await page.goto(`${home}/sign-in?provider=corp`);
    await page.getByText('You are signed in as bea').waitFor();
    expect(faults).toEqual([]);
    await page.close();
  },
);

test('skein login names the provider: there, the click, and back to the terminal', async () => {
  const came = Promise.withResolvers<URL>();
  const terminal = createHttpServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (url.pathname === '/callback') came.resolve(url);
    response.end('<!doctype html><html lang="en"><title>Skein</title><h1>Signed in</h1></html>');
  }).listen(0, '127.0.0.1');
  await once(terminal, 'listening');
  const verifier = randomBytes(32).toString('base64url');
  const client = {
    client_id: 'skein-cli',
    redirect_uri: `http://127.0.0.1:${(terminal.address() as AddressInfo).port}/callback`,
  };
  const query = new URLSearchParams({
    response_type: 'code',
    ...client,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state: 'own',
    provider: 'corp',
  }).toString();
  const page = await newPage();
  await page.goto(`${home}/oauth/authorize?${query}`);
  expect(await heading(page)).toBe('Sign in to the terminal?');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Signed in' }).waitFor();
  const back = (await came.promise).searchParams;
  expect(back.get('state')).toBe('own');
  const answer = await fetch(`${home}/v1/oauth/tokens`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      ...client,
      code: back.get('code') ?? '',
      code_verifier: verifier,
    }),
  });
  const { access_token: token } = (await answer.json()) as { readonly access_token: string };
  expect(decodeJwt(token)).toMatchObject({ preferred_username: 'bea', auth_method: 'sso', amr: ['sso', 'pwd'] });
  terminal.close();
  await page.close();
});

test('who must have a factor, and has shown none there, sets one up here; one that was shown there counts', async () => {
  await catalog.sql(`update catalog.tenant set mfa_required = 'everyone'`);
  issuer.person = person('cleo');
  const page = await newPage();
  await page.goto(`${home}/sign-in?provider=corp`);
  await page.goto(`${home}/account`);
  expect([new URL(page.url()).pathname, await heading(page)]).toEqual(['/sign-in', 'Set up a second factor']);
  const secret = (await page.locator('code').first().innerText()).replaceAll(' ', '');
  await page.getByLabel(/code/i).fill(generateSync({ secret }));
  await page.getByRole('button', { name: 'Switch it on' }).click();
  expect(await heading(page)).toBe('Your recovery codes');
  await page.goto(`${home}/account`);
  await page.getByText('You are signed in as cleo').waitFor();
  await page.close();
  issuer.person = { ...person('dan'), amr: ['pwd', 'mfa'] };
  const other = await newPage();
  await other.goto(`${home}/sign-in?provider=corp`);
  await other.getByText('You are signed in as dan').waitFor();
  await other.close();
  await catalog.sql(`update catalog.tenant set mfa_required = 'administrators'`);
});
