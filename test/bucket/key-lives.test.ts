import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromKeyMessage } from '#shared/task/bucket-key.ts';
import type { Stage } from '#proto/generated/skein/catalog/v1/Stage.ts';
import type { StageUpload } from '#proto/generated/skein/catalog/v1/StageUpload.ts';
import { must } from '#shared/must.ts';
import type { S3Credential } from '#shared/storage/credential.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { S3Client } from '#shared/storage/s3/s3-client.ts';
import { openUploads } from '#shared/storage/s3/s3-uploads.ts';
import { addBucketCatalog } from '#test/support/bucket-catalog.ts';
import { startTestCatalog, type RestAnswer, type TestCatalog } from '#test/support/catalog.ts';
import { SCHEMA } from '#test/support/catalog-requests.ts';
import { MINIO_BUILD_MS, startMinio, type Minio } from '#test/support/minio.ts';
import { startStsRelay, type StsRelay } from '#test/support/sts-relay.ts';
import { patience } from '#test/support/run/slowness.ts';

/** How long keys live, what ends them, and that a stage's opens this stage alone. */

const VENDED = { 'X-Iceberg-Access-Delegation': 'vended-credentials' };

let minio: Minio;
let sts: StsRelay;
let catalog: TestCatalog;

beforeAll(async () => {
  minio = await startMinio();
  await minio.makeBucket('warehouse');
  sts = await startStsRelay(minio.endpoint);
  catalog = await startTestCatalog({ 'catalog.background_interval': 200 });
  const settings = { 'sts-endpoint': sts.endpoint };
  await addBucketCatalog(catalog, minio, { name: 'cloud', location: 's3://warehouse/lake', settings });
  await catalog.rest('POST', '/v1/cloud/namespaces', { body: { namespace: ['s'] } });
}, MINIO_BUILD_MS);

afterAll(async () => {
  await catalog?.[Symbol.asyncDispose]();
  await sts?.[Symbol.asyncDispose]();
  await minio?.[Symbol.asyncDispose]();
});

const create = (name: string, more: object = {}, of = 'cloud'): Promise<RestAnswer> =>
  catalog.rest('POST', `/v1/${of}/namespaces/s/tables`, { body: { name, schema: SCHEMA, ...more } });
const configOf = async (name: string, of = 'cloud'): Promise<Readonly<Record<string, string>>> => {
  const answer = await catalog.rest('GET', `/v1/${of}/namespaces/s/tables/${name}`, { headers: VENDED });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body['config'] as Readonly<Record<string, string>>;
};

