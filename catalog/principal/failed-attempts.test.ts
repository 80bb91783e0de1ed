import { expect, test } from 'vitest';
import type { Clock } from '#shared/clock.ts';
import { FailedAttempts } from './failed-attempts.ts';

const movable = (): Clock & { ms: number } => {
  const clock = { ms: 1_000, nowMs: () => clock.ms, monotonicMs: () => clock.ms };
  return clock;
};

test('a key that fails too often within a minute is refused for the next one, and begins anew after it', () => {
  const clock = movable();
  const attempts = new FailedAttempts(clock, 3);
  attempts.failed('a');
  clock.ms += 59_000;
  attempts.failed('a');
  clock.ms += 2_000;
  // The first failure no longer counts.
  attempts.failed('a');
  expect(attempts.isRefused('a')).toBe(false);
  attempts.failed('a');
  expect([attempts.isRefused('a'), attempts.isRefused('b')]).toEqual([true, false]);
  clock.ms += 59_999;
  // A failure meanwhile does not lengthen it.
  attempts.failed('a');
  expect(attempts.isRefused('a')).toBe(true);
  clock.ms += 1;
  expect(attempts.isRefused('a')).toBe(false);
  attempts.failed('a');
  expect(attempts.isRefused('a')).toBe(false);
});

test('its memory is bounded: the keys that failed least recently go', () => {
  const attempts = new FailedAttempts(movable(), 1, 2);
  for (const key of ['a', 'b', 'c']) attempts.failed(key);
  expect(['a', 'b', 'c'].map((key) => attempts.isRefused(key))).toEqual([false, true, true]);
});
