import { describe, expect, it } from 'vitest';
import { fixedKeyring } from '#shared/keyring.ts';
import { backOf, beginWaiting, endWaiting, WAIT_S } from './sign-in-state.ts';

const keyring = fixedKeyring('a secret of the cluster');

describe('the state of a sign-in', () => {
  const { cookie, state } = beginWaiting('/console/history?text=x', keyring, 0);

  it('is good in the browser that has begun it, for its time', () => {
    expect(endWaiting(cookie, state, { keyring, nowMs: WAIT_S * 1_000 - 1 })?.back).toBe('/console/history?text=x');
    expect(endWaiting(cookie, state, { keyring, nowMs: WAIT_S * 1_000 })).toBeUndefined();
  });

  it('is not good in another, nor with another state, nor without one', () => {
    const at = { keyring, nowMs: 1 };
    expect(endWaiting(beginWaiting('/console/', keyring, 0).cookie, state, at)).toBeUndefined();
    expect(endWaiting(undefined, state, at)).toBeUndefined();
    expect(endWaiting(cookie, '', at)).toBeUndefined();
    expect(endWaiting(cookie, state, { keyring: fixedKeyring('another'), nowMs: 1 })).toBeUndefined();
  });
});

describe('the page to which one comes back', () => {
  it.each(['/console/ask', '/console/history?text=a%20b&sort=-rows', '/console/catalog/lake/tpch/orders'])(
    'is %s',
    (path) => expect(backOf(path)).toBe(path),
  );

  it.each([
    'https://evil.example/console/',
    '//evil.example/console/',
    '/\\evil.example/console/',
    '/console',
    '/console/\r\nset-cookie: x=1',
    '/api/query',
    ['/console/ask'],
    undefined,
  ])('is the first one for %j', (path) => expect(backOf(path)).toBe('/console/'));
});
