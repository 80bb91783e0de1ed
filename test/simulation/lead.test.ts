import { expect, test } from 'vitest';
import { fixedSeed } from '#test/support/seed.ts';
import { simulateLead, type LeadOutcome } from './simulate-lead.ts';

const RUNS = 60;

test(`one leads at a time, and terms commit one after the other, in ${RUNS} runs with cuts between any two, and clocks that differ`, async () => {
  const outcomes: LeadOutcome[] = [];
  for (let i = 0; i < RUNS; i++) {
    outcomes.push(
      await simulateLead(fixedSeed() + i).catch((error: unknown) => {
        throw new Error(`TEST_SEED=${fixedSeed() + i}`, { cause: error });
      }),
    );
  }
  const sum = (of: (outcome: LeadOutcome) => number): number => outcomes.reduce((total, one) => total + of(one), 0);
  // Otherwise there was nothing to find.
  expect(sum(({ terms }) => terms)).toBeGreaterThan(2 * RUNS);
  expect(sum(({ commits }) => commits)).toBeGreaterThan(100 * RUNS);
  expect(sum(({ refused }) => refused)).toBeGreaterThan(0);
});
