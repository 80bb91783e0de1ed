import { expect, test } from 'vitest';
import { FairCache } from './fair-cache.ts';

const filled = (entriesMax: number, entries: readonly (readonly [owner: string, key: string])[]): FairCache<string> => {
  const cache = new FairCache<string>(entriesMax);
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
