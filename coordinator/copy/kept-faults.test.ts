import { expect, test } from 'vitest';
import type { FileLoad } from '#shared/task/load-rules.ts';
import { KeptFaults } from './kept-faults.ts';

const loadOf = (path: string, faults: number): FileLoad => ({
  path,
  rowsParsed: faults,
  rowsLoaded: 0,
  errors: faults,
  faults: Array.from({ length: faults }, (_, i) => {
    return { code: 'INVALID_CAST' as const, message: '', line: i + 1, column: null, record: null };
  }),
});

test('each file keeps its first fault, and further ones while there is room; errors are counted all the same', () => {
  const kept = new KeptFaults(5);
  const first = kept.keep([loadOf('a', 4), loadOf('b', 0)]);
  const second = kept.keep([loadOf('c', 4), loadOf('d', 4)]);
  const found = [...first, ...second].map(({ path, errors, faults }) => [path, errors, faults.map(({ line }) => line)]);
  expect(found).toEqual([
    ['a', 4, [1, 2, 3, 4]],
    ['b', 0, []],
    ['c', 4, [1, 2, 3]],
    ['d', 4, [1]],
  ]);
});
