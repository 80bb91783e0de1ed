import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startOwnCluster } from '#test/support/resources.ts';
import { fixedSeed } from '#test/support/seed.ts';
import { functionTable } from './function-table.ts';
import { DISTRIBUTIONS, foundQueries, openOracle, type Oracle } from './oracle.ts';
import { Questions, randomQuestion, tablesOf, usableCalls } from './random-questions.ts';
import { servedCalls } from './served-calls.ts';

/** `npm run oracle` runs thousands, from another seed each time, each under every distribution. */
const RUNS = 200;
/** One in so many calls of served functions may be drawn: to try all takes DuckDB seconds. */
const CALLS_EVERY = 30;

let oracle: Oracle;
let questions: Questions;

beforeAll(async () => {
  const tables = tablesOf(fixedSeed());
  oracle = await openOracle(await startOwnCluster({ workers: 2, args: ['--worker-cores', '1'] }), tables);
  const { connection, ask } = await functionTable();
  const { calls } = await servedCalls(connection);
  const few = calls.filter((_, at) => at % CALLS_EVERY === fixedSeed() % CALLS_EVERY);
  questions = new Questions(oracle, tables, await usableCalls(ask, few));
});
afterAll(() => oracle?.[Symbol.asyncDispose]());

test.each(foundQueries())('once wrong: $why', async ({ sql }) => {
  expect(await oracle.compare(sql)).not.toMatchObject({ kind: 'differs' });
});

test(`${RUNS} random questions are answered with DuckDB's rows, each under one of the forced distributions`, async () => {
  const property = fc.asyncProperty(randomQuestion, fc.constantFrom(...DISTRIBUTIONS), async (question, forced) => {
    const { sql, outcome } = await questions.ask(question, [forced]);
    if (outcome.kind === 'differs') throw new Error(`${outcome.difference}\n${sql}`);
  });
  await fc.assert(property, { numRuns: RUNS, seed: fixedSeed() });
}, 600_000);
