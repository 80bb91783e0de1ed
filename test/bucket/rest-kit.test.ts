import { expect, test } from 'vitest';
import { addBucketCatalog } from '#test/support/bucket-catalog.ts';
import { startTestCatalog } from '#test/support/catalog.ts';
import { startMinio } from '#test/support/minio.ts';
import { runKit } from '#test/support/rest-kit.ts';

/** The Iceberg REST Compatibility Kit over a catalog in a bucket: its client has the files by vended credentials alone. */

/** It moves a local file. */
const LOCAL = 'testLoadTableWithMissingMetadataFile';
const TESTS = 157;

test('every test of the kit passes over a bucket, but for the one that moves a local file', async () => {
  await using minio = await startMinio();
  await minio.makeBucket('warehouse');
  await using catalog = await startTestCatalog();
  await addBucketCatalog(catalog, minio, { name: 'cloud', location: 's3://warehouse/lake' });
  const { tests, output } = await runKit('bucket', {
    uri: catalog.running.url,
    warehouse: 'cloud',
    token: catalog.token,
    'io-impl': 'org.apache.iceberg.aws.s3.S3FileIO',
    'header.X-Iceberg-Access-Delegation': 'vended-credentials',
  });
  expect(tests.length, output).toBe(TESTS);
  const failed = tests.filter(({ state, name }) => state === 'failed' && !name.startsWith(LOCAL));
  expect(failed.map(({ suite, name, ...one }) => [suite, name, 'text' in one ? one.text.slice(0, 500) : ''])).toEqual(
    [],
  );
}, 900_000);
