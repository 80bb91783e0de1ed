import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStorage } from '#shared/storage/open-storage.ts';
import { makeBucketCatalog } from '#test/support/bucket-catalog.ts';
import { settingsEnv, type StartedCluster } from '#test/support/cluster.ts';
import { MINIO_BUILD_MS, startMinio, type Minio } from '#test/support/minio.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { startStoreProxy, type StoreProxy } from '#test/support/store-proxy.ts';
import { patience } from '#test/support/run/slowness.ts';

/** The bytes that scans fetch, and those that the cache keeps of them: it has room for 8 MiB. */
let minio: Minio;
let proxy: StoreProxy;
let cluster: StartedCluster;

const ROWS = 1_200_000;
const MIB = 2 ** 20;

beforeAll(async () => {
  minio = await startMinio();
  await minio.makeBucket('warehouse');
  proxy = await startStoreProxy(minio.endpoint);
  cluster = await startOwnCluster({
    workers: 1,
    env: settingsEnv({
      'worker.row_cache_memory': '0',
      'worker.disk_cache_size': '8MiB',
      'worker.spill_limit': '12MiB',
    }),
  });
  await makeBucketCatalog(
    cluster,
    { ...minio, endpoint: proxy.endpoint },
    { name: 'cloud', location: 's3://warehouse/lake' },
  );
  await cluster.sql('CREATE SCHEMA cloud.r');
  await cluster.sql(`CREATE TABLE cloud.r.wide AS SELECT i AS id, i % 100 AS few, hash(i)::VARCHAR AS a, hash(i + 1)::VARCHAR AS b,
    hash(i + 2)::VARCHAR AS c FROM range(${ROWS}) AS r(i)`);
  await cluster.sql('CREATE TABLE cloud.r.small AS SELECT i AS id, hash(i) AS h FROM range(100000) AS r(i)');
}, MINIO_BUILD_MS);

afterAll(async () => {
  await cluster?.stop();
  await proxy?.[Symbol.asyncDispose]();
  await minio?.[Symbol.asyncDispose]();
});

const clear = (): Promise<string> => cluster.cliOk(['worker', 'cache', 'clear']);

async function counted(sql: string): Promise<{ readonly bytes: number; readonly requests: number }> {
  proxy.takeCounts();
  await cluster.sql(sql);
  const { readBytes, reads } = proxy.takeCounts();
  return { bytes: readBytes, requests: reads };
}

/** Bytes and number of the column chunks of some columns, and the number of files. */
async function chunksOf(
  table: string,
  columns: readonly string[],
): Promise<{ bytes: number; chunks: number; files: number }> {
  const storage = openStorage('s3://warehouse/lake', minio.key);
  const folder = await mkdtemp(join(tmpdir(), 'skein-ranges-'));
  const duckdb = await (await DuckDBInstance.create()).connect();
  try {
    const { body } = await cluster.catalog('GET', `/v1/cloud/namespaces/r/tables/${table}`);
    const { location } = (body as { metadata: { location: string } }).metadata;
    let files = 0;
    for await (const page of storage.listFiles(`${location}/data`)) {
      for (const file of page) {
        await writeFile(join(folder, `${files++}.parquet`), await storage.readRange(file.location, 0, file.sizeBytes));
      }
    }
    const rows = await duckdb.runAndReadAll(`SELECT sum(total_compressed_size)::BIGINT, count(*)
      FROM parquet_metadata('${folder}/*.parquet') WHERE path_in_schema IN (${columns.map((one) => `'${one}'`).join()})`);
    const [[bytes, chunks] = []] = rows.getRows();
    return { bytes: Number(bytes), chunks: Number(chunks), files };
  } finally {
    duckdb.closeSync();
    await rm(folder, { recursive: true });
  }
}

test('only the columns that are read are fetched, each once, in no more requests than there are chunks and two a file', async () => {
  await clear();
  const first = await chunksOf('wide', ['few']);
  // The list of files is no part of a scan.
  await cluster.sql('EXPLAIN SELECT sum(few) FROM cloud.r.wide');
  const sum = await counted('SELECT sum(few) FROM cloud.r.wide');
  expect(sum.bytes).toBeGreaterThanOrEqual(first.bytes);
  expect(sum.bytes).toBeLessThanOrEqual(first.bytes * 1.1 + first.files * 65_536);
  expect(sum.requests).toBeLessThanOrEqual(first.chunks + 2 * first.files);
  expect((await counted('SELECT max(few) FROM cloud.r.wide')).bytes).toBe(0);
  const second = await chunksOf('wide', ['id']);
  const both = await counted('SELECT sum(few + id) FROM cloud.r.wide');
  expect(both.bytes).toBeGreaterThanOrEqual(second.bytes);
  expect(both.bytes).toBeLessThanOrEqual(second.bytes * 1.1 + second.files * 65_536);
});

test('row groups that the predicate leaves out are not fetched', async () => {
  await clear();
  const whole = await chunksOf('wide', ['id', 'a']);
  const some = await counted('SELECT max(a) FROM cloud.r.wide WHERE id BETWEEN 700000 AND 701000');
  expect(some.bytes).toBeLessThan(whole.bytes * 0.35);
});

test('any ten rows take one group of rows', async () => {
  await clear();
  const whole = await chunksOf('wide', ['id', 'few', 'a', 'b', 'c']);
  expect((await cluster.sql('SELECT * FROM cloud.r.wide LIMIT 10')).length).toBe(10);
  await clear();
  expect((await counted('SELECT * FROM cloud.r.wide LIMIT 10 OFFSET 5')).bytes).toBeLessThan(whole.bytes * 0.35);
});

test('a scan that is larger than the cache leaves in it what is read often', async () => {
  await clear();
  const small = 'SELECT sum(h) FROM cloud.r.small';
  for (let i = 0; i < 4; i++) {
    await cluster.sql(small);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
  }
  const large = await counted('SELECT count(DISTINCT id) FROM cloud.r.wide');
  expect(large.bytes).toBeGreaterThan(MIB);
  expect((await counted(small)).bytes).toBe(0);
});

test('objects that the cache has no room for are spill: SPILL_LIMIT names the table, and they are gone afterwards', async () => {
  await clear();
  const { status, body } = await cluster.query('SELECT max(a), max(b), max(c) FROM cloud.r.wide');
  expect([status === 200, body.sql_state, body.message]).toEqual([
    false,
    '53100',
    expect.stringContaining('cloud.r.wide') as string,
  ]);
  const inUse = async (): Promise<readonly string[]> =>
    (await readdir(cluster.dataDir, { recursive: true })).filter((name) => /held\/.*\.parquet/.test(name));
  await expect.poll(inUse, { timeout: patience(2_000) }).toEqual([]);
  expect(await cluster.sql('SELECT max(few), count(*) FROM cloud.r.wide')).toEqual([[99, ROWS]]);
});
