import { unreachable } from '#shared/must.ts';
import type { CursorMove } from '../operation/cursors.ts';
import type { RowRange } from '../result/read-rows.ts';

/** A step of a cursor: the rows that it gives, and where it stands then: 0 = before the first row, n = on the n-th, one more than there are = behind the last. */
type Step = { readonly range: RowRange; readonly position: number };

const NONE: RowRange = { first: 0, end: 0, isBackward: false };

/**
 * Moves a cursor as Postgres does (`DoPortalRunFetch`).
 * @param rows of the result @param position where it stands
 */
export function moveCursor(
  move: CursorMove,
  { rows, position }: { readonly rows: number; readonly position: number },
): Step {
  const onto = (row: number): Step => {
    const at = Math.min(Math.max(row, 0), rows + 1);
    const isRow = at >= 1 && at <= rows;
    return { range: isRow ? { first: at - 1, end: at, isBackward: false } : NONE, position: at };
  };
  switch (move.kind) {
    case 'absolute':
      return onto(move.count < 0 ? rows + 1 + move.count : move.count);
    case 'relative':
      return onto(position + move.count);
    case 'forward':
    case 'backward': {
      if (move.count === 0) return onto(position);
      const isBackward = move.count !== 'all' && move.count < 0 ? move.kind === 'forward' : move.kind === 'backward';
      const count = move.count === 'all' ? rows + 1 : Math.abs(move.count);
      if (isBackward) {
        const [first, end] = [Math.max(position - 1 - count, 0), Math.max(position - 1, 0)];
        return { range: { first, end, isBackward }, position: Math.max(position - count, 0) };
      }
      const [first, end] = [Math.min(position, rows), Math.min(position + count, rows)];
      return { range: { first, end, isBackward }, position: Math.min(position + count, rows + 1) };
    }
    default:
      return unreachable(move);
  }
}

/** Whether a cursor that only goes forward may take this step. */
export const goesForward = (move: CursorMove, position: number, step: Step): boolean =>
  step.position > position || (step.position === position && step.range.first === step.range.end && !namesRow(move));

/** Whether the move is to the row on which it stands, which it would have to read again. */
const namesRow = ({ count }: CursorMove): boolean => count === 0;
