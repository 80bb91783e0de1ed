import { posix } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isWithin, keyBounds, locationKey, localPath, normalizeLocation, spellings } from './location.ts';

/** Parts of a path, those above all that a canonical one has not. */
const segment = fc.constantFrom('', '.', '..', '...', 'a', 'b.c', '.d', 'e.', 'ü f', '%2e%2e', 'file:', '\u0001');
const path = fc.array(segment, { maxLength: 6 }).map((segments) => `/${segments.join('/')}`);
const spelling = fc.constantFrom('', 'file:', 'file://', 'FILE://', 'file://localhost');

test('every spelling of a local path has one canonical form, which has no part that leads elsewhere', () => {
  fc.assert(
    fc.property(path, spelling, (at, prefix) => {
      // `file:` before two slashes has a host.
      fc.pre(prefix !== 'file:' || !at.startsWith('//'));
      const clean = posix.normalize(at).replace(/(?<=.)\/$/, '');
      expect(normalizeLocation(`${prefix}${at}`)).toBe(`file://${clean}`);
      expect(normalizeLocation(`file://${clean}`)).toBe(`file://${clean}`);
      expect(localPath(`${prefix}${at}`)).toBe(posix.resolve(at));
    }),
    { numRuns: 2_000 },
  );
});

test('what is below a root is so for whoever opens it', () => {
  fc.assert(
    fc.property(path, path, (at, root) => {
      const relative = posix.relative(posix.resolve(root), posix.resolve(at));
      expect(isWithin(at, `file://${root}`)).toBe(relative !== '..' && !relative.startsWith('../'));
    }),
    { numRuns: 2_000 },
  );
});

test.each(['relative/a', '', 'file:a', 'file://host/a', '/a\0b', 'file:///a/\0'])('%j is no location', (text) => {
  expect(() => normalizeLocation(text)).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
});

test.each([
  ['S3://Bucket//a/b/', 's3://Bucket//a/b'],
  ['s3a://bucket/a//b', 's3://bucket/a//b'],
  ['s3n://bucket', 's3://bucket'],
  ['s3://bucket/', 's3://bucket'],
  ['s3://bucket/a.../.b', 's3://bucket/a.../.b'],
  ['GS://bucket//a/b/', 'gs://bucket//a/b'],
  ['abfss://c@account.dfs.core.windows.net//a/b/', 'abfss://c@account.dfs.core.windows.net//a/b'],
  ['abfs://c@account.dfs.core.windows.net/a', 'abfss://c@account.dfs.core.windows.net/a'],
  ['wasb://c@account.blob.core.windows.net/a', 'abfss://c@account.dfs.core.windows.net/a'],
  ['WASBS://c@account.blob.core.chinacloudapi.cn/blob.x', 'abfss://c@account.dfs.core.chinacloudapi.cn/blob.x'],
  ['hdfs://bucket//a/./b/../c/', 'hdfs://bucket/a/c'],
])('the object %s is %s: its key is taken byte for byte', (location, normal) => {
  expect(normalizeLocation(location)).toBe(normal);
  expect(normalizeLocation(normal)).toBe(normal);
});

test.each([
  's3://bucket/a/../b',
  's3://bucket/.',
  's3a://bucket/a/..',
  's3://',
  's3:///key',
  's3://b|x/a',
  's3://bucket/\0',
])('%j is no place of an object', (location) => {
  expect(() => normalizeLocation(location)).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
});

test('an object is below a root only by whole names', () => {
  expect(isWithin('s3a://bucket/wh/t/x', 's3://bucket/wh/')).toBe(true);
  expect(isWithin('s3://bucket/wh2/x', 's3://bucket/wh')).toBe(false);
  expect(isWithin('s3://bucket2/wh/x', 's3://bucket')).toBe(false);
});

test.each([
  ['s3a://b/a//b', 's3://b/a//b'],
  ['S3N://b/x', 's3://b/x'],
  ['s3://b/x', 's3://b/x'],
  ['/a//b', 'file:///a//b'],
  ['file:/a', 'file:///a'],
  ['file://localhost/a', 'file:///a'],
  ['file:///a/', 'file:///a/'],
  ['gs://b/x', 'gs://b/x'],
  ['', ''],
])('the key of %j is %j', (location, key) => {
  expect(locationKey(location)).toBe(key);
});

test('bounds of keys are those of locations with one scheme', () => {
  expect(keyBounds('s3a://b/a', 's3a://b/z')).toEqual({ lower: 's3://b/a', upper: 's3://b/z' });
  expect(keyBounds('file:/a', 'file:/z')).toEqual({ lower: 'file:///a', upper: 'file:///z' });
  for (const [lower, upper] of [
    ['s3://b/a', 's3a://b/a'],
    ['s3', 's3a://b/a'],
    ['/a', 'file:/a'],
  ] as const)
    expect(keyBounds(lower, upper)).toBeUndefined();
});

test.each([
  'gs:///key',
  'gs://b/a/../b',
  'abfss://account.dfs.core.windows.net/a',
  'abfss://c@account/a',
  'abfss://c@account.other.core.windows.net/a',
  'abfss://C@account.dfs.core.windows.net/a',
  'abfss://c@Account.dfs.core.windows.net/a',
  'abfss://c@account.dfs.core.windows.net./a',
  'abfss://c@account.dfs.core..windows.net/a',
  'abfss://c@account.blob.core.windows.net:443/a',
  'abfss://c@account.dfs.core.windows.net/a/../b',
])('%s is no location in a bucket', (location) => {
  expect(() => normalizeLocation(location)).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
});

const AZURE = ['abfss', 'abfs', 'wasbs', 'wasb'].flatMap((scheme) =>
  ['dfs', 'blob'].map((host) => `${scheme}://c@account.${host}.core.windows.net/t/a b.parquet`),
);

test('all spellings of an object of Azure are one place', () => {
  expect(new Set(AZURE.map(normalizeLocation)).size).toBe(1);
  expect(new Set(AZURE.map(locationKey)).size).toBe(1);
  expect(new Set(AZURE.map((one) => [...spellings(one)].toSorted().join()))).toEqual(
    new Set([AZURE.toSorted().join()]),
  );
  const other = 'abfss://d@account.dfs.core.windows.net/t/';
  expect(AZURE.some((one) => isWithin(one, other))).toBe(false);
  expect(AZURE.every((one) => isWithin(one, 'wasb://c@account.blob.core.windows.net/t'))).toBe(true);
  expect(keyBounds('wasb://c@account.blob.core.windows.net/a', 'wasb://c@account.blob.core.windows.net/b')).toEqual({
    lower: 'abfss://c@account.dfs.core.windows.net/a',
    upper: 'abfss://c@account.dfs.core.windows.net/b',
  });
  expect(
    keyBounds('abfs://c@account.dfs.core.windows.net/a', 'abfss://c@account.dfs.core.windows.net/b'),
  ).toBeUndefined();
  // A bound that was cut within the host bounds nothing.
  expect(keyBounds('abfss://c@accou', 'abfss://c@account.dfs.core.windows.net/b')).toBeUndefined();
});