test('whoever loads a table again has another key in time: never one with less than a third of its life', async () => {
  await create('renewed');
  sts.shortenTo(6_000);
  try {
    const ids = new Set<string | undefined>();
    const endMs = performance.now() + 9_000;
    while (performance.now() < endMs) {
      const askedAtMs = Date.now();
      const config = await configOf('renewed');
      ids.add(config['s3.access-key-id']);
      expect(Number(config['s3.session-token-expires-at-ms']) - askedAtMs).toBeGreaterThan(1_800);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(ids.size).toBeGreaterThanOrEqual(2);
  } finally {
    sts.shortenTo(null);
  }
});

test('a key that comes to its last third is asked for once for all who load the table, and serves until it ends while STS gives no other', async () => {
  await create('together');
  // Sixteen loads take less than its last third.
  const lifeMs = patience(20_000);
  sts.shortenTo(lifeMs);
  try {
    const ids = async (): Promise<readonly (string | undefined)[]> =>
      (await Promise.all(Array.from({ length: 8 }, () => configOf('together')))).map(
        (config) => config['s3.access-key-id'],
      );
    await expect.poll(async () => new Set(await ids()).size).toBe(1);
    const config = await configOf('together');
    const first = config['s3.access-key-id'];
    const inLastThirdMs = Number(config['s3.session-token-expires-at-ms']) - 0.32 * lifeMs;
    await new Promise((resolve) => setTimeout(resolve, inLastThirdMs - Date.now()));
    sts.widen(() => Promise.resolve('no key'));
    expect(new Set([...(await ids()), ...(await ids())])).toEqual(new Set([first]));
    sts.widen(null);
    const { made } = sts;
    const renewed = new Set(await ids());
    expect([renewed.size, renewed.has(first), sts.made - made]).toEqual([1, false, 1]);
  } finally {
    sts.widen(null);
    sts.shortenTo(null);
  }
});

test('a policy that STS finds too large once packed: no key, and the load says so', async () => {
  const refusing = createServer((_incoming, outgoing) => {
    outgoing
      .writeHead(400, { 'content-type': 'text/xml' })
      .end('<ErrorResponse><Error><Code>PackedPolicyTooLarge</Code></Error></ErrorResponse>');
  });
  refusing.listen(0, '127.0.0.1');
  await once(refusing, 'listening');
  try {
    const settings = { 'sts-endpoint': `http://127.0.0.1:${(refusing.address() as AddressInfo).port}` };
    await addBucketCatalog(catalog, minio, { name: 'packed', location: 's3://warehouse/packed', settings });
    await catalog.rest('POST', '/v1/packed/namespaces', { body: { namespace: ['s'] } });
    await create('t', {}, 'packed');
    const config = await configOf('t', 'packed');
    expect(config['skein.vended-credentials']).toBe('unavailable');
    expect(Object.keys(config).filter((name) => /access-key|token/.test(name))).toEqual([]);
    expect((await catalog.rest('GET', '/v1/packed/namespaces/s/tables/t/credentials')).status).toBe(406);
  } finally {
    refusing.close();
  }
});

test('a root that the operator has taken away since: no key and no signature for the table that lies there', async () => {
  const roots = (allow: readonly string[], disallow: readonly string[]): Promise<unknown> =>
    catalog.call('AlterCatalog', { name: 'cloud', allow_roots: allow, disallow_roots: disallow, undrop_window_ms: -1 });
  const root = 's3://warehouse/extra';
  await roots([root], []);
  const location = `${root}/table`;
  expect((await create('moved_away', { location })).status).toBe(200);
  expect((await configOf('moved_away'))['s3.access-key-id']).toBeDefined();
  await roots([], [root]);
  expect((await configOf('moved_away'))['s3.access-key-id']).toBeUndefined();
  const uri = `${minio.endpoint}/warehouse/extra/table/data/x`;
  const signed = await catalog.rest('POST', '/v1/cloud/namespaces/s/tables/moved_away/sign', {
    body: { method: 'GET', uri, headers: {} },
  });
  expect(signed.status).toBeGreaterThanOrEqual(400);
  expect(signed.body['headers']).toBeUndefined();
});

const stageOf = async (name: string, action: 'stage.read' | 'stage.write'): Promise<Stage> =>
  catalog.call<Stage>('OpenStage', {
    principal: catalog.principal(),
    action,
    catalog: 'cloud',
    namespace: ['s'],
    name,
  });
const createStage = (name: string): Promise<unknown> =>
  catalog.rest('POST', '/v1/cloud/namespaces/s/stages', { body: { name, properties: {} } });

test('the key of a stage opens this stage, and no other one, no table and no upload of the bucket', async () => {
  for (const name of ['one', 'two']) await createStage(name);
  await create('beside');
  const two = await stageOf('two', 'stage.write');
  const one = await stageOf('one', 'stage.write');
  const key = fromKeyMessage(must(one.key, 'a stage in a bucket has a key'));
  const own = openStorage(one.location, key);
  await own.write(`${one.location}/a`, Buffer.from('a'));
  const other = fromKeyMessage(must(two.key, 'a stage in a bucket has a key'));
  await openStorage(two.location, other).write(`${two.location}/b`, Buffer.from('b'));
  const refused = { code: 'STORAGE_ERROR' };
  await expect(own.read(`${two.location}/b`, 10)).rejects.toMatchObject(refused);
  await expect(own.write(`${two.location}/c`, Buffer.from('c'))).rejects.toMatchObject(refused);
  await expect(own.place(`${two.location}/b`, `${one.location}/stolen`)).rejects.toThrow();
  await expect(Array.fromAsync(own.list('s3://warehouse/lake/.stages'))).rejects.toMatchObject(refused);
  await expect(Array.fromAsync(own.list('s3://warehouse/lake'))).rejects.toMatchObject(refused);
  await expect(openUploads(new S3Client(key as S3Credential), 'warehouse', '')).rejects.toThrow('403');
  const reading = await stageOf('one', 'stage.read');
  const reader = openStorage(one.location, fromKeyMessage(must(reading.key, 'it has a key')));
  expect(String(await reader.read(`${one.location}/a`, 10))).toBe('a');
  await expect(reader.write(`${one.location}/d`, Buffer.from('d'))).rejects.toMatchObject(refused);
});

test('an upload whose id at the store nobody could keep is aborted when its time is over, and no other one of its file', async () => {
  await createStage('brief');
  const stage = await stageOf('brief', 'stage.write');
  const begin = (upload_id: string): Promise<StageUpload> =>
    catalog.call<StageUpload>('BeginUpload', {
      principal: catalog.principal(),
      stage_id: stage.id,
      upload_id,
      path: 'a/b.bin',
      part_bytes: '5242880',
      size_bytes: '-1',
      at_store: true,
    });
  const [lost, kept] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'] as const;
  await begin(lost);
  const { store_upload_id: keptAtStore } = await begin(kept);
  const key = `${stage.location.slice('s3://warehouse/'.length)}/a/b.bin`;
  const open = (): ReturnType<typeof openUploads> => openUploads(new S3Client(minio.key), 'warehouse', key);
  expect(await open()).toHaveLength(2);
  // Its time has second parts at the store.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  await catalog.sql(`update catalog.stage_upload set store_upload_id = null, expires_at = now() where id = '${lost}'`);
  await expect
    .poll(async () => (await open()).map(({ uploadId }) => uploadId), { timeout: patience(20_000) })
    .toEqual([keptAtStore]);
});

test('the files of a stage whose catalog was dropped stay in the bucket, and nobody looks for them for ever', async () => {
  await addBucketCatalog(catalog, minio, { name: 'doomed', location: 's3://warehouse/doomed' });
  const own = { principal: catalog.principal(), action: 'stage.write', catalog: 'doomed', namespace: [], name: '' };
  const { id, location, key } = await catalog.call<Stage>('OpenStage', own);
  const storage = openStorage(location, fromKeyMessage(must(key, 'it has a key')));
  await storage.write(`${location}/a`, Buffer.from('a'));
  expect((await catalog.rest('DELETE', '/v1/catalogs/doomed')).status).toBe(204);
  const rows = (): Promise<readonly unknown[]> => catalog.sql(`select from catalog.stage where id = '${id}'`);
  await expect.poll(async () => (await rows()).length, { timeout: patience(20_000) }).toBe(0);
  expect(await openStorage(location, minio.key).exists(`${location}/a`)).toBe(true);
});
