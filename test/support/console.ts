import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { run, type Cluster } from './cluster.ts';
import { patience } from './run/slowness.ts';

/** A page of the console as a test visits it. */
export type ConsolePage = {
  readonly page: Page;
  /** The browser's complaints: errors of scripts, and everything that the page's policy refused. */
  readonly faults: readonly string[];
};

/** Answers to requests that a test provokes are no faults of the page. */
const EXPECTED = /status of 4\d\d|net::ERR_/;

/** Two suites that run at once build one after the other: the second has nothing to do. */
const LOCK = join(tmpdir(), 'skein-console-build.lock');

/** Builds the console, as `npm ci` does, where its sources have changed; `.ci/run` has done so by `npm ci`. */
export async function buildConsole(): Promise<void> {
  const { code, stderr } = await run('flock', [
    LOCK,
    'env',
    'NODE_ENV=production',
    'npm',
    'run',
    '-s',
    'console:build',
  ]);
  if (code !== 0) throw new Error(`the console was not built: ${stderr}`);
}

type Visit = BrowserContextOptions & { readonly token?: string; readonly path?: string };

/** Opens a page of the console in a browser of its own, signed in. */
export async function openConsole(
  cluster: Cluster,
  browser: Browser,
  { token, path = '/console/ask', ...options }: Visit = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'], ...options });
  await context.request.post(`${cluster.queryUrl}/api/console/session`, {
    data: { token: token ?? (await cluster.token()) },
    headers: { 'x-skein-console': '1', origin: cluster.queryUrl },
  });
  return visit(await context.newPage(), `${cluster.queryUrl}${path}`);
}

/** Opens an address in a page. */
export async function visit(page: Page, url: string): Promise<ConsolePage> {
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !EXPECTED.test(message.text())) faults.push(message.text());
  });
  page.on('pageerror', (error) => faults.push(String(error)));
  await page.goto(url);
  return { page, faults };
}

/**
 * Signs out by the button, and waits until the next page has loaded. Chromium may leave a page open that is closed while it navigates, and
 * `context.close()` then never ends (Chromium's issue 536385539).
 */
export async function signOut(page: Page): Promise<void> {
  const button = page.getByRole('button', { name: 'Sign out', exact: true });
  await button.waitFor();
  await page.waitForLoadState();
  await Promise.all([page.waitForEvent('load'), button.click()]);
  await page.getByRole('region', { name: 'Sign in' }).waitFor();
}

/** Writes a text into the active tab, in place of what is there. */
export async function write(page: Page, sql: string): Promise<void> {
  const editor = page.getByRole('textbox', { name: 'SQL' });
  await editor.waitFor();
  await editor.focus();
  await page.keyboard.press('Control+A');
  // Over a selection the browser would put styles of its own into the text, which the page's policy refuses.
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(sql);
  await page.keyboard.press('Escape');
}

/** Runs a text by the button, and waits for its end. */
export async function ask(page: Page, sql: string): Promise<void> {
  await write(page, sql);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await ended(page);
}

/** Waits for the end of what runs. */
export async function ended(page: Page): Promise<void> {
  await page
    .locator('.outcome')
    .getByText(/ms|[A-Z]+_[A-Z]+/)
    .first()
    .waitFor();
}

/** The texts of a row of the result that is in sight, from 1. */
export const rowTexts = (page: Page, row: number): Promise<readonly string[]> =>
  page
    .getByRole('grid', { name: 'Result' })
    .locator(`[aria-rowindex="${row + 1}"] [role=gridcell]`)
    .allInnerTexts();

/**
 * Waits until the query history has a statement that has ended: its record is written after its answer, and a page that was opened before
 * asks again only after seconds.
 */
export async function untilInHistory(cluster: Cluster, queryId: string): Promise<void> {
  const headers = { authorization: `Bearer ${await cluster.token()}` };
  const path = `${cluster.queryUrl}/api/query-history/${queryId}`;
  await expect
    .poll(async () => ((await (await fetch(path, { headers })).json()) as { readonly status?: string }).status, {
      timeout: patience(30_000),
    })
    .toMatch(/^(?:completed|failed|cancelled)$/);
}
