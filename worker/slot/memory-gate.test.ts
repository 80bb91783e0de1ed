import { describe, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { MemoryGate } from './memory-gate.ts';

const MIB = 2 ** 20;
const GIB = 2 ** 30;
const never = new AbortController().signal;
const asker = { tenant: 'a', principal: 'p' };
const other = { tenant: 'b', principal: 'q' };

test('gives what is asked for, leaves room, and never more than there is', async () => {
  const gate = new MemoryGate(4 * GIB, 10);
  const bytes = async (asked: number): Promise<number> => (await gate.acquire(asker, asked, never)).bytes;
  expect(await bytes(GIB)).toBe(GIB);
  expect(await bytes(8 * GIB)).toBe(GIB);
  expect(await bytes(8 * GIB)).toBe(GIB);
  expect(await bytes(GIB / 2 + 1)).toBe(GIB / 2);
  expect(gate.grantedBytes).toBeLessThanOrEqual(4 * GIB);
});

test('tasks that come one after the other get the same, whatever small ones run beside them', async () => {
  const gate = new MemoryGate(10 * GIB, 10);
  const grants = new Set<number>();
  for (const beside of [1, 7, 100, 300, 1_000]) {
    const small = await gate.acquire(asker, beside * MIB, never);
    const big = await gate.acquire(asker, 8 * GIB, never);
    grants.add(big.bytes);
    big.release();
    small.release();
  }
  expect([...grants]).toEqual([4 * GIB]);
});

test('a task waits below the floor, in turn, and gets memory when it is given back', async () => {
  const gate = new MemoryGate(256 * MIB, 10);
  const first = await gate.acquire(asker, GIB, never);
  const second = await gate.acquire(asker, GIB, never);
  expect([first.bytes, second.bytes]).toEqual([128 * MIB, 128 * MIB]);
  const order: string[] = [];
  const big = gate.acquire(asker, GIB, never).then(() => order.push('big'));
  const small = gate.acquire(asker, 1, never).then(() => order.push('small'));
  await Promise.resolve();
  expect(order).toEqual([]);
  first.release();
  first.release();
  await big;
  second.release();
  await small;
  expect(order).toEqual(['big', 'small']);
});

test('a wait ends with its signal, a queue that is full refuses', async () => {
  const gate = new MemoryGate(1_000, 1);
  const held = await gate.acquire(asker, 1_000, never);
  const abort = new AbortController();
  const waiting = gate.acquire(asker, 1_000, abort.signal);
  expect(() => gate.acquire(asker, 1_000, never)).toThrow(expect.objectContaining({ code: 'QUEUE_FULL' }));
  abort.abort(new SkeinError('QUERY_CANCELLED', 'enough'));
  await expect(waiting).rejects.toMatchObject({ code: 'QUERY_CANCELLED' });
  expect(gate.waiting).toBe(0);
  held.release();
  expect((await gate.acquire(asker, 1_000, never)).bytes).toBe(1_000);
});

test('a waiter that gives up lets those behind it proceed', async () => {
  const gate = new MemoryGate(200 * MIB, 10);
  await gate.acquire(asker, 100 * MIB, never);
  const abort = new AbortController();
  const big = gate.acquire(asker, GIB, abort.signal);
  const small = gate.acquire(asker, 2 * MIB, never);
  abort.abort(new SkeinError('QUERY_CANCELLED', 'enough'));
  await expect(big).rejects.toMatchObject({ code: 'QUERY_CANCELLED' });
  expect((await small).bytes).toBe(2 * MIB);
});

describe('tenants', () => {
  test('one that has all that it may leaves memory for another, who does not wait behind its tasks', async () => {
    const gate = new MemoryGate(4 * GIB, 100);
    for (let i = 0; i < 50; i++) void gate.acquire(asker, 8 * GIB, never);
    expect(gate.waiting).toBeGreaterThan(30);
    expect((await gate.acquire(other, 256 * MIB, never)).bytes).toBeGreaterThanOrEqual(128 * MIB);
    expect((await gate.acquire({ tenant: 'c', principal: 'r' }, MIB, never)).bytes).toBe(MIB);
  });

  test('freed memory goes to the tenant that holds least, not to the longest waiter', async () => {
    const gate = new MemoryGate(256 * MIB, 100);
    const first = await gate.acquire(asker, GIB, never);
    await gate.acquire(asker, GIB, never);
    const order: string[] = [];
    for (const one of [asker, asker, other]) void gate.acquire(one, GIB, never).then(() => order.push(one.tenant));
    first.release();
    await new Promise((resolve) => setImmediate(resolve));
    expect(order).toEqual(['b']);
  });

  test('a full queue refuses the one who fills it', async () => {
    const gate = new MemoryGate(1_000, 4);
    await gate.acquire(asker, 1_000, never);
    const attackers = [1, 2, 3, 4].map(() => gate.acquire(asker, 1_000, never));
    void gate.acquire(other, 1_000, never);
    await expect(attackers.at(-1)).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    expect(() => gate.acquire(asker, 1_000, never)).toThrow(expect.objectContaining({ code: 'QUEUE_FULL' }));
  });
});
