import { expect, test } from 'vitest';
import { INSPECTABLE } from '#test/support/inspected-process.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { fixedSeed } from '#test/support/seed.ts';
import { complaints, runAttack, SETTLE_MS } from './run-attack.ts';

/** `npm run attack` goes on for ten minutes, from another seed each time. */
test('a minute of attacks by one tenant: another gets every answer, each within ten seconds, and all that was taken comes back', async () => {
  await using cluster = await startOwnCluster({ workers: 2, env: INSPECTABLE });
  const report = await runAttack(cluster, { seed: fixedSeed(), forMs: 60_000, settleMs: SETTLE_MS.handles });
  expect(complaints(report), JSON.stringify(report)).toEqual([]);
  expect(Object.keys(report.attacks).length).toBeGreaterThan(20);
}, 300_000);
