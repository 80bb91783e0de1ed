import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { QueryAnswer, StartedCluster } from '#test/support/cluster.ts';
import { RESTARTS_SOON } from '#test/support/kill-service.ts';
import { createTestDatabase, startOwnCluster, type TestDatabase } from '#test/support/resources.ts';
import { waitingLocks } from '#test/support/waiting-locks.ts';
import { patience } from '#test/support/run/slowness.ts';

/**
 * kill -9 at each step of an unload: all files have their names, with all rows, or none has. Triggers in Postgres hold the unload where it
 * is to be killed.
 * ```
 *   intent ─▶ files ─▶ the names are decided, in one row ─▶ each file gets its name ─▶ answer
 *   ▲            ▲     ▲                                  ▲
 *   before     amid    deciding                           decided, not a name given
 * ```
 */

/** Time from the death of a process until nothing is left of what it was writing: more than the stage's upload_ttl. */
const GONE_MS_MAX = 60_000;
const UPLOAD_TTL_S = 15;
/** Key of the advisory lock that triggers wait for. */
const LOCK = 16;
const ROWS = 300_000;

let database: TestDatabase;
let cluster: StartedCluster;
let client: Client;
let holder: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  const env = { DATABASE_URL: database.url, SKEIN_CATALOG_BACKGROUND_INTERVAL: '200ms', ...RESTARTS_SOON };
  cluster = await startOwnCluster({ workers: 2, env });
  [client, holder] = [new Client(database.url), new Client(database.url)];
  await client.connect();
  await holder.connect();
  await client.query(`CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql
    AS 'BEGIN PERFORM pg_advisory_xact_lock(${LOCK}); RETURN NEW; END'`);
  await cluster.sql('CREATE SCHEMA lake.kills');
  await cluster.sql(`CREATE STAGE lake.kills.box WITH ('upload_ttl' = '${UPLOAD_TTL_S}s')`);
  await cluster.sql(`CREATE TABLE lake.kills.t AS SELECT i, md5(i::VARCHAR) AS m FROM range(${ROWS}) r(i)`);
});

afterAll(async () => {
  await client?.end();
  await holder?.end();
  await cluster?.stop();
  await database?.[Symbol.asyncDispose]();
});

type Sent = { readonly queryId: string; readonly folder: string; readonly answer: Promise<QueryAnswer | 'lost'> };

/** An unload into several files, from both workers. */
async function unload(query = 'SELECT * FROM lake.kills.t'): Promise<Sent> {
  const [queryId, sessionId, folder] = [randomUUID(), randomUUID(), `f${randomUUID()}`];
  await cluster.sql("SET skein.distribution = 'force'", { sessionId });
  const sql = `COPY INTO @lake.kills.box/${folder}/ FROM (${query}) FILE_FORMAT = (COMPRESSION = NONE) MAX_FILE_SIZE = 1048576`;
  const answer = cluster.query(sql, { queryId, sessionId }).catch((): 'lost' => 'lost');
  return { queryId, folder, answer };
}

/** Holds every INSERT or UPDATE of an intent. @returns lets them go on */
async function hold(event: 'INSERT' | 'UPDATE'): Promise<() => Promise<void>> {
  await holder.query('SELECT pg_advisory_lock($1)', [LOCK]);
  await client.query(`CREATE TRIGGER hold BEFORE ${event} ON coordinator.unload_intents
    FOR EACH ROW EXECUTE FUNCTION wait_for_test()`);
  return async () => {
    await holder.query('SELECT pg_advisory_unlock($1)', [LOCK]);
    await client.query('DROP TRIGGER hold ON coordinator.unload_intents');
  };
}

const isHeld = async (): Promise<boolean> => (await waitingLocks(client, 'advisory')) > 0;
const held = (): Promise<void> => expect.poll(isHeld, { timeout: 30_000, interval: 20 }).toBe(true);

