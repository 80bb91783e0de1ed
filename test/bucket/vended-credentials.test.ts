import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseJson, printJson, type JsonObject } from '#shared/json.ts';
import type { S3Credential } from '#shared/storage/credential.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { startBucketCatalog, type BucketCatalog } from '#test/support/bucket-catalog.ts';
import type { RestAnswer, TestCatalog } from '#test/support/catalog.ts';
import { errorOf, locationOf, SCHEMA } from '#test/support/catalog-requests.ts';
import { MINIO_BUILD_MS, type Minio } from '#test/support/minio.ts';
import { python } from '#test/support/python.ts';
import type { StsRelay } from '#test/support/sts-relay.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

const VENDED = { 'X-Iceberg-Access-Delegation': 'vended-credentials' };
const TABLES = '/v1/cloud/namespaces/s/tables';

let store: BucketCatalog;
let minio: Minio;
let sts: StsRelay;
let catalog: TestCatalog;

beforeAll(async () => {
  store = await startBucketCatalog();
  ({ minio, sts, catalog } = store);
}, MINIO_BUILD_MS);

afterAll(() => store?.[Symbol.asyncDispose]());

type Config = Readonly<Record<string, string>>;
type Credential = { readonly prefix: string; readonly config: Config };

const create = (name: string, more: object = {}, headers: Config = {}): Promise<RestAnswer> =>
  catalog.rest('POST', TABLES, { body: { name, schema: SCHEMA, ...more }, headers });
const load = (name: string, headers: Config = VENDED, token = catalog.token): Promise<RestAnswer> =>
  catalog.rest('GET', `${TABLES}/${name}`, { headers, token });
const configOf = ({ body }: RestAnswer): Config => body['config'] as Config;
const credentialsOf = ({ body }: { readonly body: JsonObject }): readonly Credential[] =>
  body['storage-credentials'] as unknown as readonly Credential[];

const keyOf = (config: Config | undefined): S3Credential => ({
  ...minio.key,
  accessKeyId: config?.['s3.access-key-id'] ?? '',
  secretAccessKey: config?.['s3.secret-access-key'] ?? '',
  sessionToken: config?.['s3.session-token'] ?? null,
});

test('a load that asks for them has the credentials of one table, in both places, as texts', async () => {
  const location = locationOf(await create('t'));
  const answer = await load('t');
  expect(answer.status).toBe(200);
  const [credential, ...others] = credentialsOf(answer);
  expect(others).toEqual([]);
  expect(credential?.prefix).toBe(location);
  const config = credential?.config ?? {};
  expect(configOf(answer)).toEqual(config);
  expect(Object.values(config).every((value) => typeof value === 'string')).toBe(true);
  expect(config).toMatchObject({
    's3.region': 'us-east-1',
    'client.region': 'us-east-1',
    's3.endpoint': minio.endpoint,
    's3.path-style-access': 'true',
    'client.refresh-credentials-endpoint': 'v1/cloud/namespaces/s/tables/t/credentials',
  });
  const lifeMs = Number(config['s3.session-token-expires-at-ms']) - Date.now();
  expect(lifeMs).toBeGreaterThan(1_200_000);
  expect(lifeMs).toBeLessThanOrEqual(3_600_000);
  expect(JSON.stringify(answer.body)).not.toContain(minio.key.secretAccessKey);
  const storage = openStorage(location, keyOf(config));
  await storage.write(`${location}/data/one`, Buffer.from('one'));
  expect(Buffer.from(await storage.read(`${location}/data/one`, 10)).toString()).toBe('one');
  const other = locationOf(await create('other'));
  await expect(storage.write(`${other}/data/one`, Buffer.from('one'))).rejects.toMatchObject({ code: 'STORAGE_ERROR' });
});

test.each([undefined, 'odd', ''])('a load with the header %s has none', async (header) => {
  await create('unasked');
  const answer = await load('unasked', header === undefined ? {} : { 'X-Iceberg-Access-Delegation': header });
  expect(answer.body['storage-credentials']).toBeUndefined();
  expect(configOf(answer)).toEqual({});
});

