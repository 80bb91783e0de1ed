import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startChromium } from '#test/support/chromium.ts';
import type { StartedCluster } from '#test/support/cluster.ts';
import { ask, buildConsole, openConsole, visit, write } from '#test/support/console.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';

/** Services are killed under open pages: the pages say so, lose nothing, and go on when the service is back. */

let cluster: StartedCluster;
let browser: Browser;

beforeAll(async () => {
  await buildConsole();
  cluster = await startOwnCluster();
  browser = await startChromium();
  await cluster.sql('CREATE SCHEMA lake.kills');
  await cluster.sql('CREATE TABLE lake.kills.t AS SELECT 40 AS a');
});
afterAll(async () => {
  await browser?.close();
  await cluster?.stop();
});

/** Kills a service while its launcher is stopped, so that it comes back only when `back` is called. */
async function killed(kind: 'coordinator' | 'worker' | 'catalog'): Promise<{ readonly back: () => void }> {
  const pid = await cluster.pidOf(kind);
  cluster.child.kill('SIGSTOP');
  process.kill(pid, 'SIGKILL');
  return { back: () => void cluster.child.kill('SIGCONT') };
}

test.each(['coordinator', 'catalog', 'worker'] as const)('the %s', async (kind) => {
  const { page, faults } = await openConsole(cluster, browser);
  await ask(page, 'SELECT a + 1 AS before FROM lake.kills.t');
  const { page: watching, faults: others } = await visit(
    await page.context().newPage(),
    `${cluster.queryUrl}/console/cluster`,
  );
  const workers = watching.getByRole('region', { name: 'Workers', exact: true });
  await workers
    .getByText(/live since/)
    .first()
    .waitFor();
  const { back } = await killed(kind);
  try {
    const text = `SELECT a + 2 AS after_${kind} FROM lake.kills.t`;
    await page.bringToFront();
    await write(page, text);
    if (kind === 'coordinator') {
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page
        .getByRole('alert')
        .filter({ hasText: 'OFFLINE' })
        .waitFor({ timeout: patience(60_000) });
      await watching.bringToFront();
      await watching
        .getByRole('alert')
        .filter({ hasText: 'OFFLINE' })
        .waitFor({ timeout: patience(60_000) });
    }
    if (kind === 'catalog') {
      await write(page, 'CREATE SCHEMA lake.made_meanwhile');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      const said = page.getByRole('alert').filter({ hasText: 'does not answer' });
      await said.waitFor({ timeout: patience(60_000) });
      await write(page, text);
    }
    if (kind === 'worker') {
      await watching.bringToFront();
      await expect.poll(() => workers.getByText(/live since/).count(), { timeout: patience(60_000) }).toBe(1);
    }
  } finally {
    back();
  }
  await watching.bringToFront();
  const started = performance.now();
  await workers
    .getByText(/live since/)
    .nth(1)
    .waitFor({ timeout: patience(120_000) });
  await watching.getByRole('alert').waitFor({ state: 'detached', timeout: patience(60_000) });
  console.log(
    `${kind}: the cluster page is whole ${Math.round(performance.now() - started)} ms after the service may start`,
  );
  // No sign-in, no reload, and the text is still there.
  await page.bringToFront();
  await expect
    .poll(
      async () => {
        await page.getByRole('button', { name: 'Run', exact: true }).click();
        await page.waitForTimeout(1_000);
        return page.getByRole('grid', { name: 'Result' }).getByText('42').count();
      },
      { timeout: patience(120_000) },
    )
    .toBe(1);
  expect(await page.getByRole('grid', { name: 'Result' }).getByText(`after_${kind}`).count()).toBe(1);
  // The browser tells of every answer 503, which are what was provoked.
  expect([...faults, ...others].filter((fault) => !fault.includes('status of 503'))).toEqual([]);
  await page.context().close();
});
