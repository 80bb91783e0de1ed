import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { startChromium } from './chromium.ts';
import type { Cluster } from './cluster.ts';
import { buildConsole } from './console.ts';
import { sharedCluster } from './resources.ts';

type Started = { readonly cluster: Cluster; readonly browser: Browser };

/**
 * The console of the shared cluster in a browser, for the tests of a file.
 * @param started takes both before the first test; what it does with the cluster is waited for
 * @param ended is called behind the last one, when the browser is closed
 */
export function consoleSuite(
  started: (suite: Started) => Promise<void> | void,
  ended: () => Promise<unknown> = () => Promise.resolve(),
): void {
  let browser: Browser | undefined;
  beforeAll(async () => {
    await buildConsole();
    const { cluster } = await sharedCluster();
    browser = await startChromium();
    await started({ cluster, browser });
  });
  afterAll(async () => {
    await browser?.close();
    await ended();
  });
}
