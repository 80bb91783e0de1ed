import { afterAll, beforeAll, expect, test } from 'vitest';
import { addBucketCatalog } from '#test/support/bucket-catalog.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { SCHEMA } from '#test/support/catalog-requests.ts';
import { compileJava, java } from '#test/support/java.ts';
import { MINIO_BUILD_MS, startMinio, type Minio } from '#test/support/minio.ts';
import { pythonIn } from '#test/support/python.ts';
import { icebergClasspath } from '#test/support/rest-kit.ts';
import { startStoreProxy, type StoreProxy } from '#test/support/store-proxy.ts';
import { openTlsDoor, type TlsDoor } from '#test/support/tls-door.ts';
import { hasDone } from './engine-matrix.ts';
import { patience } from '#test/support/run/slowness.ts';

/** The libraries beneath engines: what they do that no engine shows. */

let minio: Minio;
let proxy: StoreProxy;
let door: TlsDoor;
let catalog: TestCatalog;

beforeAll(async () => {
  minio = await startMinio();
  await minio.makeBucket('warehouse');
  proxy = await startStoreProxy(minio.endpoint);
  door = await openTlsDoor(minio.endpoint);
  catalog = await startTestCatalog();
  const ofProxy = { endpoint: proxy.endpoint, key: minio.key };
  await addBucketCatalog(catalog, ofProxy, { name: 'brief', location: 's3://warehouse/brief' });
  const settings = { 'internal-endpoint': minio.endpoint };
  const ofDoor = { endpoint: door.endpoint, key: minio.key };
  await addBucketCatalog(catalog, ofDoor, { name: 'secure', location: 's3://warehouse/secure', settings });
  for (const name of ['brief', 'secure']) {
    await catalog.rest('POST', `/v1/${name}/namespaces`, { body: { namespace: ['s'] } });
    const made = await catalog.rest('POST', `/v1/${name}/namespaces/s/tables`, { body: { name: 't', schema: SCHEMA } });
    expect(made.status).toBe(200);
  }
}, MINIO_BUILD_MS);

afterAll(async () => {
  await catalog?.[Symbol.asyncDispose]();
  await door?.[Symbol.asyncDispose]();
  await proxy?.[Symbol.asyncDispose]();
  await minio?.[Symbol.asyncDispose]();
});

/** Runs the Java client for some seconds. @returns the number of objects */
async function runJava(warehouse: string, seconds: number, way: string): Promise<number> {
  const classpath = await icebergClasspath();
  const classes = await compileJava('test/bucket/OutlivingClient.java', classpath);
  const args = [catalog.running.url, catalog.token, warehouse, 's.t', String(seconds), way];
  const { code, stdout, stderr } = await java(`${classes}:${classpath}`, {}, ['OutlivingClient', ...args]);
  expect(code, stderr.slice(-3_000)).toBe(0);
  return Number(stdout);
}

test('Iceberg’s Java library outlives a key that ends sooner than it renews keys', async () => {
  proxy.setKeyLife(8_000);
  try {
    proxy.takeCounts();
    expect(await runJava('brief', 25, 'vended-credentials')).toBeGreaterThan(10);
    expect(proxy.takeCounts().keys).toBeGreaterThanOrEqual(3);
  } finally {
    proxy.setKeyLife(null);
  }
  hasDone('Iceberg’s Java library 1.11 (S3FileIO)', 'vended credentials', 'write, read, delete, beyond a key’s end');
}, 300_000);

test('Iceberg’s Java library has each request signed', async () => {
  const seconds = Math.ceil(patience(8_000) / 1_000);
  expect(await runJava('brief', seconds, 'remote-signing')).toBeGreaterThan(1);
  hasDone('Iceberg’s Java library 1.11 (S3FileIO)', 'signatures', 'write, read, delete');
}, 300_000);

test.each([
  ['vended-credentials', 'vended credentials', 'write, read, delete'],
  ['remote-signing', 'signatures', 'write, read'],
] as const)(
  'botocore’s default checksums, as trailers over https, by %s',
  async (header, way, does) => {
    const args = [catalog.running.url, catalog.token, 'secure', 's', 't', door.endpoint, door.authority, header];
    const seen: unknown = JSON.parse(await pythonIn('signing', 'test/bucket/botocore_checksums.py', ...args));
    expect(seen).toEqual({
      default: ['x-amz-checksum-crc32', true, true],
      sha256: ['x-amz-checksum-sha256', true, true],
      parts: true,
      ...(way === 'signatures' ? {} : { deleted: 3 }),
    });
    hasDone('botocore 1.40, default checksums', way, does);
  },
  300_000,
);
