import { expect, test } from 'vitest';
import { bars, bucketSeconds, spanOf } from './history-span.ts';

test.each([
  [60_000, 5],
  [86_400_000, 1_800],
  [31 * 86_400_000, 86_400],
])('a span of %d ms has bars of %d s', (toMs, seconds) => {
  expect(bucketSeconds({ fromMs: 0, toMs })).toBe(seconds);
});

test('each time of the span has a bar, also without statements', () => {
  const line = { bucket: '1970-01-01T00:00:10.000Z', count: 3, durationMs: 7 };
  expect(bars([line], { fromMs: 6_000, toMs: 20_000 }, 5).map(({ fromMs, count }) => [fromMs, count])).toEqual([
    [5_000, 0],
    [10_000, 3],
    [15_000, 0],
  ]);
});

test('an address without a span, or with a wrong one, is of all times', () => {
  const span = (text: string) => spanOf(new URLSearchParams(text));
  expect(span('from=1970-01-01T00:00:01Z&to=1970-01-01T00:00:02Z')).toEqual({ fromMs: 1_000, toMs: 2_000 });
  expect([span(''), span('from=x&to=y'), span('from=1970-01-01T00:00:03Z&to=1970-01-01T00:00:02Z')]).toEqual([
    null,
    null,
    null,
  ]);
});
