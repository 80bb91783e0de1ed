import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { KeyedQueue } from './keyed-queue.ts';

test('work of one key runs in order, of another key at once; a failure does not stop the line', async () => {
  const queue = new KeyedQueue(10);
  const log: string[] = [];
  const work = (name: string, ms: number) => async (): Promise<void> => {
    log.push(`+${name}`);
    await sleep(ms);
    log.push(`-${name}`);
    if (name === 'a1') throw new Error('a1 failed');
  };
  const first = queue.run('a', work('a1', 20)).catch((error: unknown) => (error as Error).message);
  const rest = Promise.all([queue.run('a', work('a2', 1)), queue.run('b', work('b', 1))]);
  expect(await first).toBe('a1 failed');
  await rest;
  expect(log).toEqual(['+a1', '+b', '-b', '-a1', '+a2', '-a2']);
});

test('more than the limit is refused', async () => {
  const queue = new KeyedQueue(2);
  const slow = [queue.run('a', () => sleep(5)), queue.run('a', () => sleep(5))];
  await expect(queue.run('a', () => sleep(5))).rejects.toMatchObject({ code: 'QUEUE_FULL' });
  await Promise.all(slow);
  await expect(queue.run('a', () => Promise.resolve(1))).resolves.toBe(1);
});
