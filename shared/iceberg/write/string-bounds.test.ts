import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareLiterals } from '../compare-literals.ts';
import { BOUND_LENGTH_MAX, stringBounds } from './string-bounds.ts';

const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 5 }),
  fc.string({ unit: fc.constantFrom('\u{10ffff}', 'a', '\ud7ff', 'é'), minLength: 250, maxLength: 300 }),
);

test('cut bounds hold what they were cut from, and are no longer than the limit', () => {
  fc.assert(
    fc.property(fc.oneof(texts, fc.uint8Array({ minLength: 250, maxLength: 260 })), (value) => {
      const { lower, upper } = stringBounds(value, value);
      expect(compareLiterals(lower ?? value, value)).toBeLessThanOrEqual(0);
      if (upper !== undefined) expect(compareLiterals(upper, value)).toBeGreaterThanOrEqual(0);
      for (const bound of [lower, upper]) {
        const length =
          typeof bound === 'string' ? Array.from(bound).length : bound instanceof Uint8Array ? bound.length : 0;
        expect(length).toBeLessThanOrEqual(BOUND_LENGTH_MAX);
      }
    }),
  );
});

test('a text of nothing but the last character has no upper bound once it is cut', () => {
  expect(stringBounds('', '\u{10ffff}'.repeat(300)).upper).toBeUndefined();
  expect(stringBounds('', `a${'\u{10ffff}'.repeat(300)}`).upper).toBe('b');
  expect(stringBounds('', '\ud7ff'.repeat(300)).upper).toBe(`${'\ud7ff'.repeat(255)}\ue000`);
});
