import { describe, expect, test } from 'vitest';
import type { Asker } from './asker.ts';
import { Turns } from './turns.ts';

type Task = Asker & { readonly name: string; readonly turnMs: number };

const task = (tenant: string, principal: string, turnMs = 10, name = ''): Task => ({
  tenant,
  principal,
  name,
  turnMs,
});

/** Gives turns for `totalMs`; returns how much time each tenant, principal and task got. */
function simulate(turns: Turns, tasks: readonly Task[], totalMs: number): (key: string) => number {
  const hadMs = new Map<string, number>();
  for (let spentMs = 0; spentMs < totalMs;) {
    const picked = turns.pick(tasks);
    if (picked === undefined) break;
    turns.charge(picked, picked.turnMs);
    spentMs += picked.turnMs;
    for (const key of [picked.tenant, `${picked.tenant}/${picked.principal}`]) {
      hadMs.set(key, (hadMs.get(key) ?? 0) + picked.turnMs);
    }
  }
  return (key) => hadMs.get(key) ?? 0;
}

describe('shares', () => {
  test('nobody has no turn', () => {
    expect(new Turns().pick([])).toBeUndefined();
  });

  test('a tenant with a hundred tasks and one with a single task have half of the time each', () => {
    const many = Array.from({ length: 100 }, (_, i) => task('many', `p${i % 8}`));
    const had = simulate(new Turns(), [...many, task('one', 'p')], 10_000);
    expect([had('many'), had('one')]).toEqual([5_000, 5_000]);
    expect(had('many/p0')).toBeGreaterThan(600);
    expect(had('many/p7')).toBeGreaterThan(600);
  });

  test('long turns give nobody more', () => {
    const had = simulate(new Turns(), [task('long', 'p', 500), task('short', 'p', 10)], 20_000);
    expect(had('short')).toBeGreaterThan(9_500);
    expect(had('long')).toBeGreaterThan(9_500);
  });

  test('a principal with many tasks shares evenly with the other of its tenant, and the tenant gets no more by having two', () => {
    const tasks = [task('a', 'x'), task('a', 'x'), task('a', 'x'), task('a', 'y'), task('b', 'z')];
    const had = simulate(new Turns(), tasks, 12_000);
    expect([had('a'), had('b'), had('a/x'), had('a/y')]).toEqual([6_000, 6_000, 3_000, 3_000]);
  });

  test('nobody starves: each of two hundred tenants has its turn before any has its second', () => {
    const turns = new Turns();
    const tasks = Array.from({ length: 200 }, (_, i) => task(`t${i}`, 'p'));
    const seen = new Set<string>();
    for (let i = 0; i < tasks.length; i++) {
      const picked = turns.pick(tasks);
      if (picked === undefined) break;
      turns.charge(picked, 10);
      seen.add(picked.tenant);
    }
    expect(seen.size).toBe(200);
  });
});

describe('who comes and goes', () => {
  test('a newcomer goes next, and cannot claim the time before', () => {
    const turns = new Turns();
    simulate(turns, [task('old', 'p')], 60_000);
    expect(turns.pick([task('old', 'p'), task('new', 'p')])?.tenant).toBe('new');
    const had = simulate(turns, [task('old', 'p'), task('new', 'p')], 1_000);
    expect([had('old'), had('new')]).toEqual([500, 500]);
  });

  test('one that went away and came back cannot claim what it missed', () => {
    const turns = new Turns();
    const both = [task('a', 'p'), task('b', 'p')];
    simulate(turns, both, 1_000);
    simulate(turns, [task('a', 'p')], 60_000);
    const had = simulate(turns, both, 1_000);
    expect(had('a')).toBe(500);
  });

  test('one that ends its work and comes back at once keeps what it owes', () => {
    const turns = new Turns();
    const honest = task('honest', 'p');
    const hadMs = { honest: 0, hostile: 0 };
    // A new statement each time, whose first turn is long.
    for (let i = 0; i < 200; i++) {
      const picked = turns.pick([task('hostile', `p${i}`, 1_000), honest]);
      if (picked === undefined) break;
      turns.charge(picked, picked.turnMs);
      hadMs[picked.tenant as keyof typeof hadMs] += picked.turnMs;
      turns.pick([honest]);
      turns.charge(honest, 10);
      hadMs.honest += 10;
    }
    expect(hadMs.hostile / hadMs.honest).toBeLessThan(2);
  });

  test('a turn that hung is charged with its most, so that the others of its tenant are not shut out for long', () => {
    const turns = new Turns();
    turns.charge(task('a', 'p'), 3_600_000);
    const had = simulate(turns, [task('a', 'p'), task('b', 'p')], 60_000);
    expect(had('a')).toBeGreaterThan(14_000);
  });
});
