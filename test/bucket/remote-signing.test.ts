import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStorage } from '#shared/storage/open-storage.ts';
import { startBucketCatalog, type BucketCatalog } from '#test/support/bucket-catalog.ts';
import type { RestAnswer, TestCatalog } from '#test/support/catalog.ts';
import { locationOf, SCHEMA } from '#test/support/catalog-requests.ts';
import { MINIO_BUILD_MS, type Minio } from '#test/support/minio.ts';
import { pythonIn } from '#test/support/python.ts';
import { sendRaw, type Outcome } from './store-ways.ts';

const SIGNED = { 'X-Iceberg-Access-Delegation': 'remote-signing' };

let store: BucketCatalog;
let minio: Minio;
let catalog: TestCatalog;

beforeAll(async () => {
  store = await startBucketCatalog();
  ({ minio, catalog } = store);
}, MINIO_BUILD_MS);

afterAll(() => store?.[Symbol.asyncDispose]());

type Table = { readonly path: string; readonly location: string; readonly uri: string };

async function create(name: string, of = 'cloud', more: object = {}): Promise<Table> {
  const path = `/v1/${of}/namespaces/s/tables`;
  const answer = await catalog.rest('POST', path, { body: { name, schema: SCHEMA, ...more } });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  const location = locationOf(answer);
  return { path: `${path}/${name}`, location, uri: `${minio.endpoint}/${location.slice('s3://'.length)}` };
}

/** As the specification shows the request: with the header of remote signing. */
const sign = (path: string, body: object, token = catalog.token): Promise<RestAnswer> =>
  catalog.rest('POST', path, { body, token, headers: SIGNED });
const signGet = ({ path, uri }: Table, token?: string): Promise<RestAnswer> =>
  sign(`${path}/sign`, { method: 'GET', uri: `${uri}/data/one`, headers: {} }, token);

test('only who asks is told how requests are signed, in the words of three generations of clients', async () => {
  const { path } = await create('told');
  const answer = await catalog.rest('GET', path, { headers: SIGNED });
  const endpoint = 'v1/cloud/namespaces/s/tables/told/sign';
  expect(answer.body['config']).toEqual({
    's3.region': 'us-east-1',
    'client.region': 'us-east-1',
    's3.endpoint': minio.endpoint,
    's3.path-style-access': 'true',
    's3.remote-signing-enabled': 'true',
    'signer.uri': catalog.running.url,
    'signer.endpoint': endpoint,
    's3.signer.uri': catalog.running.url,
    's3.signer.endpoint': endpoint,
    's3.signer': 'S3V4RestSigner',
    'py-io-impl': 'pyiceberg.io.fsspec.FsspecFileIO',
  });
  expect(answer.body['remote-signing-config']).toEqual({});
  expect(answer.body['storage-credentials']).toBeUndefined();
  for (const header of [undefined, 'vended-credentials', 'remote-signing, vended-credentials']) {
    const other = await catalog.rest('GET', path, {
      headers: header === undefined ? {} : { 'X-Iceberg-Access-Delegation': header },
    });
    expect(JSON.stringify(other.body)).not.toContain('sign');
  }
  // The address is another one behind a proxy that is not known.
  const proxied = await catalog.rest('GET', path, { headers: { ...SIGNED, 'X-Forwarded-Proto': 'https' } });
  expect(Object.keys(proxied.body['config'] as object)).not.toContain('signer.uri');
});

test('the answer has the URI as it came, and each header that is to be added once', async () => {
  const table = await create('once');
  await openStorage(table.location, minio.key).write(`${table.location}/data/one`, Buffer.from('one'));
  const uri = `${table.uri}/data/%6Fne`;
  const sent = { 'x-amz-content-sha256': ['UNSIGNED-PAYLOAD'], Expect: ['100-continue'], 'User-Agent': ['x'] };
  const answer = await sign(`${table.path}/sign`, { region: 'us-east-1', method: 'GET', uri, headers: sent });
  expect(answer.headers.get('cache-control')).toBe('private');
  expect(answer.body['uri']).toBe(uri);
  const headers = answer.body['headers'] as unknown as Record<string, readonly string[]>;
  expect(Object.keys(headers).toSorted()).toEqual(['authorization', 'x-amz-date', 'x-amz-security-token']);
  expect(headers['authorization']?.[0]).toContain(
    'SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,',
  );
  const writing = await sign(`${table.path}/sign`, { method: 'PUT', uri, headers: { 'content-md5': 'x' } });
  expect(writing.headers.get('cache-control')).toBe('no-cache');
});

