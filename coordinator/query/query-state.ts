import type { SkeinError } from '#shared/error.ts';
import { unreachable } from '#shared/must.ts';

/**
 * The life of a statement. Every statement that was received has one, also one that does not parse.
 * ```
 *   queued ──started──> running ──completed──> completed
 *      │                   │
 *      └──────failed───────┴──> failed, or cancelled when the reason is a cancel or a timeout
 * ```
 * `queued` holds parsing, planning and waiting for admission; `running` begins with admission. The last three are final.
 */
export type QueryState =
  | { readonly kind: 'queued'; readonly queuedAtMs: number }
  | { readonly kind: 'running'; readonly queuedAtMs: number; readonly startedAtMs: number }
  | {
      readonly kind: 'completed';
      readonly queuedAtMs: number;
      /** Null for a statement that the coordinator answered by itself. */
      readonly startedAtMs: number | null;
      readonly endedAtMs: number;
      readonly rowsProduced: number;
      readonly bytesScanned: number;
      readonly fragments: number;
    }
  | {
      readonly kind: 'failed' | 'cancelled';
      readonly queuedAtMs: number;
      /** Null when it never ran. */
      readonly startedAtMs: number | null;
      readonly endedAtMs: number;
      readonly error: SkeinError;
    };

export type QueryEvent =
  | { readonly kind: 'started'; readonly atMs: number }
  | {
      readonly kind: 'completed';
      readonly atMs: number;
      readonly rowsProduced: number;
      readonly bytesScanned: number;
      readonly fragments: number;
    }
  | { readonly kind: 'failed'; readonly atMs: number; readonly error: SkeinError };

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
        startedAtMs,
        endedAtMs: event.atMs,
        rowsProduced,
        bytesScanned,
        fragments,
      };
    }
    case 'failed': {
      const stopped = event.error.code === 'QUERY_CANCELLED' || event.error.code === 'QUERY_TIMEOUT';
      return {
        kind: stopped ? 'cancelled' : 'failed',
        queuedAtMs,
        startedAtMs,
        endedAtMs: event.atMs,
        error: event.error,
      };
    }
    default:
      return unreachable(event);
  }
}
