import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { settingsEnv, type StartedCluster } from '#test/support/cluster.ts';
import { startFaultyCluster, type FaultyCluster } from '#test/support/faulty-cluster.ts';
import { OTHER_STORE_MS } from '#test/support/other-stores.ts';
import type { StoreProxy } from '#test/support/store-proxy.ts';
import { patience } from '#test/support/run/slowness.ts';

/** Faults of the store while the cache is filled, which has its usual size: what it keeps of them is right. `faults.test.ts` has no cache. */
let faulty: FaultyCluster;
let proxy: StoreProxy;
let cluster: StartedCluster;

const ROWS = 400_000;
const BASE = 'SELECT count(*), sum(id), count(DISTINCT text) FROM cloud.f.base';
const BASE_ROWS = [[ROWS, String((ROWS * (ROWS - 1)) / 2), ROWS]];

beforeAll(async () => {
  faulty = await startFaultyCluster({ workers: 1, seed: 5, env: settingsEnv({ 'worker.row_cache_memory': '0' }) });
  ({ proxy, cluster } = faulty);
  await cluster.sql('CREATE SCHEMA cloud.f');
  await cluster.sql(
    `CREATE TABLE cloud.f.base PARTITIONED BY (bucket(8, id)) AS SELECT i AS id, hash(i)::VARCHAR AS text FROM range(${ROWS}) AS r(i)`,
  );
}, OTHER_STORE_MS);

afterEach(async () => {
  proxy?.set({});
  await proxy?.openPort();
});

afterAll(() => faulty?.[Symbol.asyncDispose]());

/** Runs the query with nothing in the cache. @returns whether it was answered, with the right rows; else it has an SQLSTATE */
async function isAnswered(): Promise<boolean> {
  await cluster.cliOk(['worker', 'cache', 'clear']);
  const { status, body } = await cluster.query(BASE, { timeoutMs: 120_000 });
  if (status === 200) expect(body.rows).toEqual(BASE_ROWS);
  else expect(body.sql_state, String(body.message)).toMatch(/^[0-9A-Z]{5}$/);
  return status === 200;
}

/** The cache has right bytes: the first query fetches what is missing, the second one nothing. */
async function checkKept(): Promise<void> {
  proxy.set({});
  await proxy.openPort();
  expect(await cluster.sql(BASE)).toEqual(BASE_ROWS);
  proxy.takeCounts();
  expect(await cluster.sql(BASE)).toEqual(BASE_ROWS);
  expect(proxy.takeCounts().readBytes).toBeLessThan(100_000);
}

test('with one request in ten refused and one answer in ten cut', async () => {
  let well = 0;
  for (let i = 0; i < 10; i++) {
    proxy.takeCounts();
    proxy.set({ refused: 0.1, cut: 0.1 });
    if (await isAnswered()) well += 1;
    expect(proxy.takeCounts().readBytes).toBeGreaterThan(100_000);
    await checkKept();
  }
  expect(well).toBeGreaterThanOrEqual(9);
});

test('with bytes that the store alters', async () => {
  proxy.takeCounts();
  for (let i = 0; i < 6; i++) {
    proxy.set({ altered: 0.1 });
    await isAnswered();
    await checkKept();
  }
});

test('with a store that goes away for some seconds, and a worker that is killed meanwhile', async () => {
  proxy.set({ bytesPerSecond: 2e6 });
  const away = (async (): Promise<void> => {
    await sleep(1_000);
    await proxy.closePort();
    await sleep(1_000);
    process.kill(await cluster.pidOf('worker'), 'SIGKILL');
    await sleep(2_000);
    await proxy.openPort();
  })();
  await isAnswered();
  await away;
  await expect.poll(async () => (await cluster.query('SELECT 1')).status, { timeout: patience(30_000) }).toBe(200);
  await checkKept();
});
