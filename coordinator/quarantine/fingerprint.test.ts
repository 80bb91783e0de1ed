import { expect, test } from 'vitest';
import { fingerprint } from './fingerprint.ts';

const same = (a: string, b: string): boolean => fingerprint(a) === fingerprint(b);

test('values, spacing, case and comments are no part of the shape', () => {
  expect(
    same("SELECT a FROM t WHERE b = 'x' AND c < 1", "select a  from T /* */ where B='y''z' and c<2.5e3 -- x"),
  ).toBe(true);
  expect(same('SELECT a IN (1, 2, 3)', "SELECT a IN ('x')")).toBe(true);
  expect(same('SELECT $$x$$, 1', "SELECT e'y', x'00'")).toBe(true);
});

test('names, operators and the order of words are', () => {
  expect(same('SELECT a FROM t', 'SELECT b FROM t')).toBe(false);
  expect(same('SELECT a < 1', 'SELECT a > 1')).toBe(false);
  expect(same('SELECT f(1, a)', 'SELECT f(1)')).toBe(false);
  expect(same('SELECT "A"', 'SELECT "a"')).toBe(false);
});

test('a text that never closes has a shape', () => {
  expect(fingerprint("SELECT 'x")).toMatch(/^[0-9a-f]{16}$/);
});
