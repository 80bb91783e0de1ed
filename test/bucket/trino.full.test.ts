import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBucketCatalog, type BucketCatalog } from '#test/support/bucket-catalog.ts';
import { MINIO_BUILD_MS } from '#test/support/minio.ts';
import { startTrino } from '#test/support/trino.ts';
import { hasDone } from './engine-matrix.ts';

let store: BucketCatalog;

beforeAll(async () => {
  store = await startBucketCatalog();
}, MINIO_BUILD_MS);

afterAll(() => store?.[Symbol.asyncDispose]());

test('Trino creates, writes, reads and deletes in a bucket by vended credentials', async () => {
  const { minio, catalog } = store;
  const inBucket = { warehouse: 'cloud', endpoint: minio.endpoint };
  await using trino = await startTrino(catalog.running.url, catalog.token, inBucket);
  await trino.sql('CREATE SCHEMA lake.tr');
  await trino.sql('CREATE TABLE lake.tr.t (a BIGINT)');
  await trino.sql('INSERT INTO lake.tr.t SELECT n FROM UNNEST(sequence(0, 999)) AS r (n)');
  await trino.sql('DELETE FROM lake.tr.t WHERE a >= 500');
  await trino.sql('CREATE TABLE lake.tr.u AS SELECT a + 1 AS a FROM lake.tr.t');
  expect(await trino.sql('SELECT count(*), sum(a) FROM lake.tr.t')).toEqual([[500, 124750]]);
  expect(await trino.sql('SELECT count(*), sum(a) FROM lake.tr.u')).toEqual([[500, 125250]]);
  await trino.sql('DROP TABLE lake.tr.t');
  hasDone('Trino 476', 'vended credentials', 'create, write, read, delete');
}, 900_000);
