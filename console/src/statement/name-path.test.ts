import { expect, test } from 'vitest';
import { namesIn } from './name-path.ts';

test.each([
  ['s.t', ['s', 't']],
  [' c . s.my table ', ['c', 's', 'my table']],
  ['"a.b"."say ""x.y"""', ['a.b', 'say "x.y"']],
  ['"😀.".x', ['😀.', 'x']],
  ['a"b.c', ['a"b', 'c']],
  ['""".".t', ['".', 't']],
  ['"', ['"']],
])('%s is a path of its parts', (text, parts) => {
  expect(namesIn(text, '.')).toEqual(parts);
});

test('a list has commas, and names in quotes may have one', () => {
  expect(namesIn('salary, "a,b" ,c.d', ',')).toEqual(['salary', 'a,b', 'c.d']);
});
