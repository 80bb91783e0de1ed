import { printJson, type Json } from '#shared/json.ts';

/** Relative difference that two doubles may have: their sums depend on the order of addition. Everything else must be equal. */
const TOLERANCE = 1e-9;
const SHOWN_MAX = 3;

/** Describes how two ordered results differ; null when they are equal. */
export function differences(
  actual: readonly (readonly Json[])[],
  expected: readonly (readonly Json[])[],
): string | null {
  if (actual.length !== expected.length) return `${actual.length} rows, expected ${expected.length}`;
  const wrong = actual.flatMap((row, i) => {
    const wanted = expected[i] ?? [];
    return row.length === wanted.length && row.every((value, c) => same(value, wanted[c])) ? [] : [i];
  });
  if (wrong.length === 0) return null;
  const shown = wrong
    .slice(0, SHOWN_MAX)
    .map((i) => `row ${i}: ${printJson(actual[i])} expected ${printJson(expected[i])}`);
  return `${wrong.length} of ${actual.length} rows differ\n${shown.join('\n')}`;
}

/** The same for results without an order. */
export function bagDifferences(
  actual: readonly (readonly Json[])[],
  expected: readonly (readonly Json[])[],
): string | null {
  return differences(actual.toSorted(compareRows), expected.toSorted(compareRows));
}

/** By everything but the last digits of doubles first: rows that differ in those alone then stand at the same place. */
function compareRows(a: readonly Json[], b: readonly Json[]): number {
  const [left, right] = [a, b].map((row) => printJson(row.map(rounded)));
  return (left ?? '') < (right ?? '') ? -1 : left === right ? 0 : 1;
}

const SORTED_DIGITS = 7;

const rounded = (value: Json): Json =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(SORTED_DIGITS)) : value;

function same(actual: Json | undefined, expected: Json | undefined): boolean {
  if (typeof actual === 'number' && typeof expected === 'number') {
    if (Number.isInteger(actual) && Number.isInteger(expected)) return actual === expected;
    return Math.abs(actual - expected) <= TOLERANCE * Math.max(Math.abs(actual), Math.abs(expected));
  }
  return printJson(actual) === printJson(expected);
}
