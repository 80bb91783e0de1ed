import { expect, test } from 'vitest';
import type { CursorMove } from '../operation/cursors.ts';
import { goesForward, moveCursor } from './move-cursor.ts';

const ROWS = 5;

/** The rows, from 1, that each move gives, one after the other, and where the cursor stands then. */
function moved(...moves: readonly (readonly [CursorMove['kind'], number | 'all'])[]): readonly string[] {
  let position = 0;
  return moves.map(([kind, count]) => {
    const { range, position: next } = moveCursor({ kind, count } as CursorMove, { rows: ROWS, position });
    position = next;
    const rows = Array.from({ length: range.end - range.first }, (_, i) => range.first + 1 + i);
    return `${(range.isBackward ? rows.reverse() : rows).join(' ')} @${next}`;
  });
}

test('forwards and backwards, and beyond both ends', () => {
  expect(moved(['forward', 2], ['forward', 3], ['forward', 1], ['backward', 1], ['backward', 2])).toEqual([
    '1 2 @2',
    '3 4 5 @5',
    ' @6',
    '5 @5',
    '4 3 @3',
  ]);
  expect(moved(['forward', 'all'], ['backward', 'all'], ['backward', 1], ['forward', -1], ['backward', -2])).toEqual([
    '1 2 3 4 5 @6',
    '5 4 3 2 1 @0',
    ' @0',
    ' @0',
    '1 2 @2',
  ]);
});

test('to a row by its number, from the first, from the last, from here; 0 is the row itself', () => {
  expect(moved(['absolute', 3], ['forward', 0], ['relative', 0], ['relative', -2], ['relative', 9])).toEqual([
    '3 @3',
    '3 @3',
    '3 @3',
    '1 @1',
    ' @6',
  ]);
  expect(moved(['absolute', -1], ['absolute', -5], ['absolute', -6], ['absolute', 6], ['absolute', 0])).toEqual([
    '5 @5',
    '1 @1',
    ' @0',
    ' @6',
    ' @0',
  ]);
});

test('a cursor that only goes forward refuses rows that it has given', () => {
  const may = (kind: CursorMove['kind'], count: number, position: number): boolean => {
    const move = { kind, count } as CursorMove;
    return goesForward(move, position, moveCursor(move, { rows: ROWS, position }));
  };
  expect([may('forward', 1, 2), may('forward', 1, 6), may('absolute', 4, 2), may('relative', 1, 5)]).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect([may('backward', 1, 2), may('forward', 0, 2), may('absolute', 2, 2), may('backward', 1, 6)]).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
