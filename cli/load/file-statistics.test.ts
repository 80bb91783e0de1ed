import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareLiterals } from '#shared/iceberg/compare-literals.ts';
import type { Literal } from '#shared/iceberg/predicate.ts';
import type { IcebergType } from '#shared/iceberg/type.ts';
import { parseStatistic } from './file-statistics.ts';
import { planParts } from './plan-parts.ts';
import { BOUND_LENGTH_MAX, stringBounds } from './string-bounds.ts';

const micros = (text: string): bigint => BigInt(Date.parse(`${text}Z`)) * 1000n;

test.each<[IcebergType, string, Literal | undefined]>([
  [{ kind: 'boolean' }, '1', true],
  [{ kind: 'long' }, '-9223372036854775808', -9223372036854775808n],
  [{ kind: 'decimal', precision: 9, scale: 2 }, '-0.05', -5n],
  [{ kind: 'decimal', precision: 38, scale: 0 }, '12', 12n],
  [{ kind: 'double' }, '-inf', -Infinity],
  [{ kind: 'double' }, '1e+300', 1e300],
  [{ kind: 'date' }, '1969-12-31', -1n],
  [{ kind: 'date' }, '0001-01-01', -719162n],
  [{ kind: 'date' }, '12024-02-29', 3_672_207n],
  [{ kind: 'date' }, 'infinity', undefined],
  [{ kind: 'date' }, '0044-03-15 (BC)', undefined],
  [{ kind: 'time' }, '01:02:03.5', 3_723_500_000n],
  [{ kind: 'timestamp' }, '1969-12-31 23:59:59.999999', -1n],
  [{ kind: 'timestamp' }, '2024-01-01 00:00:01.5', micros('2024-01-01T00:00:01.500')],
  [{ kind: 'timestamptz' }, '2024-01-01 09:00:00+00', micros('2024-01-01T09:00:00')],
  [{ kind: 'binary' }, '00FF', Uint8Array.of(0, 255)],
  [{ kind: 'binary' }, 'x', undefined],
])('%o %s', (type, text, expected) => {
  expect(parseStatistic(type, text)).toStrictEqual(expected);
});

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

test('inputs are put together and divided, in order, every row once', () => {
  const input = (path: string, sizeBytes: number, rows: number) => ({ path, sizeBytes, rows, columns: [] });
  const parts = planParts([input('a', 10, 1), input('b', 20, 1), input('c', 1100, 10), input('d', 5, 1)], 512);
  expect(parts.map(({ inputs, rows }) => [inputs.map(({ path }) => path).join(), rows])).toStrictEqual([
    ['a,b', null],
    ['c', { start: 0, end: 3 }],
    ['c', { start: 3, end: 6 }],
    ['c', { start: 6, end: 10 }],
    ['d', null],
  ]);
});
