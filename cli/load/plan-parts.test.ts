import { expect, test } from 'vitest';
import { planParts } from './plan-parts.ts';

test('inputs are put together and divided, in order, every row once', () => {
  const input = (path: string, sizeBytes: number, rows: number) => ({ path, sizeBytes, rows, columns: [] });
  const parts = planParts([input('a', 10, 1), input('b', 20, 1), input('c', 1100, 10), input('d', 5, 1)], 512);
  expect(parts.map(({ inputs, rows }) => [inputs.map(({ path }) => path).join(), rows])).toStrictEqual([
    ['a,b', null],
    ['c', { start: 0, end: 3 }],
    ['c', { start: 3, end: 6 }],
    ['c', { start: 6, end: 10 }],
    ['d', null],
  ]);
});
