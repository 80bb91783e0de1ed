import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { consoleSuite } from '#test/support/console-suite.ts';
import { ask, openConsole, rowTexts } from '#test/support/console.ts';

/** A statement of the console and its rows reach no other tenant and no reader beside its user, whatever address they ask. */

let cluster: Cluster;
let browser: Browser;

consoleSuite(
  async (started) => {
    ({ cluster, browser } = started);
    await cluster.cliOk(['admin', 'tenant', 'create', 'console_other', '--user', 'eve']);
    await cluster.sql("CREATE USER console_reader EMAIL 'console_reader@example.org' PASSWORD 'Sesame-Street-77-x'");
  },
  async () => {
    await cluster.sql('DROP USER console_reader');
  },
);

const MARK = 'console_rights_secret';

test('a kept result, its record, its profile, its session and the lists stay with who asked', async () => {
  const { page } = await openConsole(cluster, browser);
  const [request] = await Promise.all([
    page.waitForRequest((one) => one.method() === 'POST' && one.url().endsWith('/api/query')),
    ask(page, `SELECT '${MARK}' AS v`),
  ]);
  expect(await rowTexts(page, 1)).toEqual([MARK]);
  const id = request.headers()['x-skein-query-id'] ?? '';
  const session = request.headers()['x-skein-session'] ?? '';
  const mine = `Bearer ${await cluster.token()}`;
  const others = [
    await cluster.token({ tenant: 'console_other', user: 'eve', scope: ['table:read', 'catalog:read'] }),
    await cluster.token({ user: 'console_reader', scope: ['table:read', 'catalog:read'] }),
  ];
  const get = (path: string, authorization: string): Promise<Response> =>
    fetch(`${cluster.queryUrl}${path}`, { headers: { authorization, 'x-skein-session': session } });
  const own = await get(`/api/query/${id}/result`, mine);
  expect([own.status, await own.text()]).toEqual([200, expect.stringContaining(MARK)]);
  const paths = [
    `/api/query/${id}/result`,
    `/api/query/${id}`,
    `/api/query-history/${id}`,
    `/api/query-history/${id}/profile`,
    `/api/query-history?text=${MARK}&fields=all`,
    `/api/query-history/summary?by=username&text=${MARK}`,
    '/api/query?limit=100',
    '/api/session',
    '/api/cluster',
    '/api/cluster/series',
    '/api/resource-groups',
    '/api/objects',
  ];
  for (const token of others) {
    for (const path of paths) {
      const answer = await get(path, `Bearer ${token}`);
      const text = await answer.text();
      expect([path, text.includes(MARK), text.includes('"admin"')]).toEqual([path, false, false]);
      if (path.includes(id)) expect([path, answer.status]).toEqual([path, 404]);
    }
  }
  await page.context().close();
});

test('who may not write has the rows that are shown as a file, is told why not all of them, and leaves none behind', async () => {
  const token = await cluster.token({
    user: 'console_reader',
    scope: ['catalog:read', 'namespace:read', 'table:read'],
  });
  const { page, faults } = await openConsole(cluster, browser, { token });
  await ask(page, 'SELECT i FROM range(3) t(i)');
  const menu = async (item: string): Promise<void> => {
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  const [file] = await Promise.all([page.waitForEvent('download'), menu('3 rows shown as CSV')]);
  expect(await readFile(await file.path(), 'utf8')).toMatch(/^i\r?\n0\r?\n1\r?\n2\r?\n$/);
  await menu('All rows as a file (runs the statement again)');
  await page.getByText(/table:write/).waitFor();
  const mine = { token: await cluster.token({ user: 'console_reader' }) };
  expect(await cluster.sql('LIST @~', mine)).toEqual([]);
  expect(faults).toEqual([]);
  await page.context().close();
});
