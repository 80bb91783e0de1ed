import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { projectRoot, type Cluster } from '#test/support/cluster.ts';
import { consoleSuite } from '#test/support/console-suite.ts';
import { ask, openConsole, rowTexts, signOut, untilInHistory, write } from '#test/support/console.ts';

/** Debian's chromium looks at what ran, watches the cluster, and tries to get in. */

let cluster: Cluster;
let browser: Browser;
let axe: string;

consoleSuite(async (started) => {
  ({ cluster, browser } = started);
  axe = await readFile(join(projectRoot, 'node_modules/axe-core/axe.min.js'), 'utf8');
});

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** The faults that axe-core finds by WCAG 2.2 A and AA, as `rule: element`. */
async function faultsOf(page: Page): Promise<readonly string[]> {
  // The page's own policy lets no other script in; the browser's own door does.
  await page.evaluate(axe);
  return page.evaluate(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))`,
  );
}

test('a query is found in the history by a filter in the address, and its page tells where its time went', async () => {
  const { page, faults } = await openConsole(cluster, browser, { path: '/console/history' });
  const one = await cluster.query(
    'SELECT l_returnflag, count(*) AS console_pages FROM lake.tpch.lineitem GROUP BY ALL',
  );
  const other = await cluster.query('SELECT nope FROM lake.tpch.orders');
  for (const { queryId } of [one, other]) await untilInHistory(cluster, queryId);
  await page.getByLabel('Text').fill('console_pages');
  await page.keyboard.press('Tab');
  await page
    .getByRole('link', { name: /console_pages/ })
    .first()
    .waitFor();
  expect(new URL(page.url()).searchParams.get('text')).toBe('console_pages');
  await page.goto(`${cluster.queryUrl}/console/queries/${one.queryId}`);
  await page.getByText('completed').waitFor();
  await page.getByRole('heading', { name: 'Findings' }).waitFor();
  await page.locator('.react-flow__node').first().click();
  await page.getByText('Time on cores').waitFor();
  await button(page, 'table').click();
  await page.getByRole('region', { name: 'Stages' }).getByRole('cell', { name: 'lake.tpch.lineitem' }).waitFor();
  await button(page, 'JSON').click();
  expect(JSON.parse(await page.getByLabel('Profile').innerText())).toMatchObject({ queryId: one.queryId });
  await page.getByLabel('Compare with query').fill(other.queryId);
  await button(page, 'Compare').click();
  await page
    .getByRole('region', { name: 'Comparison' })
    .getByRole('row', { name: /^Time / })
    .waitFor();
  await page.goto(`${cluster.queryUrl}/console/queries/${other.queryId}`);
  await page.locator('mark').waitFor();
  expect(await page.locator('mark').innerText()).toBe('nope');
  expect(faults).toEqual([]);
  await page.context().close();
});

test('the cluster page shows what runs, and ends it after a question', async () => {
  const { page, faults } = await openConsole(cluster, browser, { path: '/console/cluster' });
  const running = cluster.query(
    'SELECT sum(a.i * b.i) AS console_cluster FROM range(3000000) a(i), range(3000000) b(i)',
  );
  const row = page.getByRole('row').filter({ hasText: 'console_cluster' });
  await row.getByRole('button', { name: 'Cancel' }).click();
  await button(page, 'Let it run').click();
  expect(await row.count()).toBe(1);
  await row.getByRole('button', { name: 'Cancel' }).click();
  await button(page, 'Cancel the query').click();
  expect((await running).body.error).toBe('QUERY_CANCELLED');
  await page
    .getByRole('region', { name: 'Workers', exact: true })
    .getByText(/live since/)
    .first()
    .waitFor();
  await page
    .getByRole('img', { name: /^Queries: running/ })
    .locator('canvas')
    .waitFor();
  await page
    .getByLabel('Latest events')
    .getByText(/console_cluster/)
    .first()
    .waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

describe('axe-core finds nothing, and nothing is wider than the screen', () => {
  // A narrow screen has the same colours.
  test.each([
    ['light', [1280, 360]],
    ['dark', [1280]],
  ] as const)('%s', async (colorScheme, widths) => {
    for (const width of widths) {
      const { page } = await openConsole(cluster, browser, { colorScheme, viewport: { width, height: 740 } });
      await ask(page, "SELECT i, NULL AS n, {'a': i} AS s FROM range(100) t(i)");
      for (const path of ['ask', 'history', 'cluster']) {
        if (path !== 'ask') await page.goto(`${cluster.queryUrl}/console/${path}`);
        if (path === 'history') await page.getByRole('region', { name: 'Statements' }).waitFor();
        if (path === 'cluster') await page.getByRole('region', { name: 'Workers', exact: true }).waitFor();
        expect([path, width, await faultsOf(page)]).toEqual([path, width, []]);
        const isWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
        expect([path, width, await page.evaluate(isWide)]).toEqual([path, width, false]);
      }
      await page.context().close();
    }
  });
});

test('the command palette goes everywhere by the keyboard', async () => {
  const { page } = await openConsole(cluster, browser);
  await page.getByRole('textbox', { name: 'SQL' }).waitFor();
  await page.keyboard.press('Control+K');
  await page.getByRole('combobox', { name: 'Command' }).waitFor();
  await page.keyboard.type('clu');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Cluster' }).waitFor();
  await page.context().close();
});

test('the page Ask needs at most 400 KB, compressed', async () => {
  const folder = join(projectRoot, 'console/dist');
  const index = await readFile(join(folder, 'index.html'), 'utf8');
  const first = [...index.matchAll(/assets\/[\w.-]+\.(?:js|css)/g)].map(([name]) => name);
  expect(first.length).toBeGreaterThan(0);
  const sizes = await Promise.all(first.map(async (name) => (await readFile(join(folder, `${name}.gz`))).length));
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(400 * 1024);
  // Charts, graphs and the formatter are not among them.
  expect((await readdir(join(folder, 'assets'))).some((name) => name.startsWith('draw-chart'))).toBe(true);
  expect(index).not.toContain('draw-chart');
});

/** Markup and scripts that a careless page would run. */
const CORPUS = [
  '<img src=x onerror="window.hit=1">',
  '<script>window.hit=1</script>',
  '"><svg onload="window.hit=1">',
  'javascript:window.hit=1',
  '{{constructor.constructor("window.hit=1")()}}',
  '</textarea></pre><iframe srcdoc="<script>parent.hit=1</script>">',
  '\u202ehidden\u202c',
];

test('markup in names, comments, values, errors and statements is text', async () => {
  const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
  const { page, faults } = await openConsole(cluster, browser);
  const columns = CORPUS.map((text) => `${literal(text)} AS ${quoted(text)}`).join(', ');
  await ask(page, `SELECT ${columns}`);
  expect((await rowTexts(page, 1))[0]).toBe(CORPUS[0]);
  await page.getByRole('grid', { name: 'Result' }).focus();
  await page.keyboard.press('Enter');
  expect(await page.getByLabel('Value').innerText()).toBe(CORPUS[0]);
  await button(page, 'Close').click();
  await button(page, 'Column').click();
  await page.getByRole('list', { name: 'Values' }).getByText('onerror').waitFor();
  for (const text of CORPUS) {
    await ask(page, `SELECT 1 AS ${quoted(text)}, error(${literal(text)})`);
    await page.getByRole('alert').waitFor();
  }
  await page.goto(`${cluster.queryUrl}/console/history?text=${encodeURIComponent('onerror')}`);
  await page
    .getByRole('link', { name: /onerror/ })
    .first()
    .click();
  await page.getByLabel('Statement', { exact: true }).waitFor();
  expect(await page.evaluate('window.hit')).toBeUndefined();
  expect(await page.locator('iframe, img, script:not([src])').count()).toBe(0);
  expect(faults).toEqual([]);
  await page.context().close();
});

test('foreign hosts, foreign origins, frames and old cookies get nothing', async () => {
  const { page } = await openConsole(cluster, browser);
  await page.getByRole('textbox', { name: 'SQL' }).waitFor();
  const { host, origin } = new URL(cluster.queryUrl);
  const { request } = page.context();
  const status = async (headers: Readonly<Record<string, string>>): Promise<number> =>
    (await request.get(`${origin}/api/whoami`, { headers })).status();
  const own = { 'x-skein-console': '1', origin };
  expect(await status(own)).toBe(200);
  expect(await status({ origin })).toBe(401);
  expect(await status({ ...own, origin: 'https://evil.example' })).toBe(403);
  expect(await status({ ...own, origin: 'null' })).toBe(403);
  expect(await status({ ...own, host: `evil.example:${host.split(':')[1] ?? ''}` })).toBe(403);
  const framed = await page.context().newPage();
  await framed.goto(`data:text/html,<iframe src="${origin}/console/ask"></iframe>`);
  await framed.waitForTimeout(500);
  expect(await framed.frameLocator('iframe').getByRole('textbox', { name: 'SQL' }).count()).toBe(0);
  const cookies = (await page.context().cookies(origin)).map(({ name, value }) => `${name}=${value}`).join('; ');
  await signOut(page);
  expect(await status({ ...own, cookie: cookies })).toBe(401);
  await page.context().close();
});

test('a part of the page that the coordinator does not have any more is said, and the page comes back with its texts', async () => {
  const { page, faults } = await openConsole(cluster, browser);
  await write(page, 'SELECT 1 AS kept_text');
  await page.waitForTimeout(600);
  await page.route('**/assets/cluster-page*', (route) => route.fulfill({ status: 404 }));
  await page.getByRole('link', { name: 'Cluster', exact: true }).click();
  await page
    .getByRole('alert')
    .getByText(/another version of the console/)
    .waitFor();
  // Other pages are whole.
  await page.getByRole('link', { name: 'History', exact: true }).click();
  await page.getByRole('heading', { name: 'History' }).waitFor();
  await page.getByRole('link', { name: 'Cluster', exact: true }).click();
  await page.unroute('**/assets/cluster-page*');
  await button(page, 'Load the page again').click();
  await page.getByRole('heading', { name: 'Cluster' }).waitFor();
  await page.getByRole('link', { name: 'Ask', exact: true }).click();
  await page.locator('.cm-line', { hasText: 'kept_text' }).waitFor();
  expect(faults.filter((fault) => !/dynamically imported|cluster-page/.test(fault))).toEqual([]);
  await page.context().close();
});

test('a coordinator that cannot be reached is said, nothing is lost, and it goes on', async () => {
  const { page } = await openConsole(cluster, browser);
  await write(page, 'SELECT 41 + 1 AS answer');
  await page.context().setOffline(true);
  await button(page, 'Run').click();
  await page.getByRole('alert').filter({ hasText: 'OFFLINE' }).waitFor();
  await page.context().setOffline(false);
  await button(page, 'Run').click();
  await page.getByRole('grid', { name: 'Result' }).getByText('42').waitFor();
  await page.context().close();
});
