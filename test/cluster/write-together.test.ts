import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Cluster, QueryAnswer } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { tableFiles } from '#test/support/table-files.ts';
import { patience } from '#test/support/run/slowness.ts';

const SCHEMA = 'lake.together';
/** Time in which a statement that has written its files gets to the queue of commits. */
const QUEUED_MS = 1_000;
let cluster: Cluster;
let databaseUrl: string;

async function ok(text: string): Promise<QueryAnswer['body']> {
  const { status, body } = await cluster.query(text);
  if (status !== 200) throw new Error(`${text}: ${body.error} ${body.message}`);
  return body;
}

beforeAll(async () => {
  ({ cluster, databaseUrl } = await sharedCluster());
  await ok(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`);
});
afterAll(async () => {
  for (const table of ['together', 'mixed', 'beside']) await cluster.query(`DROP TABLE ${SCHEMA}.${table} PURGE`);
  await cluster.query(`DROP SCHEMA ${SCHEMA}`);
});

const value = async (text: string): Promise<unknown> => (await ok(text)).rows?.[0]?.[0];

/** Sends INSERTs of one row each from so many clients, each one after the other. */
async function insertRows(table: string, clients: number, each: number, firstId = 0): Promise<void> {
  const client = async (_: unknown, id: number): Promise<void> => {
    for (let n = 0; n < each; n++) {
      const i = firstId + id * each + n;
      expect((await ok(`INSERT INTO ${SCHEMA}.${table} VALUES (${i}, 'x')`)).rows).toEqual([[1]]);
      // The row is there when the statement is answered.
      expect(await value(`SELECT count(*) FROM ${SCHEMA}.${table} WHERE i = ${i}`)).toBe(1);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
}

/** Keeps every commit to a table from ending. @returns lets them go on */
async function holdTable(name: string): Promise<() => Promise<void>> {
  const client = new Client(databaseUrl);
  await client.connect();
  await client.query('BEGIN');
  await client.query('SELECT FROM catalog.iceberg_table WHERE name = $1 FOR UPDATE', [name]);
  return async () => {
    await client.query('ROLLBACK');
    await client.end();
  };
}

describe('small INSERTs', () => {
  test('that arrive together share snapshots, and each is answered when its row is there', async () => {
    await ok(`CREATE TABLE ${SCHEMA}.together (i BIGINT, t VARCHAR) PARTITIONED BY (bucket(4, i))`);
    await insertRows('together', 12, 4);
    expect(await ok(`SELECT count(*), count(DISTINCT i) FROM ${SCHEMA}.together`)).toMatchObject({ rows: [[48, 48]] });
    // While the first of them cannot commit, the others wait behind it, and then share one snapshot.
    const snapshots = async (): Promise<number> =>
      Number(await value(`SELECT count(*) FROM ${SCHEMA}."together$snapshots"`));
    const before = await snapshots();
    const release = await holdTable('together');
    const held = Promise.all(
      Array.from({ length: 12 }, (_, i) => ok(`INSERT INTO ${SCHEMA}.together VALUES (${100 + i}, 'y')`)),
    );
    await expect
      .poll(async () => (await tableFiles(cluster, 'together', 'together')).length, { timeout: patience(20_000) })
      .toBe(60);
    await sleep(QUEUED_MS);
    await release();
    await held;
    expect((await snapshots()) - before).toBeLessThanOrEqual(2);
    // Each snapshot follows the one before it, and counts what it adds.
    const { rows } = await ok(`SELECT snapshot_id, parent_id, CAST(summary['added-records'] AS BIGINT),
      CAST(summary['total-records'] AS BIGINT) FROM ${SCHEMA}."together$snapshots" ORDER BY committed_at, 4`);
    let [parent, total]: [unknown, number] = [null, 0];
    for (const [id, earlier, added, sum] of rows ?? []) {
      expect(earlier).toBe(parent);
      total += Number(added);
      expect(sum).toBe(total);
      parent = id;
    }
    expect(total).toBe(60);
    await expect.poll(async () => (await tableFiles(cluster, 'together', 'together')).length).toBe(60);
  });

  test('one that fails or is cancelled does not fail its neighbours', async () => {
    await ok(`CREATE TABLE ${SCHEMA}.mixed (i BIGINT NOT NULL, t VARCHAR)`);
    const failing = Array.from({ length: 4 }, () => cluster.query(`INSERT INTO ${SCHEMA}.mixed VALUES (NULL, 'x')`));
    const cancelled = Array.from({ length: 4 }, async (_, i) => {
      const id = randomUUID();
      const answer = cluster.query(`INSERT INTO ${SCHEMA}.mixed VALUES (${1000 + i}, 'x')`, { queryId: id });
      await new Promise((resolve) => setTimeout(resolve, 15 * i));
      const headers = { authorization: `Bearer ${await cluster.token()}` };
      await fetch(`${cluster.queryUrl}/api/query/${id}`, { method: 'DELETE', headers });
      return answer;
    });
    await insertRows('mixed', 8, 3);
    for (const { body } of await Promise.all(failing)) expect(body).toMatchObject({ error: 'NOT_NULL_VIOLATION' });
    // A cancel that comes too late says so, and the row is there.
    const kept = (await Promise.all(cancelled)).filter(({ status, body }) => {
      if (status !== 200) expect(body).toMatchObject({ error: 'QUERY_CANCELLED' });
      return status === 200;
    });
    expect(await value(`SELECT count(*) FROM ${SCHEMA}.mixed`)).toBe(24 + kept.length);
    await expect.poll(async () => (await tableFiles(cluster, 'together', 'mixed')).length).toBe(24 + kept.length);
  });

  test('beside OPTIMIZE lose nothing, and neither fails', async () => {
    await ok(`CREATE TABLE ${SCHEMA}.beside (i BIGINT, t VARCHAR)`);
    await insertRows('beside', 4, 2);
    const [optimized] = await Promise.all([ok(`OPTIMIZE ${SCHEMA}.beside`), insertRows('beside', 6, 3, 100)]);
    const [, rewritten] = optimized.rows?.find(([name]) => name === 'rewritten_data_files_count') ?? [];
    expect(Number(rewritten)).toBeGreaterThanOrEqual(8);
    expect(await value(`SELECT count(*) FROM ${SCHEMA}.beside`)).toBe(26);
  });
});
