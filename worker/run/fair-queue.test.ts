import { expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { FairQueue } from './fair-queue.ts';

const NEW = { scheduledMs: 0, pinned: false };
const OLD = { scheduledMs: 400_000, pinned: false };
const attacker = { tenant: 'hostile', principal: 'p' };
const victim = { tenant: 'honest', principal: 'q' };

/** Gives turns for some time, and returns the time that each task had. */
function simulate(
  queue: FairQueue,
  totalMs: number,
  quantumMs: (id: string) => number = () => 10,
): Map<string, number> {
  const hadMs = new Map<string, number>();
  for (let spentMs = 0; spentMs < totalMs;) {
    const id = must(queue.pick(), 'a task');
    queue.charge(id, quantumMs(id));
    spentMs += quantumMs(id);
    hadMs.set(id, (hadMs.get(id) ?? 0) + quantumMs(id));
  }
  return hadMs;
}

test('one task of a tenant has as much as a hundred of another, whatever their levels and the lengths of their quanta', () => {
  const queue = new FairQueue();
  queue.add('one', victim, OLD);
  for (let i = 0; i < 100; i++) queue.add(`many-${i}`, attacker, NEW);
  const had = simulate(queue, 20_000, (id) => (id === 'one' ? 10 : 70));
  expect(had.get('one')).toBeGreaterThan(9_800);
});

test('a task that comes is next, before those of a tenant that has run for long', () => {
  const queue = new FairQueue();
  for (let i = 0; i < 10; i++) queue.add(`many-${i}`, attacker, NEW);
  simulate(queue, 5_000);
  queue.add('one', victim, NEW);
  expect(queue.pick()).toBe('one');
});

test('within a principal the levels decide: a small query goes before a long one', () => {
  const queue = new FairQueue();
  queue.add('batch', victim, OLD);
  simulate(queue, 1_000);
  queue.add('small', victim, NEW);
  expect(queue.pick()).toBe('small');
  expect(queue.depths()).toEqual([1, 0, 0, 0, 1]);
});

test('blocked and removed tasks have no turn', () => {
  const queue = new FairQueue();
  queue.add('a', attacker, NEW);
  queue.add('b', victim, NEW);
  queue.block('a');
  queue.remove('b');
  expect(queue.pick()).toBeUndefined();
  queue.wake('a');
  expect(queue.pick()).toBe('a');
  queue.charge('gone', 10);
});
