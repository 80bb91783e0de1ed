import type { KillRank } from '#shared/task/task.ts';

/** A query on the worker: all tasks of it together. */
export type MemoryHolder = {
  /** Growth of the process, in bytes, while it worked for the query. */
  readonly grownBytes: number;
  readonly killRank: KillRank | null;
  /** It was cancelled, and has not ended. */
  readonly isEnding: boolean;
};

/** To cancel a query that has taken less than this share of what the largest has, or one that ends now, would relieve nothing. */
const RELIEF_SHARE = 0.1;

export type Relief = {
  /** Growth for the largest query that has ended a moment ago: the process may still have that memory. */
  readonly endedBytes: number;
  /** A query with less is left alone. */
  readonly bytesMin: number;
};

/**
 * Chooses the query that makes room when the worker's process has too little memory: the one for which it has grown most or, of queries
 * with a rank (`coordinator.memory_killer: youngest_lowest_class`), the youngest of the lowest class. Undefined = none would relieve it.
 */
export function chooseVictim<T extends MemoryHolder>(
  queries: readonly T[],
  { endedBytes, bytesMin }: Relief,
): T | undefined {
  const most = (those: readonly T[]): number => those.reduce((max, { grownBytes }) => Math.max(max, grownBytes), 0);
  const living = queries.filter(({ grownBytes, isEnding }) => !isEnding && grownBytes >= bytesMin);
  const endingBytes = Math.max(endedBytes, most(queries.filter(({ isEnding }) => isEnding)));
  const largestBytes = most(living);
  if (living.length === 0 || largestBytes < endingBytes * RELIEF_SHARE) return undefined;
  const worth = living.filter(({ grownBytes }) => grownBytes >= Math.max(largestBytes, endingBytes) * RELIEF_SHARE);
  return worth.reduce((a, b) => (goesFirst(b, a) ? b : a));
}

function goesFirst(a: MemoryHolder, b: MemoryHolder): boolean {
  if (a.killRank === null || b.killRank === null) return a.grownBytes > b.grownBytes;
  const byClass = a.killRank.classRank - b.killRank.classRank;
  return byClass === 0 ? a.killRank.arrivedAtMs > b.killRank.arrivedAtMs : byClass > 0;
}
