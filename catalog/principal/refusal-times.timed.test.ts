import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestCatalog } from '#test/support/catalog.ts';
import { APART_MAX, nearestTimes, refusalTimes, startRefusingCatalog } from '#test/support/refusal-times.ts';
import { PASSWORD } from '#test/support/run-statements.ts';
import { patience } from '#test/support/run/slowness.ts';
import { HashThreads } from './hash-threads.ts';

/** The longer form, with all refusals and a hundred of each, is `refusal-times.full.test.ts`. */
const ROUNDS = 30;
/** The password step takes so much more than a hash, at most. */
const STEP_MS_MAX = patience(50);
let catalog: TestCatalog;
const hashes = new HashThreads(1);

beforeAll(async () => {
  catalog = await startRefusingCatalog();
});
afterAll(async () => {
  await hashes[Symbol.asyncDispose]();
  await catalog[Symbol.asyncDispose]();
});

test('a refusal takes as long, whoever is there: a hash, and little more', { timeout: 300_000 }, async () => {
  const stored = await hashes.hash(PASSWORD);
  const names = [
    'wrong password',
    'nobody has the name',
    'locked, right password',
    'with a factor, wrong password',
  ] as const;
  const measure = () =>
    refusalTimes(catalog, { names, rounds: ROUNDS, hash: () => hashes.isHashOf('Wrong-Horse-9', stored) });
  const times = await nearestTimes(measure);
  console.info(JSON.stringify(times));
  expect([times.apart <= APART_MAX, times]).toEqual([true, times]);
  const stepMs = times.medians['wrong password'] ?? Infinity;
  expect([stepMs <= times.hashMs + STEP_MS_MAX, times]).toEqual([true, times]);
});
