import type { Browser, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { consoleSuite } from '#test/support/console-suite.ts';
import { ask, ended, openConsole, rowTexts, write } from '#test/support/console.ts';

/** Statements outlive the page that has sent them, each tab is a session, and a cut result is sorted by the server. */

let cluster: Cluster;
let browser: Browser;

consoleSuite(
  async (started) => {
    ({ cluster, browser } = started);
    await cluster.sql('CREATE SCHEMA IF NOT EXISTS console_outlives');
    await cluster.sql('CREATE OR REPLACE TABLE console_outlives.taken (i BIGINT)');
  },
  async () => {
    await cluster.sql('DROP TABLE console_outlives.taken');
    await cluster.sql('DROP SCHEMA console_outlives');
  },
);

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const grid = (page: Page) => page.getByRole('grid', { name: 'Result' });
/** A statement that runs for some seconds; its row has the name `slow`. */
const SLOW = 'SELECT count(*) AS slow FROM range(25000) a(i), range(25000) b(i) WHERE (a.i * b.i) % 7 = 3';

test('a cut answer is sorted by the server over all rows, and says by what', async () => {
  const { page, faults } = await openConsole(cluster, browser);
  await ask(page, 'SELECT i, -i AS n FROM range(20000) t(i)');
  await page.getByText(/First 10,000 rows in .* there are more/).waitFor();
  await grid(page).getByRole('button', { name: /^i / }).click();
  await page.getByText(/First 10,000 rows, by i in/).waitFor();
  await grid(page).getByRole('button', { name: /^i / }).click();
  await page.getByText(/by i from the largest/).waitFor();
  expect(await rowTexts(page, 1)).toEqual(['19999', '-19999']);
  expect(await grid(page).locator('[aria-sort=descending]').count()).toBe(1);
  await page.getByLabel('Rows').selectOption('100,000');
  await button(page, 'Run').click();
  await page.getByText(/^20,000 rows/).waitFor();
  expect(await grid(page).getAttribute('aria-rowcount')).toBe('20001');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('after a reload the rows are there again, and a statement that ran goes on', async () => {
  const { page, faults } = await openConsole(cluster, browser);
  await ask(page, "SELECT 'kept row' AS k");
  await page.waitForTimeout(600);
  await page.reload();
  await page.getByText(/1 row, kept from before/).waitFor();
  expect(await rowTexts(page, 1)).toEqual(['kept row']);
  await write(page, SLOW);
  await button(page, 'Run').click();
  await page
    .getByRole('status')
    .filter({ hasText: /Running/ })
    .waitFor();
  await page.waitForTimeout(600);
  await page.reload();
  await page.getByText(/1 row, kept from before/).waitFor({ timeout: 120_000 });
  await page.goto(`${cluster.queryUrl}/console/history?text=${encodeURIComponent('AS slow FROM range')}`);
  const found = page.getByRole('region', { name: 'Statements' }).getByRole('row').filter({ hasText: 'AS slow' });
  await found.first().waitFor();
  expect(await found.count()).toBe(1);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a statement whose answer is lost is sent again under its id, and runs once', async () => {
  const { page } = await openConsole(cluster, browser);
  let lost = 0;
  await page.route('**/api/query', async (route) => {
    if (lost > 0) return route.continue();
    lost += 1;
    await route.fetch();
    await route.abort('connectionreset');
  });
  await ask(page, 'INSERT INTO console_outlives.taken VALUES (1)');
  await page.getByText('1 row inserted').waitFor();
  expect(lost).toBe(1);
  expect(await cluster.sql('SELECT count(*) FROM console_outlives.taken')).toEqual([[1]]);
  await page.context().close();
});

test('each tab is a session with its schema, class and transaction', async () => {
  const { page, faults } = await openConsole(cluster, browser);
  await write(page, '');
  await page.getByLabel('Schema').selectOption('console_outlives');
  await ended(page);
  await ask(page, 'SELECT current_schema() AS s');
  expect(await rowTexts(page, 1)).toEqual(['console_outlives']);
  await page.getByLabel('Class').selectOption('batch');
  await ended(page);
  await ask(page, 'BEGIN');
  await page.getByRole('group', { name: 'Transaction' }).getByText('Transaction open').waitFor();
  await ask(page, 'INSERT INTO taken VALUES (2)');
  await button(page, 'Roll back').click();
  await page.getByRole('group', { name: 'Transaction' }).waitFor({ state: 'detached' });
  await ask(page, 'SELECT count(*) FILTER (i = 2) AS n FROM taken');
  expect(await rowTexts(page, 1)).toEqual(['0']);
  await button(page, 'New tab').click();
  await page.getByLabel('Schema').waitFor();
  await expect.poll(() => page.getByLabel('Schema').inputValue()).not.toBe('console_outlives');
  expect(await page.getByLabel('Class').inputValue()).toBe('auto');
  expect(faults).toEqual([]);
  await page.context().close();
});
