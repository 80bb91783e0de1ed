import type { ErrorCode, SkeinError } from '#shared/error.ts';
import { unreachable } from '#shared/must.ts';

/**
 * The life of a statement. Every statement that was received has one, also one that does not parse.
 * ```
 *   queued ──started──> running ──completed──> completed
 *      │                   │
 *      └──────failed───────┴──> failed, or cancelled when the reason is one of CANCELS
 * ```
 * `queued` holds parsing, planning and waiting for admission; `running` begins with admission, and for a statement that plans no query, such
 * as CREATE TABLE, when it was read. One that is completed without having waited for a place began when it was received. The last three
 * are final.
 */
export type QueryState =
  | { readonly kind: 'queued'; readonly queuedAtMs: number }
  | { readonly kind: 'running'; readonly queuedAtMs: number; readonly startedAtMs: number }
  | (Work & {
      readonly kind: 'completed';
      readonly queuedAtMs: number;
      readonly startedAtMs: number;
      readonly endedAtMs: number;
    })
  | (Work & {
      readonly kind: 'failed' | 'cancelled';
      readonly queuedAtMs: number;
      /** Null when it never ran. */
      readonly startedAtMs: number | null;
      readonly endedAtMs: number;
      readonly error: SkeinError;
    });

/** The work done for a statement, up to its end. */
export type Work = { readonly rowsProduced: number; readonly bytesScanned: number; readonly fragments: number };

export type QueryEvent =
  | { readonly kind: 'started'; readonly atMs: number }
  | (Work & { readonly kind: 'completed'; readonly atMs: number })
  | (Work & { readonly kind: 'failed'; readonly atMs: number; readonly error: SkeinError });

/**
 * Codes of queries that their user, their timeout, one of their own limits or a killer stopped (service specification, Query status;
 * Errors 4).
 */
const CANCELS: ReadonlySet<ErrorCode> = new Set([
  'QUERY_CANCELLED',
  'QUERY_TIMEOUT',
  'OUT_OF_MEMORY',
  'MEMORY_KILLED',
  'SPILL_LIMIT',
  'RESULT_TOO_LARGE',
  'QUERY_KILLED',
]);

/** The state after `event`; a final state stays as it is. */
export function next(state: QueryState, event: QueryEvent): QueryState {
  if (state.kind !== 'queued' && state.kind !== 'running') return state;
  const { queuedAtMs } = state;
  const startedAtMs = state.kind === 'running' ? state.startedAtMs : null;
  switch (event.kind) {
    case 'started':
      return state.kind === 'running' ? state : { kind: 'running', queuedAtMs, startedAtMs: event.atMs };
    case 'completed': {
      const { rowsProduced, bytesScanned, fragments } = event;
      return {
        kind: 'completed',
        queuedAtMs,
        startedAtMs: startedAtMs ?? queuedAtMs,
        endedAtMs: event.atMs,
        rowsProduced,
        bytesScanned,
        fragments,
      };
    }
    case 'failed': {
      const { rowsProduced, bytesScanned, fragments } = event;
      return {
        kind: CANCELS.has(event.error.code) ? 'cancelled' : 'failed',
        queuedAtMs,
        startedAtMs,
        endedAtMs: event.atMs,
        error: event.error,
        rowsProduced,
        bytesScanned,
        fragments,
      };
    }
    default:
      return unreachable(event);
  }
}
