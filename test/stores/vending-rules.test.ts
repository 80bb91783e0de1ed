import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '#shared/json.ts';
import { errorOf, locationOf } from '#test/support/catalog-requests.ts';
import type { RestAnswer } from '#test/support/catalog.ts';
import { OTHER_STORE_MS, OTHER_STORES, type OtherStore } from '#test/support/other-stores.ts';
import { Lake } from './lake.ts';

/** The rules of `test/bucket/vended-credentials.test.ts` that do not depend on the store, for keys of Google's and Azure's. */

const VENDED = { 'X-Iceberg-Access-Delegation': 'vended-credentials' };
const SIGNED = { 'X-Iceberg-Access-Delegation': 'remote-signing' };
const TABLES = '/v1/cloud/namespaces/s/tables';

describe.each(Object.keys(OTHER_STORES) as (keyof typeof OTHER_STORES)[])('in a store of %s', (kind) => {
  let store: OtherStore;
  let lake: Lake;
  const keyName = kind === 'gcs' ? 'gcs.oauth2.token' : 'adls.sas-token';

  beforeAll(async () => {
    store = await OTHER_STORES[kind]();
    lake = await Lake.start(store);
  }, OTHER_STORE_MS);
  afterAll(() => lake?.[Symbol.asyncDispose]());

  const load = (name: string, headers: Readonly<Record<string, string>> = VENDED, token = lake.catalog.token) =>
    lake.catalog.rest('GET', `${TABLES}/${name}`, { headers, token });
  type Credential = { readonly prefix: string; readonly config: Readonly<Record<string, string>> };
  const credentialsIn = (body: JsonObject): readonly Credential[] =>
    (body['storage-credentials'] ?? []) as unknown as readonly Credential[];
  const keysOf = ({ body }: RestAnswer): readonly string[] =>
    credentialsIn(body).map(({ config }) => config[keyName] ?? '');
  const told = ({ body }: RestAnswer): readonly string[] => Object.keys(body['config'] ?? {});

  test('a load that asks for none has none; one that asks only for signatures has configuration only', async () => {
    for (const headers of [{}, { 'X-Iceberg-Access-Delegation': 'odd' }]) {
      const answer = await load('orders', headers);
      expect([answer.status, answer.body['storage-credentials'], told(answer)]).toEqual([200, undefined, []]);
    }
    const signed = await load('orders', SIGNED);
    expect(credentialsIn(signed.body)).toEqual([]);
    expect(told(signed).length).toBeGreaterThan(0);
    expect(told(signed).filter((name) => /token|sas|sign|credential/.test(name))).toEqual([]);
    const uri = `${store.credential.endpoint}/warehouse/lake/fixed/orders/data/one`;
    const refused = await lake.post(`${TABLES}/orders/sign`, { region: 'x', method: 'GET', uri, headers: {} });
    expect(refused.status).toBeGreaterThanOrEqual(400);
    // Whoever takes either gets a key.
    expect(
      keysOf(await load('orders', { 'X-Iceberg-Access-Delegation': 'remote-signing, vended-credentials' })),
    ).toHaveLength(1);
  });

  test('scopes: without table:data there is no key, and the endpoint refuses; with table:write it is another one', async () => {
    const poor = await lake.catalog.mint({ scope: ['table:read', 'table:write'] });
    const answer = await load('orders', VENDED, poor);
    expect([answer.status, answer.body['storage-credentials']]).toEqual([200, undefined]);
    const refused = await lake.catalog.rest('GET', `${TABLES}/orders/credentials`, { token: poor });
    expect(errorOf(refused)).toEqual([403, 'ForbiddenException', 'the token lacks the scope table:data']);
    const [reading] = keysOf(await load('orders', VENDED, lake.tokens.read));
    const [writing] = keysOf(await load('orders', VENDED, lake.tokens.write));
    expect(reading).not.toBe(writing);
  });

  test('loads at once make one key, which the next ones get, too', async () => {
    await lake.create('popular');
    if ('google' in store) (store as Awaited<ReturnType<typeof OTHER_STORES.gcs>>).google.takeExchanges();
    const answers = await Promise.all(Array.from({ length: 12 }, () => load('popular')));
    // Signatures of one second are the same, whoever makes them.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    for (let i = 0; i < 20; i++) answers.push(await load('popular'));
    expect(new Set(answers.flatMap(keysOf)).size).toBe(1);
    if ('google' in store)
      expect((store as Awaited<ReturnType<typeof OTHER_STORES.gcs>>).google.takeExchanges()).toBe(1);
  });

  test('a batch answers each table in its place, with its one credential or its error', async () => {
    const identifiers = ['orders', 'absent', 'orders2'].map((name) => ({ namespace: ['s'], name }));
    const batch = async (body: object, token = lake.catalog.token): Promise<readonly JsonObject[]> => {
      const answer = await lake.catalog.rest('POST', '/v1/cloud/tables/credentials/batch', { body, token });
      return answer.body['results'] as JsonObject[];
    };
    const results = await batch({ identifiers, access: 'read-write' });
    expect(results.map(({ identifier }) => identifier)).toEqual(identifiers);
    expect(results.map((one) => credentialsIn(one).length)).toEqual([1, 0, 1]);
    expect(results[1]?.['error']).toMatchObject({ code: 404, type: 'NoSuchTableException' });
    expect(credentialsIn(results[0] ?? {})[0]?.prefix).toBe(`${store.root}/lake/fixed/orders`);
    expect(credentialsIn(results[0] ?? {})[0]?.config[keyName]).toMatch(kind === 'gcs' ? /^ya29\./ : /sig=/);
    const [refused] = await batch({ identifiers: identifiers.slice(0, 1), access: 'read-write' }, lake.tokens.read);
    expect(refused?.['error']).toMatchObject({ code: 403, message: 'the token lacks the scope table:write' });
  });

  test('metadata and data that lie apart are one entry, for the folder above both', async () => {
    const [location, data] = [`${store.root}/lake/apart/meta`, `${store.root}/lake/apart/data`];
    const made = await lake.create('apart', location, { properties: { 'write.data.path': data } });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    expect(locationOf(made)).toBe(location);
    expect(credentialsIn((await load('apart')).body).map(({ prefix }) => prefix)).toEqual([`${store.root}/lake/apart`]);
  });

  test('a table whose files lie in another bucket, too, gets no key, and its load says so', async () => {
    const elsewhere = store.root.replace('warehouse', 'elsewhere');
    const change = { name: 'cloud', allow_roots: [`${elsewhere}/data`], disallow_roots: [], undrop_window_ms: -1 };
    await lake.catalog.call('AlterCatalog', change);
    const place = `${store.root}/lake/divided`;
    const made = await lake.create('divided', place, {
      properties: { 'write.data.path': `${elsewhere}/data/divided` },
    });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    const answer = await load('divided');
    expect(credentialsIn(answer.body)).toEqual([]);
    expect(answer.body['config']).toMatchObject({ 'skein.vended-credentials': 'unavailable' });
    const refused = await lake.catalog.rest('GET', `${TABLES}/divided/credentials`);
    expect(errorOf(refused)).toEqual([406, 'UnsupportedOperationException', expect.stringContaining('in several')]);
  });

  test('another tenant’s table is not found', async () => {
    const rival = await lake.catalog.mint({ tenant: 'rival', user: 'eve' });
    for (const name of ['orders', 'absent']) {
      expect((await load(name, VENDED, rival)).status).toBe(404);
      expect((await lake.catalog.rest('GET', `${TABLES}/${name}/credentials`, { token: rival })).status).toBe(404);
    }
  });
});
