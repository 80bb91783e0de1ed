import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Pages } from '../catalog-client/pages.ts';
import { listing } from './listing.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

/** Law of main threads, in CPU time of the thread. */
const TURN_CPU_MS_MAX = 50;
/** As long as a name may be, and so that each is compared with the pattern in vain for as long as possible. */
const NAME = 'a'.repeat(1_024);
const COSTLY = `%${'a'.repeat(500)}b`;

async function* many(pages: number): Pages<string> {
  for (let page = 0; page < pages; page += 1) {
    await setImmediate();
    yield Array.from({ length: 200 }, (_, i) => (i === 0 ? `${NAME.slice(1)}b` : NAME));
  }
}

test('however many names there are and however long they are compared, others have their turns', async () => {
  const done = new AbortController();
  const watch = async (): Promise<number> => {
    let longestMs = 0;
    while (!done.signal.aborted) {
      const before = process.threadCpuUsage();
      await setImmediate();
      const { user, system } = process.threadCpuUsage(before);
      longestMs = Math.max(longestMs, (user + system) / 1_000);
    }
    return longestMs;
  };
  const longest = watch();
  const found: unknown[] = [];
  for await (const rows of listing('table_name', many(2), COSTLY).pages) {
    for (const [name] of rows) found.push(name);
  }
  done.abort();
  expect(found).toEqual([`${NAME.slice(1)}b`, `${NAME.slice(1)}b`]);
  expect(await longest).toBeLessThan(TURN_CPU_MS_MAX * machineSlowness());
});