test('presigned addresses say when they end, and have no headers of their own', async () => {
  const table = await create('presigned');
  await openStorage(table.location, minio.key).write(`${table.location}/data/one`, Buffer.from('one'));
  const requests = [
    { method: 'GET', uri: `${table.uri}/data/one` },
    { method: 'PUT', uri: `${table.uri}/data/two`, headers: { 'content-type': 'text/plain' } },
  ];
  const answer = await sign(`${table.path}/sign`, { requests });
  const [reading, writing] = answer.body['presigned'] as unknown as {
    uri: string;
    headers: Record<string, string>;
    'expires-at-ms': number;
  }[];
  expect(reading?.uri.startsWith(`${table.uri}/data/one?`)).toBe(true);
  expect(reading?.headers).toEqual({});
  expect(writing?.headers).toEqual({ 'content-type': 'text/plain' });
  const lifeMs = (reading?.['expires-at-ms'] ?? 0) - Date.now();
  expect(lifeMs).toBeGreaterThan(800_000);
  expect(lifeMs).toBeLessThanOrEqual(900_000);
  const fetched = await fetch(reading?.uri ?? '');
  expect(await fetched.text()).toBe('one');
  const many = Array.from({ length: 1_001 }, () => requests[0]);
  expect((await sign(`${table.path}/sign`, { requests: many })).status).toBe(400);
});

describe('is refused', () => {
  let table: Table;
  beforeAll(async () => {
    table = await create('refused');
  });
  const one = (changed: object): Promise<RestAnswer> =>
    sign(`${table.path}/sign`, { method: 'GET', uri: `${table.uri}/data/one`, headers: {}, ...changed });

  test.each([
    ['no method', { method: null }, 400],
    ['a method that no store has', { method: 'BREW' }, 400],
    ['no URI', { uri: null }, 400],
    ['a URI that is none', { uri: 'not a uri' }, 400],
    ['headers that are none', { headers: ['x'] }, 400],
    ['a header with a line end', { headers: { 'x-amz-meta-a': 'a\r\nb: c' } }, 400],
    ['a header twice', { headers: { 'X-Amz-Meta-A': '1', 'x-amz-meta-a': '2' } }, 400],
    ['another provider', { provider: 'gcs' }, 400],
    ['another host', { uri: 'http://127.0.0.1:1/warehouse/x' }, 403],
    ['the bucket itself', { uri: 'BUCKET' }, 403],
    ['a deletion of many without its body', { method: 'POST', uri: 'BUCKET?delete' }, 400],
    ['a deletion of many with a broken body', { method: 'POST', uri: 'BUCKET?delete', body: '<Delete' }, 400],
    ['a list of a folder with ..', { uri: 'BUCKET?list-type=2&prefix=PREFIX%2F..%2Fx%2F' }, 400],
    ['a version', { uri: 'OBJECT?versionId=1' }, 403],
    ['the rights of an object', { method: 'PUT', uri: 'OBJECT?acl' }, 403],
    ['a list that gives rights', { method: 'PUT', headers: { 'x-amz-acl': 'public-read' } }, 403],
    ['a lock', { method: 'PUT', headers: { 'x-amz-object-lock-mode': 'COMPLIANCE' } }, 403],
    ['a copy of a version', { method: 'PUT', headers: { 'x-amz-copy-source': 'SOURCE?versionId=1' } }, 403],
  ])('%s', async (_name, changed, status) => {
    const text = JSON.stringify(changed)
      .replaceAll('BUCKET', `${minio.endpoint}/warehouse`)
      .replaceAll('PREFIX', encodeURIComponent(table.location.slice('s3://warehouse/'.length)))
      .replaceAll('OBJECT', `${table.uri}/data/one`)
      .replaceAll('SOURCE', `/${table.location.slice('s3://'.length)}/data/one`);
    expect((await one(JSON.parse(text) as object)).status).toBe(status);
  });
});

