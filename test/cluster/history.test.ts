import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';

type Row = Readonly<Record<string, string | number | Date | null>>;

let cluster: Cluster;
let client: Client;

beforeAll(async () => {
  const shared = await sharedCluster();
  cluster = shared.cluster;
  client = new Client({ connectionString: shared.databaseUrl });
  await client.connect();
});

afterAll(async () => {
  await client?.end();
});

/** The record of a query, once it has a terminal status. */
async function record(queryId: string): Promise<Row> {
  for (let i = 0; i < 100; i++) {
    const { rows } = await client.query<Row>('select * from coordinator.query_history where query_id = $1', [queryId]);
    if (rows[0] !== undefined && rows[0]['ended_at'] !== null) return rows[0];
    await sleep(50);
  }
  throw new Error(`no record of ${queryId}`);
}

test('a query that completed: who, what, when, how many rows', async () => {
  const queryId = randomUUID();
  await cluster.sql('SELECT * FROM range(7)', { queryId });
  const row = await record(queryId);
  expect(row).toMatchObject({
    status: 'completed',
    sql: 'SELECT * FROM range(7)',
    query_type: 'select',
    username: 'admin',
  });
  expect([Number(row['rows_produced']), Number(row['fragments']), row['error_message']]).toEqual([7, 1, null]);
  expect(row['resource_group']).toMatch(/^\/root/);
  for (const time of ['queued_at', 'started_at', 'ended_at']) expect(row[time]).toBeInstanceOf(Date);
  expect(Number(row['duration_ms'])).toBeGreaterThanOrEqual(0);
  expect([row['tenant_id'], typeof row['user_id'], typeof row['priority']]).toEqual(['default', 'string', 'number']);
});

test('a query over a table: the bytes that it read', async () => {
  const [wide, narrow] = [randomUUID(), randomUUID()];
  await cluster.sql('SELECT max(l_comment), max(l_extendedprice) FROM lake.tpch.lineitem', { queryId: wide });
  await cluster.sql('SELECT max(l_linenumber) FROM lake.tpch.lineitem', { queryId: narrow });
  const [more, less] = [await record(wide), await record(narrow)].map((row) => Number(row['bytes_scanned']));
  expect(less).toBeGreaterThan(0);
  expect(more).toBeGreaterThan(2 * (less ?? 0));
});

test('a query that failed, and a statement that was refused', async () => {
  const [failed, refused] = [randomUUID(), randomUUID()];
  await cluster.query("SELECT CAST('x' AS INTEGER) FROM range(3)", { queryId: failed });
  await cluster.query("COPY t TO '/tmp/x'", { queryId: refused });
  expect(await record(failed)).toMatchObject({ status: 'failed', error_code: 'INVALID_CAST' });
  expect(await record(refused)).toMatchObject({
    status: 'failed',
    error_code: 'NOT_SUPPORTED',
    sql: "COPY t TO '/tmp/x'",
  });
});

test('a query over its timeout is cancelled, with the reason', async () => {
  const queryId = randomUUID();
  await cluster.query('SELECT max(hash(n)) FROM range(100000000000) AS r(n)', { queryId, timeoutMs: 300 });
  const row = await record(queryId);
  expect(row).toMatchObject({ status: 'cancelled', error_code: 'QUERY_TIMEOUT' });
  expect(String(row['error_message'])).toMatch(/time/i);
});

test('literals of a statement that does not parse and speaks of secrets are masked', async () => {
  const queryId = randomUUID();
  await cluster.query("CREATE USER x PASSWORD = 'hunter2' NONSENSE '", { queryId });
  expect(String((await record(queryId))['sql'])).not.toContain('hunter2');
});
