import type { OutputColumn } from '../sink/result-sink.ts';
import type { TextSpan } from '../statement/statement.ts';
import type { Outcome } from './outcome.ts';

/** Where FETCH and MOVE go. A negative count goes the other way; 0 is the row on which the cursor stands. */
export type CursorMove =
  | { readonly kind: 'forward' | 'backward'; readonly count: number | 'all' }
  /** To one row, counted from the first (from the last when it is negative), or from where the cursor stands. */
  | { readonly kind: 'absolute' | 'relative'; readonly count: number };

/** A cursor as a statement names it: `position` is where its name stands there. */
export type CursorName = { readonly name: string; readonly position: number };

export type CursorDefinition = CursorName & {
  /** False: it only goes forward. */
  readonly canScroll: boolean;
  /** WITH HOLD: it outlives its transaction. */
  readonly isHeld: boolean;
  readonly query: TextSpan;
};

/** The cursors of a statement's session. Portals of the Postgres wire are the same; names are compared without case. */
export interface SessionCursors {
  /**
   * Runs the query, and keeps its rows: from then on it holds no place and no slot.
   * @throws NO_TRANSACTION without a transaction and without WITH HOLD, CURSOR_EXISTS, TOO_MANY_CURSORS, RESULT_TOO_LARGE, NOT_SUPPORTED
   * without a named session
   */
  declare(definition: CursorDefinition): Promise<Pick<Outcome, 'bytesScanned' | 'fragments'>>;
  /** @throws CURSOR_NOT_FOUND */
  columns(cursor: CursorName): readonly OutputColumn[];
  /** Moves, and sends the rows as the statement's result. @throws CURSOR_NOT_FOUND, CURSOR_FORWARD_ONLY, STORAGE_ERROR */
  fetch(cursor: CursorName, move: CursorMove): Promise<Outcome>;
  /** Moves. @returns the rows that FETCH would give @throws CURSOR_NOT_FOUND, CURSOR_FORWARD_ONLY */
  move(cursor: CursorName, move: CursorMove): number;
  /** Null = all. @throws CURSOR_NOT_FOUND */
  close(cursor: CursorName | null): void;
}
