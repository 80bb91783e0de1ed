import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHash, randomBytes } from 'node:crypto';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { atLocalhost } from '#shared/config/loopback.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { startChromium } from '#test/support/chromium.ts';

/** Debian's chromium brings a person's code to a terminal: the browser enforces the policy of the page, which no other client does. */

const PASSWORD = 'Correct-Horse-9';
let catalog: TestCatalog;
let browser: Browser;
let terminal: Server;
let came: URL[];

beforeAll(async () => {
  catalog = await startTestCatalog();
  browser = await startChromium();
  await catalog.call('RunPrincipalStatement', {
    principal: catalog.principal(),
    statement: Buffer.from(
      JSON.stringify({
        kind: 'create_user',
        name: 'ann',
        ifNotExists: false,
        email: 'ann@example.org',
        password: PASSWORD,
      }),
    ),
  });
});
beforeEach(async () => {
  came = [];
  terminal = createServer((request, response) => {
    came.push(new URL(request.url ?? '/', 'http://127.0.0.1'));
    response.end('<!doctype html><html lang="en"><title>Skein</title><h1>Signed in</h1></html>');
  });
  await new Promise<void>((resolve) => terminal.listen(0, '127.0.0.1', resolve));
});
afterEach(() => void terminal.close());
afterAll(async () => {
  await browser.close();
  await catalog[Symbol.asyncDispose]();
});

function address(verifier: string, more: Readonly<Record<string, string>> = {}): string {
  const parameters = {
    response_type: 'code',
    client_id: 'skein-cli',
    redirect_uri: `http://127.0.0.1:${(terminal.address() as AddressInfo).port}/callback`,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state: 'own',
    ...more,
  };
  return `${atLocalhost(catalog.running.url)}/oauth/authorize?${new URLSearchParams(parameters).toString()}`;
}

async function faultsOf(page: Page): Promise<readonly string[]> {
  const results = (await page.evaluate(`${axe.source}; axe.run()`)) as {
    readonly violations: readonly { id: string }[];
  };
  return results.violations.map(({ id }) => id);
}

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('User name or email').fill('ann');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

test.each([true, false])('a person brings his code to the terminal, with JavaScript: %s', async (javaScriptEnabled) => {
  const context = await browser.newContext({ javaScriptEnabled, viewport: { width: 320, height: 640 } });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())));
  const verifier = randomBytes(32).toString('base64url');
  await page.goto(address(verifier));
  await signIn(page);
  expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Sign in to the terminal?');
  const isWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
  expect(await page.evaluate(isWide)).toBe(false);
  if (javaScriptEnabled) expect(await faultsOf(page)).toEqual([]);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Signed in' }).waitFor();
  const [back] = came.filter(({ pathname }) => pathname === '/callback');
  expect(back?.searchParams.get('state')).toBe('own');
  const answer = await fetch(`${catalog.running.url}/v1/oauth/tokens`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: 'skein-cli',
      redirect_uri: `${terminalAddress()}/callback`,
      code: back?.searchParams.get('code') ?? '',
      code_verifier: verifier,
    }),
  });
  expect(answer.status).toBe(200);
  expect(faults).toEqual([]);
  await context.close();
});

test('a code for a terminal elsewhere is shown, and who cancels sends the terminal away', async () => {
  const context = await browser.newContext({ viewport: { width: 320, height: 640 } });
  const page = await context.newPage();
  await page.goto(address('x'.repeat(43), { redirect_uri: 'urn:ietf:wg:oauth:2.0:oob' }));
  await signIn(page);
  await page.getByRole('button', { name: 'Sign in' }).click();
  expect(await page.locator('output').innerText()).toMatch(/^skein_code_/);
  expect(await faultsOf(page)).toEqual([]);
  await page.goto(address('x'.repeat(43)));
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('heading', { name: 'Signed in' }).waitFor();
  expect(came.find(({ pathname }) => pathname === '/callback')?.searchParams.get('error')).toBe('access_denied');
  await context.close();
});

const terminalAddress = (): string => `http://127.0.0.1:${(terminal.address() as AddressInfo).port}`;
