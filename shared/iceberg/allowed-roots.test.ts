import { expect, test } from 'vitest';
import { deniedRoot, rootsMessage, rootsOfMessage } from '#shared/storage/denied-roots.ts';
import { isBelow, requireWithin } from './allowed-roots.ts';

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

const closed = requireWithin(['file:///w', 's3://bkt/w', deniedRoot('file:///w/ns/t'), deniedRoot('s3://bkt/w/t')]);

test.each(['file:///w/ns/t2/a', '/w/ns/a', 's3a://bkt/w/t2/x'])('%s is in no denied folder', (location) => {
  expect(() => closed(location)).not.toThrow();
  expect(isBelow(location, ['file:///w', 's3://bkt/w', deniedRoot('file:///w/ns/t')])).toBe(true);
});

test.each([
  'file:///w/ns/t/data/a.parquet',
  '/w/ns/t/a',
  'file:/w/ns/t/a',
  'file://localhost/w/ns/t/a',
  'file:///w/ns/x/../t/a',
  'file:///w//ns/t/a',
  's3://bkt/w/t/x',
  's3n://bkt/w/t//x',
])('%s is in a denied one', (location) => {
  expect(() => closed(location)).toThrow(expect.objectContaining({ code: 'INVALID_TABLE_DATA' }));
  const roots = ['file:///w', 's3://bkt/w', deniedRoot('file:///w/ns/t'), deniedRoot('s3://bkt/w/t')];
  expect(isBelow(location, roots)).toBe(false);
});

test('the catalog tells denied folders apart, so that a coordinator of an older release reads the others', () => {
  const roots = ['file:///w', deniedRoot('file:///w/ns/t')];
  const message = rootsMessage(roots);
  expect(message).toEqual({ allowed_roots: ['file:///w'], denied_roots: ['file:///w/ns/t'] });
  expect(rootsOfMessage(message)).toEqual(roots);
});
