import { randomUUID } from 'node:crypto';
import { glob } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { QueryAnswer, StartedCluster } from '#test/support/cluster.ts';
import { createTestDatabase, startOwnCluster, type TestDatabase } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';

/** Time from the death of a process until nothing is left of what it was writing. */
const GONE_MS_MAX = 60_000;

/** The cluster's own database, so that its history can be read. */
let database: TestDatabase;
let cluster: StartedCluster;
let client: Client;
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase();
  cluster = await startOwnCluster({ env: { DATABASE_URL: database.url } });
  client = new Client({ connectionString: database.url });
  await client.connect();
  await ok('CREATE SCHEMA lake.writes');
});

afterAll(async () => {
  await client?.end();
  await cluster?.stop();
  await database?.[Symbol.asyncDispose]();
});

beforeEach(async () => {
  // A table that is replaced keeps its old files.
  await ok('DROP TABLE IF EXISTS lake.writes.t');
  await ok('CREATE TABLE lake.writes.t (i BIGINT, t VARCHAR)');
  const { body } = await cluster.catalog('GET', '/v1/lake/namespaces/writes/tables/t');
  folder = fileURLToPath(new URL((body as { metadata: { location: string } }).metadata.location));
});

async function ok(sql: string): Promise<QueryAnswer['body']> {
  const { status, body } = await cluster.query(sql);
  if (status !== 200) throw new Error(`${sql}: ${body.error} ${body.message}`);
  return body;
}

async function dataFiles(): Promise<readonly string[]> {
  const files: string[] = [];
  for await (const file of glob('**/*.parquet', { cwd: folder })) files.push(file);
  return files;
}

/** Starts an INSERT of so many rows, and answers when its first file is there. */
async function writing(
  rows: number,
): Promise<{ readonly id: string; readonly answer: Promise<QueryAnswer | undefined> }> {
  const id = randomUUID();
  const sql = `INSERT INTO lake.writes.t SELECT i, md5(i::VARCHAR) || md5((i + 1)::VARCHAR) FROM range(${rows}) r(i)`;
  const answer = cluster.query(sql, { queryId: id }).catch(() => undefined);
  await expect.poll(dataFiles, { timeout: 20_000, interval: 20 }).not.toEqual([]);
  return { id, answer };
}

const statusOf = async (id: string): Promise<unknown> =>
  (await client.query('select status from coordinator.query_history where query_id = $1', [id])).rows[0]?.status;

const rows = async (): Promise<unknown> => (await ok('SELECT count(*) FROM lake.writes.t')).rows?.[0]?.[0];

test('kill -9 of the coordinator while its workers write: no snapshot, no file, and the record has failed', async () => {
  const { id, answer } = await writing(200_000_000);
  await expect.poll(() => statusOf(id)).toBe('running');
  process.kill(await cluster.pidOf('coordinator'), 'SIGKILL');
  await answer;
  await expect.poll(() => statusOf(id), { timeout: GONE_MS_MAX }).toBe('failed');
  await expect.poll(dataFiles, { timeout: GONE_MS_MAX }).toEqual([]);
  await expect.poll(() => rows().catch(() => undefined), { timeout: GONE_MS_MAX }).toBe(0);
});

test('kill -9 of the catalog while files are written: what is acknowledged is there', async () => {
  const { id, answer } = await writing(2_000_000);
  process.kill(await cluster.pidOf('catalog'), 'SIGKILL');
  expect((await answer)?.body).toMatchObject({ rows: [[2_000_000]] });
  await expect.poll(() => rows().catch(() => undefined), { timeout: GONE_MS_MAX }).toBe(2_000_000);
  await expect.poll(() => statusOf(id), { timeout: patience(10_000) }).toBe('completed');
});

test('kill -9 of a worker that writes: its task runs again, and nothing is there twice', async () => {
  const { answer } = await writing(3_000_000);
  const busy = await busyWorker();
  process.kill(busy, 'SIGKILL');
  expect((await answer)?.body).toMatchObject({ rows: [[3_000_000]] });
  expect(await rows()).toBe(3_000_000);
  const read = (await ok('SELECT count(DISTINCT _file) FROM lake.writes.t')).rows?.[0]?.[0];
  await expect.poll(async () => (await dataFiles()).length, { timeout: patience(10_000) }).toBe(read);
});

/** The process of the worker that runs a task. */
async function busyWorker(): Promise<number> {
  for (const endMs = performance.now() + 10_000; performance.now() < endMs;) {
    for (const { pid, metricsUrl } of cluster.workers()) {
      const page = await (await fetch(metricsUrl)).text();
      if (/^skein_worker_tasks_running(?:\{[^}]*\})? [1-9]/m.test(page)) return pid;
    }
  }
  throw new Error('no worker runs a task');
}
