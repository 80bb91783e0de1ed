import { afterAll, beforeAll, expect, test } from 'vitest';
import { addBucketCatalog } from '#test/support/bucket-catalog.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { MINIO_BUILD_MS, startMinio, type Minio } from '#test/support/minio.ts';
import { startTrino } from '#test/support/trino.ts';
import { hasDone } from './engine-matrix.ts';

let minio: Minio;
let catalog: TestCatalog;

beforeAll(async () => {
  minio = await startMinio();
  await minio.makeBucket('warehouse');
  catalog = await startTestCatalog();
  await addBucketCatalog(catalog, minio, { name: 'cloud', location: 's3://warehouse/lake' });
}, MINIO_BUILD_MS);

afterAll(async () => {
  await catalog?.[Symbol.asyncDispose]();
  await minio?.[Symbol.asyncDispose]();
});

test('Trino creates, writes, reads and deletes in a bucket by vended credentials', async () => {
  const inBucket = { warehouse: 'cloud', endpoint: minio.endpoint };
  await using trino = await startTrino(catalog.running.url, catalog.token, inBucket);
  await trino.sql('CREATE SCHEMA lake.s');
  await trino.sql('CREATE TABLE lake.s.t (a BIGINT)');
  await trino.sql('INSERT INTO lake.s.t SELECT n FROM UNNEST(sequence(0, 999)) AS r (n)');
  await trino.sql('DELETE FROM lake.s.t WHERE a >= 500');
  await trino.sql('CREATE TABLE lake.s.u AS SELECT a + 1 AS a FROM lake.s.t');
  expect(await trino.sql('SELECT count(*), sum(a) FROM lake.s.t')).toEqual([[500, 124750]]);
  expect(await trino.sql('SELECT count(*), sum(a) FROM lake.s.u')).toEqual([[500, 125250]]);
  await trino.sql('DROP TABLE lake.s.t');
  hasDone('Trino 476', 'vended credentials', 'create, write, read, delete');
}, 900_000);
