import { expect, test } from 'vitest';
import { LruByBytes } from './lru-by-bytes.ts';

test('the least recently used entries go when the bytes are over the limit', () => {
  const cache = new LruByBytes<number>(100);
  cache.set('a', 1, 40);
  cache.set('b', 2, 40);
  expect(cache.get('a')).toBe(1);
  cache.set('c', 3, 40);
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 3]);
  expect(cache.bytes).toBe(80);
});

test('an entry over the limit is not kept and drives nothing out; a new value replaces the old bytes', () => {
  const cache = new LruByBytes<number>(100);
  cache.set('a', 1, 60);
  cache.set('big', 2, 101);
  cache.set('a', 3, 10);
  expect([cache.get('a'), cache.get('big'), cache.bytes]).toEqual([3, undefined, 10]);
});
