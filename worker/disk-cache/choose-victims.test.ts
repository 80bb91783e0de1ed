import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chooseVictims, type Resident } from './choose-victims.ts';

const limits = { bytesMax: 100, countMax: 10, nowMs: 1_000 };
const copy = (tenant: string, bytes: number, usedMs: number, isHeld = false): Resident => ({
  tenant,
  bytes,
  usedMs,
  isHeld,
});

test('takes nothing away while there is room', () => {
  expect(chooseVictims([copy('a', 60, 0)], { tenant: 'a', bytes: 40, intervalMs: 10 }, limits)).toEqual([]);
});

test('what was used longest ago goes, and nothing that somebody reads', () => {
  const [held, old, recent] = [copy('a', 30, 1, true), copy('a', 30, 2), copy('a', 30, 3)];
  const newcomer = { tenant: 'a', bytes: 30, intervalMs: 10 };
  expect(chooseVictims([recent, held, old], newcomer, limits)).toEqual([old]);
  expect(chooseVictims([copy('a', 90, 1, true)], newcomer, limits)).toBeUndefined();
});

test('a tenant that reads more than there is room for, again and again, keeps a part of it', () => {
  const files = [0, 1, 2, 3, 4, 5];
  const used = new Map<number, number>();
  let kept: readonly (Resident & { readonly file: number })[] = [];
  let served = 0;
  for (let nowMs = 1; nowMs <= 600; nowMs++) {
    const file = files[nowMs % files.length] ?? 0;
    const last = used.get(file);
    used.set(file, nowMs);
    if (kept.some((one) => one.file === file)) {
      served++;
      kept = kept.map((one) => (one.file === file ? { ...one, usedMs: nowMs } : one));
      continue;
    }
    if (last === undefined) continue;
    const newcomer = { tenant: 'a', bytes: 30, intervalMs: nowMs - last };
    const victims = chooseVictims(kept, newcomer, { ...limits, nowMs });
    if (victims === undefined) continue;
    const rest = kept.filter((one) => !victims.includes(one));
    kept = [...rest, { ...copy('a', 30, nowMs), file }];
  }
  // Three of six files fit; the least recently used alone would never be there when it is read next.
  expect(served).toBeGreaterThan(250);
});

test('a tenant that fills the cache gives way to others, and does not push them out', () => {
  const full = Array.from({ length: 10 }, (_, i) => copy('greedy', 10, 990 + i));
  const small = { tenant: 'small', bytes: 10, intervalMs: 100_000 };
  expect(chooseVictims(full, small, limits)).toEqual([full[0]]);
  const shared = [copy('small', 50, 1), ...full.slice(0, 5)];
  const more = { tenant: 'greedy', bytes: 10, intervalMs: 1 };
  expect(chooseVictims(shared, more, limits)).toEqual([shared[1]]);
});

test('a newcomer never leaves more than the limit, and takes no more than it needs', () => {
  const resident = fc.record({
    tenant: fc.constantFrom('a', 'b', 'c'),
    bytes: fc.integer({ min: 1, max: 60 }),
    usedMs: fc.integer({ min: 0, max: 999 }),
    isHeld: fc.boolean(),
  });
  const newcomer = fc.record({
    tenant: fc.constantFrom('a', 'b', 'd'),
    bytes: fc.integer({ min: 1, max: 100 }),
    intervalMs: fc.integer({ min: 0, max: 1_000 }),
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
