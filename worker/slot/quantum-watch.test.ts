import { expect, test } from 'vitest';
import { BETWEEN, observe } from './quantum-watch.ts';

test('a quantum grows older while the sequence stays odd and the same', () => {
  const seen = observe(BETWEEN, { sequence: 5, job: 7 }, 100);
  expect(seen).toEqual({ kind: 'inside', sequence: 5, job: 7, ageMs: 0 });
  expect(observe(observe(seen, { sequence: 5, job: 7 }, 100), { sequence: 5, job: 7 }, 150)).toMatchObject({
    ageMs: 250,
  });
});

test('the next quantum begins at age 0, also of the same job, and also when the number has wrapped round', () => {
  const old = { kind: 'inside', sequence: 5, job: 7, ageMs: 900 } as const;
  expect(observe(old, { sequence: 7, job: 7 }, 100)).toMatchObject({ ageMs: 0 });
  expect(observe(old, { sequence: -2_147_483_647, job: 7 }, 100)).toMatchObject({ kind: 'inside', ageMs: 0 });
});

test('an even sequence is no quantum', () => {
  expect(observe({ kind: 'inside', sequence: 5, job: 7, ageMs: 900 }, { sequence: 6, job: 7 }, 100)).toBe(BETWEEN);
});
