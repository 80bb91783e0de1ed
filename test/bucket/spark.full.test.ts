import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBucketCatalog, type BucketCatalog } from '#test/support/bucket-catalog.ts';
import type { TestCatalog } from '#test/support/catalog.ts';
import { projectRoot } from '#test/support/cluster.ts';
import { MINIO_BUILD_MS } from '#test/support/minio.ts';
import { startSpark } from '#test/support/spark.ts';

let store: BucketCatalog;
let catalog: TestCatalog;

beforeAll(async () => {
  store = await startBucketCatalog();
  ({ catalog } = store);
}, MINIO_BUILD_MS);

afterAll(() => store?.[Symbol.asyncDispose]());

test.each(['vended-credentials', 'remote-signing'])(
  'Spark creates, writes, reads and deletes in a bucket by %s',
  async (way) => {
    await using spark = await startSpark(catalog.running.url, catalog.token, { warehouse: 'cloud', delegation: way });
    const schema = `lake.s_${way.replace('-', '_')}`;
    await spark.sql(`CREATE NAMESPACE ${schema}`);
    await spark.sql(`CREATE TABLE ${schema}.t (a BIGINT) USING iceberg`);
    await spark.sql(`INSERT INTO ${schema}.t SELECT id FROM range(1000)`);
    await spark.sql(`DELETE FROM ${schema}.t WHERE a >= 500`);
    expect(await spark.sql(`SELECT count(*), sum(a) FROM ${schema}.t`)).toEqual([[500, 124750]]);
    // Spark deletes the files after the drop, when nothing is signed for the table any more.
    await spark.sql(`DROP TABLE ${schema}.t${way === 'remote-signing' ? '' : ' PURGE'}`);
    const readme = await readFile(join(projectRoot, 'catalog/README.md'), 'utf8');
    const does =
      way === 'remote-signing'
        ? 'create, write, read, delete; no `DROP TABLE ... PURGE`'
        : 'create, write, read, delete';
    expect(readme).toContain(
      `| Spark 4.1, Iceberg 1.11 | ${way === 'remote-signing' ? 'signatures' : 'vended credentials'} | ${does} |`,
    );
  },
  600_000,
);
