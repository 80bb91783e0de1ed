import { expect, test } from 'vitest';
import type { Predicate } from '#shared/iceberg/predicate.ts';
import { shortPredicate } from './large-plan.ts';

const many = Array.from({ length: 5_000 }, (_, i) => BigInt((i * 7_919) % 5_000));
const list: Predicate = { kind: 'in', fieldId: 1, values: many };
const one: Predicate = { kind: 'compare', op: 'eq', fieldId: 2, value: 1n };

test('a long list of values becomes its range', () => {
  expect(shortPredicate(list)).toEqual({
    kind: 'and',
    children: [
      { kind: 'compare', op: 'ge', fieldId: 1, value: 0n },
      { kind: 'compare', op: 'le', fieldId: 1, value: 4_999n },
    ],
  });
});

test('a thousand of many AND conditions are kept; many OR conditions are dropped', () => {
  const conditions = Array.from({ length: 2_000 }, () => one);
  expect(shortPredicate({ kind: 'and', children: conditions })).toEqual({
    kind: 'and',
    children: conditions.slice(0, 1_000),
  });
  expect(shortPredicate({ kind: 'or', children: conditions })).toEqual({ kind: 'true' });
  expect(shortPredicate({ kind: 'and', children: [one, list] })).toEqual({
    kind: 'and',
    children: [one, shortPredicate(list)],
  });
});

test('a short predicate stays as it is', () => {
  const short: Predicate = { kind: 'or', children: [one, { kind: 'in', fieldId: 1, values: [1n, 2n] }] };
  expect(shortPredicate(short)).toBe(short);
});
