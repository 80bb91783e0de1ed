import { unreachable } from '#shared/must.ts';

/**
 * Whether a statement can be stopped, and its limits.
 * ```
 *   open ──stop──▶ stopped
 *     └──commit──▶ committing
 * ```
 * From a commit on neither a cancel, nor a timeout, nor a client that leaves stops it, because its answer would not say how the commit ended. In
 * each state it may be answered before it is known how it ends.
 */
export type Hold = {
  /** Time from its request's arrival to its end. */
  readonly limitMs: number;
  /** It was answered with an error, and its record follows once it is known how it ended. */
  readonly endsLater: boolean;
} & (
  | { readonly kind: 'open' }
  | { readonly kind: 'stopped'; readonly reason: unknown }
  | { readonly kind: 'committing' }
);

export type HoldEvent =
  /** An earlier limit is void. */
  | { readonly kind: 'limit'; readonly limitMs: number }
  | { readonly kind: 'stop'; readonly reason: unknown }
  | { readonly kind: 'commit' }
  | { readonly kind: 'answered' };

export const FIRST_HOLD: Hold = { kind: 'open', limitMs: Infinity, endsLater: false };

/** The hold after an event. */
export function nextHold(hold: Hold, event: HoldEvent): Hold {
  const { limitMs, endsLater } = hold;
  switch (event.kind) {
    case 'limit':
      return hold.kind === 'open' ? { ...hold, limitMs: event.limitMs } : hold;
    case 'stop':
      return hold.kind === 'open' ? { kind: 'stopped', limitMs, endsLater, reason: event.reason } : hold;
    case 'commit':
      return hold.kind === 'open' ? { kind: 'committing', limitMs, endsLater } : hold;
    case 'answered':
      return { ...hold, endsLater: true };
    default:
      return unreachable(event);
  }
}