test('so do a create, a staged create, a register, and the endpoints of credentials', async () => {
  expect(credentialsOf(await create('created', {}, VENDED))).toHaveLength(1);
  const staged = await create('staged', { 'stage-create': true }, VENDED);
  const [ofStaged] = credentialsOf(staged);
  expect(ofStaged?.prefix).toBe(locationOf(staged));
  await openStorage(ofStaged?.prefix ?? '', keyOf(ofStaged?.config)).write(
    `${ofStaged?.prefix}/data/x`,
    Buffer.from('x'),
  );
  const gone = await catalog.rest('POST', `${TABLES}/created/unregister`, { body: {} });
  const registered = await catalog.rest('POST', '/v1/cloud/namespaces/s/register', {
    body: { name: 'registered', 'metadata-location': gone.body['metadata-location'] },
    headers: VENDED,
  });
  expect(credentialsOf(registered)).toHaveLength(1);
  for (const method of ['GET', 'POST']) {
    const answer = await catalog.rest(method, `${TABLES}/registered/credentials`);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(credentialsOf(answer)).toEqual(credentialsOf(registered));
  }
});

test('scopes: table:data reads, with table:write it writes; without it a load has none and the endpoint refuses', async () => {
  const location = locationOf(await create('scoped'));
  const reader = await catalog.mint({ scope: ['table:read', 'table:data'] });
  const [reading] = credentialsOf(await load('scoped', VENDED, reader));
  const storage = openStorage(location, keyOf(reading?.config));
  expect((await Array.fromAsync(storage.list(location))).flat().length).toBeGreaterThan(0);
  await expect(storage.write(`${location}/data/x`, Buffer.from('x'))).rejects.toMatchObject({ code: 'STORAGE_ERROR' });
  const poor = await catalog.mint({ scope: ['table:read', 'table:write'] });
  const answer = await load('scoped', VENDED, poor);
  expect(answer.status).toBe(200);
  expect(answer.body['storage-credentials']).toBeUndefined();
  expect(Object.keys(configOf(answer)).filter((name) => /key|token|credential/.test(name))).toEqual([]);
  const refused = await catalog.rest('GET', `${TABLES}/scoped/credentials`, { token: poor });
  expect(errorOf(refused)).toEqual([403, 'ForbiddenException', 'the token lacks the scope table:data']);
});

