/** Time in which a read comes to count half. */
const HALF_LIFE_MS = 5 * 60_000;

/** How often a file is read: a sum of its reads, of which older ones count less, as it was at a moment in ms. */
export type ReadRate = { readonly reads: number; readonly atMs: number };

/** The rate after `more` reads at a later moment. */
export function addReads({ reads, atMs }: ReadRate, more: number, nowMs: number): ReadRate {
  const elapsedMs = Math.max(0, nowMs - atMs);
  return { reads: reads * 0.5 ** (elapsedMs / HALF_LIFE_MS) + more, atMs: nowMs };
}

/** The rate after a read now: one in the same second as the last is none more, as for copies (`CopyTable.uses`). */
export const countRead = (rate: ReadRate, nowMs: number): ReadRate =>
  addReads(rate, Math.floor(nowMs / 1_000) === Math.floor(rate.atMs / 1_000) ? 0 : 1, nowMs);
