import type { SkeinError } from '#shared/error.ts';
import { unreachable } from '#shared/must.ts';

/** Bytes of rows that wait for the reader in memory; a statement that has more waits. */
const WINDOW_BYTES = 8 * 2 ** 20;
/** Bytes of a result that can be read again until it expires: clients ask again whose connection has broken. A larger one is read once. */
export const KEPT_BYTES_MAX = 8 * 2 ** 20;

/**
 * The rows of a statement on their way to a reader, by numbers alone: the batches themselves are `FlightResult`'s.
 * ```
 *   running ──finish──▶ finished          begin: a running statement gives its rows anew
 *      └─────fail─────▶ failed            batch, take: rows come and go in each state
 * ```
 * An end is final.
 */
export type ReaderRows = {
  /** Batches that are no longer there. */
  readonly dropped: number;
  /** Batches from there on that are, of which a reader of many may have taken some. */
  readonly held: number;
  /** Batches that some reader has taken, and bytes of those that none has. */
  readonly taken: number;
  readonly waitingBytes: number;
  readonly allBytes: number;
  /** A reader has been given a part: the rows can no longer begin again. */
  readonly isCommitted: boolean;
} & (
  | { readonly kind: 'running' }
  | { readonly kind: 'finished'; readonly rows: number }
  | { readonly kind: 'failed'; readonly error: SkeinError }
);

export type FlightEvent =
  | { readonly kind: 'begin' }
  | { readonly kind: 'batch'; readonly bytes: number }
  /** A reader takes its batch number `count`, from 1 on. */
  | { readonly kind: 'take'; readonly count: number; readonly bytes: number }
  /** Nobody wants the rows. */
  | { readonly kind: 'drop' }
  | { readonly kind: 'finish'; readonly rows: number }
  | { readonly kind: 'fail'; readonly error: SkeinError };

export const NO_ROWS: ReaderRows = {
  kind: 'running',
  dropped: 0,
  held: 0,
  taken: 0,
  waitingBytes: 0,
  allBytes: 0,
  isCommitted: false,
};

/** Whether the rows stay for another reader. */
export const areKept = ({ allBytes }: ReaderRows): boolean => allBytes <= KEPT_BYTES_MAX;

/** Whether the statement may give more rows. */
export const hasRoom = ({ waitingBytes }: ReaderRows): boolean => waitingBytes < WINDOW_BYTES;

/** The rows after an event. */
export function nextRows(rows: ReaderRows, event: FlightEvent): ReaderRows {
  switch (event.kind) {
    case 'begin':
      return { ...rows, dropped: 0, held: 0, waitingBytes: 0, allBytes: 0 };
    case 'drop':
      return { ...rows, dropped: rows.dropped + rows.held, held: 0, waitingBytes: 0, allBytes: 0 };
    case 'batch': {
      const { bytes } = event;
      const { held, waitingBytes, allBytes } = rows;
      return { ...rows, held: held + 1, waitingBytes: waitingBytes + bytes, allBytes: allBytes + bytes };
    }
    case 'take':
      return afterTake(rows, event);
    case 'finish':
      return rows.kind === 'running' ? { ...rows, kind: 'finished', rows: event.rows } : rows;
    case 'fail':
      return rows.kind === 'running' ? { ...rows, kind: 'failed', error: event.error } : rows;
    default:
      return unreachable(event);
  }
}

function afterTake(rows: ReaderRows, { count, bytes }: { readonly count: number; readonly bytes: number }): ReaderRows {
  const isFirst = count > rows.taken;
  const taken = isFirst ? count : rows.taken;
  const waitingBytes = isFirst ? rows.waitingBytes - bytes : rows.waitingBytes;
  const gone = areKept(rows) ? 0 : taken - rows.dropped;
  return { ...rows, isCommitted: true, taken, waitingBytes, dropped: rows.dropped + gone, held: rows.held - gone };
}
