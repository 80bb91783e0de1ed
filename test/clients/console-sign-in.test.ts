import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { atLocalhost } from '#shared/config/loopback.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { consoleSuite } from '#test/support/console-suite.ts';
import { ask, rowTexts, signOut, visit, write } from '#test/support/console.ts';
import { KNOWN_WITHIN_MS } from '#test/support/known-within.ts';

/** Debian's chromium signs in to the console at the catalog's page, as a person does, and as a thief would. */

const USER = 'console_person';
const PASSWORD = 'Sesame-Street-77-x';
let cluster: Cluster;
let browser: Browser;
let origin: string;

consoleSuite(
  async (started) => {
    ({ cluster, browser } = started);
    origin = atLocalhost(cluster.queryUrl);
    // With more than one organisation the page asks for it, and other suites make some in this cluster, too.
    await cluster.cliOk(['admin', 'tenant', 'create', 'console_beside', '--user', 'eve']);
    await cluster.sql(`CREATE USER ${USER} EMAIL '${USER}@example.org' PASSWORD '${PASSWORD}'`);
  },
  async () => {
    await cluster.sql(`DROP USER ${USER}`);
  },
);

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const leave = (page: Page) => page.getByRole('link', { name: 'Sign in', exact: true }).click();

async function givePassword(page: Page): Promise<void> {
  await page.getByLabel('User name or email').fill(USER);
  await page.getByLabel('Organisation').fill('default');
  await page.getByLabel('Password').fill(PASSWORD);
  await button(page, 'Sign in').click();
}

/** A browser that has signed in, at the page that it has asked for. */
async function signedIn(path = '/console/ask'): Promise<{ context: BrowserContext; page: Page }> {
  const context = await browser.newContext();
  const { page } = await visit(await context.newPage(), `${origin}${path}`);
  await leave(page);
  await givePassword(page);
  await page.getByRole('link', { name: USER }).waitFor();
  return { context, page };
}

/** How the page's own requests are answered with these cookies. */
async function status(context: BrowserContext, cookie?: string): Promise<number> {
  const headers = { 'x-skein-console': '1', origin, ...(cookie === undefined ? {} : { cookie }) };
  return (await context.request.get(`${origin}/api/whoami`, { headers })).status();
}

test('by the page of the catalog, back to the page that was asked for, and out again', async () => {
  const { context, page } = await signedIn('/console/history?text=nothing_like_it');
  expect(page.url()).toBe(`${origin}/console/history?text=nothing_like_it`);
  await page.goto(`${origin}/console/ask`);
  await ask(page, 'SELECT current_user');
  expect(await rowTexts(page, 1)).toEqual([USER]);
  const cookies = await context.cookies(origin);
  const session = cookies.filter(({ name }) => /^skein-console-\d+\.\d$/.test(name));
  expect(session.map(({ httpOnly, sameSite }) => [httpOnly, sameSite])).toEqual([[true, 'Strict']]);
  const copy = session.map(({ name, value }) => `${name}=${value}`).join('; ');
  expect(await status(context, copy)).toBe(200);
  // The account has a way back.
  await page.goto(`${origin}/console/account`);
  await page.getByText('the program skein-console').waitFor();
  await page.getByRole('link', { name: 'Back to the console' }).click();
  await signOut(page);
  expect(await status(context, copy)).toBe(401);
  await context.close();
});

test('by the link of skein console, in one click and once', async () => {
  const link = (await cluster.cliOk(['console', '--user', USER])).trim();
  expect(link.startsWith(`${origin}/console/#code=`)).toBe(true);
  const first = await browser.newContext();
  const { page, faults } = await visit(await first.newPage(), link);
  await page.getByRole('link', { name: USER }).waitFor();
  // The code is in no address any more.
  expect(page.url()).not.toContain('code');
  await ask(page, 'SELECT current_user');
  expect(await rowTexts(page, 1)).toEqual([USER]);
  expect(faults).toEqual([]);
  await first.close();
  const second = await browser.newContext();
  const { page: again } = await visit(await second.newPage(), link);
  await again.getByRole('region', { name: 'Sign in' }).waitFor();
  expect(await status(second)).toBe(401);
  await second.close();
});

test('a code that comes again, another browser, a foreign state and a foreign issuer begin nothing', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${atLocalhost(cluster.catalogUrl)}/sign-in`);
  await givePassword(page);
  await page.getByText(`signed in as ${USER}`).waitFor();
  // Both redirects are seen, and the last not followed: what it carries is a thief's now.
  const next = async (url: string): Promise<string> =>
    (await context.request.get(url, { maxRedirects: 0 })).headers()['location'] ?? '';
  const stolen = await next(await next(`${origin}/console/sign-in`));
  expect(new URL(stolen).searchParams.get('code')).toMatch(/^skein_code_/);
  const thief = await browser.newContext();
  const there = await thief.newPage();
  const refused = async (at: Page, url: string): Promise<void> => {
    await at.goto(url);
    await at.getByRole('alert').filter({ hasText: 'Try again' }).waitFor();
    expect(at.url()).toBe(`${origin}/console/`);
  };
  await refused(there, stolen);
  // A browser that has begun a sign-in of its own has another state.
  await there.goto(`${origin}/console/sign-in`);
  await refused(there, stolen);
  expect(await status(thief)).toBe(401);
  const foreign = new URL(stolen);
  foreign.searchParams.set('iss', 'https://evil.example');
  await refused(page, foreign.href);
  // The state is good once.
  await refused(page, stolen);
  expect(await status(context)).toBe(401);
  // Neither the address of the browser nor a link leads elsewhere.
  const away = new URL(await next(`${origin}/console/sign-in?back=//evil.example/`));
  expect(away.searchParams.get('redirect_uri')).toBe(`${origin}/console/signed-in`);
  await context.close();
  await thief.close();
});

test('a session that ends under an open page is begun anew beside it, and no text is lost', async () => {
  const { context, page } = await signedIn();
  await write(page, 'SELECT 40 + 2 AS kept');
  // The epoch rises, and with it ends every sign-in.
  await cluster.sql(`ALTER USER ${USER} SUSPEND`);
  await expect.poll(() => status(context), { timeout: KNOWN_WITHIN_MS }).toBe(401);
  await cluster.sql(`ALTER USER ${USER} UNSUSPEND`);
  await button(page, 'Run').click();
  await page.getByRole('region', { name: 'Sign in' }).waitFor();
  const [beside] = await Promise.all([context.waitForEvent('page'), leave(page)]);
  await givePassword(beside);
  await beside.getByText('You are signed in').waitFor();
  await page.bringToFront();
  await page.evaluate("dispatchEvent(new Event('focus'))");
  await page.getByRole('region', { name: 'Sign in' }).waitFor({ state: 'detached' });
  await button(page, 'Run').click();
  await page.getByRole('grid', { name: 'Result' }).getByText('42').waitFor();
  await context.close();
});
