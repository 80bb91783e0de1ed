import { expect, test } from 'vitest';
import { checkJson } from './check-json.ts';

test('counts values outside of strings, whatever the nesting', () => {
  for (const text of ['[[],[],[]]', '{"a":1,"b":[2,3]}', '["a,b,[{,",",,,\\",,"]', '12345']) {
    expect(() => checkJson(text, 7)).not.toThrow();
  }
  expect(() => checkJson('[{},{},{}]', 6), 'an empty one counts as two').toThrow('more than 6 values');
  expect(() => checkJson('[1,2,3,4,5,6]', 6)).toThrow('more than 6 values');
  expect(() => checkJson('{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}', 6)).toThrow('more than 6 values');
});

test('has limits for nesting and for numbers', () => {
  const nest = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  expect(() => checkJson(nest(200), 1_000)).not.toThrow();
  expect(() => checkJson(nest(201), 1_000)).toThrow('nested deeper than 200');
  expect(() => checkJson(`[${'9'.repeat(1_000)},${'9'.repeat(1_000)}]`, 10)).not.toThrow();
  expect(() => checkJson(`[${'9'.repeat(1_001)}]`, 10)).toThrow('a number of more than 1000 digits');
  expect(() => checkJson(`["${'9'.repeat(1_001)}"]`, 10)).not.toThrow();
});
