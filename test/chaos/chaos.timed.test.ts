import { expect, test } from 'vitest';
import { fixedSeed } from '#test/support/seed.ts';
import { complaints, runChaos } from './run-chaos.ts';

/** `npm run chaos` goes on for ten minutes, from another seed each time. */
test('half a minute of faults: no wrong answer, no hang, no leak, nearly every query is answered, and all once it is over', async () => {
  const report = await runChaos({ seed: fixedSeed(), forMs: 30_000 });
  expect(complaints(report), JSON.stringify(report)).toEqual([]);
  expect(Object.keys(report.faults).sort()).toEqual(['delay', 'drop', 'kill', 'stop', 'unplug']);
}, 300_000);
