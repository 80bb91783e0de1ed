import { expect, test } from 'vitest';
import { hasColumnNames, isObjectStructure, parseStructure } from './json-structure.ts';

test.each([
  ['"JSON"', true],
  ['["UBIGINT"]', true],
  ['{"a":"UBIGINT","b":[{"x":"VARCHAR"}],"__proto__":"UBIGINT"}', true],
  ['{"a":"UBIGINT","A":"UBIGINT"}', false],
  ['{"a":[{"b":{"x":"UBIGINT","X":"UBIGINT"}}]}', false],
  ['{"a":{"":"UBIGINT"}}', false],
])('a struct may have all members of %s: %s', (text, expected) => {
  expect(hasColumnNames(parseStructure(text))).toBe(expected);
});

test('an object is no list', () => {
  expect(['"JSON"', '["JSON"]', '{"a":"JSON"}'].map((text) => isObjectStructure(parseStructure(text)))).toEqual([
    false,
    false,
    true,
  ]);
});
