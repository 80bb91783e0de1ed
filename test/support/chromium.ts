import { execFileSync } from 'node:child_process';
import { chromium, type Browser } from 'playwright-core';
import { patience } from './run/slowness.ts';

/** Time for which a step waits for what it looks for. */
const STEP_TIMEOUT_MS = patience(30_000);

/** Starts Debian's chromium, without a screen. */
export async function startChromium(): Promise<Browser> {
  const executablePath = execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim();
  // Containers have little shared memory, and root has no sandbox.
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  browser.on('context', (context) => context.setDefaultTimeout(STEP_TIMEOUT_MS));
  return browser;
}
