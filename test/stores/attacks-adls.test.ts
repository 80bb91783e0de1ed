import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeSas } from '#shared/storage/adls/sas.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { AZURITE_ACCOUNT, AZURITE_KEY } from '#test/support/azurite.ts';
import { CLIENT, SECRET, startEntra, TENANT } from '#test/support/entra.ts';
import { OTHER_STORE_MS, OTHER_STORES, type OtherStore } from '#test/support/other-stores.ts';
import { patience } from '#test/support/run/slowness.ts';
import { sendRaw, type Outcome, type Sent } from '../bucket/store-ways.ts';
import { BESIDE, Lake, OWN, placesStayTheirs, type Attack, type Permission } from './lake.ts';

/**
 * As `test/bucket/attacks.test.ts`: everything that somebody may try who has a right to one table, `orders`, and wants at another's files, with
 * the signatures of Azure's containers. The rules of that store are Azurite's.
 */

let store: Awaited<ReturnType<(typeof OTHER_STORES)['adls']>>;
let lake: Lake;

/** The same store, of which the catalog has no key: it asks for user delegation keys as a client of Microsoft's directory. */
async function byDelegation(of: OtherStore): Promise<OtherStore> {
  await using started = new AsyncDisposableStack();
  started.use(of);
  const { endpoint } = started.use(await startEntra());
  const key = { kind: 'adls', tenantId: TENANT, clientId: CLIENT, clientSecret: SECRET };
  const bucket = {
    settings: { ...of.bucket.settings, 'sts-endpoint': endpoint },
    key: { document: JSON.stringify(key) },
  };
  const all = started.move();
  return { ...of, bucket, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

const at = (place: string, query = ''): string => `/${AZURITE_ACCOUNT}${place}?${query}${query === '' ? '' : '&'}{sas}`;
const own = (query = '', name = 'one'): string => at(`/warehouse/${OWN}/data/${name}`, query);
const BLOCK = Buffer.from('block-0001').toString('base64url');
const put = (target: string, headers: Readonly<Record<string, string>> = {}, body = ''): Sent => ({
  method: 'PUT',
  target,
  headers,
  body,
});
const WHOLE = { 'x-ms-blob-type': 'BlockBlob' };
const made = (sent: Sent): Attack => ({ ...sent, harm: () => lake.isMade(`${OWN}/data/x`) });
const stolen = (source: string): Attack => ({
  ...put(own('', 'stolen'), { 'x-ms-copy-source': `${store.azurite.endpoint}${source}` }),
  by: 'write',
  harm: () => lake.isMade(`${OWN}/data/stolen`, 'elsewhere'),
});
const byWriter = (method: string, target: string, headers: Readonly<Record<string, string>> = {}): Attack => ({
  by: 'write',
  method,
  target,
  headers,
  ...(method === 'PUT' || method === 'POST' ? { body: '' } : {}),
});

/** Requests that a signature to read the container may not make, and some that one to write it may not make, either. */
const attacks = (): Readonly<Record<string, Attack>> => ({
  'a write by who reads': made(put(own('', 'x'), WHOLE, 'text')),
  'a write over an object by who reads': {
    ...put(own(), WHOLE, 'evil'),
    harm: async () => (await lake.textAt(`${OWN}/data/one`)) !== 'orders',
  },
  'a block by who reads': put(own(`comp=block&blockid=${BLOCK}`, 'x'), {}, 'text'),
  'a list of blocks by who reads': made(
    put(own('comp=blocklist', 'x'), {}, '<?xml version="1.0" encoding="utf-8"?><BlockList></BlockList>'),
  ),
  'an object to append to, by who reads': made(put(own('', 'x'), { 'x-ms-blob-type': 'AppendBlob' })),
  'an object of pages by who reads': made(
    put(own('', 'x'), { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': '512' }),
  ),
  'a copy by who reads': made(put(own('', 'x'), { 'x-ms-copy-source': `${store.azurite.endpoint}${own()}` })),
  'metadata by who reads': put(own('comp=metadata'), { 'x-ms-meta-a': 'b' }),
  'properties by who reads': put(own('comp=properties'), { 'x-ms-blob-content-type': 'text/html' }),
  'a tier by who reads': put(own('comp=tier'), { 'x-ms-access-tier': 'Archive' }),
  'a snapshot by who reads': put(own('comp=snapshot')),
  'a lease by who reads': put(own('comp=lease'), { 'x-ms-lease-action': 'acquire', 'x-ms-lease-duration': '15' }),
  'a delete by who reads': { method: 'DELETE', target: own(), harm: () => lake.isGone('orders') },
  'tags by who reads': { method: 'GET', target: own('comp=tags') },
  'another container': { method: 'GET', target: at('/elsewhere/data/one') },
  'a list of another container': { method: 'GET', target: at('/elsewhere', 'restype=container&comp=list') },
  'another container, by ..': { method: 'GET', target: at('/warehouse/../elsewhere/data/one') },
  'another container, by an escaped ..': { method: 'GET', target: at('/warehouse/%2e%2e/elsewhere/data/one') },
  'a write into another container': { ...byWriter('PUT', at('/elsewhere/data/x'), WHOLE) },
  'a delete in another container': byWriter('DELETE', at('/elsewhere/data/one')),
  // Azurite asks for no right to a source of the same account that comes without a signature; Azure's documentation does.
  'a copy from another container by this one’s signature': stolen(at('/elsewhere/data/one')),
  'a list of containers': { method: 'GET', target: at('/', 'comp=list') },
  'the properties of the account': { method: 'GET', target: at('/', 'restype=service&comp=properties') },
  'a delegation key': byWriter('POST', at('/', 'restype=service&comp=userdelegationkey')),
  'a new container': byWriter('PUT', at('/third', 'restype=container')),
  'the rights of the container': byWriter('GET', at('/warehouse', 'restype=container&comp=acl')),
  'other rights of the container': byWriter('PUT', at('/warehouse', 'restype=container&comp=acl'), {
    'x-ms-blob-public-access': 'container',
  }),
  'metadata of the container': byWriter('PUT', at('/warehouse', 'restype=container&comp=metadata'), {
    'x-ms-meta-a': 'b',
  }),
  'a lease of the container': byWriter('PUT', at('/warehouse', 'restype=container&comp=lease'), {
    'x-ms-lease-action': 'acquire',
    'x-ms-lease-duration': '15',
  }),
  'a delete of the container': byWriter('DELETE', at('/warehouse', 'restype=container')),
  'no signature': { method: 'GET', target: own().replace('{sas}', 'x=y') },
  'half a signature': { method: 'GET', target: own().replace('{sas}', '{half}') },
});

const send = async (sent: Sent, by: Permission): Promise<Outcome> => {
  const sas = (await lake.config('orders', lake.tokens[by]))['adls.sas-token'] ?? '';
  const half = sas.replace(/sig=.{10}/, 'sig=');
  const filled = (text: string): string => text.replace('{sas}', sas).replace('{half}', half);
  const headers = Object.entries({ 'x-ms-version': '2022-11-02', ...sent.headers });
  return sendRaw(store.azurite.endpoint, {
    ...sent,
    target: filled(sent.target),
    headers: Object.fromEntries(headers.map(([name, value]) => [name, filled(value)])),
  });
};

/** Other values that somebody would like a field to have. */
const OTHER_VALUES: Readonly<Record<string, readonly string[]>> = {
  sv: ['2018-11-09', '2020-12-06', '2026-02-06'],
  spr: ['https,http', 'http'],
  st: ['2020-01-01T00:00:00Z'],
  se: ['2099-01-01T00:00:00Z'],
  sr: ['b', 'd', 'bs', 'bv'],
  sp: ['racwdl', 'r', 'l', 'racwdxltmeop'],
  ske: ['2099-01-01T00:00:00Z'],
  skt: ['2020-01-01T00:00:00Z'],
  skv: ['2018-11-09'],
  sks: ['q', 'f'],
};
/** Fields that this signature does not have. */
const ADDED: Readonly<Record<string, string>> = {
  si: 'policy',
  sip: '0.0.0.0-255.255.255.255',
  rscc: 'no-cache',
  rscd: 'attachment',
  rsce: 'gzip',
  rscl: 'en',
  rsct: 'text%2Fhtml',
  ses: 'scope',
  sr: 'b',
  sp: 'racwdl',
  se: '2099-01-01T00%3A00%3A00Z',
};

describe.each(['the key of the account', 'a user delegation key'])('signatures by %s', (by) => {
  const isDelegated = by === 'a user delegation key';

  beforeAll(async () => {
    store = await OTHER_STORES.adls();
    lake = await Lake.start(isDelegated ? await byDelegation(store) : store);
    await store.azurite.makeContainer('elsewhere');
    const root = store.root.replace('warehouse@', 'elsewhere@');
    const credential = store.azurite.credential('elsewhere');
    await openStorage(root, credential).write(`${root}/data/one`, Buffer.from('elsewhere'));
  }, OTHER_STORE_MS);
  afterAll(() => lake?.[Symbol.asyncDispose]());

  test('what must work works', async () => {
    const ok = async (by: Permission, sent: Sent): Promise<string> => {
      const { status, body } = await send(sent, by);
      expect(status, `${sent.method} ${sent.target}: ${body}`).toBeLessThan(300);
      return body;
    };
    const odd = own('', 'd%3D2020%252F01%20a%2Bb/%C3%BC%20%281%29');
    await ok('write', put(odd, WHOLE, 'text'));
    expect(await ok('read', { method: 'GET', target: odd })).toBe('text');
    expect(await ok('read', { method: 'GET', target: odd, headers: { 'x-ms-range': 'bytes=1-2' } })).toBe('ex');
    const listed = `restype=container&comp=list&prefix=${encodeURIComponent(`${OWN}/`)}`;
    expect(await ok('read', { method: 'GET', target: at('/warehouse', listed) })).toContain(`${OWN}/data/one`);
    await ok('write', put(own('', 'copied'), { 'x-ms-copy-source': `${store.azurite.endpoint}${own()}` }));
    expect(await ok('read', { method: 'GET', target: own('', 'copied') })).toBe('orders');
    for (const target of [odd, own('', 'copied')]) await ok('write', { method: 'DELETE', target });
  });

  test('every attack is refused', async () => {
    expect(await lake.succeeding(attacks(), send)).toEqual([]);
  });

  placesStayTheirs(() => lake, {
    ofOthers: `abfss://elsewhere@${AZURITE_ACCOUNT}.dfs.core.windows.net/data`,
    spellings: ['abfs', 'wasb', 'wasbs'].map((scheme) => {
      const host = scheme === 'abfs' ? 'dfs' : 'blob';
      return `${scheme}://warehouse@${AZURITE_ACCOUNT}.${host}.core.windows.net/${BESIDE}`;
    }),
  });

  const withSas = (sas: string, method: 'GET' | 'PUT' = 'GET'): Promise<Outcome> =>
    sendRaw(store.azurite.endpoint, {
      method,
      target: own().replace('{sas}', sas),
      headers: { 'x-ms-version': '2022-11-02', ...(method === 'PUT' ? WHOLE : {}) },
      ...(method === 'PUT' ? { body: 'evil' } : {}),
    });

  test('a signature of which a field is altered, added or left out opens nothing', async () => {
    const sas = (await lake.config('orders', lake.tokens.read))['adls.sas-token'] ?? '';
    expect((await withSas(sas)).body).toBe('orders');
    const fields = [...new URLSearchParams(sas)];
    const names = fields.map(([name]) => name);
    expect(names).toEqual(expect.arrayContaining(['sv', 'spr', 'st', 'se', 'sr', 'sp', 'sig']));
    if (isDelegated) expect(names).toEqual(expect.arrayContaining(['skoid', 'sktid', 'skt', 'ske', 'sks', 'skv']));
    const text = (pairs: readonly (readonly [string, string])[]): string =>
      pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
    const altered = (name: string, value: string): string =>
      text(fields.map((field) => (field[0] === name ? [name, value] : field)));
    const forged: Record<string, string> = {};
    for (const [name, value] of fields) {
      forged[`without ${name}`] = text(fields.filter((field) => field[0] !== name));
      for (const other of OTHER_VALUES[name] ?? [value.replace(/^./, (char) => (char === 'a' ? 'b' : 'a'))]) {
        if (other !== value) forged[`${name}=${other}`] = altered(name, other);
      }
    }
    for (const [name, value] of Object.entries(ADDED)) forged[`with ${name}`] = `${sas}&${name}=${value}`;
    for (const [what, other] of Object.entries(forged)) {
      const read = await withSas(other);
      expect(read.status, what).toBeGreaterThanOrEqual(400);
      expect(read.body, what).not.toContain('orders');
      expect((await withSas(other, 'PUT')).status, what).toBeGreaterThanOrEqual(400);
    }
    expect(await lake.textAt(`${OWN}/data/one`)).toBe('orders');
  });

  test('a signature that has ended, or that does not hold yet, opens nothing', async () => {
    const sas = (await lake.config('orders', lake.tokens.read))['adls.sas-token'] ?? '';
    const given = new URLSearchParams(sas);
    const [starts, ends] = ['st', 'se'].map((name) => Date.parse(given.get(name) ?? ''));
    expect(starts).toBeLessThan(Date.now());
    expect(ends).toBeLessThanOrEqual(Date.now() + 3_600_000);
    // As the catalog makes them, but for the times.
    const signed = (fromMs: number, untilMs: number): string =>
      makeSas(
        { kind: 'account', key: AZURITE_KEY },
        {
          account: AZURITE_ACCOUNT,
          container: 'warehouse',
          resource: 'container',
          path: '',
          permissions: 'rl',
          isPlain: false,
          startsAtMs: Date.now() + fromMs,
          expiresAtMs: Date.now() + untilMs,
        },
      );
    expect((await withSas(signed(-60_000, 60_000))).body).toBe('orders');
    expect((await withSas(signed(-60_000, -2_000))).status).toBe(403);
    expect((await withSas(signed(30_000, 60_000))).status).toBe(403);
    const brief = signed(-60_000, 2_000);
    expect((await withSas(brief)).status).toBe(200);
    await expect.poll(async () => (await withSas(brief)).status, { timeout: patience(10_000) }).toBe(403);
  });
});
