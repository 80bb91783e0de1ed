import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseVictims, type Resident } from './choose-victims.ts';
import { addReads, countRead, type ReadRate } from './read-rate.ts';

const limits = { bytesMax: 100, countMax: 10 };
const copy = (tenant: string, bytes: number, reads: number, isHeld = false): Resident => ({
  tenant,
  bytes,
  reads,
  isHeld,
});

test('takes nothing away while there is room', () => {
  expect(chooseVictims([copy('a', 60, 9)], { tenant: 'a', bytes: 40, reads: 1 }, limits)).toEqual([]);
});

test('what is read least goes, and nothing that somebody reads', () => {
  const [held, rare, frequent] = [copy('a', 30, 1, true), copy('a', 30, 2), copy('a', 30, 3)];
  const newcomer = { tenant: 'a', bytes: 30, reads: 10 };
  expect(chooseVictims([frequent, held, rare], newcomer, limits)).toEqual([rare]);
  expect(chooseVictims([copy('a', 90, 1, true)], newcomer, limits)).toBeUndefined();
});

test('only what is read far less often makes room, with all of its bytes', () => {
  const residents = [copy('a', 50, 2), copy('a', 50, 2)];
  expect(chooseVictims(residents, { tenant: 'a', bytes: 50, reads: 3 }, limits)).toBeUndefined();
  expect(chooseVictims(residents, { tenant: 'a', bytes: 50, reads: 4 }, limits)).toEqual(residents.slice(0, 1));
  expect(chooseVictims(residents, { tenant: 'a', bytes: 10, reads: 4 }, limits)).toBeUndefined();
  expect(chooseVictims(residents, { tenant: 'a', bytes: 60, reads: 6 }, limits)).toBeUndefined();
  expect(chooseVictims(residents, { tenant: 'a', bytes: 60, reads: 7 }, limits)).toEqual(residents);
});

describe('a tenant that reads more than there is room for', () => {
  /** Reads files at the given seconds; returns how many reads a copy served, and how many copies were made. */
  function simulate(files: readonly number[]): { readonly served: number; readonly made: number } {
    const rates = new Map<number, ReadRate>();
    const kept = new Set<number>();
    let [served, made] = [0, 0];
    for (const [second, file] of files.entries()) {
      const nowMs = (second + 1) * 1_000;
      const isKnown = rates.has(file);
      rates.set(file, countRead(rates.get(file) ?? { reads: 0, atMs: 0 }, nowMs));
      const readsOf = (one: number): number => addReads(rates.get(one) ?? { reads: 0, atMs: 0 }, 0, nowMs).reads;
      if (kept.has(file)) served += 1;
      else if (isKnown) {
        const residents = Array.from(kept, (one) => ({ ...copy('a', 20, readsOf(one)), file: one }));
        const victims = chooseVictims(residents, { tenant: 'a', bytes: 20, reads: readsOf(file) }, limits);
        if (victims === undefined) continue;
        for (const victim of victims) kept.delete(victim.file);
        kept.add(file);
        made += 1;
      }
    }
    return { served, made };
  }
  const draw = (seed: number): (() => number) => {
    let state = seed;
    return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  };

  test('by turns: it keeps a part, and makes no more copies', () => {
    const { served, made } = simulate(Array.from({ length: 600 }, (_, i) => i % 10));
    expect(made).toBe(5);
    expect(served).toBeGreaterThan(280);
  });

  test('some files more often than others, now these and now those: copies pay for themselves', () => {
    const random = draw(7);
    // Half of the reads are of five files out of twenty; for a minute they are of one quarter of the files, then of the next.
    const files = Array.from({ length: 4_000 }, (_, i) => {
      const quarter = Math.floor(i / 60) % 4;
      return random() < 0.5 ? Math.floor(random() * 5) : quarter * 5 + Math.floor(random() * 5);
    });
    const { served, made } = simulate(files);
    expect(served / made).toBeGreaterThan(20);
    expect(served).toBeGreaterThan(1_500);
  });

  test('what it reads from now on takes the place of what it read before', () => {
    const files = Array.from({ length: 3_000 }, (_, i) => (i < 1_000 ? i % 5 : 5 + (i % 5)));
    expect(simulate(files).served).toBeGreaterThan(2_000);
  });
});

test('a tenant that fills the cache gives way to others, and does not push them out', () => {
  const full = Array.from({ length: 10 }, (_, i) => copy('greedy', 10, 90 + i));
  const small = { tenant: 'small', bytes: 10, reads: 1 };
  expect(chooseVictims(full, small, limits)).toEqual([full[0]]);
  const shared = [copy('small', 50, 1), ...full.slice(0, 5)];
  const more = { tenant: 'greedy', bytes: 10, reads: 180 };
  expect(chooseVictims(shared, more, limits)).toEqual([shared[1]]);
});

test('a newcomer never leaves more than the limit, and takes no more than it needs', () => {
  const resident = fc.record({
    tenant: fc.constantFrom('a', 'b', 'c'),
    bytes: fc.integer({ min: 1, max: 60 }),
    reads: fc.double({ min: 0, max: 99, noNaN: true }),
    isHeld: fc.boolean(),
  });
  const newcomer = fc.record({
    tenant: fc.constantFrom('a', 'b', 'd'),
    bytes: fc.integer({ min: 1, max: 100 }),
    reads: fc.double({ min: 0, max: 999, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(resident, { maxLength: 15 }), newcomer, (residents, one) => {
      const victims = chooseVictims(residents, one, limits);
      if (victims === undefined) return;
      const left = residents.filter((other) => !victims.includes(other));
      const sum = (all: readonly Resident[]): number => all.reduce((bytes, { bytes: own }) => bytes + own, one.bytes);
      expect(sum(left)).toBeLessThanOrEqual(100);
      expect(left.length).toBeLessThan(10);
      expect(victims.every(({ isHeld }) => !isHeld)).toBe(true);
      const last = victims.at(-1);
      if (last !== undefined) expect(sum([...left, last]) > 100 || left.length + 1 >= 10).toBe(true);
    }),
  );
});
