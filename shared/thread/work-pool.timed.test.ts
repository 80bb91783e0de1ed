import { setFlagsFromString } from 'node:v8';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLogger } from '#shared/log/logger.ts';
import { FAIL, FILL_HEAP, NUMBERS, SPIN, WAIT, YOUNG_BYTES } from '#test/support/costly-work.ts';
import { readFrames } from './frames.ts';
import { SharedPlaces } from './shared-places.ts';
import { WorkPool } from './work-pool.ts';

const TIMEOUT_MS = 1_000;
const call = { owner: 'a', what: 'the table t' };
const poolOf = (timeoutMs: number): WorkPool => {
  const names = { kind: 'tables', tooComplex: 'TABLE_DATA_TOO_COMPLEX' } as const;
  return new WorkPool({ threads: 2, heapBytes: 64 * 2 ** 20, timeoutMs, ...names, log: silentLogger });
};
let pool: WorkPool;

beforeAll(() => {
  pool = poolOf(TIMEOUT_MS);
});
afterAll(() => pool[Symbol.asyncDispose]());

test('a list comes back in frames', async () => {
  const frames = await pool.run(NUMBERS, 2_500, call);
  const sizes: number[] = [];
  let next = 0n;
  for await (const frame of readFrames(frames)) {
    sizes.push(frame.length);
    for (const { n } of frame) expect(n).toBe(next++);
  }
  expect(sizes).toEqual([1_000, 1_000, 500]);
});

test('an error comes back as itself; a fault of ours says nothing of what it was', async () => {
  await expect(pool.run(FAIL, 'ours', call)).rejects.toMatchObject({
    code: 'INVALID_TABLE_DATA',
    message: 'no manifest',
  });
  await expect(pool.run(FAIL, 'other', call)).rejects.toMatchObject({
    code: 'INTERNAL_ERROR',
    message: 'internal error',
    cause: { message: expect.stringContaining('a fault') as string },
  });
});

test('work without end is ended, and the next has a thread', async () => {
  const error = { code: 'TABLE_DATA_TOO_COMPLEX', message: `reading the table t takes longer than ${TIMEOUT_MS} ms` };
  await expect(pool.run(SPIN, null, call)).rejects.toMatchObject(error);
  expect(await pool.run(WAIT, 1, call)).toBe(1);
});

test('work that fills its heap is ended, and the next has a thread', async () => {
  await using patient = poolOf(30_000);
  const error = { code: 'TABLE_DATA_TOO_COMPLEX', message: expect.stringContaining('bytes of memory') as string };
  await expect(patient.run(FILL_HEAP, null, call)).rejects.toMatchObject(error);
  expect(await patient.run(WAIT, 1, call)).toBe(1);
}, 60_000);

test('a caller that gives up is not answered, and its thread is free', async () => {
  const abort = new AbortController();
  const running = pool.run(SPIN, null, { ...call, signal: abort.signal });
  const waiting = pool.run(WAIT, 1, { ...call, signal: abort.signal });
  setTimeout(() => abort.abort(new Error('gone')), 100);
  await expect(running).rejects.toThrow('gone');
  await expect(waiting).rejects.toThrow('gone');
  expect(await pool.run(WAIT, 1, call)).toBe(1);
});

test('one owner has half of the threads: another is served while it has work without end', async () => {
  const hostile = Array.from({ length: 3 }, () => pool.run(SPIN, null, call).catch((error: unknown) => error));
  const start = performance.now();
  expect(await pool.run(WAIT, 1, { ...call, owner: 'b' })).toBe(1);
  expect(performance.now() - start).toBeLessThan(TIMEOUT_MS);
  await Promise.all(hostile);
}, 30_000);

test('owners that wait take turns', async () => {
  const turns = new SharedPlaces(2, 10);
  const order: string[] = [];
  const leaves: (() => void)[] = [];
  const take = async (owner: string): Promise<void> => {
    const leave = await turns.take(owner, undefined);
    order.push(owner);
    leaves.push(leave);
  };
  void Promise.all(['a', 'a', 'a', 'b', 'b', 'c'].map(take));
  for (let i = 0; i < 6; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    leaves.shift()?.();
  }
  expect(order).toEqual(['a', 'b', 'c', 'a', 'b', 'a']);
  await expect(Promise.all(Array.from({ length: 13 }, () => turns.take('d', undefined)))).rejects.toMatchObject({
    code: 'QUEUE_FULL',
  });
});

test("a thread begins with a small young generation, whatever the process's own is", async () => {
  setFlagsFromString('--min-semi-space-size=16');
  await using later = poolOf(TIMEOUT_MS);
  expect(await later.run(YOUNG_BYTES, null, call)).toBeLessThan(16 * 2 ** 20);
});
