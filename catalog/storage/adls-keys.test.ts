import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { AdlsKeys, type AdlsProfile } from './adls-keys.ts';

/** Microsoft's directory and an account of Azure's that give whatever is asked for, to nobody in particular. */
const azure = {
  /** End of the keys that are given from now on; null = as it was asked for. */
  endsAtMs: null as number | null,
  tokens: 0,
  asked: [] as { readonly starts: number; readonly expires: number }[],
};
const server = createServer((incoming, answer) => {
  void (async () => {
    let text = '';
    for await (const chunk of incoming) text += String(chunk);
    if (incoming.url?.includes('comp=userdelegationkey') !== true) {
      azure.tokens += 1;
      return void answer.end(JSON.stringify({ access_token: `token-${azure.tokens}`, expires_in: 3_600 }));
    }
    const [, starts = '', asked = ''] = /<Start>([^<]*)<\/Start><Expiry>([^<]*)<\/Expiry>/.exec(text) ?? [];
    azure.asked.push({ starts: Date.parse(starts), expires: Date.parse(asked) });
    const expires = azure.endsAtMs === null ? asked : `${new Date(azure.endsAtMs).toISOString().slice(0, 19)}Z`;
    const members = {
      SignedOid: 'object',
      SignedTid: 'tenant',
      SignedStart: starts,
      SignedExpiry: expires,
      SignedService: 'b',
      SignedVersion: '2022-11-02',
      Value: Buffer.from(`key ${azure.asked.length}`).toString('base64'),
    };
    const lines = Object.entries(members).map(([name, value]) => `<${name}>${value}</${name}>`);
    answer.end(`<?xml version="1.0"?><UserDelegationKey>${lines.join('')}</UserDelegationKey>`);
  })();
});

let profile: AdlsProfile;
let now = Date.parse('2026-11-28T12:00:00Z');
let keys: AdlsKeys;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  profile = {
    id: 'profile 1',
    catalog: 'lake',
    settings: {
      kind: 'adls',
      endpoint,
      internalEndpoint: null,
      stsEndpoint: endpoint,
      isHierarchical: false,
      allowsContainerSas: true,
    },
    key: { kind: 'adls', tenantId: 'tenant', clientId: 'client', clientSecret: 'secret' },
  };
});
beforeEach(() => {
  Object.assign(azure, { endsAtMs: null, tokens: 0, asked: [] });
  keys = new AdlsKeys({ nowMs: () => now, monotonicMs: () => now }, 'http://127.0.0.1:1');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const HOUR_MS = 3_600_000;
const wish = {
  folders: ['abfss://warehouse@account.dfs.core.windows.net/lake/t'],
  permission: 'read',
  isForClient: true,
  lifeMs: HOUR_MS,
  isRefused: false,
} as const;
const fieldsOf = (sas: string): Readonly<Record<string, string>> => Object.fromEntries(new URLSearchParams(sas));

test('one delegation key serves all who ask, lives at most seven days, and counts from a little earlier', async () => {
  const made = await Promise.all(Array.from({ length: 5 }, () => keys.make(profile, wish)));
  expect(new Set(made.map(({ sas }) => sas)).size).toBe(1);
  expect([azure.tokens, azure.asked.length]).toEqual([1, 1]);
  const [asked] = azure.asked;
  expect(asked?.starts).toBeLessThan(now);
  expect((asked?.expires ?? Infinity) - (asked?.starts ?? 0)).toBeLessThanOrEqual(7 * 86_400_000);
  const { st, se, skt, ske } = fieldsOf(made[0]?.sas ?? '');
  expect(Date.parse(st ?? '')).toBeGreaterThanOrEqual(Date.parse(skt ?? ''));
  expect(Date.parse(se ?? '')).toBe(now + HOUR_MS);
  expect(Date.parse(se ?? '')).toBeLessThan(Date.parse(ske ?? ''));
});

test('a signature ends no later than its delegation key, as the account has given it', async () => {
  azure.endsAtMs = now + 600_000;
  const { sas, expiresAtMs } = await keys.make(profile, wish);
  expect(fieldsOf(sas)['se']).toBe(fieldsOf(sas)['ske']);
  expect(expiresAtMs).toBe(now + 600_000);
  const request = { method: 'GET', location: `${wish.folders[0]}/x`, sizeBytes: null, part: null } as const;
  const [address] = await keys.sign(profile, [request], now + HOUR_MS);
  expect(address?.expiresAtMs).toBe(now + 600_000);
  expect(new URL(address?.url ?? '').searchParams.get('se')).toBe(fieldsOf(sas)['ske']);
});

test('another key is asked for when half of its life is over, and when the store has refused it', async () => {
  azure.endsAtMs = now + 2 * HOUR_MS;
  await keys.make(profile, wish);
  now += HOUR_MS - 1_000;
  await keys.make(profile, wish);
  expect(azure.asked).toHaveLength(1);
  now += 1_000;
  azure.endsAtMs = now + 2 * HOUR_MS;
  // The one that is there still serves, and another is asked for beside it.
  await keys.make(profile, wish);
  await expect.poll(() => azure.asked).toHaveLength(2);
  const renewed = await keys.make(profile, wish);
  const other = await keys.make(profile, { ...wish, isRefused: true });
  expect(azure.asked).toHaveLength(3);
  expect(fieldsOf(other.sas)['sig']).not.toBe(fieldsOf(renewed.sas)['sig']);
});

test('a signature that follows a refusal is another one, also within a second, and also by the key of an account', async () => {
  const account = { ...profile, key: { kind: 'adls', accountKey: Buffer.from('secret').toString('base64') } } as const;
  for (const one of [profile, account]) {
    const sigs = new Set<string>();
    for (let i = 0; i < 10; i++) {
      const { sas } = await keys.make(one, { ...wish, isRefused: i > 0 });
      sigs.add(fieldsOf(sas)['sig'] ?? '');
      // It holds by now, and by clocks that are some minutes late.
      expect(Date.parse(fieldsOf(sas)['st'] ?? '')).toBeLessThan(now - 10 * 60_000);
      // Whoever asks for a key of the same now has this one, and none that was refused.
      expect((await keys.make(one, wish)).sas).toBe(sas);
    }
    expect(sigs.size).toBe(10);
  }
});