/** Files in the folders of uploads. */
async function left(): Promise<readonly string[]> {
  const stages = join(cluster.dataDir, 'warehouse/.stages');
  // The folder comes with the first file of a stage.
  const found = await readdir(stages, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = found.filter((one) => one.isFile() && one.parentPath.includes('.uploads'));
  return files.map(({ parentPath, name }) => join(parentPath, name));
}

/** Unloads, and waits until its files are being written; those of killed ones may still lie there. */
async function unloadBegun(query?: string): Promise<Sent> {
  const before = new Set(await left());
  const sent = await unload(query);
  const isNew = async (): Promise<boolean> => (await left()).some((file) => !before.has(file));
  await expect.poll(isNew, { timeout: 30_000, interval: 5 }).toBe(true);
  return sent;
}

async function persistently(sql: string): Promise<readonly (readonly unknown[])[]> {
  for (const endMs = performance.now() + GONE_MS_MAX; ; await sleep(200)) {
    try {
      return await cluster.sql(sql);
    } catch (error) {
      if (performance.now() > endMs) throw error;
    }
  }
}

/** The law: all rows or no file, and the record says which. What is left goes later: the last test asks. @returns whether the rows are there */
async function checkLaw({ queryId, folder, answer }: Sent): Promise<boolean> {
  const answered = await answer;
  const status = async (): Promise<unknown> =>
    (await client.query('SELECT status FROM coordinator.query_history WHERE query_id = $1', [queryId])).rows[0]?.status;
  await expect.poll(status, { timeout: GONE_MS_MAX }).toMatch(/^(completed|failed)$/);
  const isMade = (await status()) === 'completed';
  const [[files] = []] = await persistently(
    `SELECT count(*)::INT FROM (LIST @lake.kills.box) WHERE name LIKE '${folder}/%'`,
  );
  if (isMade) {
    const read = `SELECT count(*)::INT, count(DISTINCT $1)::INT, sum($1::INT)::VARCHAR FROM @lake.kills.box/${folder}`;
    expect(await persistently(read)).toEqual([[ROWS, ROWS, String((ROWS * (ROWS - 1)) / 2)]]);
  } else expect(files).toBe(0);
  if (answered !== 'lost') expect(answered.status === 200).toBe(isMade);
  return isMade;
}

test('the coordinator, before the intent is there', async () => {
  const release = await hold('INSERT');
  const sent = await unload();
  await held();
  process.kill(await cluster.pidOf('coordinator'), 'SIGKILL');
  await sleep(200);
  await release();
  expect(await sent.answer).toBe('lost');
  expect(await checkLaw(sent)).toBe(false);
}, 180_000);

test('the coordinator, amid the files', async () => {
  const sent = await unloadBegun('SELECT i, md5(i::VARCHAR) FROM range(1000000000) r(i)');
  process.kill(await cluster.pidOf('coordinator'), 'SIGKILL');
  expect(await sent.answer).toBe('lost');
  expect(await checkLaw(sent)).toBe(false);
}, 180_000);

test('the coordinator, while the names are being decided: the row decides', async () => {
  const release = await hold('UPDATE');
  const sent = await unload();
  await held();
  process.kill(await cluster.pidOf('coordinator'), 'SIGKILL');
  await sleep(200);
  await release();
  expect(await sent.answer).toBe('lost');
  await checkLaw(sent);
}, 180_000);

test('the coordinator, when the names are decided and no file has its own: the next one gives all', async () => {
  const release = await hold('UPDATE');
  const sent = await unload();
  await held();
  const pid = await cluster.pidOf('coordinator');
  // It does not see that the row is written.
  process.kill(pid, 'SIGSTOP');
  await release();
  const own = `SELECT 1 FROM coordinator.unload_intents JOIN coordinator.query_history USING (record_id)
    WHERE query_id = $1 AND names IS NOT NULL`;
  const decided = async (): Promise<boolean> => (await client.query(own, [sent.queryId])).rowCount === 1;
  await expect.poll(decided, { timeout: patience(10_000) }).toBe(true);
  process.kill(pid, 'SIGKILL');
  expect(await sent.answer).toBe('lost');
  expect(await checkLaw(sent)).toBe(true);
}, 180_000);

test('a worker, amid its files: another one writes its share anew', async () => {
  const sent = await unloadBegun();
  process.kill(await cluster.pidOf('worker'), 'SIGKILL');
  expect((await sent.answer) === 'lost').toBe(false);
  await checkLaw(sent);
}, 180_000);

test('the catalog, before the names are decided', async () => {
  const release = await hold('INSERT');
  const sent = await unload();
  await held();
  process.kill(await cluster.pidOf('catalog'), 'SIGKILL');
  await release();
  expect((await sent.answer) === 'lost').toBe(false);
  await checkLaw(sent);
}, 180_000);

test('nothing is left of any of them', async () => {
  const intents = async (): Promise<unknown> => (await client.query('SELECT * FROM coordinator.unload_intents')).rows;
  await expect.poll(intents, { timeout: GONE_MS_MAX }).toEqual([]);
  await expect.poll(left, { timeout: GONE_MS_MAX }).toEqual([]);
}, 180_000);
