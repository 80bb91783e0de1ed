import { must } from '#shared/must.ts';

/** The value at `share` (0 to 1) of a sorted copy, nearest rank. Throws on an empty list. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const rank = Math.max(0, Math.ceil(share * sorted.length) - 1);
  return must(sorted[rank], 'a quantile needs a value');
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);
