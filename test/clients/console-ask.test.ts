import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { consoleSuite } from '#test/support/console-suite.ts';
import { ask, ended, openConsole, rowTexts, visit, write } from '#test/support/console.ts';

/** Debian's chromium asks as a person does: texts, rows, tabs, tree. */

let cluster: Cluster;
let browser: Browser;

consoleSuite(
  async (started) => {
    ({ cluster, browser } = started);
    await cluster.sql('CREATE SCHEMA IF NOT EXISTS console_ask');
    await cluster.sql('CREATE OR REPLACE TABLE console_ask."Odd ""name" AS SELECT 1 AS "a b", 2 AS c');
  },
  async () => {
    await cluster.sql('DROP TABLE IF EXISTS console_ask.made');
    await cluster.sql('DROP TABLE console_ask."Odd ""name"');
    await cluster.sql('DROP SCHEMA console_ask');
  },
);

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const grid = (page: Page) => page.getByRole('grid', { name: 'Result' });
const textOf = (page: Page): Promise<string> =>
  page.evaluate("[...document.querySelectorAll('.cm-line')].map((line) => line.textContent).join('\\n')");

test('values of every type are the text that DuckDB prints, every digit', async () => {
  const { page, faults } = await openConsole(cluster, browser);
  const values = [
    '9223372036854775807',
    '0.1::DOUBLE',
    '12345678901234567890123456789.123456789::DECIMAL(38,9)',
    "'2262-04-11 23:47:16.854775806'::TIMESTAMP_NS",
    "'2024-02-29 12:00:00.123456+00'::TIMESTAMPTZ",
    "DATE '0044-03-15 (BC)'",
    "INTERVAL '-1 month 2 days 3 microseconds'",
    "'\\x00\\xFFa'::BLOB",
    "[{'a': 1.50, 'b': ['it''s', NULL]}]",
    "MAP {'k': TIME '10:00:00.5'}",
    'true',
  ];
  const columns = values.flatMap((value, i) => [`${value} AS v${i}`, `CAST(${value} AS VARCHAR) AS t${i}`]);
  for (const [i, value] of values.entries()) {
    await ask(page, `SELECT ${columns[2 * i] ?? ''}, ${columns[2 * i + 1] ?? ''}`);
    const [shown, printed] = await rowTexts(page, 1);
    expect([value, shown]).toEqual([value, printed]);
  }
  expect(faults).toEqual([]);
  await page.context().close();
});

test('the statement of the cursor, the selection, or all of them run; an error is marked at its place', async () => {
  const { page } = await openConsole(cluster, browser);
  await write(page, "SELECT 1 AS one;\nSELECT ';' AS two;\nSELECT nope FROM lake.tpch.orders");
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('Control+Enter');
  await grid(page).getByText('one').waitFor();
  await page.keyboard.press('Control+Shift+Enter');
  await page.getByRole('alert').waitFor();
  expect(await page.getByRole('alert').innerText()).toContain('COLUMN_NOT_FOUND');
  expect(await page.locator('.cm-lintRange-error').innerText()).toBe('nope');
  await button(page, '2 ✓').click();
  expect(await rowTexts(page, 1)).toEqual([';']);
  await ask(page, 'CREATE OR REPLACE TABLE console_ask.made AS SELECT 1 AS x UNION ALL SELECT 2');
  await page.getByText('2 rows written').waitFor();
  await page.context().close();
});

test('a cut answer says so; a whole one is sorted, searched, copied, inspected, drawn and saved', async () => {
  const { page, faults } = await openConsole(cluster, browser);
  await ask(page, 'SELECT i, -i AS n FROM range(20000) t(i)');
  await page.getByText(/First 10,000 rows .* there are more/).waitFor();
  expect(await grid(page).getAttribute('aria-rowcount')).toBe('10001');
  await ask(page, `SELECT i, '=cmd' || i AS f, {'a': [i, NULL]} AS s FROM range(3000) t(i)`);
  await grid(page).getByRole('button', { name: /^i / }).click();
  await grid(page).getByRole('button', { name: /^i / }).click();
  expect((await rowTexts(page, 1))[0]).toBe('2999');
  await grid(page).focus();
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('Control+C');
  await page.getByText('Copied 1 × 2 with headers').waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe("i\tf\n2999\t'=cmd2999");
  await page.keyboard.press('Control+F');
  await page.keyboard.type('cmd17');
  await page.keyboard.press('Enter');
  await page.getByText('Row 1201').waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  expect(await page.getByLabel('Value').innerText()).toBe("{\n  'a': [\n    1799,\n    NULL\n  ]\n}");
  await button(page, 'Close').click();
  await button(page, 'Column').click();
  await page.getByRole('complementary', { name: 'Column' }).getByText('3,000').first().waitFor();
  await button(page, 'Chart').click();
  await page.getByRole('img', { name: 'bar chart of i' }).locator('canvas').first().waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    button(page, 'Export')
      .click()
      .then(() => page.getByRole('menuitem', { name: '3,000 rows shown as CSV' }).click()),
  ]);
  const saved = await readFile(await download.path(), 'utf8');
  expect(saved.split('\r\n').slice(0, 2)).toEqual(['i,f,s', `0,'=cmd0,"{'a': [0, NULL]}"`]);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('all rows go into a file of the own stage, and a text is saved there', async () => {
  const { page } = await openConsole(cluster, browser);
  await ask(page, 'SELECT i FROM range(20000) t(i)');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    button(page, 'Export')
      .click()
      .then(() => page.getByRole('menuitem', { name: /All rows/ }).click()),
  ]);
  expect((await readFile(await download.path(), 'utf8')).trim().split('\n')).toHaveLength(20_001);
  await button(page, 'Save').click();
  await page.getByText('Saved to @~/queries/').waitFor();
  expect(JSON.stringify(await cluster.sql('LIST @~/queries/'))).toContain('.sql');
  await page.context().close();
});

