import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStorage } from '#shared/storage/open-storage.ts';
import { AZURITE_ACCOUNT } from '#test/support/azurite.ts';
import { OTHER_STORE_MS, OTHER_STORES } from '#test/support/other-stores.ts';
import { sendRaw, type Outcome, type Sent } from '../bucket/store-ways.ts';
import { BESIDE, Lake, OWN, placesStayTheirs, type Attack, type Permission } from './lake.ts';

/**
 * As `test/bucket/attacks.test.ts`: everything that somebody may try who has a right to one table, `orders`, and wants at another's files, with
 * the signatures of Azure's containers. The rules of that store are Azurite's.
 */

let store: Awaited<ReturnType<(typeof OTHER_STORES)['adls']>>;
let lake: Lake;

beforeAll(async () => {
  store = await OTHER_STORES.adls();
  lake = await Lake.start(store);
  await store.azurite.makeContainer('elsewhere');
  const root = store.root.replace('warehouse@', 'elsewhere@');
  const credential = store.azurite.credential('elsewhere');
  await openStorage(root, credential).write(`${root}/data/one`, Buffer.from('elsewhere'));
}, OTHER_STORE_MS);
afterAll(() => lake?.[Symbol.asyncDispose]());

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
