import { expect, test } from 'vitest';
import { openStorage } from '#shared/storage/open-storage.ts';
import { OTHER_STORE_MS, OTHER_STORES } from '#test/support/other-stores.ts';
import { startOwnCluster } from '#test/support/resources.ts';

test.each(Object.entries(OTHER_STORES))(
  'skein up --storage makes the first catalog in a bucket of %s, and all of a table lies there',
  async (_name, start) => {
    await using store = await start();
    const root = `${store.root}/first`;
    await using cluster = await startOwnCluster({ args: ['--storage', root, ...store.flags], env: store.env });
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
    await cluster.sql('DROP TABLE lake.default.t');
    for (const secret of store.secrets()) expect(cluster.log).not.toContain(secret);
  },
  OTHER_STORE_MS,
);
