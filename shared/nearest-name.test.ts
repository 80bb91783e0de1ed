import { expect, test } from 'vitest';
import { nearestName } from './nearest-name.ts';

const TABLES = ['customer', 'lineitem', 'nation', 'orders', 'part', 'partsupp', 'region', 'supplier'];

test.each([
  ['orders', 'orders'],
  ['ORDRES', 'orders'],
  ['custmer', 'customer'],
  ['customers', 'customer'],
  ['parts', 'part'],
  ['nations', 'nation'],
  ['zzz', undefined],
  ['x', undefined],
  ['', undefined],
])('%s: %s', (name, nearest) => {
  expect(nearestName(name, TABLES)).toBe(nearest);
});

test('a name that needs fewer edits wins, wherever it stands', () => {
  expect(nearestName('abcdef', ['abcxyf', 'abcdeg', 'abxxef'])).toBe('abcdeg');
});

test('many and long names take a bounded time', () => {
  const many = Array.from({ length: 200_000 }, (_, i) => `${'ab'.repeat(60)}${String(i).padStart(8, '0')}`);
  const before = process.threadCpuUsage();
  nearestName('ba'.repeat(64), many);
  nearestName('x'.repeat(1_000_000), many);
  const used = process.threadCpuUsage(before);
  // Without its limits this takes minutes.
  expect((used.user + used.system) / 1_000).toBeLessThan(250);
});
