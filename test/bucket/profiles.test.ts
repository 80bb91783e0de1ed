import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStorage } from '#shared/storage/open-storage.ts';
import { isWithin } from '#shared/storage/location.ts';
import { addBucketCatalog } from '#test/support/bucket-catalog.ts';
import { errorOf, SCHEMA } from '#test/support/catalog-requests.ts';
import { startTestCatalog, type RestAnswer, type TestCatalog } from '#test/support/catalog.ts';
import { MINIO_BUILD_MS, startMinio, type Minio } from '#test/support/minio.ts';

/** Catalogs that clients make below a place in a bucket that the operator has named. */

let minio: Minio;
let catalog: TestCatalog;
let folder: string;
let rival: string;

beforeAll(async () => {
  minio = await startMinio();
  await minio.makeBucket('warehouse');
  folder = await mkdtemp(join(tmpdir(), 'skein-profiles-'));
  const { accessKeyId, secretAccessKey } = minio.key;
  const credentials = join(folder, 'key.yaml');
  await writeFile(credentials, `access_key_id: ${accessKeyId}\nsecret_access_key: ${secretAccessKey}\n`);
  const store = { flavor: 'minio', endpoint: minio.endpoint, credentials };
  catalog = await startTestCatalog({
    'catalog.storage_profiles': JSON.stringify({
      lake: { ...store, storage: 's3://warehouse/clients' },
      ours: { ...store, storage: 's3://warehouse/ours', tenants: 'default' },
      taken: { ...store, storage: 's3://warehouse/theirs/inside' },
      own: { ...store, storage: 's3://warehouse/mine/inside' },
      broken: { ...store, storage: 's3://warehouse/broken', credentials: join(folder, 'absent.yaml') },
    }),
  });
  await catalog.call('CreateTenant', { name: 'rival', admin_user: 'eve', admin_password: 'a long enough password' });
  rival = await catalog.mint({ tenant: 'rival', user: 'eve' });
  await addBucketCatalog(catalog, minio, { name: 'theirs', location: 's3://warehouse/theirs', tenant: 'rival' });
  await addBucketCatalog(catalog, minio, { name: 'mine', location: 's3://warehouse/mine' });
}, MINIO_BUILD_MS);

afterAll(async () => {
  await catalog?.[Symbol.asyncDispose]();
  await minio?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const create = (name: string, profile: unknown, token = catalog.token): Promise<RestAnswer> =>
  catalog.rest('POST', '/v1/catalogs', { body: { name, 'storage-profile': profile }, token });
const placeOf = ({ body }: RestAnswer): string => (body['storage-profile'] as { location: string }).location;

test('a catalog gets a prefix of its own below the profile’s, and its tables lie there', async () => {
  const made = await create('first', { name: 'lake' });
  expect(made.status, JSON.stringify(made.body)).toBe(200);
  const location = placeOf(made);
  expect(location).toMatch(/^s3:\/\/warehouse\/clients\/first-[0-9a-f-]{36}$/);
  await catalog.rest('POST', '/v1/first/namespaces', { body: { namespace: ['s'] } });
  const table = await catalog.rest('POST', '/v1/first/namespaces/s/tables', {
    body: { name: 't', schema: SCHEMA },
    headers: { 'X-Iceberg-Access-Delegation': 'vended-credentials' },
  });
  expect(table.body['storage-credentials']).toHaveLength(1);
  const found = (await Array.fromAsync(openStorage(location, minio.key).list(location))).flat();
  expect(found.some((one) => one.endsWith('.metadata.json'))).toBe(true);
  const { checks } = await catalog.call<{ checks: { problem: string }[] }>('CheckCatalog', { name: 'first' });
  expect(checks.map(({ problem }) => problem).filter((problem) => problem !== '')).toEqual([]);
});

test('no prefix encloses another, also under a name that comes again and of two tenants', async () => {
  const places = [
    placeOf(await create('again', { name: 'lake', type: 's3' })),
    placeOf(await create('again-', { name: 'lake' })),
    placeOf(await create('of_rival', { name: 'lake' }, rival)),
  ];
  await catalog.rest('DELETE', '/v1/catalogs/again');
  places.push(placeOf(await create('again', { name: 'lake' }, rival)));
  for (const one of places) {
    expect(places.filter((other) => other !== one && isWithin(other, one))).toEqual([]);
    expect(isWithin('s3://warehouse/clients', one)).toBe(false);
  }
  expect(new Set(places).size).toBe(4);
});

test.each(['taken', 'own'])('the place %s, which lies in another catalog’s, is refused', async (name) => {
  const [status, , message] = errorOf(await create('inside', { name }));
  expect([status, message]).toEqual([400, expect.stringContaining('cannot be used')]);
});

test('a profile is for its tenants: for others it is absent, word for word', async () => {
  expect((await create('ours', { name: 'ours' })).status).toBe(200);
  const absent = errorOf(await create('odd', { name: 'none' }, rival));
  expect(absent).toEqual([400, 'BadRequestException', 'no storage profile is named none']);
  expect(errorOf(await create('odd', { name: 'ours' }, rival))).toEqual([
    ...absent.slice(0, 2),
    absent[2].replace('none', 'ours'),
  ]);
  const reader = await catalog.mint({ scope: ['table:read'] });
  expect((await create('odd', { name: 'lake' }, reader)).status).toBe(403);
});

test.each([
  { name: '__proto__' },
  { name: 'toString' },
  { name: '' },
  { name: 5 },
  { name: 'lake', location: 's3://warehouse/clients/x' },
  { name: 'lake', type: 'file' },
  { name: 'lake', credentials: '/etc/passwd' },
  { location: 's3://warehouse/clients/x' },
])('%j is refused', async (profile) => {
  expect((await create('odd', profile)).status).toBe(400);
});

test('a profile without its file of the key is an error that does not name the file', async () => {
  const answer = await create('odd', { name: 'broken' });
  expect(answer.status).toBeGreaterThanOrEqual(500);
  expect(JSON.stringify(answer.body)).not.toContain('absent.yaml');
});

test('no secret is in an answer, a list or a row that is not sealed', async () => {
  const secret = minio.key.secretAccessKey;
  const answers = [
    await catalog.rest('GET', '/v1/catalogs'),
    await catalog.rest('GET', '/v1/catalogs/first'),
    await catalog.rest('GET', '/v1/config?warehouse=first'),
  ].map(({ body }) => JSON.stringify(body));
  const described = JSON.stringify(await catalog.call('DescribeCatalogs', { tenant: '' }));
  const rows = JSON.stringify(await catalog.sql('select * from catalog.storage_profile'));
  expect(described).toContain('s3://warehouse/clients/first-');
  expect([...answers, described, rows].filter((text) => text.includes(secret) || text.includes('key.yaml'))).toEqual(
    [],
  );
});

test.each([
  { lake: { storage: 's3://warehouse/x', flavor: 'minio', endpoint: 'http://127.0.0.1:1' } },
  { lake: { storage: 's3://warehouse/a//b', region: 'us-east-1' } },
  { lake: { storage: 's3://warehouse/x', flavor: 'odd' } },
])('a catalog does not start with %j', async (profiles) => {
  await expect(startTestCatalog({ 'catalog.storage_profiles': JSON.stringify(profiles) })).rejects.toMatchObject({
    code: 'INVALID_CONFIGURATION',
  });
});
