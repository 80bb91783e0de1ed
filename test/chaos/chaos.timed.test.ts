import { expect, test } from 'vitest';
import { fixedSeed } from '#test/support/seed.ts';
import { runChaos } from './run-chaos.ts';

/** `npm run chaos` goes on for ten minutes, from another seed each time. */
test('a minute of faults: no wrong answer, no hang, no leak', async () => {
  const report = await runChaos({ seed: fixedSeed(), forMs: 60_000 });
  expect(report.wrong).toEqual([]);
  expect(report.hung).toEqual([]);
  expect(report.leaks).toEqual([]);
  expect(report.answered).toBeGreaterThan(report.queries / 2);
}, 300_000);
