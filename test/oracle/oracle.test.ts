import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startOwnCluster } from '#test/support/resources.ts';
import { fixedSeed } from '#test/support/seed.ts';
import { DISTRIBUTIONS, foundQueries, openOracle, type Oracle } from './oracle.ts';
import { printQuery, randomQuery } from './random-query.ts';

/** `npm run oracle` runs thousands, from another seed each time, each under every distribution. */
const RUNS = 300;

let oracle: Oracle;

beforeAll(async () => {
  oracle = await openOracle(await startOwnCluster({ workers: 2, args: ['--worker-cores', '1'] }));
});
afterAll(() => oracle?.[Symbol.asyncDispose]());

test.each(foundQueries())('once wrong: $why', async ({ sql }) => {
  expect(await oracle.difference(sql)).toBeNull();
});

test(`${RUNS} random queries give DuckDB's rows, each under one of the forced distributions`, async () => {
  const property = fc.asyncProperty(randomQuery, fc.constantFrom(...DISTRIBUTIONS), async (query, forced) => {
    const sql = printQuery(query);
    const difference = await oracle.difference(sql, [forced]);
    if (difference !== null) throw new Error(`${difference}\n${sql}`);
  });
  await fc.assert(property, { numRuns: RUNS, seed: fixedSeed() });
}, 600_000);
