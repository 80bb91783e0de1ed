import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startOwnCluster } from '#test/support/resources.ts';
import { fixedSeed } from '#test/support/seed.ts';
import { batches, batchKey, compareCalls, filledCalls, functionTable, type FilledCall } from './function-table.ts';
import { DISTRIBUTIONS, foundQueries, NOTHING_SHARE_MAX, openOracle, type Oracle } from './oracle.ts';
import { Questions, randomQuestion, tablesOf, usableCalls } from './random-questions.ts';
import { servedCalls } from './served-calls.ts';

/** `npm run oracle` runs thousands, from another seed each time, each under every distribution. */
const RUNS = 200;
/** One in this many calls of served functions may be drawn, because trying all takes DuckDB seconds. */
const CALLS_EVERY = 30;
/** One in this many of those is also run over the table of functions. */
const ASKED_EVERY = 16;
const CALLS_AT_ONCE = 12;

let oracle: Oracle;
let questions: Questions;
let filled: readonly FilledCall[];

beforeAll(async () => {
  const tables = tablesOf(fixedSeed());
  oracle = await openOracle(await startOwnCluster({ workers: 2, args: ['--worker-cores', '1'] }), tables);
  const { connection, ask } = await functionTable();
  const { calls } = await servedCalls(connection);
  const few = calls.filter((_, at) => at % CALLS_EVERY === fixedSeed() % CALLS_EVERY);
  filled = await filledCalls(few, ask);
  questions = new Questions(oracle, tables, usableCalls(filled));
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
  expect(questions.nothingShare, JSON.stringify([...questions.nothing])).toBeLessThanOrEqual(NOTHING_SHARE_MAX);
}, 600_000);

test('calls of served functions give the rows that DuckDB gives, whole and in fragments', async () => {
  const asked = filled.filter((_, at) => at % ASKED_EVERY === 0);
  for (const batch of batches(asked, CALLS_AT_ONCE, batchKey)) {
    const results = await compareCalls(batch, [oracle.whole, oracle.distributed], oracle.duckdb);
    expect(results.filter(({ difference }) => difference !== null)).toEqual([]);
  }
}, 600_000);
