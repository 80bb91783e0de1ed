import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { consoleSuite } from '#test/support/console-suite.ts';
import { ask, ended, openConsole, visit, write } from '#test/support/console.ts';

/** Debian's chromium does what people do in passing: goes back, presses Enter, pastes a link, opens a panel too early. */

let cluster: Cluster;
let browser: Browser;

consoleSuite(async (started) => {
  ({ cluster, browser } = started);
  for (const sql of [
    'CREATE CATALOG console_everyday',
    'CREATE SCHEMA console_everyday.a',
    'CREATE SCHEMA console_everyday."a.b"',
    'CREATE TABLE console_everyday."a.b".t AS SELECT 7 AS x',
  ]) {
    const { status, body } = await cluster.query(sql);
    if (status !== 200) throw new Error(`${sql}: ${JSON.stringify(body)}`);
  }
});

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const textOf = (page: Page): Promise<string> =>
  page.evaluate("[...document.querySelectorAll('.cm-line')].map((line) => line.textContent).join('\\n')");
/** The tabs that the browser keeps. */
const keptTabs = (page: Page): Promise<string> =>
  page.evaluate(`(async () => {
    const kept = [];
    for (const { name } of await indexedDB.databases()) {
      const db = await new Promise((done) => Object.assign(indexedDB.open(name), { onsuccess: ({ target }) => done(target.result) }));
      kept.push(await new Promise((done) => Object.assign(db.transaction('tabs').objectStore('tabs').getAll(), { onsuccess: ({ target }) => done(target.result) })));
      db.close();
    }
    return JSON.stringify(kept);
  })()`);

test('a password is not kept when another text stands in its place, and neither is one in a parameter', async () => {
  const { page } = await openConsole(cluster, browser);
  await ask(page, "ALTER USER nobody_of_this_name SET PASSWORD = 'Sesame-Street-7'");
  await page.getByRole('alert').waitFor();
  await write(page, 'ALTER USER nobody_of_this_name SET PASSWORD = ?');
  await page.getByLabel('$1', { exact: true }).fill('Sesame-Street-8');
  await page.waitForTimeout(600);
  await write(page, 'SELECT ? AS kept_text');
  await expect.poll(() => keptTabs(page)).toContain('kept_text');
  expect(await keptTabs(page)).not.toContain('Sesame-Street');
  expect(await page.getByLabel('$1', { exact: true }).inputValue()).toBe('');
  await page.context().close();
});

test('a panel that is open while rows come counts all of them, and a chart is saved as a picture', async () => {
  const { page, faults } = await openConsole(cluster, browser);
  await page.locator('label.row', { hasText: 'Rows' }).locator('select').selectOption('500000');
  await ask(page, 'SELECT 1 AS i');
  await button(page, 'Column').click();
  await ask(page, "SELECT i, repeat('x', 100) AS t FROM range(400001) t(i)");
  await page.getByRole('complementary', { name: 'Column' }).getByText('400,001').waitFor();
  await button(page, 'Chart').click();
  await page.getByText('The first 10,000 of 400,001 rows').waitFor();
  const [download] = await Promise.all([page.waitForEvent('download'), button(page, 'PNG').click()]);
  expect((await readFile(await download.path())).subarray(1, 4).toString()).toBe('PNG');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a link that is opened where the console is open fills a tab; the arrows stay in the row of tabs', async () => {
  const { page } = await openConsole(cluster, browser);
  await write(page, 'SELECT 1');
  await page.evaluate("location.hash = '#sql=SELECT%20777'");
  await expect.poll(() => textOf(page)).toBe('SELECT 777');
  expect(new URL(page.url()).hash).toBe('');
  await page.getByRole('tab').last().focus();
  await page.keyboard.press('ArrowLeft');
  await expect.poll(() => textOf(page)).toBe('SELECT 1');
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => textOf(page)).toBe('SELECT 777');
  await page.context().close();
});

test('a tab that another window has written and closed since comes back as it is now', async () => {
  const { page } = await openConsole(cluster, browser);
  await button(page, 'New tab').click();
  await write(page, 'SELECT 1 AS old');
  await button(page, 'Close this tab').click();
  const { page: other } = await visit(await page.context().newPage(), page.url());
  await button(other, 'Closed').click();
  await other.getByRole('menuitem', { name: /SELECT 1 AS old/ }).click();
  await write(other, 'SELECT 2 AS new');
  await button(other, 'Close this tab').click();
  await expect.poll(() => keptTabs(other)).toContain('AS new');
  await button(page, 'Closed').click();
  await page.getByRole('menuitem', { name: /SELECT 1 AS old/ }).click();
  await expect.poll(() => textOf(page)).toBe('SELECT 2 AS new');
  await page.context().close();
});

