import { expect, test } from 'vitest';
import { parseDuckDbJson } from './duckdb-json.ts';

test.each([
  ['{"a":1.5,"b":[null,true]}', { a: 1.5, b: [null, true] }],
  ['[Infinity,-Infinity,NaN,inf,-nan]', ['Infinity', '-Infinity', 'NaN', 'inf', '-nan']],
  ['{"NaN":Infinity,"a":"inf \\" NaN"}', { NaN: 'Infinity', a: 'inf " NaN' }],
  ['["\\\\",NaN]', ['\\', 'NaN']],
])('%s', (text, value) => {
  expect(parseDuckDbJson(text)).toEqual(value);
});

test.each(['["NaN', '[NaN,"', '["a\\', '[NaN'])('%s is no JSON', (text) => {
  expect(() => parseDuckDbJson(text)).toThrow();
});

test('a string of many megabytes beside a bare double is read', () => {
  const long = 'x\\'.repeat(6_000_000);
  expect(parseDuckDbJson(`[${JSON.stringify(long)},NaN]`)).toEqual([long, 'NaN']);
});
