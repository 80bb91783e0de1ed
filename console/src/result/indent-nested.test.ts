import { expect, test } from 'vitest';
import { indentNested } from './indent-nested.ts';

test.each([
  ['{"a":[1,12345678901234567890.10],"b":{}}', '{\n  "a":[\n    1,\n    12345678901234567890.10\n  ],\n  "b":{}\n}'],
  ["{'a': 1, 'b': [x, '[y, z]']}", "{\n  'a': 1,\n  'b': [\n    x,\n    '[y, z]'\n  ]\n}"],
  ['"{[,"', '"{[,"'],
  ['[]', '[]'],
  ['plain, text', 'plain,\ntext'],
])('%s', (text, lines) => {
  expect(indentNested(text)).toBe(lines);
});
