import { randomUUID } from 'node:crypto';
import { glob } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { QueryAnswer, StartedCluster } from '#test/support/cluster.ts';
import { createTestDatabase, startOwnCluster, type TestDatabase } from '#test/support/resources.ts';
import { killService } from '#test/support/kill-service.ts';

/**
 * kill -9 of each process in the middle of REFRESH and CREATE MATERIALIZED VIEW, held by a lock in Postgres: a refresh is whole or did not
 * happen, a view is there with its rows or not at all, and nothing is left of what failed.
 */

/** Time from the death of a process until nothing is left of what it was writing, and its history record has ended. */
const GONE_MS_MAX = 60_000;
/** Rows of the table before and after the new ones. */
const [BEFORE, AFTER] = [30, 40];
/** A group for each rest of a division by ten. */
const QUERY = 'SELECT i % 10 AS k, count(*) AS n, sum(i)::BIGINT AS total FROM t GROUP BY k';

let database: TestDatabase;
let cluster: StartedCluster;
let client: Client;
let holder: Client;
const session = { sessionId: randomUUID() };

beforeAll(async () => {
  database = await createTestDatabase();
  cluster = await startOwnCluster({ env: { DATABASE_URL: database.url } });
  [client, holder] = [new Client(database.url), new Client(database.url)];
  await client.connect();
  await holder.connect();
}, 120_000);

afterAll(async () => {
  await client?.end();
  await holder?.end();
  await cluster?.stop();
  await database?.[Symbol.asyncDispose]();
});

let schema = '';
beforeEach(async () => {
  schema = `kills_${randomUUID().slice(0, 8)}`;
  await settled(() => cluster.sql(`CREATE SCHEMA IF NOT EXISTS lake.${schema}`));
  await ok(`CREATE TABLE t AS SELECT i FROM range(${BEFORE}) r(i)`);
});

/** Runs a statement; names without a schema mean that of the test. The session is lost with its coordinator. */
async function ok(sql: string): Promise<QueryAnswer['body']> {
  let answer: QueryAnswer['body'] = {};
  for (const one of [`USE lake.${schema}`, sql]) {
    const { status, body } = await cluster.query(one, session);
    if (status !== 200) throw new Error(`${one}: ${body.error} ${body.message}`);
    answer = body;
  }
  return answer;
}

/** Asks until there is an answer: a process may be starting again. */
async function settled<T>(ask: () => Promise<T>): Promise<T> {
  for (const endMs = performance.now() + GONE_MS_MAX; ; await sleep(200)) {
    try {
      return await ask();
    } catch (error) {
      if (performance.now() > endMs) throw error;
    }
  }
}

const KINDS = ['coordinator', 'worker', 'catalog', 'connections'] as const;
type Kind = (typeof KINDS)[number];

const kill = (kind: Kind): Promise<void> => killService(kind, { cluster, own: [client, holder] });

/** Locks that hold a write before its first file, behind its files, and in the transaction of its commit. */
const LOCKS = {
  'before the intent': 'LOCK TABLE coordinator.write_intents IN SHARE MODE',
  'after the files, before the commit': 'LOCK TABLE catalog.idempotency_key IN SHARE MODE',
  'in the commit': 'LOCK TABLE catalog.iceberg_table IN SHARE MODE',
} as const;
const POINTS = Object.keys(LOCKS) as (keyof typeof LOCKS)[];

/** Runs a statement that the lock holds, kills a process there, and lets the others go on. */
async function killed(sql: string, point: keyof typeof LOCKS, kind: Kind): Promise<QueryAnswer | 'lost'> {
  await ok('SELECT 1');
  const queryId = randomUUID();
  await holder.query('BEGIN');
  await holder.query(LOCKS[point]);
  const answering = cluster.query(sql, { ...session, queryId }).catch(() => 'lost' as const);
  try {
    const waiting = async (): Promise<number> =>
      (await client.query('SELECT 1 FROM pg_locks WHERE NOT granted')).rowCount ?? 0;
    await expect.poll(waiting, { timeout: 20_000, interval: 10 }).toBeGreaterThan(0);
    await kill(kind);
    // The others notice it, and those who start again find the write held.
    await sleep(200);
  } finally {
    await holder.query('ROLLBACK');
  }
  const answer = await answering;
  const record = async (): Promise<unknown> =>
    (await client.query('SELECT status FROM coordinator.query_history WHERE query_id = $1', [queryId])).rows[0]?.status;
  await expect.poll(record, { timeout: GONE_MS_MAX }).toMatch(/^(completed|failed)$/);
  const open = async (): Promise<unknown> => (await client.query('SELECT * FROM coordinator.write_intents')).rows;
  await expect.poll(open, { timeout: GONE_MS_MAX }).toEqual([]);
  return answer;
}

