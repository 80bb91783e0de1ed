import { expect, test } from 'vitest';
import { median, quantile } from './statistics.ts';

test('quantiles are values of the list, by nearest rank', () => {
  const values = [5, 1, 4, 2, 3];
  expect(median(values)).toBe(3);
  expect(quantile(values, 0.99)).toBe(5);
  expect(quantile(values, 0)).toBe(1);
  expect(median([7])).toBe(7);
  expect(() => median([])).toThrow('invariant');
});
