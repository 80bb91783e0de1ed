import { execFileSync } from 'node:child_process';
import { chromium, type Browser } from 'playwright-core';

/** Starts Debian's chromium, without a screen. */
export function startChromium(): Promise<Browser> {
  const executablePath = execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim();
  // Containers have little shared memory, and root has no sandbox.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}
