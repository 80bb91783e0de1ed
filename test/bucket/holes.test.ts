import { randomUUID } from 'node:crypto';
import { readFile, readdir, stat } from 'node:fs/promises';
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadFixture } from '#test/slt/fixture.ts';
import { ClusterEngine } from '#test/slt/cluster-engine.ts';
import { runSlt } from '#test/slt/run-slt.ts';
import { parseSlt } from '#test/slt/slt-file.ts';
import { startBucketCluster } from '#test/support/bucket-cluster.ts';
import { projectRoot, settingsEnv, type StartedCluster } from '#test/support/cluster.ts';
import { differences } from '#test/support/compare-rows.ts';
import { MINIO_BUILD_MS, startMinio, type Minio } from '#test/support/minio.ts';
import { startStoreProxy, type StoreProxy } from '#test/support/store-proxy.ts';
import { tpchAnswers } from '#test/support/tpch-duckdb.ts';
import { TPCH_QUERIES } from '#test/tpch/tpch-queries.ts';

/** Bytes of objects that were not fetched are garbage here: DuckDB reads none of them. */
let minio: Minio;
let proxy: StoreProxy;
let cluster: StartedCluster;

beforeAll(async () => {
  minio = await startMinio();
  await minio.makeBucket('warehouse');
  proxy = await startStoreProxy(minio.endpoint);
  cluster = await startBucketCluster(minio, {
    endpoint: proxy.endpoint,
    env: settingsEnv({ 'worker.object_ranges': 'poisoned', 'worker.row_cache_memory': '0' }),
  });
  await cluster.load(['tpch', '--scale', '0.01']);
  await loadFixture(cluster);
}, MINIO_BUILD_MS);

afterAll(async () => {
  await cluster?.stop();
  await proxy?.[Symbol.asyncDispose]();
  await minio?.[Symbol.asyncDispose]();
});

describe.each(['auto', 'force'])('distribution %s', (distribution) => {
  test('TPC-H has the answers of plain DuckDB', async () => {
    const answers = tpchAnswers();
    const sessionId = randomUUID();
    try {
      await cluster.sql('USE lake.tpch', { sessionId });
      await cluster.sql(`SET skein.distribution = '${distribution}'`, { sessionId });
      for (const { name, sql } of TPCH_QUERIES) {
        expect(differences(await cluster.sql(sql, { sessionId }), await answers.rows(sql)), name).toBeNull();
      }
    } finally {
      await answers.close();
    }
  });

  for (const file of globSync(join(projectRoot, 'test/slt/both/*.slt')).sort()) {
    test(`${basename(file)} has its answers`, async () => {
      const engine = new ClusterEngine(cluster, randomUUID());
      await engine.run(`SET skein.distribution = '${distribution}'`);
      const records = parseSlt(await readFile(file, 'utf8'), {}).map((record) =>
        record.kind === 'query' && !/\border\s+by\b/i.test(record.sql)
          ? ({ ...record, sort: 'rowsort' } as const)
          : record,
      );
      expect(await runSlt(records, engine)).toEqual([]);
    });
  }
});

test('there is garbage, where nobody has read', async () => {
  const names = (await readdir(cluster.dataDir, { recursive: true })).filter((name) => /kept\/.*\.data$/.test(name));
  let garbage = 0;
  for (const name of names) {
    const path = join(cluster.dataDir, name);
    if ((await stat(path)).size > 2_000_000) continue;
    if ((await readFile(path)).includes(Buffer.alloc(64, 0xa5))) garbage += 1;
  }
  expect(garbage).toBeGreaterThan(3);
});
