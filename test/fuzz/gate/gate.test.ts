import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fixedSeed } from '#test/support/seed.ts';
import { GateOracle } from './gate-oracle.ts';
import { gateTarget } from './gate-target.ts';
import { printStatement, randomStatement } from './random-statement.ts';

/** `npm run fuzz -- gate` runs as many as its time allows, from another seed each time. */
const RUNS = 500;
/** At least this many runs must compare names: statements that are mostly refused would prove little. */
const COMPARED_MIN = 100;

test('what was once wrong', async () => {
  expect(await gateTarget.replay()).toBeUndefined();
});

test(`in ${RUNS} random statements every name means the same to the gate and to DuckDB`, async () => {
  const oracle = await GateOracle.open();
  const property = fc.asyncProperty(randomStatement, async (statement) => {
    const sql = printStatement(statement);
    const difference = await oracle.difference(sql);
    if (difference !== null) throw new Error(`${difference}\n${sql}`);
  });
  await fc.assert(property, { numRuns: RUNS, seed: fixedSeed() });
  expect(oracle.outcomes.bound).toBeGreaterThan(COMPARED_MIN);
});
