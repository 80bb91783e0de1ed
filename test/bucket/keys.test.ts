import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBucketCluster, makeBucketCatalog, type BucketCluster } from '#test/support/bucket-catalog.ts';
import type { StartedCluster } from '#test/support/cluster.ts';
import { MINIO_BUILD_MS, type Minio } from '#test/support/minio.ts';
import { processHolds } from '#test/support/process-memory.ts';

let store: BucketCluster;
let minio: Minio;
let cluster: StartedCluster;

beforeAll(async () => {
  store = await startBucketCluster();
  ({ minio, cluster } = store);
}, MINIO_BUILD_MS);

afterAll(() => store?.[Symbol.asyncDispose]());

test('check says that the bucket does what it must, and that keys are refused beyond their folder', async () => {
  const lines = (await cluster.cliOk(['admin', 'catalog', 'check', 'cloud'])).trim().split('\n');
  expect(lines.every((line) => line.startsWith('ok '))).toBe(true);
  expect(lines).toHaveLength(17);
  expect(lines.some((line) => line.endsWith('refused: a copy of what lies beside'))).toBe(true);
});

test('a wrong key fails the checks, and none is told', async () => {
  await makeBucketCatalog(
    cluster,
    { ...minio, key: { ...minio.key, secretAccessKey: 'not-the-secret-of-the-store' } },
    {
      name: 'wrong',
      location: 's3://warehouse/wrong',
    },
  );
  const { code, stdout } = await cluster.cli(['admin', 'catalog', 'check', 'wrong']);
  expect(code).toBe(1);
  expect(stdout).toContain('FAILED  list');
  expect(stdout).not.toContain('not-the-secret-of-the-store');
});

test('the long-lived secret is in no file of the data directory, no list and no environment', async () => {
  await cluster.sql('CREATE SCHEMA cloud.k');
  await cluster.sql('CREATE TABLE cloud.k.t AS SELECT i FROM range(10) AS r(i)');
  await cluster.sql('SELECT sum(i) FROM cloud.k.t');
  const secret = minio.key.secretAccessKey;
  const listed = await cluster.cliOk(['admin', 'catalog', 'list', '--json']);
  expect(listed).toContain('s3://warehouse/lake');
  expect(listed).not.toContain(secret);
  for (const name of await readdir(cluster.dataDir, { recursive: true })) {
    const text = await readFile(join(cluster.dataDir, name)).catch(() => Buffer.alloc(0));
    expect(text.includes(secret), name).toBe(false);
  }
  expect(cluster.log).not.toContain(secret);
});

test('no worker and no coordinator has the long-lived secret, in memory, environment or command line', async () => {
  await cluster.sql('CREATE TABLE cloud.k.more AS SELECT * FROM cloud.k.t');
  const services = await cluster.services();
  const pids = services.filter(({ kind }) => kind === 'worker' || kind === 'coordinator').map(({ pid }) => pid);
  expect(pids.length).toBeGreaterThanOrEqual(3);
  for (const pid of pids) expect(await processHolds(pid, minio.key.secretAccessKey), String(pid)).toBe(false);
  // The search finds what is there: the catalog opens the bucket with it.
  expect(await processHolds(await cluster.pidOf('catalog'), minio.key.secretAccessKey)).toBe(true);
});

test('a new key of the file encrypts the secrets again, and the bucket opens as before', async () => {
  expect(await cluster.cliOk(['admin', 'secrets', 'rotate'])).toContain('2 secrets are encrypted with a new key');
  expect(await cluster.sql('SELECT sum(i) FROM cloud.k.t')).toEqual([['45']]);
  await cluster.sql('INSERT INTO cloud.k.t VALUES (100)');
  expect(await cluster.sql('SELECT sum(i) FROM cloud.k.t')).toEqual([['145']]);
});
