import { expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { metricsAccess } from './metrics-access.ts';

const TOKEN = 'a-token-that-prometheus-has';
const verify = (authorization: string | undefined): Promise<void> =>
  authorization === 'Bearer of-a-user' ? Promise.resolve() : Promise.reject(new SkeinError('UNAUTHENTICATED', 'no'));

const open = metricsAccess({ token: '', verify });
const closed = metricsAccess({ token: TOKEN, verify });
const worker = metricsAccess({ token: TOKEN });
const bareWorker = metricsAccess({ token: '' });

const allows = (access: typeof open, peer: string, headers: Record<string, string> = {}): Promise<boolean> =>
  access({ peer, headers }).then(
    () => true,
    (error: unknown) => {
      expect(error).toMatchObject({ code: 'UNAUTHENTICATED' });
      return false;
    },
  );
const bearer = (token: string): { authorization: string } => ({ authorization: `Bearer ${token}` });

test.each(['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1'])('%s is this machine', async (peer) => {
  expect([await allows(open, peer), await allows(bareWorker, peer)]).toEqual([true, true]);
});

test.each(['192.0.2.1', '::ffff:192.0.2.1', '2001:db8::1', '128.0.0.1', '1270.0.0.1', ''])(
  '%s is elsewhere, and needs a token',
  async (peer) => {
    expect(await allows(open, peer)).toBe(false);
    expect(await allows(open, peer, bearer('of-a-user'))).toBe(true);
    expect(await allows(closed, peer, bearer(TOKEN))).toBe(true);
    expect([await allows(worker, peer, bearer(TOKEN)), await allows(worker, peer, bearer('of-a-user'))]).toEqual([
      true,
      false,
    ]);
    expect(await allows(bareWorker, peer, bearer(''))).toBe(false);
  },
);

test.each([
  ['forwarded', 'for=192.0.2.1'],
  ['x-forwarded-for', '192.0.2.1'],
  ['x-forwarded-for', '127.0.0.1'],
  ['x-forwarded-proto', 'https'],
  ['x-forwarded-host', 'skein.example.com'],
  ['x-real-ip', '192.0.2.1'],
  ['via', '1.1 proxy'],
  ['x-envoy-external-address', '192.0.2.1'],
  ['cf-connecting-ip', '192.0.2.1'],
])('what a proxy of this machine passes on (%s: %s) is from elsewhere', async (name, value) => {
  const headers = { [name]: value };
  expect([await allows(open, '127.0.0.1', headers), await allows(bareWorker, '127.0.0.1', headers)]).toEqual([
    false,
    false,
  ]);
  expect(await allows(open, '127.0.0.1', { ...headers, ...bearer('of-a-user') })).toBe(true);
});

test('with metrics.token this machine needs a token, too: a proxy that adds nothing looks like it', async () => {
  for (const access of [closed, worker]) {
    expect(await allows(access, '127.0.0.1')).toBe(false);
    expect(await allows(access, '127.0.0.1', bearer(`${TOKEN}x`))).toBe(false);
    expect(await allows(access, '127.0.0.1', { authorization: TOKEN })).toBe(false);
    expect(await allows(access, '127.0.0.1', bearer(TOKEN))).toBe(true);
  }
});
