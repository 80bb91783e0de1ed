import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { generateSync } from 'otplib';
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { startChromium } from '#test/support/chromium.ts';

/** Debian's chromium, with an authenticator that the browser makes itself, sets up both kinds of factors and signs in with them. */

const PASSWORD = 'a password that is not generated';
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
let catalog: TestCatalog;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let cdp: CDPSession;
let home = '';
/** The authenticator of the browser itself. */
let laptop = '';
/** Recovery codes that were shown last. */
let codes: readonly string[] = [];

beforeAll(async () => {
  catalog = await startTestCatalog();
  browser = await startChromium();
  home = `http://localhost:${new URL(catalog.running.url).port}`;
  // The policy of the pages lets no script of others in, and axe is one.
  context = await browser.newContext({ bypassCSP: true, viewport: { width: 320, height: 640 } });
  page = await context.newPage();
  cdp = await context.newCDPSession(page);
  await cdp.send('WebAuthn.enable');
});
afterAll(async () => {
  await browser.close();
  await catalog[Symbol.asyncDispose]();
});

const heading = (): Promise<string> => page.getByRole('heading', { level: 1 }).innerText();
async function signIn(): Promise<void> {
  await page.goto(`${home}/sign-in?again=1`);
  await page.getByLabel('User name or email').fill('admin');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
}
const authenticator = async (transport: 'internal' | 'usb' = 'internal'): Promise<string> => {
  const options = {
    protocol: 'ctap2',
    transport,
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
    automaticPresenceSimulation: true,
  } as const;
  return (await cdp.send('WebAuthn.addVirtualAuthenticator', { options })).authenticatorId;
};
/** Whatever axe finds on the page, and whether it is wider than the screen. */
async function faults(): Promise<readonly unknown[]> {
  await page.evaluate(AXE);
  const found = await page.evaluate<readonly unknown[]>(
    `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))`,
  );
  const isWide = await page.evaluate<boolean>(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  );
  return isWide ? [...found, 'too wide'] : found;
}

test('an administrator sets up a passkey at the first sign-in, and signs in with it', async () => {
  laptop = await authenticator();
  await signIn();
  expect(await heading()).toBe('Set up a second factor');
  expect(await faults()).toEqual([]);
  await page.getByLabel('Name of the passkey').fill('my laptop');
  await page.getByRole('button', { name: 'Make a passkey' }).click();
  await page.getByText('You are signed in as admin').waitFor();
  expect(await faults()).toEqual([]);
  await signIn();
  expect(await heading()).toBe('Show your second factor');
  expect(await faults()).toEqual([]);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText('You are signed in as admin').waitFor();
  const [row] = await catalog.sql(`select amr from catalog.browser_sign_in where step = 'done'`);
  expect(row).toEqual({ amr: ['pwd', 'hwk', 'mfa'] });
  // The last factor of an administrator stays.
  await page.getByRole('button', { name: 'Remove my laptop' }).click();
  await page.getByText('this is the last one').waitFor();
});

test('a counter that goes back is refused and written down', async () => {
  await catalog.sql('update catalog.passkey set counter = counter + 1000');
  await signIn();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText('The user, the password or the code is wrong.').waitFor();
  const rows = await catalog.sql(`select details from catalog.user_audit_log where event_type = 'refuse_passkey'`);
  expect(rows).toEqual([{ details: { passkey: 'my laptop' } }]);
  await catalog.sql('update catalog.passkey set counter = 1');
});

test('a passkey answers one request, once: not in another sign-in, and not after another answer', async () => {
  /** The answer that the browser sends, which never arrives. */
  const held = async (): Promise<Record<string, string>> => {
    await signIn();
    await page.route('**/sign-in/passkey', (route) => route.abort());
    // The end of its failure, not its beginning: until then it could still leave.
    const sent = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/sign-in/passkey'));
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    const fields = Object.fromEntries(new URLSearchParams((await sent).postData() ?? ''));
    await page.unroute('**/sign-in/passkey');
    // The counter shall not be what refuses it.
    await catalog.sql('update catalog.passkey set counter = 0');
    return fields;
  };
  const post = async (form: Record<string, string>): Promise<readonly [number, boolean]> => {
    const options = { form, headers: { origin: home }, maxRedirects: 0 };
    const answer = await context.request.post(`${home}/sign-in/passkey`, options);
    return [answer.status(), (await answer.text()).includes('The user, the password or the code is wrong.')];
  };
  const used = await held();
  expect(await post(used)).toEqual([303, false]);
  await page.goto(`${home}/account`);
  await page.getByText('You are signed in as admin').waitFor();
  // The same in a sign-in that waits for another.
  const fresh = await held();
  expect(await post({ ...fresh, answer: used['answer'] ?? '' })).toEqual([403, true]);
  // By that answer the request of this sign-in is gone.
  expect(await post(fresh)).toEqual([403, true]);
  expect(await post(await held())).toEqual([303, false]);
});

