import type { ResultColumn } from './result-set.ts';

export const CHART_KINDS = ['bar', 'line', 'area', 'scatter', 'histogram'] as const;
export type ChartKind = (typeof CHART_KINDS)[number];

/** A chart over the rows of a tab, by the positions of columns. */
export type ChartChoice = { readonly kind: ChartKind; readonly x: number; readonly y: readonly number[] };

const NUMBER = /^(?:U?(?:TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE|DECIMAL|BIGNUM)/;
const TIME = /^(?:DATE|TIME)/;

export const isNumber = (type: string): boolean => NUMBER.test(type) && !type.endsWith(']');
export const isTime = (type: string): boolean => TIME.test(type) && !type.endsWith(']');

/** The chart that the types of a result suggest: times make lines, names make bars, two numbers points, one number its distribution. */
export function proposeChart(columns: readonly ResultColumn[]): ChartChoice | null {
  const places = columns.map((_, i) => i);
  const typeAt = (i: number): string => columns[i]?.type ?? '';
  const numbers = places.filter((i) => isNumber(typeAt(i)));
  const time = places.find((i) => isTime(typeAt(i)));
  const [first, second] = numbers;
  if (first === undefined) return null;
  if (time !== undefined) return { kind: 'line', x: time, y: numbers.slice(0, 3) };
  const name = places.find((i) => !isNumber(typeAt(i)));
  if (name !== undefined) return { kind: 'bar', x: name, y: numbers.slice(0, 3) };
  if (second !== undefined) return { kind: 'scatter', x: first, y: [second] };
  return { kind: 'histogram', x: first, y: [first] };
}
