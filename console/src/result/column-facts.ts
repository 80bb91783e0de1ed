import { isNumber, isTime } from './chart-choice.ts';
import { compare, orderOf, type ReadOrdered } from './order-values.ts';
import type { ResultSet } from './result-set.ts';

/** Figures of a column of the rows shown. */
export type ColumnFacts = {
  readonly rows: number;
  readonly nulls: number;
  /** Different values; beyond `DISTINCT_MAX` at least so many. */
  readonly distinct: number;
  readonly isDistinctCut: boolean;
  readonly smallest: string | null;
  readonly largest: string | null;
  /** Bars of a histogram of a number or time, or the commonest values. */
  readonly bars: readonly { readonly label: string; readonly count: number }[];
};

const DISTINCT_MAX = 100_000;
const BARS = 12;
/** Characters of a value in the panel. */
const TEXT_MAX = 200;

/** Looks at each value of a column once. */
export function columnFacts(result: ResultSet, column: number): ColumnFacts {
  const type = result.columns[column]?.type ?? '';
  const read = orderOf(type);
  const isOrdered = read !== null && (isNumber(type) || isTime(type));
  const counts = new Map<string, number>();
  let nulls = 0;
  let [low, high]: [number, number] = [-1, -1];
  let [least, most]: [ReturnType<ReadOrdered>, ReturnType<ReadOrdered>] = [null, null];
  for (let row = 0; row < result.rowCount; row += 1) {
    const text = result.text(row, column);
    if (text === null) {
      nulls += 1;
      continue;
    }
    if (counts.size < DISTINCT_MAX || counts.has(text)) counts.set(text, (counts.get(text) ?? 0) + 1);
    const value = read?.(result, row, column) ?? null;
    if (value === null || Number.isNaN(value)) continue;
    if (least === null || compare(value, least) < 0) [low, least] = [row, value];
    if (most === null || compare(value, most) > 0) [high, most] = [row, value];
  }
  const span = isOrdered && low >= 0 ? histogram(result, column, { low, high }) : [];
  return {
    rows: result.rowCount,
    nulls,
    distinct: counts.size,
    isDistinctCut: counts.size >= DISTINCT_MAX,
    smallest: low < 0 ? null : shortened(result.text(low, column)),
    largest: high < 0 ? null : shortened(result.text(high, column)),
    bars: span.length > 0 ? span : commonest(counts),
  };
}

const commonest = (counts: ReadonlyMap<string, number>): ColumnFacts['bars'] =>
  [...counts]
    .toSorted((a, b) => b[1] - a[1])
    .slice(0, BARS)
    .map(([label, count]) => ({ label: shortened(label) ?? '', count }));

/** The panel is narrow, and a value may have megabytes. */
const shortened = (text: string | null): string | null =>
  text !== null && text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)} …` : text;

function histogram(
  result: ResultSet,
  column: number,
  { low, high }: { readonly low: number; readonly high: number },
): ColumnFacts['bars'] {
  const [from, to] = [Number(result.value(low, column)), Number(result.value(high, column))];
  if (!(to > from) || !Number.isFinite(to - from)) return [];
  const counts = Array.from({ length: BARS }, () => 0);
  /** A row near the begin of each bar, whose text is its label. */
  const first = Array.from({ length: BARS }, () => -1);
  for (let row = 0; row < result.rowCount; row += 1) {
    const value = result.value(row, column);
    if (value === null || Number.isNaN(value)) continue;
    const bar = Math.min(BARS - 1, Math.floor(((Number(value) - from) / (to - from)) * BARS));
    counts[bar] = (counts[bar] ?? 0) + 1;
    const known = first[bar] ?? -1;
    if (known < 0 || Number(value) < Number(result.value(known, column))) first[bar] = row;
  }
  return counts.map((count, bar) => ({
    label: (first[bar] ?? -1) < 0 ? '' : `from ${result.text(first[bar] ?? 0, column) ?? ''}`,
    count,
  }));
}
