import type { Literal } from './predicate.ts';

/**
 * Compares two values of one Iceberg type: negative, 0, positive. NaN is the greatest number and equal to itself, -0 equals 0 (as DuckDB
 * compares), strings compare by code point (which is UTF-8 byte order), bytes unsigned, false before true.
 * @returns undefined when the two are of different kinds; callers must not take that for an order
 */
export function compareLiterals(left: Literal, right: Literal): number | undefined {
  if (typeof left === 'bigint' && typeof right === 'bigint') return left < right ? -1 : left > right ? 1 : 0;
  if (typeof left === 'number' && typeof right === 'number') return compareNumbers(left, right);
  if (typeof left === 'string' && typeof right === 'string') return compareCodePoints(left, right);
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right);
  if (left instanceof Uint8Array && right instanceof Uint8Array) return Buffer.compare(left, right);
  return undefined;
}

function compareNumbers(left: number, right: number): number {
  if (left < right) return -1;
  if (left > right) return 1;
  return Number(Number.isNaN(left)) - Number(Number.isNaN(right));
}

/** JavaScript's own `<` compares UTF-16 units, which puts U+10000 and above before U+E000. */
export function compareCodePoints(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) {
    const a = left.charCodeAt(i);
    const b = right.charCodeAt(i);
    if (a !== b) return codePointRank(a) - codePointRank(b);
  }
  return left.length - right.length;
}

/** Ranks a code unit: surrogates, which stand for code points above U+FFFF, come after U+E000 to U+FFFF. */
const codePointRank = (unit: number): number =>
  unit >= 0xd800 && unit <= 0xdfff ? unit + 0x2000 : unit >= 0xe000 ? unit - 0x800 : unit;