test('a load that asks is never 304, and its tag differs by way, permission and principal', async () => {
  await create('tagged');
  const reader = await catalog.mint({ scope: ['table:read', 'table:data'] });
  const client = await catalog.call<{ client_id: string; client_secret: string }>('CreateClient', {
    tenant: 'default',
    name: 'tagged',
  });
  const form = `grant_type=client_credentials&client_id=${client.client_id}&client_secret=${client.client_secret}`;
  const granted = await catalog.rest('POST', '/v1/oauth/tokens', {
    raw: form,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  const answers = [
    await load('tagged', {}),
    await load('tagged'),
    await load('tagged', VENDED, reader),
    await load('tagged', VENDED, granted.body['access_token'] as string),
    await load('tagged', { 'X-Iceberg-Access-Delegation': 'remote-signing' }),
  ];
  const tags = answers.map(({ headers }) => headers.get('etag') ?? '');
  expect(new Set(tags).size).toBe(5);
  const all = tags.join(', ');
  expect((await load('tagged', { ...VENDED, 'If-None-Match': all })).status).toBe(200);
  expect((await load('tagged', { 'If-None-Match': all })).status).toBe(304);
});

test('twelve loads at once make one key, the next forty none; reading and writing have keys of their own', async () => {
  await create('popular');
  const before = sts.made;
  await Promise.all(Array.from({ length: 12 }, () => load('popular')));
  expect(sts.made - before).toBe(1);
  for (let i = 0; i < 40; i += 1) await load('popular');
  expect(sts.made - before).toBe(1);
  await load('popular', VENDED, await catalog.mint({ scope: ['table:read', 'table:data'] }));
  expect(sts.made - before).toBe(2);
});

test('metadata and data that lie apart: one entry, for the folder above both; the key opens just these two', async () => {
  const data = 's3://warehouse/lake/elsewhere/data';
  const location = 's3://warehouse/lake/elsewhere/meta';
  await create('apart', { location, properties: { 'write.data.path': data } });
  const [credential] = credentialsOf(await load('apart'));
  expect(credential?.prefix).toBe('s3://warehouse/lake/elsewhere');
  const storage = openStorage(data, keyOf(credential?.config));
  await storage.write(`${data}/x`, Buffer.from('x'));
  await expect(storage.write('s3://warehouse/lake/elsewhere/x', Buffer.from('x'))).rejects.toThrow();
});

test('a batch answers each table in its place, with its credentials or its error', async () => {
  await create('one');
  await create('two');
  const batch = (body: object, token = catalog.token): Promise<RestAnswer> =>
    catalog.rest('POST', '/v1/cloud/tables/credentials/batch', { body, token });
  const identifiers = ['one', 'absent', 'two'].map((name) => ({ namespace: ['s'], name }));
  const answer = await batch({ identifiers, access: 'read-write' });
  const results = answer.body['results'] as JsonObject[];
  expect(results.map(({ identifier }) => identifier)).toEqual(identifiers);
  expect(results.map((one) => (one['storage-credentials'] as unknown[] | undefined)?.length)).toEqual([
    1,
    undefined,
    1,
  ]);
  expect(results[1]?.['error']).toEqual({
    code: 404,
    type: 'NoSuchTableException',
    message: 'Table does not exist: s.absent',
  });
  const reader = await catalog.mint({ scope: ['table:data'] });
  const [refused] = (await batch({ identifiers: identifiers.slice(0, 1), access: 'read-write' }, reader)).body[
    'results'
  ] as JsonObject[];
  expect(refused?.['error']).toMatchObject({ code: 403, message: 'the token lacks the scope table:write' });
  const [read] = (await batch({ identifiers: identifiers.slice(0, 1) }, reader)).body['results'] as JsonObject[];
  expect(read?.['storage-credentials']).toHaveLength(1);
  expect((await batch({ identifiers: Array.from({ length: 1_001 }, () => identifiers[0]) })).status).toBe(400);
  expect((await batch({ identifiers, access: 'all' })).status).toBe(400);
  expect((await batch({})).status).toBe(400);
});

test('another tenant’s table is not found', async () => {
  await create('mine');
  await catalog.call('CreateTenant', { name: 'rival', admin_user: 'eve', admin_password: 'a long enough password' });
  const rival = await catalog.mint({ tenant: 'rival', user: 'eve' });
  for (const name of ['mine', 'absent']) {
    expect((await catalog.rest('GET', `${TABLES}/${name}/credentials`, { token: rival })).status).toBe(404);
    expect((await load(name, VENDED, rival)).status).toBe(404);
  }
});

test('a store that gives no keys: the load says so, the endpoint is 406, and the catalog’s own key is not told', async () => {
  await catalog.rest('POST', '/v1/plain/namespaces/s/tables', { body: { name: 't', schema: SCHEMA } });
  const answer = await catalog.rest('GET', '/v1/plain/namespaces/s/tables/t', { headers: VENDED });
  expect(answer.body['storage-credentials']).toBeUndefined();
  expect(configOf(answer)).toEqual({
    's3.region': 'us-east-1',
    'client.region': 'us-east-1',
    's3.endpoint': minio.endpoint,
    's3.path-style-access': 'true',
    'skein.vended-credentials': 'unavailable',
  });
  expect((await catalog.rest('GET', '/v1/plain/namespaces/s/tables/t/credentials')).status).toBe(406);
});

test('a table that has had too many folders for one policy has no key, and its load says so', async () => {
  await create('wanderer');
  for (let i = 0; i < 16; i += 1) {
    const update = { action: 'set-location', location: `s3://warehouse/lake/${'long-'.repeat(25)}${i}` };
    const moved = await catalog.rest('POST', `${TABLES}/wanderer`, { body: { requirements: [], updates: [update] } });
    expect(moved.status, JSON.stringify(moved.body)).toBe(200);
  }
  const answer = await load('wanderer');
  expect(answer.status).toBe(200);
  expect(answer.body['storage-credentials']).toBeUndefined();
  expect(configOf(answer)['skein.vended-credentials']).toBe('unavailable');
  const refused = await catalog.rest('GET', `${TABLES}/wanderer/credentials`);
  expect(errorOf(refused)).toEqual([406, 'UnsupportedOperationException', expect.stringContaining('17 folders')]);
});

test('an Idempotency-Key gives the table again, and no credential is stored for it', async () => {
  const headers = { ...VENDED, 'Idempotency-Key': '019396a0-0000-7000-8000-0000000000a1' };
  const first = await create('once', {}, headers);
  const again = await create('once', {}, headers);
  expect([first.status, again.status]).toEqual([200, 200]);
  expect(locationOf(again)).toBe(locationOf(first));
  expect(credentialsOf(again)).toEqual(credentialsOf(first));
  const token = credentialsOf(first)[0]?.config['s3.session-token'] ?? '';
  const stored = JSON.stringify(await catalog.sql('select * from catalog.idempotency_key'));
  expect(stored).toContain('createTable');
  expect(stored).not.toContain(token);
});

test('while STS is away a load is 503 and says when to come again, within ten seconds; keys that are known go on', async () => {
  await create('late');
  await create('known');
  await load('known');
  sts.away(true);
  try {
    const beganMs = performance.now();
    const answer = await load('late');
    expect(performance.now() - beganMs).toBeLessThan(10_000 * machineSlowness());
    expect(answer.status).toBe(503);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await load('known')).status).toBe(200);
    expect((await load('late', {})).status).toBe(200);
  } finally {
    sts.away(false);
  }
});

