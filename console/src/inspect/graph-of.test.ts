import { expect, test } from 'vitest';
import { graphOf } from './graph-of.ts';
import type { Snapshot } from './table-answers.ts';

const snapshot = (id: string, parent: string | null, lane: number, folded = 0): Snapshot => ({
  snapshot_id: id,
  parent_id: parent,
  committed_at: '',
  operation: null,
  lane,
  folded,
  is_current_ancestor: lane === 0,
  added_rows: null,
  removed_rows: null,
  added_files: null,
  removed_files: null,
  added_bytes: null,
  removed_bytes: null,
});

test('a branch bends into the row of the snapshot that it was made of', () => {
  const graph = graphOf([snapshot('4', '2', 0), snapshot('3', '1', 1), snapshot('2', '1', 0), snapshot('1', null, 0)]);
  expect(graph[0]).toEqual([{ from: 0, to: 0, part: 'lower' }]);
  expect(graph[1]).toEqual([
    { from: 0, to: 0, part: 'whole' },
    { from: 1, to: 1, part: 'lower' },
  ]);
  expect(graph[2]).toEqual([
    { from: 0, to: 0, part: 'upper' },
    { from: 1, to: 0, part: 'whole' },
    { from: 0, to: 0, part: 'lower' },
  ]);
  expect(graph[3]).toEqual([{ from: 0, to: 0, part: 'upper' }]);
});

test('a line over what is folded goes on to the next row of its lane', () => {
  const graph = graphOf([snapshot('9', '8', 0, 6), snapshot('2', '1', 0)]);
  expect(graph[1]).toEqual([
    { from: 0, to: 0, part: 'upper' },
    { from: 0, to: 0, part: 'lower' },
  ]);
});