test('tabs outlive the page, are one window’s alone, and come back; secrets do not', async () => {
  const { page } = await openConsole(cluster, browser);
  await write(page, 'SELECT 111');
  await button(page, 'New tab').click();
  await write(page, "ALTER USER ann SET PASSWORD = 'Sesame-Street-7'");
  await page.waitForTimeout(600);
  const other = await visit(await page.context().newPage(), page.url());
  await other.page.getByRole('tab').waitFor();
  // Both tabs of the first window are taken: the second one begins with one of its own.
  expect(await other.page.getByRole('tab').count()).toBe(1);
  expect(await textOf(other.page)).toBe('');
  await other.page.close();
  await page.reload();
  await page.getByRole('tab').first().waitFor();
  expect(await page.getByRole('tab').count()).toBeGreaterThanOrEqual(2);
  await page.getByRole('tab', { name: 'Query 1' }).click();
  expect(await textOf(page)).toBe('SELECT 111');
  await page.getByRole('tab', { name: 'Query 2' }).click();
  expect(await textOf(page)).toBe('');
  await page.getByRole('tab', { name: 'Query 1' }).click();
  await button(page, 'Close this tab').click();
  await button(page, 'Closed').click();
  await page.getByRole('menuitem', { name: /SELECT 111/ }).click();
  // It is read from the browser's own database.
  await expect.poll(() => textOf(page)).toBe('SELECT 111');
  await page.context().close();
});

test('the tree finds a table, inserts its name with quotes, and shows its rows', async () => {
  const { page, faults } = await openConsole(cluster, browser);
  const tree = page.getByRole('tree', { name: 'Catalog' });
  await tree.getByRole('treeitem').first().waitFor();
  await page.getByRole('searchbox', { name: 'Search objects' }).fill('odd "N');
  const item = tree.getByRole('treeitem').filter({ hasText: 'Odd "name' });
  await item.click();
  await tree.getByRole('treeitem').filter({ hasText: 'a b' }).waitFor();
  await tree.focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  expect(await textOf(page)).toBe('lake.console_ask."Odd ""name"');
  await tree.focus();
  await page.keyboard.press('Space');
  await ended(page);
  expect(await rowTexts(page, 1)).toEqual(['1', '2']);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('the server completes, parameters have fields, the formatter sets in order, and Cancel ends', async () => {
  const { page } = await openConsole(cluster, browser);
  await write(page, 'SELECT * FROM lake.tpch.');
  await page.keyboard.type('ord');
  await page.locator('.cm-completionLabel', { hasText: 'orders' }).first().waitFor();
  await write(page, 'select $1 + 1 as a, $2 as b');
  await page
    .getByLabel('Type of 1')
    .getByText(/auto \(/)
    .waitFor({ state: 'attached' });
  await page.getByLabel('$1', { exact: true }).fill('41');
  await page.getByLabel('$2', { exact: true }).fill('2024-02-29');
  await page.getByLabel('Type of 2').selectOption('DATE');
  await button(page, 'Run').click();
  await ended(page);
  expect(await rowTexts(page, 1)).toEqual(['42', '2024-02-29']);
  await button(page, 'Format').click();
  await page.locator('.cm-line', { hasText: /^SELECT$/ }).waitFor();
  await write(page, 'SELECT sum(a.i * b.i) FROM range(3000000) a(i), range(3000000) b(i)');
  await button(page, 'Run').click();
  await page
    .getByRole('status')
    .filter({ hasText: /Running|Waiting/ })
    .waitFor();
  await button(page, 'Cancel').click();
  await page.getByRole('alert').filter({ hasText: 'QUERY_CANCELLED' }).waitFor();
  await page.context().close();
});

test('a link fills a tab and never runs it', async () => {
  const { page } = await openConsole(cluster, browser, {
    path: `/console/ask#sql=${encodeURIComponent('DROP TABLE console_ask."Odd ""name"')}`,
  });
  await page.getByRole('tab').waitFor();
  expect(await textOf(page)).toBe('DROP TABLE console_ask."Odd ""name"');
  expect(new URL(page.url()).hash).toBe('');
  await page.waitForTimeout(500);
  expect(await page.locator('.outcome').count()).toBe(0);
  expect(await cluster.sql('SELECT count(*) FROM console_ask."Odd ""name"')).toEqual([[1]]);
  await page.context().close();
});
