import { expect, test } from 'vitest';
import { errorPlace } from './error-place.ts';

const SQL = "SELECT '🦆' AS duck,\n nope";

test('the place of an error is the server’s, in characters from 1', () => {
  expect(errorPlace({ message: '', position: 1 }, SQL)).toBe(0);
  expect(SQL.slice(errorPlace({ message: '', position: 22 }, SQL) ?? 0)).toBe('nope');
  expect(errorPlace({ message: '', position: 1_000 }, SQL)).toBe(SQL.length);
});

test('without it, that of the message', () => {
  expect(SQL.slice(errorPlace({ message: 'no such column (line 2, column 2)' }, SQL) ?? 0)).toBe('nope');
  expect(errorPlace({ message: 'no place' }, SQL)).toBeNull();
});
