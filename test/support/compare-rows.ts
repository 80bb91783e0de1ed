import { printJson, type Json } from '#shared/json.ts';

/** Relative difference that two doubles may have: their sums depend on the order of addition. Everything else must be equal. */
const TOLERANCE = 1e-9;
const SHOWN_MAX = 3;

/** What differs between two results in order, as text; null when nothing does. */
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

function same(actual: Json | undefined, expected: Json | undefined): boolean {
  if (typeof actual === 'number' && typeof expected === 'number') {
    if (Number.isInteger(actual) && Number.isInteger(expected)) return actual === expected;
    return Math.abs(actual - expected) <= TOLERANCE * Math.max(Math.abs(actual), Math.abs(expected));
  }
  return printJson(actual) === printJson(expected);
}
