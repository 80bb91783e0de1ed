import type { Stamp } from '../turns/quantum-stamp.ts';

/**
 * The state of a slot, which the main thread derives by polling the stamp.
 * ```
 *   between ──odd sequence──> inside ──same sequence──> inside, older
 *      ^─────────even sequence───┴──another odd one──> inside, of age 0
 * ```
 */
export type Watched = { readonly kind: 'between' } | ({ readonly kind: 'inside'; readonly ageMs: number } & Stamp);

export const BETWEEN: Watched = { kind: 'between' };

/** The state after polling the stamp `elapsedMs` after the last time. */
export function observe(before: Watched, { sequence, job }: Stamp, elapsedMs: number): Watched {
  if ((sequence & 1) === 0) return BETWEEN;
  const isSame = before.kind === 'inside' && before.sequence === sequence;
  return { kind: 'inside', sequence, job, ageMs: isSame ? before.ageMs + elapsedMs : 0 };
}
