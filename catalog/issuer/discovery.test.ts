import { expect, test } from 'vitest';
import { isPlainHttps, keptMs, readKeys } from './discovery.ts';

const MINUTE_MS = 60_000;

test.each([
  ['', 5],
  ['no-store', 5],
  ['max-age=0', 5],
  ['max-age=60', 5],
  ['public, max-age=3600', 60],
  ['Max-Age="7200", must-revalidate', 120],
  ['s-maxage=86400', 5],
  ['max-age=999999999', 24 * 60],
  ['max-age=99999999999999999999', 24 * 60],
  ['max-age=-1', 5],
])('keys with Cache-Control "%s" are kept for %i minutes', (header, minutes) => {
  expect(keptMs(header) / MINUTE_MS).toBe(minutes);
});

test('of a key set the public keys for signatures are taken, and no more than a hundred', () => {
  const key = { kty: 'EC', crv: 'P-256', x: 'x', y: 'y', kid: 'a' };
  const others = [
    { kty: 'oct', k: 'secret' },
    { ...key, use: 'enc' },
    { ...key, key_ops: ['encrypt'] },
    { ...key, kid: 7 },
    { kty: 'RSA', e: 'AQAB', n: 'n'.repeat(1_367) },
    null,
    'key',
  ];
  expect(readKeys({ keys: [...others, key, { ...key, use: 'sig', key_ops: ['verify'] }] })).toHaveLength(2);
  expect(readKeys({ keys: Array.from({ length: 150 }, () => key) })).toHaveLength(100);
  for (const none of [undefined, null, {}, { keys: 'x' }, []]) expect(readKeys(none)).toBeUndefined();
});

test.each([
  ['https://issuer.example/keys?a=b', true],
  ['http://issuer.example/keys', false],
  ['https://user@issuer.example', false],
  ['https://issuer.example#x', false],
  [`https://issuer.example/${'x'.repeat(2_000)}`, false],
  ['keys', false],
])('%s is an address that is called: %s', (text, isOne) => {
  expect(isPlainHttps(text)).toBe(isOne);
});
