import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { settingsEnv, type StartedCluster } from '#test/support/cluster.ts';
import { OTHER_STORE_MS, OTHER_STORES, type OtherStore } from '#test/support/other-stores.ts';
import { patience } from '#test/support/run/slowness.ts';
import { processHolds } from '#test/support/process-memory.ts';
import { serviceLogs } from '#test/support/service-logs.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { startStoreProxy, type StoreProxy } from '#test/support/store-proxy.ts';

/** Every statement asks the store again. */
const NO_CACHES = settingsEnv({ 'worker.disk_cache_size': '0', 'worker.row_cache_memory': '0' });

/** Every statement that ends well is right, and so is the table afterwards; one that does not has an SQLSTATE. */
async function workUnderFaults(cluster: StartedCluster, proxy: StoreProxy): Promise<void> {
  await cluster.sql('CREATE TABLE lake.default.faulty (i BIGINT)');
  const [written, unknown] = [new Set<number>(), new Set<number>()];
  const work = async (i: number): Promise<boolean> => {
    const read = await cluster.query('SELECT count(*), sum(i), max(k) FROM lake.default.t', { timeoutMs: 60_000 });
    if (read.status === 200) expect(read.body.rows).toEqual([[90_002, '4499969997', 100]]);
    const { status, body } = await cluster.query(`INSERT INTO lake.default.faulty VALUES (${i})`, {
      timeoutMs: 60_000,
    });
    if (status === 200) written.add(i);
    else if (body.error === 'COMMIT_STATE_UNKNOWN') unknown.add(i);
    for (const one of [read, { status, body }]) {
      if (one.status !== 200) expect(one.body.sql_state, one.body.message).toMatch(/^[0-9A-Z]{5}$/);
    }
    return read.status === 200 && status === 200;
  };
  proxy.takeCounts();
  proxy.set({ refused: 0.1, cut: 0.1 });
  let well = 0;
  for (let i = 0; i < 5; i++) well += (await work(i)) ? 1 : 0;
  expect(well).toBeGreaterThanOrEqual(4);
  expect(proxy.takeCounts().faults).toBeGreaterThan(5);
  proxy.set({ altered: 0.05 });
  await work(10);
  proxy.set({});
  await proxy.closePort();
  const away = sleep(5_000).then(() => proxy.openPort());
  await work(20);
  await away;
  const found = (await cluster.sql('SELECT i FROM lake.default.faulty')).map(([i]) => Number(i));
  expect(found.filter((i) => !unknown.has(i)).toSorted((a, b) => a - b)).toEqual([...written]);
}

/** Only the catalog opens the long-lived key: no other service holds it, and no file or list does. */
async function requireHidden(cluster: StartedCluster, key: string): Promise<void> {
  for (const { kind, pid } of await cluster.services()) {
    if (kind === 'worker' || kind === 'coordinator') expect(await processHolds(pid, key), kind).toBe(false);
  }
  // The search finds what is there.
  expect(await processHolds(await cluster.pidOf('catalog'), key)).toBe(true);
  expect(await cluster.cliOk(['admin', 'catalog', 'list', '--json'])).not.toContain(key);
  for (const name of await readdir(cluster.dataDir, { recursive: true })) {
    const bytes = await readFile(join(cluster.dataDir, name)).catch(() => Buffer.alloc(0));
    expect(bytes.includes(key), name).toBe(false);
  }
}

/** A key that a client gets is told in the log, with all that it opens; no key itself is. */
async function requireLogged(cluster: StartedCluster, store: OtherStore): Promise<void> {
  await cluster.catalog('GET', '/v1/lake/namespaces/default/tables/t/credentials');
  const told = async (): Promise<string> =>
    (await serviceLogs(cluster)).split('\n').find((line) => line.includes('a key for the files of a table')) ?? '';
  await expect.poll(told, { timeout: patience(5_000) }).toContain('"table":"lake.default.t"');
  expect((await told()).includes('the key opens the whole container')).toBe(store.root.startsWith('abfss:'));
  const logs = await serviceLogs(cluster);
  for (const secret of store.secrets()) expect(logs.includes(secret), secret.slice(0, 6)).toBe(false);
}

test.each(Object.entries(OTHER_STORES))(
  'skein up --storage makes the first catalog in a bucket of %s, and all of a table lies there',
  async (_name, start) => {
    await using store = await start();
    await using proxy = await startStoreProxy(must(store.credential.endpoint, 'an emulator has an address'));
    const flags = store.flags.map((flag, i) => (store.flags[i - 1] === '--endpoint' ? proxy.endpoint : flag));
    const root = `${store.root}/first`;
    await using cluster = await startOwnCluster({
      args: ['--storage', root, ...flags],
      env: { ...store.env, ...NO_CACHES },
    });
    await cluster.sql('CREATE TABLE lake.default.t AS SELECT i, i % 10 AS k FROM range(100000) AS r(i)');
    await cluster.sql('INSERT INTO lake.default.t VALUES (-1, -1), (-2, -2)');
    await cluster.sql('DELETE FROM lake.default.t WHERE k = 3');
    await cluster.sql('UPDATE lake.default.t SET k = 100 WHERE i < 0');
    expect(await cluster.sql('SELECT count(*), sum(i), max(k) FROM lake.default.t')).toEqual([
      [90_002, '4499969997', 100],
    ]);
    const found = (await Array.fromAsync(openStorage(root, store.credential).list(root))).flat();
    expect(found.some((one) => one.endsWith('.parquet'))).toBe(true);
    expect(found.some((one) => one.endsWith('.avro'))).toBe(true);
    const lines = (await cluster.cliOk(['admin', 'catalog', 'check', 'lake'])).trim().split('\n');
    expect(lines.filter((line) => !line.startsWith('ok '))).toEqual([]);
    expect(lines.length).toBeGreaterThan(10);
    await workUnderFaults(cluster, proxy);
    await requireHidden(cluster, store.longLived);
    expect(await cluster.cliOk(['admin', 'secrets', 'rotate'])).toContain('1 secrets are encrypted with a new key');
    expect(await cluster.sql('SELECT count(*) FROM lake.default.t')).toEqual([[90_002]]);
    await requireLogged(cluster, store);
    await cluster.sql('DROP TABLE lake.default.t');
  },
  OTHER_STORE_MS,
);
