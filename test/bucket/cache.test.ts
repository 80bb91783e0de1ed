import { open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBucketCluster, type BucketCluster } from '#test/support/bucket-catalog.ts';
import { settingsEnv, type StartedCluster } from '#test/support/cluster.ts';
import { MINIO_BUILD_MS } from '#test/support/minio.ts';
import type { StoreProxy } from '#test/support/store-proxy.ts';

let store: BucketCluster;
let proxy: StoreProxy;
let cluster: StartedCluster;

const ROWS = 400_000;
const SUM = 'SELECT count(*), sum(id), count(DISTINCT text) FROM cloud.c.t';
const ROWS_OF_SUM = [[ROWS, String((ROWS * (ROWS - 1)) / 2), ROWS]];

beforeAll(async () => {
  store = await startBucketCluster({ workers: 1, env: settingsEnv({ 'worker.row_cache_memory': '0' }) });
  ({ proxy, cluster } = store);
  await cluster.sql('CREATE SCHEMA cloud.c');
  await cluster.sql(`CREATE TABLE cloud.c.t AS SELECT i AS id, hash(i)::VARCHAR AS text FROM range(${ROWS}) AS r(i)`);
}, MINIO_BUILD_MS);

afterAll(() => store?.[Symbol.asyncDispose]());

/** Bytes that a query reads from the store. */
async function readBytes(): Promise<number> {
  proxy.takeCounts();
  expect(await cluster.sql(SUM)).toEqual(ROWS_OF_SUM);
  return proxy.takeCounts().readBytes;
}

async function restartWorker(): Promise<void> {
  const pid = await cluster.pidOf('worker');
  process.kill(pid, 'SIGKILL');
  await expect
    .poll(() => cluster.query('SELECT 1').then(({ status }) => status === 200 && cluster.workers()[0]?.pid !== pid), {
      timeout: 60_000,
    })
    .toBe(true);
}

async function keptFiles(): Promise<readonly string[]> {
  const names = await readdir(cluster.dataDir, { recursive: true });
  return names.filter((name) => /kept\/.*\.data$/.test(name)).map((name) => join(cluster.dataDir, name));
}

test('what was read once is not fetched again, also after a restart', async () => {
  const cold = await readBytes();
  expect(cold).toBeGreaterThan(2_000_000);
  expect(await readBytes()).toBeLessThan(cold * 0.02);
  await restartWorker();
  expect(await readBytes()).toBeLessThan(cold * 0.15);
});

test('a copy that has changed or is torn is fetched again', async () => {
  for (const fault of ['changed', 'torn']) {
    const [path = ''] = await keptFiles();
    await using file = await open(path, 'r+');
    if (fault === 'torn') await file.truncate(1_000_000);
    else await file.write(Buffer.from('other bytes'), 0, 11, 500_000);
    await restartWorker();
    expect(await readBytes()).toBeGreaterThan(2_000_000);
  }
});

test('skein worker cache clear empties it, and queries go on', async () => {
  expect((await keptFiles()).length).toBeGreaterThan(0);
  const lines = (await cluster.cliOk(['worker', 'cache', 'clear'])).trim().split('\n');
  const cleared = lines.map((line) => JSON.parse(line) as { worker: string; deleted_bytes: number });
  expect(cleared).toEqual([{ worker: 'worker-1', deleted_bytes: expect.any(Number) as number }]);
  expect(cleared[0]?.deleted_bytes).toBeGreaterThan(2_000_000);
  expect(await keptFiles()).toEqual([]);
  expect(await readBytes()).toBeGreaterThan(2_000_000);
  const { code, stderr } = await cluster.cli(['worker', 'cache', 'clear', 'nobody']);
  expect([code === 0, stderr]).toEqual([false, expect.stringContaining('no worker is named nobody') as string]);
});

/** The copies without compression. */
async function copies(): Promise<readonly string[]> {
  const names = await readdir(cluster.dataDir, { recursive: true });
  return names.filter((name) => /copies\/.*\.parquet$/.test(name));
}

test('an object that queries read again and again comes whole, and is read from a copy without compression', async () => {
  await cluster.cliOk(['worker', 'cache', 'clear']);
  const large = 'SELECT count(*)::INT FROM cloud.c."t$files" WHERE file_size_in_bytes > 1048576';
  const [[files] = []] = await cluster.sql(large);
  // Less than all columns: the rest of the object is fetched beside the queries.
  const some = 'SELECT count(*), count(DISTINCT text) FROM cloud.c.t';
  await expect
    .poll(
      async () => {
        expect(await cluster.sql(some)).toEqual([[ROWS, ROWS]]);
        return (await copies()).length;
      },
      { timeout: 60_000, interval: 300 },
    )
    .toBe(files);
  // The objects themselves are needed no more.
  for (const path of await keptFiles()) await rm(path);
  expect(await readBytes()).toBeLessThan(100_000);
  expect(await keptFiles()).toEqual([]);
});
