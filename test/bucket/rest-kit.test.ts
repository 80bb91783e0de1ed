import { expect, test } from 'vitest';
import { addBucketCatalog } from '#test/support/bucket-catalog.ts';
import { startTestCatalog } from '#test/support/catalog.ts';
import { startMinio } from '#test/support/minio.ts';
import { runKit } from '#test/support/rest-kit.ts';

/** The Iceberg REST Compatibility Kit over a catalog in a bucket: its client has the files by vended credentials. */

/** It moves a local file. */
const LOCAL = 'testLoadTableWithMissingMetadataFile';
/**
 * They replace a table by one at another place, and write there before the commit. A key opens the folders that a table has or had, so
 * that their client needs a key of its own.
 */
const MOVING = ['testCompleteCreateOrReplaceTransactionReplace', 'testCompleteReplaceTransaction'];
const TESTS = 157;

test('every test of the kit passes over a bucket, but for the one that moves a local file', async () => {
  await using minio = await startMinio();
  await minio.makeBucket('warehouse');
  await using catalog = await startTestCatalog();
  await addBucketCatalog(catalog, minio, { name: 'cloud', location: 's3://warehouse/lake' });
  const properties = {
    uri: catalog.running.url,
    warehouse: 'cloud',
    token: catalog.token,
    'io-impl': 'org.apache.iceberg.aws.s3.S3FileIO',
  };
  const vended = { ...properties, 'header.X-Iceberg-Access-Delegation': 'vended-credentials' };
  const { tests, output } = await runKit('bucket', vended);
  expect(tests.length, output).toBe(TESTS);
  expect(
    tests
      .filter(({ state }) => state === 'failed')
      .map(({ name }) => name)
      .filter((name) => !name.startsWith(LOCAL))
      .toSorted(),
    output,
  ).toEqual(MOVING);
  // The kit wants a catalog without namespaces.
  await using other = await startTestCatalog();
  await addBucketCatalog(other, minio, { name: 'cloud', location: 's3://warehouse/lake' });
  const { endpoint, key } = minio;
  const own = {
    ...properties,
    uri: other.running.url,
    token: other.token,
    's3.endpoint': endpoint,
    's3.path-style-access': 'true',
    's3.access-key-id': key.accessKeyId,
    's3.secret-access-key': key.secretAccessKey,
    'client.region': key.region,
  };
  const moving = await runKit(
    'bucket',
    own,
    MOVING.map((name) => `BucketCatalogTests#${name}`),
  );
  expect(moving.tests.map(({ name, state }) => `${name} ${state}`).toSorted(), moving.output).toEqual(
    MOVING.map((name) => `${name} passed`),
  );
}, 900_000);
