import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PrincipalAnswer } from '#shared/principal/principal-request.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { startChromium } from '#test/support/chromium.ts';

/** Debian's chromium goes through the pages as a person does: with JavaScript and without, on a narrow screen. */

const PASSWORD = 'Correct-Horse-9';
const NEXT = 'Battery-Staple-8';
let catalog: TestCatalog;
let browser: Browser;

beforeAll(async () => {
  catalog = await startTestCatalog();
  browser = await startChromium();
});
afterAll(async () => {
  await browser.close();
  await catalog[Symbol.asyncDispose]();
});

/** The token of a new user's invitation. */
async function invite(name: string): Promise<string> {
  const { answer } = await catalog.call<{ answer: Buffer }>('RunPrincipalStatement', {
    principal: catalog.principal(),
    statement: Buffer.from(
      JSON.stringify({ kind: 'create_user', name, ifNotExists: false, email: `${name}@example.org` }),
    ),
  });
  const { rows } = JSON.parse(answer.toString()) as PrincipalAnswer;
  return rows[0]?.[1] ?? '';
}

async function signIn(page: Page, name: string, password: string): Promise<void> {
  await page.getByLabel('User name or email').fill(name);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

test.each([true, false])(
  'invitation, forced change, new password and sign-out, with JavaScript: %s',
  async (javaScriptEnabled) => {
    const name = javaScriptEnabled ? 'ida' : 'ivo';
    const token = await invite(name);
    const context = await browser.newContext({ javaScriptEnabled, viewport: { width: 320, height: 640 } });
    const page = await context.newPage();
    const faults: string[] = [];
    page.on('console', (message) => {
      // The forms that are refused below are no faults of the page.
      if (message.type() === 'error' && !message.text().includes('status of 403')) faults.push(message.text());
    });
    await page.goto(`${catalog.running.url}/sign-in/invitation#${token}`);
    const field = page.getByLabel(/Invitation/);
    if (!javaScriptEnabled) await field.fill(token);
    expect(await field.inputValue()).toBe(token);
    // The script takes the invitation out of the address.
    expect(page.url().includes('#')).toBe(!javaScriptEnabled);
    await page.getByLabel('New password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Set the password' }).click();
    await signIn(page, name, 'wrong');
    expect(await page.getByRole('alert').innerText()).toBe('The user, the password or the code is wrong.');
    await signIn(page, name, PASSWORD);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Your account');
    expect(await page.getByText('(this browser)').count()).toBe(1);
    const isWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
    expect(await page.evaluate(isWide)).toBe(false);

    await catalog.sql(`update catalog.principal set must_change_password = true where username = '${name}'`);
    await page.goto(`${catalog.running.url}/account`);
    await signIn(page, name, PASSWORD);
    await page.getByLabel('New password').fill(NEXT);
    await page.getByRole('button', { name: 'Set the password' }).click();
    await page.getByText(`You are signed in as ${name}`).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Sign in');
    await page.goto(`${catalog.running.url}/account`);
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    expect(faults).toEqual([]);
    await context.close();
  },
);
