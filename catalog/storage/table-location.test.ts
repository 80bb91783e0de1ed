import { expect, test } from 'vitest';
import type { TableDocument } from '../metadata/table-document.ts';
import {
  checkLocations,
  metadataLocation,
  newTableLocation,
  plainLocation,
  requireBelowRoot,
} from './table-location.ts';

const ROOT = 'file:///wh';
const UUID = '6f1c1e0e-2f1a-4a54-a0e6-6c7a2e1f0a01';

test.each([
  [['sales'], 'orders', `${ROOT}/sales/orders-${UUID}`],
  [['a', 'b'], 'T 1', `${ROOT}/a-b/t-1-${UUID}`],
  [['..'], '..', `${ROOT}/namespace/${UUID}`],
  [['ns'], 'a/../../etc+&=#?%', `${ROOT}/ns/a-etc-${UUID}`],
  [['日本'], 'ü'.repeat(500), `${ROOT}/namespace/${UUID}`],
])('%j.%s lies at a path that needs no escape', (namespace, name, expected) => {
  expect(newTableLocation(ROOT, { namespace, name }, UUID)).toBe(expected);
});

test.each([
  'file:///wh',
  'file:///wh/',
  '/wh/.',
  'file:///wh2/t',
  'file:///wh/../etc',
  'file:///etc/passwd',
  's3://bucket/t',
  'not a location',
  `file:///wh/${'x'.repeat(5_000)}`,
  'file:///wh/\0',
  `file:///wh/${'x'.repeat(256)}/t`,
  'file:///wh/\uD800',
  'file:///wh/%2e%2e/t',
  'file:///wh/t/%2E./u',
  'file:///wh/a%2fb',
  'file:///wh/a%5Cb',
  'file:///wh/%252e%252e/t',
  'file:///wh/%25252Ft',
])('refuses the location %j', (location) => {
  expect(() => requireBelowRoot(location, [ROOT])).toThrow(
    expect.objectContaining({ code: 'INVALID_REQUEST' }) as Error,
  );
});

test.each(['file:///wh/t', 'file:/wh/t', '/wh/t/', 'file:///wh/x/../t'])('takes %s', (location) => {
  expect(requireBelowRoot(location, [ROOT])).toBe('file:///wh/t');
});

test('takes names as long as files can have', () => {
  const location = `file:///wh/${'ü'.repeat(127)}`;
  expect(requireBelowRoot(location, [ROOT])).toBe(location);
});

test.each([
  ['file:/wh/t/', 'file:/wh/t'],
  ['/wh/t', '/wh/t'],
  ['file:///wh/.t/..t', 'file:///wh/.t/..t'],
  ['file:///wh/x/../t', 'file:///wh/t'],
  ['file:/wh//t', 'file:///wh/t'],
  ['/wh/./t/', 'file:///wh/t'],
  ['file:///wh/t/..', 'file:///wh'],
])('%s is kept as %s', (location, expected) => {
  expect(plainLocation(location)).toBe(expected);
});

test('metadata lies in write.metadata.path, when there is one', () => {
  const table = { location: 'file:///wh/t', properties: {} };
  expect(metadataLocation(table, 7, 'u')).toBe('file:///wh/t/metadata/00007-u.metadata.json');
  expect(metadataLocation({ ...table, properties: { 'write.metadata.path': 'file:///wh/m/' } }, 123_456, 'u')).toBe(
    'file:///wh/m/123456-u.metadata.json',
  );
});

test.each([
  's3://bucket/lake/a/%2e%2e/b',
  's3://bucket/lake/a/%2e%2e%2fb',
  's3a://bucket/lake/a%5c..%5cb',
  's3://bucket/lake/%25%32%65',
  `s3://bucket/lake/%${'25'.repeat(50)}20`,
])('refuses %s in a bucket, which clients decode', (location) => {
  expect(() => requireBelowRoot(location, ['s3://bucket/lake'])).toThrow(
    expect.objectContaining({ code: 'INVALID_REQUEST' }) as Error,
  );
});

test.each(['s3://bucket/lake/a%20b', 's3://bucket/lake/100%', 's3://bucket/lake/%zz/%2', 's3://bucket/lake/%C3%BC'])(
  'takes %s, which no client reads as another folder',
  (location) => {
    expect(requireBelowRoot(location, ['s3://bucket/lake'])).toBe(location);
  },
);

test.each(['write.data.path', 'write.metadata.path', 'write.object-storage.path', 'write.folder-storage.path'])(
  '%s holds no escaped dot or slash either',
  (name) => {
    const document = {
      location: `${ROOT}/t`,
      properties: { [name]: `${ROOT}/t/%2e%2e/u` },
      snapshots: [],
      statistics: [],
      'partition-statistics': [],
    } as unknown as TableDocument;
    expect(() => checkLocations(document, undefined, [ROOT])).toThrow('holds an escaped dot, slash or backslash');
  },
);
