import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStorage } from '#shared/storage/open-storage.ts';
import { startBucketCatalog, type BucketCatalog } from '#test/support/bucket-catalog.ts';
import type { TestCatalog } from '#test/support/catalog.ts';
import { locationOf } from '#test/support/catalog-requests.ts';
import { MINIO_BUILD_MS } from '#test/support/minio.ts';
import { startSpark } from '#test/support/spark.ts';
import { hasDone } from './engine-matrix.ts';

let store: BucketCatalog;
let catalog: TestCatalog;

beforeAll(async () => {
  store = await startBucketCatalog();
  ({ catalog } = store);
}, MINIO_BUILD_MS);

afterAll(() => store?.[Symbol.asyncDispose]());

test.each([
  ['vended-credentials', 'vended credentials'],
  ['remote-signing', 'signatures'],
] as const)(
  'Spark creates, writes, reads and deletes in a bucket by %s',
  async (delegation, way) => {
    await using spark = await startSpark(catalog.running.url, catalog.token, { warehouse: 'cloud', delegation });
    const schema = `lake.s_${delegation.replace('-', '_')}`;
    await spark.sql(`CREATE NAMESPACE ${schema}`);
    await spark.sql(`CREATE TABLE ${schema}.t (a BIGINT) USING iceberg`);
    await spark.sql(`INSERT INTO ${schema}.t SELECT id FROM range(1000)`);
    await spark.sql(`DELETE FROM ${schema}.t WHERE a >= 500`);
    expect(await spark.sql(`SELECT count(*), sum(a) FROM ${schema}.t`)).toEqual([[500, 124750]]);
    const answer = await catalog.rest('GET', `/v1/cloud/namespaces/${schema.slice('lake.'.length)}/tables/t`);
    const location = locationOf(answer);
    const storage = openStorage(location, store.minio.key);
    await storage.write(`${location}/data/orphan.parquet`, Buffer.from('x'));
    const removed = await spark.sql(
      `CALL lake.system.remove_orphan_files(table => '${schema.slice('lake.'.length)}.t', prefix_listing => true, older_than => TIMESTAMP '2099-01-01 00:00:00')`,
    );
    expect(removed).toEqual([[`${location}/data/orphan.parquet`]]);
    expect(await storage.exists(`${location}/data/orphan.parquet`)).toBe(false);
    expect(await spark.sql(`SELECT count(*), sum(a) FROM ${schema}.t`)).toEqual([[500, 124750]]);
    // Spark deletes the files of a purge after the drop, when nothing is signed for the table any more.
    await spark.sql(`DROP TABLE ${schema}.t${way === 'signatures' ? '' : ' PURGE'}`);
    const does = `create, write, read, delete, \`remove_orphan_files\`${way === 'signatures' ? '' : ', `DROP ... PURGE`'}`;
    hasDone('Spark 4.1, Iceberg 1.11', way, does);
  },
  600_000,
);