test('PyIceberg creates, writes, reads and deletes with nothing but a token', async () => {
  const seen: unknown = JSON.parse(
    await python('test/bucket/pyiceberg_vended.py', catalog.running.url, catalog.token, 'cloud'),
  );
  expect(seen).toEqual({ rows: [1, 2, 3], kept: [1, 3], appended: [1, 3, 4], io: 'PyArrowFileIO' });
});

/** A catalog in front of ours, whose answers have one more entry, of another key, for the folders that `prefixOf` makes of a table's. */
async function withAnotherKey(
  prefixOf: (prefix: string) => string,
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    void (async () => {
      const body = await buffer(request);
      const headers = Object.fromEntries(
        Object.entries(request.headers).filter(
          ([name]) => !/^(host|connection|content-length|accept-encoding)$/.test(name),
        ),
      ) as Record<string, string>;
      const { method = 'GET', url = '/' } = request;
      const sent = method === 'GET' || method === 'HEAD' ? {} : { body };
      const answer = await fetch(`${catalog.running.url}${url}`, { method, headers, ...sent });
      const text = await answer.text();
      response.writeHead(answer.status, { 'content-type': 'application/json' });
      response.end(text.includes('storage-credentials') ? twoKeys(text) : text);
    })();
  });
  const twoKeys = (text: string): string => {
    const loaded = parseJson(text) as JsonObject;
    const [own] = credentialsOf({ body: loaded });
    if (own === undefined) return text;
    const config = { ...own.config, 's3.access-key-id': 'another', 's3.secret-access-key': 'another' };
    return printJson({ ...loaded, 'storage-credentials': [{ prefix: prefixOf(own.prefix), config }, own] });
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

test('PyIceberg takes the entry whose prefix is the longest that matches: ours, and not one above it', async () => {
  await using above = await withAnotherKey((prefix) => prefix.slice(0, prefix.lastIndexOf('/', prefix.length - 2) + 1));
  const seen: unknown = JSON.parse(
    await python('test/bucket/pyiceberg_vended.py', above.url, catalog.token, 'cloud', '{}', 'above'),
  );
  expect(seen).toMatchObject({ appended: [1, 3, 4] });
  await using below = await withAnotherKey((prefix) => `${prefix.replace(/\/$/, '')}/metadata`);
  const failed = python('test/bucket/pyiceberg_vended.py', below.url, catalog.token, 'cloud', '{}', 'below');
  await expect(failed).rejects.toThrow(/INVALID_ACCESS_KEY_ID/);
});
