import { expect, test } from 'vitest';
import { fixedSeed } from '#test/support/seed.ts';
import { decoderTarget } from './decoder-target.ts';
import { DECODERS } from './decoders.ts';

/** Time of all decoders together; their threads take as long again to start. */
const TIME_MS = 8_000;

const TARGETS = DECODERS.map(decoderTarget).map((target) => [target.name, target.what, target] as const);

test.each(TARGETS)('%s: %s', async (_name, _what, { replay, fuzz }) => {
  expect(await replay()).toBeUndefined();
  const { runs, failure } = await fuzz({ seed: fixedSeed(), forMs: TIME_MS / DECODERS.length });
  expect(failure).toBeUndefined();
  expect(runs).toBeGreaterThan(0);
});