const groups = async (): Promise<readonly (readonly unknown[])[]> =>
  must((await ok('SELECT k::INT, n::INT, total::INT FROM v ORDER BY k')).rows, 'rows');
/** The rows of the view over so many rows of the table. */
const groupsOf = (rows: number): readonly (readonly number[])[] =>
  Array.from({ length: 10 }, (_, k) => {
    const values = Array.from({ length: rows }, (_value, i) => i).filter((i) => i % 10 === k);
    return [k, values.length, values.reduce((sum, i) => sum + i, 0)];
  });

const isAnswered = (answer: QueryAnswer | 'lost'): answer is QueryAnswer =>
  answer !== 'lost' && answer.body.error !== 'COMMIT_STATE_UNKNOWN';

describe.each(KINDS)('%s', (kind) => {
  test.each(POINTS)('REFRESH, %s', async (point) => {
    await ok(`CREATE MATERIALIZED VIEW v AS ${QUERY}`);
    await ok(`INSERT INTO t SELECT i FROM range(${BEFORE}, ${AFTER}) r(i)`);
    const answer = await killed('REFRESH MATERIALIZED VIEW v', point, kind);
    const rows = await settled(groups);
    expect([groupsOf(BEFORE), groupsOf(AFTER)]).toContainEqual(rows);
    const isDone = JSON.stringify(rows) === JSON.stringify(groupsOf(AFTER));
    if (isAnswered(answer)) expect(answer.status === 200).toBe(isDone);
    if (kind === 'worker') expect(isDone).toBe(true);
    if (point === 'before the intent' && kind === 'coordinator') expect(isDone).toBe(false);
    // Whatever it was, the next refresh goes on from there.
    const [, way] = must((await ok('EXPLAIN REFRESH MATERIALIZED VIEW v')).rows, 'two lines');
    expect(way?.[0]).toContain(isDone ? 'up to date' : 'incremental: merges');
    await ok('REFRESH MATERIALIZED VIEW v');
    expect(await groups()).toEqual(groupsOf(AFTER));
  });

  test.each(POINTS)('CREATE MATERIALIZED VIEW, %s', async (point) => {
    const answer = await killed(`CREATE MATERIALIZED VIEW v AS ${QUERY}`, point, kind);
    const tables = must((await settled(() => ok('SHOW TABLES'))).rows, 'rows').flat();
    const isThere = tables.includes('v');
    expect(tables.filter((name) => name !== 'v')).toEqual(['t']);
    if (isAnswered(answer)) expect(answer.status === 200).toBe(isThere);
    if (kind === 'worker') expect(isThere).toBe(true);
    if (point === 'before the intent' && kind === 'coordinator') expect(isThere).toBe(false);
    if (!isThere) {
      await expect.poll(() => dataFiles('v_storage_*'), { timeout: GONE_MS_MAX }).toEqual([]);
      await ok(`CREATE MATERIALIZED VIEW v AS ${QUERY}`);
    }
    expect(await groups()).toEqual(groupsOf(BEFORE));
  });

  test('CREATE OR REPLACE MATERIALIZED VIEW, in the commit', async () => {
    await ok(`CREATE MATERIALIZED VIEW v AS ${QUERY}`);
    const other = 'SELECT i % 10 AS k, 1 AS n, 2 AS total, 3 AS more FROM t WHERE i < 10';
    await killed(`CREATE OR REPLACE MATERIALIZED VIEW v AS ${other}`, 'in the commit', kind);
    const rows = await settled(groups);
    const replaced = groupsOf(10).map(([k]) => [k, 1, 2]);
    expect([groupsOf(BEFORE), replaced]).toContainEqual(rows);
    const columns = must((await ok('SHOW COLUMNS FROM v')).rows, 'rows').length;
    expect(columns).toBe(JSON.stringify(rows) === JSON.stringify(replaced) ? 4 : 3);
  });
});

/** Data files of the tables whose folders begin so, in the schema of the test. */
async function dataFiles(folders: string): Promise<readonly string[]> {
  const { body } = await cluster.catalog('GET', `/v1/lake/namespaces/${schema}/tables/t`);
  const table = fileURLToPath(new URL((body as { metadata: { location: string } }).metadata.location));
  const found: string[] = [];
  for await (const file of glob(`../${folders}/**/*.parquet`, { cwd: table })) found.push(file);
  return found;
}
