import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStorage } from '#shared/storage/open-storage.ts';
import { startBucketCluster, objectsBelow, type BucketCluster } from '#test/support/bucket-catalog.ts';
import { projectRoot, settingsEnv, type StartedCluster } from '#test/support/cluster.ts';
import { differences } from '#test/support/compare-rows.ts';
import { MINIO_BUILD_MS, type Minio } from '#test/support/minio.ts';
import type { StoreProxy } from '#test/support/store-proxy.ts';
import { tpchAnswers } from '#test/support/tpch-duckdb.ts';
import { TPCH_QUERIES } from '#test/tpch/tpch-queries.ts';
import { patience } from '#test/support/run/slowness.ts';

let store: BucketCluster;
let minio: Minio;
let proxy: StoreProxy;
let cluster: StartedCluster;

beforeAll(async () => {
  store = await startBucketCluster({ env: settingsEnv({ 'coordinator.orphan_retention_min': '0s' }) });
  ({ minio, proxy, cluster } = store);
  await cluster.sql('CREATE SCHEMA cloud.s');
}, MINIO_BUILD_MS);

afterAll(() => store?.[Symbol.asyncDispose]());

test('rows are written to a bucket and read from it', async () => {
  await cluster.sql('CREATE TABLE cloud.s.t (id BIGINT, name VARCHAR)');
  await cluster.sql(`INSERT INTO cloud.s.t SELECT i, 'n' || i FROM range(10000) AS r(i)`);
  expect(await cluster.sql('SELECT count(*), sum(id) FROM cloud.s.t')).toEqual([[10000, '49995000']]);
  expect(await cluster.sql('SELECT name FROM cloud.s.t WHERE id = 4711')).toEqual([['n4711']]);
  const objects = await objectsBelow(minio, 's3://warehouse/lake');
  expect(objects.some((one) => one.endsWith('.parquet'))).toBe(true);
  expect(objects.some((one) => one.endsWith('.metadata.json'))).toBe(true);
});

test('rows change as in local files', async () => {
  await cluster.sql(
    `CREATE TABLE cloud.s.changed PARTITIONED BY (bucket(4, id)) AS SELECT i AS id, i * 2 AS v FROM range(1000) AS r(i)`,
  );
  await cluster.sql('DELETE FROM cloud.s.changed WHERE id % 10 = 0');
  await cluster.sql('UPDATE cloud.s.changed SET v = -1 WHERE id % 10 = 1');
  await cluster.sql(`MERGE INTO cloud.s.changed AS t USING (SELECT i AS id FROM range(995, 1005) AS r(i)) AS s ON t.id = s.id
    WHEN MATCHED THEN UPDATE SET v = 7 WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, 8)`);
  const sums = await cluster.sql('SELECT count(*), sum(id), sum(v) FROM cloud.s.changed');
  const expected = await cluster.sql(`WITH a AS (SELECT i AS id, CASE WHEN i % 10 = 1 THEN -1 ELSE i * 2 END AS v
      FROM range(1000) AS r(i) WHERE i % 10 <> 0)
    SELECT count(*), sum(id), sum(v) FROM (SELECT id, CASE WHEN id >= 995 THEN 7 ELSE v END AS v FROM a
      UNION ALL SELECT i, 8 FROM range(1000, 1005) AS r(i))`);
  expect(sums).toEqual(expected);
  await cluster.sql('OPTIMIZE cloud.s.changed');
  expect(await cluster.sql('SELECT count(*), sum(id), sum(v) FROM cloud.s.changed')).toEqual(expected);
});

test('a transaction sees its own rows, of a table that was there and of one that it makes, and all or none are there afterwards', async () => {
  await cluster.sql('CREATE TABLE cloud.s.booked AS SELECT i AS id FROM range(10) AS r(i)');
  for (const end of ['ROLLBACK', 'COMMIT']) {
    const sessionId = randomUUID();
    const sql = (text: string): Promise<readonly (readonly unknown[])[]> => cluster.sql(text, { sessionId });
    await sql('BEGIN');
    await sql('INSERT INTO cloud.s.booked VALUES (100)');
    await sql('DELETE FROM cloud.s.booked WHERE id < 5');
    expect(await sql('SELECT count(*), sum(id) FROM cloud.s.booked')).toEqual([[6, '135']]);
    await sql('CREATE TABLE cloud.s.made_inside AS SELECT id FROM cloud.s.booked');
    await sql('INSERT INTO cloud.s.made_inside VALUES (7)');
    expect(await sql('SELECT count(*) FROM cloud.s.made_inside')).toEqual([[7]]);
    await sql(end);
  }
  expect(await cluster.sql('SELECT count(*), sum(id) FROM cloud.s.booked')).toEqual([[6, '135']]);
  expect(await cluster.sql('SELECT count(*) FROM cloud.s.made_inside')).toEqual([[7]]);
});

test('a statement that fails leaves no object', async () => {
  await expect(
    cluster.sql(`CREATE TABLE cloud.s.failing AS SELECT i AS id, error('no') AS e FROM range(10) AS r(i)`),
  ).rejects.toThrow();
  expect((await objectsBelow(minio, 's3://warehouse/lake')).filter((one) => one.includes('failing'))).toEqual([]);
});