test('from the moment that a drop, a rename or a lost right is acknowledged nothing is signed for it', async () => {
  const dropped = await create('dropped');
  expect((await signGet(dropped)).status).toBe(200);
  await catalog.rest('DELETE', dropped.path);
  expect((await signGet(dropped)).status).toBe(404);
  const byLocation = { method: 'GET', uri: `${dropped.uri}/data/one`, headers: {} };
  expect((await sign('/v1/aws/s3/sign', byLocation)).status).toBe(404);
  const anew = await create('dropped');
  expect((await sign(`${anew.path}/sign`, byLocation)).status).toBe(403);
  const moved = await create('moved');
  const ident = (name: string): object => ({ namespace: ['s'], name });
  await catalog.rest('POST', '/v1/cloud/tables/rename', {
    body: { source: ident('moved'), destination: ident('there') },
  });
  expect((await signGet(moved)).status).toBe(404);
  expect((await sign('/v1/aws/s3/sign', { method: 'GET', uri: `${moved.uri}/data/one`, headers: {} })).status).toBe(
    200,
  );
  const reader = await catalog.mint({ scope: ['table:read', 'table:data'] });
  await catalog.sql(`update catalog.principal set session_epoch = session_epoch + 1 where username = 'admin'`);
  await expect.poll(async () => (await signGet(anew, reader)).status).toBe(401);
  const poor = await catalog.mint({ scope: ['table:read', 'table:write'] });
  expect((await signGet(anew, poor)).status).toBe(403);
});

describe('a store without temporary keys', () => {
  const answersOf = async (table: Table, method: string): Promise<Outcome> => {
    const token = await catalog.mint();
    const uri = `${table.uri}/data/one`;
    const answer = await sign(`${table.path}/sign`, { method, uri, headers: {} }, token);
    if (answer.status !== 200) return { status: answer.status, body: JSON.stringify(answer.body) };
    const headers = answer.body['headers'] as unknown as Record<string, readonly string[]>;
    const target = uri.slice(minio.endpoint.length);
    const all = Object.fromEntries(Object.entries(headers).map(([name, [value = '']]) => [name, value]));
    return sendRaw(minio.endpoint, { method, target, headers: all, ...(method === 'PUT' ? { body: 'two' } : {}) });
  };

  test('has signatures to read for who asks for both ways; to write only when a check found it safe', async () => {
    const token = await catalog.mint();
    const path = '/v1/plain/namespaces/s/tables';
    const made = await catalog.rest('POST', path, { body: { name: 't', schema: SCHEMA }, token });
    const location = locationOf(made);
    const table = { path: `${path}/t`, location, uri: `${minio.endpoint}/${location.slice('s3://'.length)}` };
    const asked = await catalog.rest('GET', table.path, {
      token,
      headers: { 'X-Iceberg-Access-Delegation': 'vended-credentials,remote-signing' },
    });
    expect(asked.body['config']).toMatchObject({ 's3.remote-signing-enabled': 'true' });
    await openStorage(location, minio.key).write(`${location}/data/one`, Buffer.from('one'));
    expect(await answersOf(table, 'GET')).toEqual({ status: 200, body: 'one' });
    const refused = await answersOf(table, 'PUT');
    expect([refused.status, refused.body]).toEqual([403, expect.stringContaining('admin catalog check')]);
    // This store obeys a source that was not signed: the check says so, and nothing changes.
    const { checks } = await catalog.call<{ checks: readonly { name: string; problem: string }[] }>('CheckCatalog', {
      name: 'plain',
    });
    const unsigned = checks.find(({ name }) => name === 'refused: a copy whose source was not signed');
    expect(unsigned?.problem).toBe('it was not refused');
    expect((await answersOf(table, 'PUT')).status).toBe(403);
    await catalog.sql(
      `update catalog.storage_profile p set settings = settings || '{"refusesUnsignedCopies": true}', version = version + 1
       from catalog.catalog c where c.id = p.catalog_id and c.name = 'plain'`,
    );
    expect((await answersOf(table, 'PUT')).status).toBe(200);
    expect(await answersOf(table, 'GET')).toEqual({ status: 200, body: 'two' });
  });
});

test('PyIceberg writes and reads with signatures alone', async () => {
  const seen: unknown = JSON.parse(
    await pythonIn('signing', 'test/bucket/pyiceberg_signed.py', catalog.running.url, await catalog.mint(), 'cloud'),
  );
  expect(seen).toEqual({ rows: [1, 2, 3], appended: [1, 2, 3, 4], kept: [1, 3, 4], io: 'FsspecFileIO' });
}, 300_000);
