import { expect, test } from 'vitest';
import { FairCache } from './fair-cache.ts';

const of = (entriesMax: number, bytesMax = 2 ** 20): FairCache<string> =>
  new FairCache<string>({ entriesMax, bytesMax }, (value) => value.length);
const filled = (entriesMax: number, entries: readonly (readonly [owner: string, key: string])[]): FairCache<string> => {
  const cache = of(entriesMax);
  for (const [owner, key] of entries) cache.set(owner, key, `${owner} ${key}`);
  return cache;
};

test('one owner alone has all of it, the least recently used values going first', () => {
  const cache = filled(2, [
    ['a', '1'],
    ['a', '2'],
  ]);
  expect(cache.get('1')).toBe('a 1');
  cache.set('a', '3', 'a 3');
  expect([cache.get('1'), cache.get('2'), cache.get('3'), cache.size]).toEqual(['a 1', undefined, 'a 3', 2]);
});

test('an owner that fills it evicts its own values, never those within another’s share', () => {
  const cache = filled(10, [
    ['quiet', 'q1'],
    ['quiet', 'q2'],
    ...Array.from({ length: 1_000 }, (_none, i) => ['loud', `l${i}`] as const),
  ]);
  expect([cache.get('q1'), cache.get('q2')]).toEqual(['quiet q1', 'quiet q2']);
  expect([cache.get('l999'), cache.get('l992'), cache.get('l991')]).toEqual(['loud l999', 'loud l992', undefined]);
  // The owner with the most makes room for others.
  for (const key of ['n1', 'n2', 'n3', 'n4']) cache.set('new', key, key);
  expect(['q1', 'q2', 'n1', 'n2', 'n3', 'n4'].filter((key) => cache.get(key) === undefined)).toEqual([]);
  expect(cache.size).toBe(10);
});

test('when there are as many owners as values, the one that was used least recently goes', () => {
  const cache = filled(3, [
    ['a', '1'],
    ['b', '2'],
    ['c', '3'],
  ]);
  cache.get('1');
  cache.set('d', '4', 'd 4');
  expect(['1', '2', '3', '4'].map((key) => cache.get(key))).toEqual(['a 1', undefined, 'c 3', 'd 4']);
});

test('a value that is set anew belongs to who set it; an empty cache keeps nothing', () => {
  const cache = filled(2, [
    ['a', '1'],
    ['b', '1'],
  ]);
  expect([cache.get('1'), cache.size]).toEqual(['b 1', 1]);
  const none = filled(0, [['a', '1']]);
  expect([none.get('1'), none.size]).toEqual([undefined, 0]);
});

test('memory is shared like places: the owner who holds the most loses values until the rest fits', () => {
  const cache = of(1_000, 100_000);
  for (let i = 0; i < 10; i++) cache.set('quiet', `q${i}`, 'x'.repeat(1_000));
  for (let i = 0; i < 100; i++) cache.set('loud', `l${i}`, 'x'.repeat(20_000));
  expect(cache.bytes).toBeLessThanOrEqual(100_000);
  expect(Array.from({ length: 10 }, (_none, i) => cache.get(`q${i}`)?.length)).toEqual(Array(10).fill(1_000));
  expect([cache.get('l99')?.length, cache.get('l0')]).toEqual([20_000, undefined]);
  // Its size is the sum of its entries.
  for (let i = 0; i < 100; i++) cache.set('loud', 'l99', 'x'.repeat(i));
  const before = cache.bytes;
  cache.get('l99');
  expect([cache.bytes, cache.size]).toEqual([before, 14]);
});

test('a value that takes a quarter of the memory is not kept, and pushes out none', () => {
  const cache = of(10, 10_000);
  cache.set('a', 'small', 'x');
  cache.set('a', 'huge', 'x'.repeat(2_500));
  expect([cache.get('small'), cache.get('huge'), cache.size]).toEqual(['x', undefined, 1]);
});
