import { expect, test } from 'vitest';
import { FailedAccounts } from './failed-accounts.ts';

test('an address that failed for 20 accounts within ten minutes is refused for ten, and no other', () => {
  let atMs = 0;
  const accounts = new FailedAccounts({ nowMs: () => 0, monotonicMs: () => atMs }, 20);
  for (let i = 0; i < 19; i += 1) accounts.failed('a', `user ${i}`);
  // One account that fails again and again is one.
  for (let i = 0; i < 100; i += 1) accounts.failed('a', 'user 3');
  expect(accounts.isRefused('a')).toBe(false);
  accounts.failed('a', 'another');
  expect([accounts.isRefused('a'), accounts.isRefused('b')]).toEqual([true, false]);
  atMs += 599_999;
  expect(accounts.isRefused('a')).toBe(true);
  atMs += 1;
  expect(accounts.isRefused('a')).toBe(false);
  // Failures of more than ten minutes ago do not count.
  for (let i = 0; i < 19; i += 1) accounts.failed('a', `user ${i}`);
  atMs += 600_000;
  accounts.failed('a', 'another');
  expect(accounts.isRefused('a')).toBe(false);
});
