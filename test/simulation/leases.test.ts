import { expect, test } from 'vitest';
import { fixedSeed } from '#test/support/seed.ts';
import { simulateLeases, type Outcome } from './simulate-leases.ts';

const RUNS = 100;

test(`no stale read in ${RUNS} runs of two catalogs and two coordinators with cuts between any two, clocks that differ, and messages late, lost and overtaken`, async () => {
  const outcomes: Outcome[] = [];
  for (let i = 0; i < RUNS; i++) {
    outcomes.push(
      await simulateLeases(fixedSeed() + i).catch((error: unknown) => {
        throw new Error(`TEST_SEED=${fixedSeed() + i}`, { cause: error });
      }),
    );
  }
  const sum = (of: (outcome: Outcome) => number): number => outcomes.reduce((total, outcome) => total + of(outcome), 0);
  // Otherwise there was nothing to find.
  expect(sum(({ commits }) => commits)).toBeGreaterThan(RUNS * 30);
  expect(sum(({ relied }) => relied) / sum(({ reads }) => reads)).toBeGreaterThan(0.2);
});
