import { expect, test } from 'vitest';
import { requireWithin } from './allowed-roots.ts';

const check = requireWithin(['file:///w/ns/t', '/other/']);

test.each(['file:///w/ns/t/data/a.parquet', '/w/ns/t/a', 'file:/w/ns/t/x/y', 'file:///w/ns/./t/a', '/other/z'])(
  '%s is within',
  (location) => {
    expect(() => check(location)).not.toThrow();
  },
);

test.each([
  'file:///w/ns/t2/a',
  'file:///w/ns/t/../t2/a',
  'file:///w/ns/t/%2e%2e/../../x',
  '/etc/passwd',
  's3://w/ns/t/a',
  'file://host/w/ns/t/a',
  'a.parquet',
  '',
  'file:///w/ns/t/a\0b',
])('%j is not within', (location) => {
  expect(() => check(location)).toThrow(expect.objectContaining({ code: 'INVALID_TABLE_DATA' }));
});
