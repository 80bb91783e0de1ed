import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSecret } from '#cli/secrets.ts';
import { must } from '#shared/must.ts';
import { startChromium } from '#test/support/chromium.ts';
import type { StartedCluster } from '#test/support/cluster.ts';
import { buildConsole, openConsole, write } from '#test/support/console.ts';
import { startCoordinatorProcess, type CoordinatorProcess } from '#test/support/coordinator-process.ts';
import { startEtcd, type Etcd } from '#test/support/etcd.ts';
import { createTestDatabase, startOwnCluster, type TestDatabase } from '#test/support/resources.ts';

/** A page of a coordinator that stands by says so, and leads to the one that leads. */

let etcd: Etcd;
let database: TestDatabase;
let cluster: StartedCluster;
let standby: CoordinatorProcess;
let browser: Browser;

beforeAll(async () => {
  await buildConsole();
  etcd = await startEtcd();
  database = await createTestDatabase();
  cluster = await startOwnCluster({ env: { DATABASE_URL: database.url, ETCD_ENDPOINTS: etcd.endpoint } });
  const services = JSON.parse(await readFile(join(cluster.dataDir, 'services.json'), 'utf8')) as {
    readonly catalog_internal_url: string;
  };
  standby = await startCoordinatorProcess({
    'database.url': database.url,
    'cluster.etcd_endpoints': etcd.endpoint,
    data_dir: cluster.dataDir,
    'cluster.secret': must(readSecret(cluster.dataDir, 'cluster-secret'), 'the launcher has made it'),
    'catalog.url': cluster.catalogUrl,
    'catalog.internal_url': services.catalog_internal_url,
    log_level: 'warn',
  });
  browser = await startChromium();
});
afterAll(async () => {
  await browser?.close();
  await standby?.[Symbol.asyncDispose]();
  await cluster?.stop();
  await database?.[Symbol.asyncDispose]();
  await etcd?.[Symbol.asyncDispose]();
});

test('a statement that a standby refuses has a link to the coordinator that leads, where the sign-in is good, too', async () => {
  const { page, faults } = await openConsole(cluster, browser);
  // Both coordinators are one host, whose cookies differ by their ports.
  const token = await cluster.token();
  await page.context().request.post(`${standby.url}/api/console/session`, {
    data: { token },
    headers: { 'x-skein-console': '1', origin: standby.url },
  });
  await page.goto(`${standby.url}/console/ask`);
  await write(page, 'SELECT 1');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const alert = page.getByRole('alert').filter({ hasText: 'NOT_ACTIVE' });
  await alert.getByText('This coordinator stands by').waitFor();
  await page.goto(`${standby.url}/console/cluster`);
  await page.getByRole('alert').filter({ hasText: 'NOT_ACTIVE' }).first().waitFor();
  await page.getByRole('link', { name: 'Go to the coordinator that leads' }).first().click();
  await page.getByRole('textbox', { name: 'SQL' }).waitFor();
  expect(new URL(page.url()).origin).toBe(cluster.queryUrl);
  // The browser tells of every answer 503, which are the refusals.
  expect(faults.filter((fault) => !fault.includes('status of 503'))).toEqual([]);
  await page.context().close();
});
