import { expect, test } from 'vitest';
import type { Clock } from '#shared/clock.ts';
import { RateLimit } from './rate-limit.ts';

const movable = (): Clock & { ms: number } => {
  const clock = { ms: 1_000, nowMs: () => clock.ms, monotonicMs: () => clock.ms };
  return clock;
};

test('a key has its minute’s worth at once, then as much as time brings; others are not touched', () => {
  const clock = movable();
  const limit = new RateLimit(clock, 6);
  expect(Array.from({ length: 8 }, () => limit.take('a'))).toEqual([0, 0, 0, 0, 0, 0, 10, 10]);
  expect(limit.take('b')).toBe(0);
  clock.ms += 9_000;
  expect(limit.take('a')).toBe(1);
  clock.ms += 1_000;
  expect(limit.take('a')).toBe(0);
  expect(limit.take('a')).toBe(10);
  clock.ms += 3_600_000;
  expect(Array.from({ length: 7 }, () => limit.take('a'))).toEqual([0, 0, 0, 0, 0, 0, 10]);
});

test('its memory is bounded: the keys that came least recently go', () => {
  const limit = new RateLimit(movable(), 1, 100);
  expect(limit.take('kept')).toBe(0);
  for (let i = 0; i < 10_000; i += 1) {
    limit.take(`k${i}`);
    if (i % 50 === 0) expect(limit.take('kept')).toBe(60);
  }
  expect(limit.size).toBe(100);
  expect(limit.take('kept')).toBe(60);
  expect(limit.take('k0')).toBe(0);
});
