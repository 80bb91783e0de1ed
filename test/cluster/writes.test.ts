import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { queryId } from '#shared/id.ts';
import type { Cluster, QueryAnswer } from '#test/support/cluster.ts';
import { python } from '#test/support/python.ts';
import { filesBelow, hasLocalFiles, sharedCluster } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';

const SCHEMA = 'lake.writes';
const sessionId = randomUUID();
let cluster: Cluster;

const sql = (text: string, timeoutMs?: number): Promise<QueryAnswer> =>
  cluster.query(text, { sessionId, ...(timeoutMs === undefined ? {} : { timeoutMs }) });

async function ok(text: string): Promise<QueryAnswer['body']> {
  const { status, body } = await sql(text);
  if (status !== 200) throw new Error(`${text}: ${body.error} ${body.message}`);
  return body;
}

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await ok(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`);
});
afterAll(async () => {
  for (const table of ['kinds', 'made', 'failing', 'orders'])
    await sql(`DROP TABLE IF EXISTS ${SCHEMA}.${table} PURGE`);
  await sql(`DROP SCHEMA ${SCHEMA}`);
});

/** Every file of a table but its metadata documents. */
async function filesOf(table: string): Promise<readonly string[]> {
  const { body } = await cluster.catalog('GET', `/v1/lake/namespaces/writes/tables/${table}`);
  const { location } = (body as { metadata: { location: string } }).metadata;
  return (await filesBelow(location)).filter((file) => /\.(?:parquet|avro)$/.test(file));
}

type Inspected = {
  readonly rows: number;
  readonly mismatches: readonly unknown[];
  readonly snapshots: readonly string[];
};

const inspect = async (...tables: readonly string[]): Promise<readonly (Inspected | undefined)[]> => {
  const names = tables.map((table) => `writes.${table}`);
  const text = await python('cli/load/inspect-tables.py', cluster.catalogUrl, await cluster.token(), 'lake', ...names);
  const found = JSON.parse(text) as Record<string, Inspected>;
  return names.map((name) => found[name]);
};

describe('INSERT', () => {
  test.runIf(hasLocalFiles())('PyIceberg reads every row, and finds each in the partition of its file', async () => {
    await ok(`CREATE TABLE ${SCHEMA}.kinds (id BIGINT NOT NULL, name VARCHAR, price DECIMAL(12, 3), at TIMESTAMPTZ, day DATE,
      ratio DOUBLE, tags VARCHAR[], more STRUCT(a INTEGER, b VARCHAR)) PARTITIONED BY (bucket(3, name), month(day), truncate(10, id))
      WITH ('commit.manifest.min-count-to-merge' = '2')`);
    const rows = `SELECT i, 'n' || i % 7, i * 1.005, TIMESTAMPTZ '1969-12-31 23:00:00+00' + to_hours(i::INT), DATE '2023-12-30' + (i % 40)::INT,
      CASE WHEN i % 5 = 0 THEN 'nan'::DOUBLE ELSE -0.0 END, ['a', NULL], {a: i, b: 'x'} FROM range(60) t(i)`;
    expect((await ok(`INSERT INTO ${SCHEMA}.kinds ${rows}`)).rows).toEqual([[60]]);
    expect((await ok(`INSERT INTO ${SCHEMA}.kinds (id) VALUES (1), (2)`)).rows).toEqual([[2]]);
    // Merges the manifests of the first two.
    expect((await ok(`INSERT INTO ${SCHEMA}.kinds (id) VALUES (3)`)).rows).toEqual([[1]]);
    expect((await ok(`SELECT count(*) FROM ${SCHEMA}."kinds$manifests"`)).rows).toEqual([[2]]);
    const made = 'PARTITIONED BY (month(o_orderdate)) AS SELECT * FROM lake.tpch.orders';
    expect(
      (await ok(`CREATE TABLE ${SCHEMA}.made AS SELECT o_orderkey AS k, 'x' AS x FROM lake.tpch.orders`)).rows,
    ).toEqual([[15_000]]);
    expect((await ok(`CREATE OR REPLACE TABLE ${SCHEMA}.made ${made}`)).rows).toEqual([[15_000]]);
    const two = [expect.anything(), expect.anything()];
    expect(await inspect('kinds', 'made')).toMatchObject([
      { rows: 63, mismatches: [], snapshots: [...two, expect.anything()] },
      { rows: 15_000, mismatches: [], snapshots: two },
    ]);
    const { rows: same } = await ok(`SELECT count(*) FROM (SELECT * FROM ${SCHEMA}.kinds INTERSECT ALL (${rows}))`);
    expect(same).toEqual([[60]]);
  });

  test('the tasks of the last stage write, each its files', async () => {
    await ok(`CREATE TABLE ${SCHEMA}.orders (k BIGINT, n BIGINT)`);
    await ok(`SET skein.distribution = 'force'`);
    await ok(`SET skein.partitions = 2`);
    const query = `SELECT o_custkey, count(*) FROM lake.tpch.orders GROUP BY ALL`;
    const { rows } = await ok(`SELECT count(*) FROM (${query})`);
    expect((await ok(`INSERT INTO ${SCHEMA}.orders ${query}`)).rows).toEqual(rows);
    await ok(`RESET skein.distribution`);
    expect((await filesOf('orders')).filter((file) => file.endsWith('.parquet'))).toHaveLength(2);
    expect((await ok(`SELECT count(*) FROM ${SCHEMA}.orders`)).rows).toEqual(rows);
  });

  test('a statement that fails, or is cancelled, leaves no file and no snapshot', async () => {
    await ok(`CREATE TABLE ${SCHEMA}.failing (i BIGINT NOT NULL, t VARCHAR) PARTITIONED BY (truncate(100000, i))`);
    const nulls = await sql(`INSERT INTO ${SCHEMA}.failing SELECT nullif(i, 900000), 'x' FROM range(1000000) t(i)`);
    expect(nulls.body).toMatchObject({ error: 'NOT_NULL_VIOLATION', sql_state: '23502' });
    expect(nulls.body.message).toContain('column i is NOT NULL');
    expect(await filesOf('failing')).toEqual([]);
    const id = queryId(randomUUID());
    const running = cluster.query(
      `INSERT INTO ${SCHEMA}.failing SELECT i, md5(i::VARCHAR) FROM range(100000000) t(i)`,
      {
        queryId: id,
      },
    );
    // Objects of a bucket are there when they are whole.
    if (hasLocalFiles()) await expect.poll(() => filesOf('failing'), { timeout: patience(20_000) }).not.toEqual([]);
    else await sleep(5_000);
    await fetch(`${cluster.queryUrl}/api/query/${id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${await cluster.token()}` },
    });
    expect((await running).body).toMatchObject({ error: 'QUERY_CANCELLED' });
    await expect.poll(() => filesOf('failing'), { timeout: patience(10_000) }).toEqual([]);
    expect((await ok(`SELECT count(*) FROM ${SCHEMA}.failing`)).rows).toEqual([[0]]);
  });
});
