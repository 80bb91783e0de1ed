import type { Browser, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { consoleSuite } from '#test/support/console-suite.ts';
import { openConsole, untilInHistory, write } from '#test/support/console.ts';

/** Plans are drawn, the history has an order and a time, and the cluster has a past. */

let cluster: Cluster;
let browser: Browser;

consoleSuite((started) => {
  ({ cluster, browser } = started);
});

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const JOIN =
  'SELECT o_orderstatus, count(*) AS console_plans FROM lake.tpch.orders JOIN lake.tpch.lineitem ON o_orderkey = l_orderkey GROUP BY ALL';

test('Explain draws the plan, and runs nothing; a run has the same operators with their stages', async () => {
  const { page, faults } = await openConsole(cluster, browser);
  await write(page, JOIN);
  await button(page, 'Explain').click();
  await page.locator('.react-flow__node').filter({ hasText: 'Aggregate' }).click();
  await page.getByRole('group', { name: 'Operator' }).getByText('rows expected').waitFor();
  const drawn = await page.locator('.react-flow__node').count();
  expect(drawn).toBeGreaterThan(3);
  await button(page, 'Fold').click();
  await page.getByRole('button', { name: 'Unfold' }).waitFor();
  expect(await page.locator('.react-flow__node').count()).toBeLessThan(drawn);
  const { queryId } = await cluster.query(JOIN);
  await untilInHistory(cluster, queryId);
  await page.goto(`${cluster.queryUrl}/console/queries/${queryId}`);
  await button(page, 'operators').click();
  await page.locator('.react-flow__node').filter({ hasText: 'Scan' }).first().click();
  await page
    .getByRole('group', { name: 'Operator' })
    .getByText(/^Stage \d/)
    .waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('the history is sorted by the server, and the strip chooses a time that is in the address', async () => {
  const { queryId } = await cluster.query(JOIN);
  await untilInHistory(cluster, queryId);
  const { page, faults } = await openConsole(cluster, browser, { path: '/console/history' });
  const list = page.getByRole('region', { name: 'Statements' });
  await list.getByRole('button', { name: 'Time' }).click();
  await list.locator('[aria-sort=descending]').waitFor();
  expect(new URL(page.url()).searchParams.get('sort')).toBe('-duration_ms');
  const strip = page.getByRole('group', { name: 'When they came' });
  const latest = strip.getByRole('button', { name: /: [1-9][\d,]* statements/ }).last();
  await latest.waitFor();
  // The latest statements are in sight, however long a day is.
  const end = await page.evaluate(
    "((e) => e.scrollWidth - e.clientWidth - e.scrollLeft)(document.querySelector('.strip[role=group]'))",
  );
  expect(end).toBeLessThan(2);
  await latest.focus();
  await page.keyboard.press('Enter');
  await button(page, 'All times').waitFor();
  const { searchParams } = new URL(page.url());
  expect(Date.parse(searchParams.get('to') ?? '') - Date.parse(searchParams.get('from') ?? '')).toBe(1_800_000);
  await list.getByRole('link').first().waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test('the cluster page begins with the past', async () => {
  const { page, faults } = await openConsole(cluster, browser, { path: '/console/cluster' });
  await page
    .getByRole('img', { name: /^Running by class: interactive/ })
    .locator('canvas')
    .waitFor();
  const { headers } = { headers: { 'x-skein-console': '1', origin: cluster.queryUrl } };
  const answer = await page.context().request.get(`${cluster.queryUrl}/api/cluster/series`, { headers });
  const { seconds, step_s: step } = (await answer.json()) as { readonly seconds: number[]; readonly step_s: number };
  expect(step).toBe(5);
  expect(seconds.length).toBeGreaterThan(0);
  expect(faults).toEqual([]);
  await page.context().close();
});