test('an account has ten passkeys at most, with their names and dates', async () => {
  await catalog.sql(`insert into catalog.passkey (id, principal_id, credential_id, public_key, counter, transports, name, created_at)
    select gen_random_uuid(), principal_id, md5(n::text), public_key, 0, '{}', 'key ' || n, '2026-01-02T03:04:05Z'
    from catalog.passkey, generate_series(1, 9) n`);
  await catalog.sql('update catalog.passkey set counter = 0');
  await signIn();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText('Passkey key 9, made on 2026-01-02').waitFor();
  await page.getByText(/Passkey my laptop, made on [0-9-]+, last used on/).waitFor();
  // A key beside the laptop, which alone is touched: the laptop has a passkey of this account already.
  const key = await authenticator('usb');
  const touch = (enabled: boolean): Promise<unknown> =>
    cdp.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId: laptop, enabled });
  await touch(false);
  await page.getByRole('link', { name: 'Add a passkey' }).click();
  await page.getByRole('button', { name: 'Make a passkey' }).click();
  await page.getByText('an account has at most 10 passkeys').waitFor();
  await catalog.sql(`delete from catalog.passkey where name = 'key 9'`);
  await page.goto(`${home}/account/passkey`);
  await page.getByLabel('Name of the passkey').fill('the tenth');
  await page.getByRole('button', { name: 'Make a passkey' }).click();
  await page.getByText(/Passkey the tenth, made on/).waitFor();
  await catalog.sql(`delete from catalog.passkey where name <> 'my laptop'`);
  await cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId: key });
  await touch(true);
});

test('an authenticator app beside it, recovery codes anew, and the passkey removed', async () => {
  await signIn();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('link', { name: 'Set up an authenticator app' }).click();
  expect(await faults()).toEqual([]);
  const secret = (await page.locator('code').first().innerText()).replaceAll(' ', '');
  await page.getByLabel('Code of your authenticator app').fill(generateSync({ secret }));
  await page.getByRole('button', { name: 'Switch it on' }).click();
  expect(await page.locator('.codes code').count()).toBe(10);
  expect(await faults()).toEqual([]);
  await page.getByRole('link', { name: /I have kept them/ }).click();
  await page.getByRole('button', { name: 'Make ten new recovery codes' }).click();
  codes = await page.locator('.codes code').allInnerTexts();
  expect(codes).toHaveLength(10);
  await page.goto(`${home}/account`);
  await page.getByRole('button', { name: 'Remove my laptop' }).click();
  await page.getByText('You are signed in as admin').waitFor();
  expect(await page.getByText('my laptop').count()).toBe(0);
  await page.getByRole('group').getByText('Make a token').click();
  await page.getByRole('textbox', { name: 'Name' }).fill('for a script');
  await page.getByRole('button', { name: 'Make the token' }).click();
  expect(await page.locator('code').innerText()).toMatch(/^skein_pat_/);
  await page.goto(`${home}/account`);
  await page.getByRole('button', { name: 'Drop for a script' }).click();
  await page.getByText('You are signed in as admin').waitFor();
  expect(await catalog.sql('select 1 from catalog.access_token')).toEqual([]);
});

test('who has lost his factor signs in with a recovery code, sets up another at once, and the code is used up', async () => {
  const [code = ''] = codes;
  const recover = async (): Promise<void> => {
    await signIn();
    await page.getByText('I have lost it').click();
    await page.getByLabel('Recovery code').fill(code);
    await page.getByRole('button', { name: 'Use the recovery code' }).click();
  };
  await recover();
  expect(await heading()).toBe('Set up a second factor');
  expect(await faults()).toEqual([]);
  // He is not signed in before.
  await page.goto(`${home}/account`);
  expect([new URL(page.url()).pathname, await heading()]).toEqual(['/sign-in', 'Set up a second factor']);
  const secret = (await page.locator('code').first().innerText()).replaceAll(' ', '');
  await page.getByLabel('Code of your authenticator app').fill(generateSync({ secret }));
  await page.getByRole('button', { name: 'Switch it on' }).click();
  await page.getByRole('link', { name: /I have kept them/ }).click();
  await page.getByText('You are signed in as admin').waitFor();
  await recover();
  await page.getByText('The user, the password or the code is wrong.').waitFor();
  // The code of this half minute was used above; that of the next one is taken, too.
  const epoch = Math.floor(Date.now() / 1_000) + 30;
  await page.getByLabel('Code of your authenticator app').fill(generateSync({ secret, epoch }));
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.getByText('You are signed in as admin').waitFor();
});
