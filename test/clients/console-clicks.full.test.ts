import type { Browser, CDPSession, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { consoleSuite } from '#test/support/console-suite.ts';
import { openConsole, write } from '#test/support/console.ts';

/** Somebody clicks around for half an hour, by chance: no script fails, and the page gives its memory back. */

const MINUTES = Number(process.env['CONSOLE_CLICK_MINUTES'] ?? 30);
const HEAP_GROWTH_MAX = 20 * 2 ** 20;
/** Statements that the hand runs between its clicks. */
const TEXTS = [
  'SELECT i, i * 1.5 AS x, NULL AS n FROM range(30000) t(i)',
  "SELECT {'a': [i, NULL]} AS s FROM range(500) t(i)",
  'SELECT o_orderstatus, count(*) FROM lake.tpch.orders GROUP BY ALL',
  'SELECT nope FROM lake.tpch.orders',
  'BEGIN; SELECT 1; ROLLBACK',
];
/** Buttons that would leave the page, or take the session away. */
const NEVER = /sign out|download|export|save|png|copy/i;

let cluster: Cluster;
let browser: Browser;

consoleSuite((started) => {
  ({ cluster, browser } = started);
});

/** Numbers by chance that are the same for the same seed. */
function chance(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

async function clickAny(page: Page, pick: (below: number) => number): Promise<void> {
  const places = page.locator(
    'button:visible:not([disabled]), a:visible, [role=treeitem]:visible, [role=tab]:visible, .react-flow__node:visible',
  );
  const count = await places.count();
  if (count === 0) return;
  const place = places.nth(pick(count));
  const name = `${(await place.getAttribute('aria-label', { timeout: 500 }).catch(() => '')) ?? ''} ${await place.innerText({ timeout: 500 }).catch(() => '')}`;
  if (NEVER.test(name)) return;
  // Another click may have taken it away meanwhile.
  await place.click({ timeout: 1_000 }).catch(() => undefined);
}

async function heapOf(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize;
}

/** Leaves the page as it was found: one empty tab, at Ask. */
async function settle(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Ask', exact: true }).click();
  for (let tabs = await page.getByRole('tab').count(); tabs > 1; tabs -= 1) {
    await page.getByRole('button', { name: 'Close this tab' }).click();
  }
  await write(page, 'SELECT 1');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.waitForTimeout(3_000);
}

test(
  `${MINUTES} minutes of clicks by chance: no script error, and the heap is back`,
  { timeout: (MINUTES + 5) * 60_000 },
  async () => {
    const { page, faults } = await openConsole(cluster, browser);
    const session = await page.context().newCDPSession(page);
    const pick = chance(20_261_128);
    for (const text of TEXTS) {
      await write(page, text);
      await page.keyboard.press('Control+Shift+Enter');
      await page.waitForTimeout(1_500);
    }
    await settle(page);
    const before = await heapOf(session);
    const end = performance.now() + MINUTES * 60_000;
    let clicks = 0;
    while (performance.now() < end) {
      if (pick(20) === 0 && (await page.getByRole('textbox', { name: 'SQL' }).isVisible())) {
        await write(page, TEXTS[pick(TEXTS.length)] ?? '').catch(() => undefined);
        await page.keyboard.press('Control+Enter');
      } else if (pick(15) === 0) await page.keyboard.press('Escape');
      else await clickAny(page, pick);
      clicks += 1;
      expect(faults).toEqual([]);
    }
    await settle(page);
    await page.waitForTimeout(5_000);
    const grown = (await heapOf(session)) - before;
    console.log(
      `${clicks} clicks, the heap has grown by ${Math.round(grown / 2 ** 20)} MiB from ${Math.round(before / 2 ** 20)}`,
    );
    expect(grown).toBeLessThanOrEqual(HEAP_GROWTH_MAX);
    await page.context().close();
  },
);
