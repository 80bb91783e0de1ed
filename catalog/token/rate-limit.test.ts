import { expect, test } from 'vitest';
import type { Clock } from '#shared/clock.ts';
import { addressKey, RateLimit } from './rate-limit.ts';

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

test.each([
  ['10.0.0.1', '10.0.0.1'],
  ['::ffff:10.0.0.1', '10.0.0.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002:ffff::', '2001:db8:1:2::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::10.0.0.1', '64:ff9b:0:0::/64'],
  ['unknown', 'unknown'],
])('%s counts as %s', (address, key) => {
  expect(addressKey(address)).toBe(key);
});
