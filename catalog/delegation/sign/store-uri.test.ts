import { describe, expect, test } from 'vitest';
import { printStoreUri, readStoreUri } from './store-uri.ts';

const OWN = { endpoint: 'http://store.example:9000', region: 'us-east-1', pathStyle: false };
const BY_PATH = { ...OWN, pathStyle: true };
const AWS = { endpoint: null, region: 'eu-central-1', pathStyle: false };

test.each([
  ['http://store.example:9000/bucket/a/b', OWN, 'bucket', 'a/b'],
  ['http://STORE.example:9000/bucket/a%20b%2Bc', OWN, 'bucket', 'a b+c'],
  ['http://my.bucket.store.example:9000/a/b', OWN, 'my.bucket', 'a/b'],
  ['https://s3.eu-central-1.amazonaws.com/bucket/a', AWS, 'bucket', 'a'],
  ['https://s3.eu-central-1.amazonaws.com:443/bucket/a', AWS, 'bucket', 'a'],
  ['https://my.bucket.s3.eu-central-1.amazonaws.com/a//b', AWS, 'my.bucket', 'a//b'],
  ['https://bucket.s3.dualstack.eu-central-1.amazonaws.com/a', AWS, 'bucket', 'a'],
])('%s is an object', (uri, store, bucket, key) => {
  expect(readStoreUri(uri, store)).toMatchObject({ bucket, key });
});

test('the style is told by the endpoint, never by dots', () => {
  const account = { endpoint: 'https://account.r2.example.com', region: 'auto', pathStyle: false };
  expect(readStoreUri('https://account.r2.example.com/bucket/a', account)).toMatchObject({
    bucket: 'bucket',
    key: 'a',
  });
  expect(readStoreUri('https://bucket.account.r2.example.com/a', account)).toMatchObject({
    bucket: 'bucket',
    key: 'a',
  });
});

test.each(['http://bucket.store.example:9000/other/a', 'http://my.bucket.store.example:9000/other/a'])(
  '%s would be another bucket to a store that reads paths',
  (uri) => {
    expect(() => readStoreUri(uri, BY_PATH)).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
    expect(readStoreUri('http://store.example:9000/bucket/a', BY_PATH)).toMatchObject({ bucket: 'bucket', key: 'a' });
  },
);

test('the address that is signed is written anew, whatever the client wrote', () => {
  const uri = 'http://STORE.example:9000/%62ucket/d=1/a%2fb?prefix=a+b%2B&delimiter';
  const read = readStoreUri(uri, BY_PATH);
  expect(printStoreUri(read)).toBe('http://store.example:9000/bucket/d%3D1/a%2Fb?prefix=a%20b%2B&delimiter=');
  expect(readStoreUri(printStoreUri(read), BY_PATH)).toEqual(read);
});

test('the path that is signed escapes what the client did not', () => {
  expect(readStoreUri('http://store.example:9000/bucket/d=1/a%2fb', OWN).canonicalPath).toBe('/bucket/d%3D1/a%2Fb');
});

test('parameters are decoded, a plus is a space', () => {
  const { query } = readStoreUri('http://store.example:9000/bucket?list-type=2&prefix=a+b%2B%2F&delimiter', OWN);
  expect([...query]).toEqual([
    ['list-type', '2'],
    ['prefix', 'a b+/'],
    ['delimiter', ''],
  ]);
});

describe('is refused as no address', () => {
  test.each([
    'ftp://store.example:9000/bucket/a',
    'http://user@store.example:9000/bucket/a',
    'http://user:secret@store.example:9000/bucket/a',
    'http://store.example:9000/bucket/a#b',
    'http://store.example:9000/bucket/a b',
    'http://store.example:9000/bucket/a\\b',
    'http://store.example:9000/bucket/ü',
    'http://store.example:9000/bucket/a\r\nhost: x',
    'http://store.example:9000/bucket/%zz',
    'http://store.example:9000/bucket/%ff',
    'http://store.example:9000/bucket/%00',
    'http://store.example:9000/bucket/a/../b',
    'http://store.example:9000/bucket/a/./b',
    'http://store.example:9000/bucket/a/%2e%2E/b',
    'http://store.example:9000/bucket/a/%252e%252e/b',
    'http://store.example:9000/bucket/a%2f..%2fb',
    'http://store.example:9000/bucket/a%255c..%255cb',
    // A percent sign that begins no escape does not hide the others from a store that decodes leniently.
    'http://store.example:9000/bucket/a/%25zz/%252e%252e/b',
    'http://store.example:9000/bucket/a/%25ff%252f..%252fb',
    'http://store.example:9000/bucket?prefix=a&prefix=b',
    'http://store.example:9000/bucket?prefix=a&pref%69x=b',
    'http://store.example:9000/bucket?a;b',
    'http://store.example:9000/a:b/c',
    'http://store.example:9000//a',
    '',
    '/bucket/a',
  ])('%j', (uri) => {
    expect(() => readStoreUri(uri, OWN)).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
  });
});

test.each([
  'http://other.example:9000/bucket/a',
  'https://store.example:9000/bucket/a',
  'http://store.example/bucket/a',
  'http://store.example:9000.evil.example/bucket/a',
  'http://evilstore.example:9000/bucket/a',
])('%s is of another host', (uri) => {
  expect(() => readStoreUri(uri, OWN)).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
});
