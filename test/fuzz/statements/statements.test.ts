import { expect, test } from 'vitest';
import { fixedSeed } from '#test/support/seed.ts';
import { eachExample, statementTarget } from './statement-target.ts';

/** `npm run fuzz -- statements` draws as often as its time allows, from another seed each time. */
const TIMES = 30;
/** Statements that are mostly refused, or never compared with DuckDB, would prove little. */
const ACCEPTED_MIN = 800;
const COMPARED_MIN = 50;

test('what was once wrong', async () => {
  expect(await statementTarget.replay()).toBeUndefined();
});

test(`junk in every statement of the documentation, ${TIMES} times each, is refused or changes nothing else`, async () => {
  const { wrong, oracle } = await eachExample(fixedSeed(), TIMES);
  expect(wrong).toEqual([]);
  expect(oracle.outcomes.comments).toBeGreaterThan(ACCEPTED_MIN / 2);
  expect(oracle.outcomes.accepted).toBeGreaterThan(ACCEPTED_MIN);
  expect(oracle.outcomes.bound).toBeGreaterThan(COMPARED_MIN);
});
