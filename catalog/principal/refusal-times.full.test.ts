import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestCatalog } from '#test/support/catalog.ts';
import { APART_MAX, nearestTimes, REFUSALS, refusalTimes, startRefusingCatalog } from '#test/support/refusal-times.ts';
import { PASSWORD } from '#test/support/run-statements.ts';
import { HashThreads } from './hash-threads.ts';

/** Medians of a hundred of each, within a tenth of each other in one of three tries. */
const ROUNDS = 100;
let catalog: TestCatalog;
const hashes = new HashThreads(1);

beforeAll(async () => {
  catalog = await startRefusingCatalog();
});
afterAll(async () => {
  await hashes[Symbol.asyncDispose]();
  await catalog[Symbol.asyncDispose]();
});

test(
  'no refusal tells by its time who is there, locked, suspended, invited, or has a factor',
  { timeout: 1_200_000 },
  async () => {
    const names = Object.keys(REFUSALS) as (keyof typeof REFUSALS)[];
    const stored = await hashes.hash(PASSWORD);
    const measure = () =>
      refusalTimes(catalog, { names, rounds: ROUNDS, hash: () => hashes.isHashOf('Wrong-Horse-9', stored) });
    const times = await nearestTimes(measure);
    console.info(JSON.stringify(times));
    expect([times.apart <= APART_MAX, times]).toEqual([true, times]);
  },
);
