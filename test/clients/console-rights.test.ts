import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startChromium } from '#test/support/chromium.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { ask, buildConsole, openConsole, rowTexts } from '#test/support/console.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** A statement of the console and its rows reach no other tenant and no reader beside its user, whatever address they ask. */

let cluster: Cluster;
let browser: Browser;

beforeAll(async () => {
  await buildConsole();
  ({ cluster } = await sharedCluster());
  browser = await startChromium();
  await cluster.cliOk(['admin', 'tenant', 'create', 'console_other', '--user', 'eve']);
  await cluster.sql("CREATE USER console_reader EMAIL 'console_reader@example.org' PASSWORD 'Sesame-Street-77-x'");
});
afterAll(async () => {
  await browser.close();
  await cluster.sql('DROP USER console_reader');
});

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
