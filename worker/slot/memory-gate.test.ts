import { expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { MemoryGate } from './memory-gate.ts';

const GIB = 2 ** 30;
const never = new AbortController().signal;

test('gives what is asked for, leaves room, and never more than there is', async () => {
  const gate = new MemoryGate(4 * GIB, 10);
  expect(await gate.acquire(GIB, never)).toBe(GIB);
  expect(await gate.acquire(8 * GIB, never)).toBe(GIB);
  expect(await gate.acquire(8 * GIB, never)).toBe(GIB);
  expect(await gate.acquire(GIB / 2 + 1, never)).toBe(GIB / 2);
  expect(gate.grantedBytes).toBeLessThanOrEqual(4 * GIB);
});

test('tasks that come one after the other get the same, whatever small ones run beside them', async () => {
  const gate = new MemoryGate(10 * GIB, 10);
  const grants = new Set<number>();
  for (const beside of [1, 7, 100, 300, 1_000]) {
    const small = await gate.acquire(beside * 2 ** 20, never);
    const big = await gate.acquire(8 * GIB, never);
    grants.add(big);
    gate.release(big);
    gate.release(small);
  }
  expect([...grants]).toEqual([4 * GIB]);
});

test('a task waits below the floor, in turn, and gets memory when it is given back', async () => {
  const gate = new MemoryGate(256 * 2 ** 20, 10);
  const first = await gate.acquire(GIB, never);
  expect(first).toBe(128 * 2 ** 20);
  expect(await gate.acquire(GIB, never)).toBe(128 * 2 ** 20);
  const order: string[] = [];
  const big = gate.acquire(GIB, never).then(() => order.push('big'));
  const small = gate.acquire(1, never).then(() => order.push('small'));
  await Promise.resolve();
  expect(order).toEqual([]);
  gate.release(first);
  await big;
  gate.release(first);
  await small;
  expect(order).toEqual(['big', 'small']);
});

test('a wait ends with its signal, a queue that is full refuses', async () => {
  const gate = new MemoryGate(1_000, 1);
  await gate.acquire(1_000, never);
  const abort = new AbortController();
  const waiting = gate.acquire(1_000, abort.signal);
  expect(() => gate.acquire(1_000, never)).toThrow(expect.objectContaining({ code: 'QUEUE_FULL' }));
  abort.abort(new SkeinError('QUERY_CANCELLED', 'enough'));
  await expect(waiting).rejects.toMatchObject({ code: 'QUERY_CANCELLED' });
  expect(gate.waiting).toBe(0);
  gate.release(1_000);
  expect(await gate.acquire(1_000, never)).toBe(1_000);
});

test('who gives up waiting makes way for those behind', async () => {
  const gate = new MemoryGate(200 * 2 ** 20, 10);
  await gate.acquire(100 * 2 ** 20, never);
  const abort = new AbortController();
  const big = gate.acquire(GIB, abort.signal);
  const small = gate.acquire(2 ** 20, never);
  abort.abort(new SkeinError('QUERY_CANCELLED', 'enough'));
  await expect(big).rejects.toMatchObject({ code: 'QUERY_CANCELLED' });
  expect(await small).toBe(2 ** 20);
});