test('files of a stage go in and out', async () => {
  await cluster.sql('CREATE STAGE cloud.s.files');
  await cluster.sql(
    `COPY INTO @cloud.s.files/out/ FROM (SELECT i AS id, 'x' || i AS name FROM range(500) AS r(i)) FILE_FORMAT = (TYPE = csv)`,
  );
  const listed = await cluster.sql('LIST @cloud.s.files');
  expect(listed.length).toBeGreaterThan(0);
  await cluster.sql('CREATE TABLE cloud.s.loaded (id BIGINT, name VARCHAR)');
  await cluster.sql(`COPY INTO cloud.s.loaded FROM @cloud.s.files/out/ FILE_FORMAT = (TYPE = csv)`);
  expect(await cluster.sql('SELECT count(*), sum(id) FROM cloud.s.loaded')).toEqual([[500, '124750']]);
  await cluster.sql(`COPY INTO @cloud.s.files/pq/ FROM cloud.s.loaded FILE_FORMAT = (TYPE = parquet)`);
  expect(
    await cluster.sql(`SELECT count(*) FROM @cloud.s.files/pq/ (FILE_FORMAT => (TYPE = parquet))`).catch(String),
  ).toEqual([[500]]);
  await cluster.sql('TRUNCATE TABLE cloud.s.loaded');
  await cluster.sql(`COPY INTO cloud.s.loaded FROM @cloud.s.files/out/ FILE_FORMAT = (TYPE = csv) PURGE = TRUE`);
  expect(await cluster.sql('LIST @cloud.s.files/out')).toEqual([]);
  await cluster.sql('REMOVE @cloud.s.files');
  expect(await cluster.sql('LIST @cloud.s.files')).toEqual([]);
});

test('a dropped table that is purged leaves no object', async () => {
  await cluster.sql('CREATE TABLE cloud.s.gone AS SELECT 1 AS id');
  const { body } = await cluster.catalog('GET', '/v1/cloud/namespaces/s/tables/gone');
  const { location } = (body as { metadata: { location: string } }).metadata;
  expect((await objectsBelow(minio, location)).length).toBeGreaterThan(2);
  await cluster.sql('DROP TABLE cloud.s.gone PURGE');
  await expect.poll(() => objectsBelow(minio, location), { timeout: patience(20_000) }).toEqual([]);
});

test('snapshots that expire and orphans take their objects with them, by thousands, and nothing else', async () => {
  await cluster.sql('CREATE TABLE cloud.s.kept AS SELECT i AS id FROM range(100) AS r(i)');
  await cluster.sql('INSERT OVERWRITE cloud.s.kept SELECT i AS id FROM range(50) AS r(i)');
  const { body } = await cluster.catalog('GET', '/v1/cloud/namespaces/s/tables/kept');
  const { location } = (body as { metadata: { location: string } }).metadata;
  const data = async (): Promise<readonly string[]> =>
    (await objectsBelow(minio, location)).filter((one) => one.endsWith('.parquet'));
  const before = await data();
  await cluster.sql("ALTER TABLE cloud.s.kept EXECUTE expire_snapshots(retention_threshold => '0s')");
  expect((await data()).length).toBeLessThan(before.length);
  const storage = openStorage(location, minio.key);
  const orphans = Array.from({ length: 1_100 }, (_, i) => `${location}/data/orphan-${i}.parquet`);
  for (let at = 0; at < orphans.length; at += 50) {
    await Promise.all(orphans.slice(at, at + 50).map((one) => storage.write(one, Buffer.from('x'))));
  }
  const kept = (await data()).length - orphans.length;
  // Its time is one of whole seconds.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const removed = (threshold: string) =>
    cluster.sql(`ALTER TABLE cloud.s.kept EXECUTE remove_orphan_files(retention_threshold => '${threshold}')`);
  expect((await removed('10m'))[1]).toEqual(['deleted_files_count', 0]);
  proxy.takeCounts();
  expect((await removed('0s'))[1]).toEqual(['deleted_files_count', orphans.length]);
  // The list tells the time of each.
  expect(proxy.takeCounts().requests).toBeLessThan(100);
  expect(await data()).toHaveLength(kept);
  expect(await cluster.sql('SELECT count(*) FROM cloud.s.kept')).toEqual([[50]]);
});

const TABLES = ['customer', 'lineitem', 'nation', 'orders', 'part', 'partsupp', 'region', 'supplier'];

test('skein load writes into a bucket, and TPC-H has the answers of plain DuckDB', async () => {
  for (const table of TABLES) {
    const file = join(projectRoot, 'cli/load/tpch-0.01', `${table}.parquet`);
    await cluster.load(['parquet', file, '--table', `cloud.tpch.${table}`, '--create']);
  }
  const answers = tpchAnswers();
  try {
    const sessionId = randomUUID();
    await cluster.sql('USE cloud.tpch', { sessionId });
    for (const { name, sql } of TPCH_QUERIES) {
      expect(differences(await cluster.sql(sql, { sessionId }), await answers.rows(sql)), name).toBeNull();
    }
  } finally {
    await answers.close();
  }
});