test('a text without a statement is told, an explained error is marked at its place, rows are no deed', async () => {
  const { page } = await openConsole(cluster, browser);
  await write(page, '-- nothing');
  await button(page, 'Run').click();
  await page.getByText('There is no statement at the cursor').waitFor();
  await write(page, 'SELECT 1;\nSELECT nope');
  await button(page, 'Explain').click();
  await page.getByRole('alert').filter({ hasText: 'COLUMN_NOT_FOUND' }).waitFor();
  expect(await page.locator('.cm-lintRange-error').innerText()).toBe('nope');
  await ask(page, 'SELECT NULL AS status');
  expect(await page.locator('.outcome').innerText()).toMatch(/^1 row in /);
  await page.context().close();
});

test('Enter takes a filter, Tab goes on to the next field, a filter is kept and forgotten, and Back takes it away', async () => {
  const { page, faults } = await openConsole(cluster, browser, { path: '/console/history' });
  const field = (name: string) => page.getByRole('searchbox', { name });
  await field('Text').fill('everyday one');
  await page.keyboard.press('Enter');
  await expect.poll(() => new URL(page.url()).searchParams.get('text')).toBe('everyday one');
  await field('User').fill('nobody');
  await page.keyboard.press('Tab');
  await expect.poll(() => new URL(page.url()).searchParams.get('user_id')).toBe('nobody');
  expect(await page.evaluate("document.activeElement?.closest('label')?.textContent")).toBe('Group');
  await button(page, 'Keep this filter').click();
  await page.getByRole('link', { name: 'text everyday one, user id nobody' }).waitFor();
  await button(page, 'Forget the filter text everyday one, user id nobody').click();
  expect(await page.getByRole('link', { name: /everyday one/ }).count()).toBe(0);
  await page.goBack();
  await expect.poll(() => field('User').inputValue()).toBe('');
  expect(await field('Text').inputValue()).toBe('everyday one');
  await page.goto(`${cluster.queryUrl}/console/admin/audit`);
  await field('Actor').fill('nobody at all');
  await page.keyboard.press('Enter');
  await page.getByText('No event is like this.').waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('a table of a schema within a schema is looked at, and dropped; tree and page go on', async () => {
  const { page, faults } = await openConsole(cluster, browser, {
    path: '/console/catalog/console_everyday/a.b/t?tab=Rows',
  });
  await page.getByRole('region', { name: 'The first 100 rows' }).getByRole('cell', { name: '7' }).waitFor();
  const tree = page.getByRole('tree', { name: 'Catalog' });
  await tree.getByText('t', { exact: true }).waitFor();
  await button(page, 'Drop the table').click();
  await page.getByLabel('Type the name t to go on').fill('t');
  await page.getByRole('region', { name: 'Drop the table' }).getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('heading', { name: /^a\.b/ }).waitFor();
  await page.getByText('Nothing here').first().waitFor();
  await expect.poll(() => tree.getByText('t', { exact: true }).count()).toBe(0);
  await page.goto(`${cluster.queryUrl}/console/catalog/console_everyday/a.b/t`);
  await page.getByText('There is no table, view or stage of this name').waitFor();
  expect(await button(page, 'Drop the stage').count()).toBe(0);
  await page.goto(`${cluster.queryUrl}/console/ask`);
  await ask(page, 'CREATE SCHEMA console_everyday.made_in_ask');
  await page.getByRole('tree', { name: 'Catalog' }).getByText('console_everyday', { exact: true }).click();
  await page.getByRole('tree', { name: 'Catalog' }).getByText('made_in_ask', { exact: true }).waitFor();
  await ask(page, 'DROP SCHEMA console_everyday.made_in_ask');
  await ended(page);
  await expect
    .poll(() => page.getByRole('tree', { name: 'Catalog' }).getByText('made_in_ask', { exact: true }).count())
    .toBe(0);
  expect(faults).toEqual([]);
  await page.context().close();
});
