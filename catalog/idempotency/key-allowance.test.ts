import { expect, test } from 'vitest';
import { principalId } from '#shared/id.ts';
import { KeyAllowance } from './key-allowance.ts';

const [ONE, TWO] = [principalId('one'), principalId('two')];

/** Returns an allowance over rows that the test sets; `counts` is the number of counts made. */
function over(keysMax: number, rows: Map<string, number>) {
  const state = { nowMs: 0, counts: 0 };
  const clock = { nowMs: () => state.nowMs, monotonicMs: () => state.nowMs };
  const allowance = new KeyAllowance(clock, keysMax, async (principal) => {
    state.counts += 1;
    return rows.get(principal) ?? 0;
  });
  const use = async (principal = ONE): Promise<boolean> => {
    const taken = await allowance.take(principal);
    if (taken) rows.set(principal, (rows.get(principal) ?? 0) + 1);
    return taken;
  };
  return { state, use };
}

test('a principal has as many keys as the limit, and no other’s', async () => {
  const rows = new Map<string, number>();
  const { state, use } = over(3, rows);
  for (let i = 0; i < 3; i += 1) expect(await use()).toBe(true);
  expect([await use(), await use(TWO)]).toEqual([false, true]);
  // Keys that have expired are free again, known after a second.
  rows.set(ONE, 2);
  expect(await use()).toBe(false);
  state.nowMs += 1_000;
  expect([await use(), await use()]).toEqual([true, false]);
});

test('rows are counted now and then, more often when few keys are left, and at the limit once a second', async () => {
  const rows = new Map<string, number>();
  const { state, use } = over(10_000, rows);
  for (let i = 0; i < 1_000; i += 1) await use();
  expect(state.counts).toBe(1);
  while (await use());
  expect(rows.get(ONE)).toBe(10_000);
  expect(state.counts).toBeLessThan(200);
  const { counts } = state;
  for (let i = 0; i < 100; i += 1) await use();
  expect(state.counts).toBe(counts);
});

test('a count is used for a minute: another process may have used keys meanwhile', async () => {
  const rows = new Map<string, number>();
  const { state, use } = over(1_000, rows);
  expect(await use()).toBe(true);
  rows.set(ONE, 1_000);
  expect(await use()).toBe(true);
  state.nowMs += 60_000;
  expect(await use()).toBe(false);
});
