import { isNumber, isTime } from './chart-choice.ts';
import type { ResultSet } from './result-set.ts';

/** A value that `compare` orders as DuckDB does. */
type Ordered = number | bigint | string | boolean;
/** Reads the value of a row; null for NULL. */
export type ReadOrdered = (result: ResultSet, row: number, column: number) => Ordered | null;

/** Numbers of more digits than Arrow has come as texts. */
const LONG_NUMBER = /^(?:UHUGEINT|BIGNUM)$/;
const TEXT = /^(?:VARCHAR|JSON|UUID)$/;

/** How values of a type are ordered here; null for a type whose order only the server knows: lists, intervals, enums, blobs and others. */
export function orderOf(type: string): ReadOrdered | null {
  if (LONG_NUMBER.test(type)) {
    return (result, row, column) => {
      const text = result.text(row, column);
      return text === null ? null : BigInt(text);
    };
  }
  if (TEXT.test(type)) return (result, row, column) => result.text(row, column);
  const isPlain = (isNumber(type) || isTime(type) || type === 'BOOLEAN') && !type.startsWith('TIME WITH');
  return isPlain ? (result, row, column) => result.value(row, column) as Ordered | null : null;
}

/** Texts are ordered by their characters, and NaN is the largest number. */
export function compare(a: Ordered, b: Ordered): number {
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  const [isNanA, isNanB] = [Number.isNaN(a), Number.isNaN(b)];
  if (isNanA || isNanB) return Number(isNanA) - Number(isNanB);
  return a < b ? -1 : Number(a > b);
}

/** By code points, which is the order of UTF-8: a pair of UTF-16 units stands behind every single one. */
function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const [x, y] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x1_0000 : unit);
