import { randomUUID } from 'node:crypto';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startBucketCluster } from '#test/support/bucket-cluster.ts';
import { settingsEnv, type StartedCluster } from '#test/support/cluster.ts';
import { startMinio, type Minio } from '#test/support/minio.ts';
import { orderDifferences, orderedAnswer } from '#test/support/ordered-answer.ts';
import { loadTpcds, tpcdsQueries } from '#test/tpcds/tpcds.ts';

/** TPC-DS over a bucket, with garbage in place of all bytes of objects that were not fetched. */
let minio: Minio;
let cluster: StartedCluster;
let duckdb: DuckDBConnection;
const SESSION = randomUUID();

beforeAll(async () => {
  minio = await startMinio();
  await minio.makeBucket('warehouse');
  cluster = await startBucketCluster(minio, {
    endpoint: minio.endpoint,
    env: settingsEnv({ 'worker.object_ranges': 'poisoned', 'worker.row_cache_memory': '0' }),
  });
  duckdb = await (await DuckDBInstance.create()).connect();
  await loadTpcds('0.01', { cluster, duckdb, sessionId: SESSION });
});

afterAll(async () => {
  duckdb?.closeSync();
  await cluster?.stop();
  await minio?.[Symbol.asyncDispose]();
});

describe.each(['auto', 'force'])('distribution %s', async (distribution) => {
  test.each(await tpcdsQueries())('$name', async ({ sql }) => {
    await cluster.sql(`SET skein.distribution = '${distribution}'`, { sessionId: SESSION });
    const rows = await cluster.sql(sql, { sessionId: SESSION, timeoutMs: 120_000 });
    expect(orderDifferences(rows, await orderedAnswer(duckdb, sql))).toBeNull();
  });
});
