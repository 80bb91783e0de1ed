import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Pool } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { startCluster, type StartedCluster } from '#test/support/cluster.ts';
import { RESTARTS_SOON } from '#test/support/kill-service.ts';
import { groupQuery, groupsOf } from '#test/support/grouped-view.ts';
import {
  checkLoads,
  expectNoOpenWrite,
  expectOnlyReached,
  GONE_MS_MAX,
  isAnswered,
  isCompleted,
  settled,
  type Answered,
} from '#test/support/kill-laws.ts';
import { startTestPostgres, type TestPostgres } from '#test/support/postgres.ts';
import { putStageFile, storedFiles } from '#test/support/stage-files.ts';
import { persistently, UploadClient } from '#test/support/upload-client.ts';

/**
 * kill -9 of Postgres, all of its processes, at each step of COPY INTO a table, of REFRESH, and of an upload into a stage. The other services
 * live on. Triggers hold a statement where Postgres is to be killed, and what they wait for goes with it:
 * ```
 *   intent ─▶ data files, manifests ─▶ the catalog's transaction: key, compare-and-swap, loaded files, COMMIT ─▶ answer ─▶ the intent goes
 *   ▲      ▲                           ▲                          ▲                ▲         ▲          ▲                 ▲
 * ```
 * A COMMIT that is durable and not answered is one that waits for a standby which does not exist (`synchronous_commit = on`).
 */

/** Time for which Postgres is away. */
const DOWN_MS = 300;
const UPLOAD_TTL_S = 15;
const PART_BYTES = 2 ** 20;
/** Rows of the table below a view before and after the new ones. */
const [BEFORE, AFTER] = [30, 40];

type Step = { readonly does: 'wait' | 'lose'; readonly when: string; readonly if?: string };

/**
 * The places where a statement is held, each by a trigger of its own: `wait` until the lock of its number is free, or with a COMMIT of which
 * nobody hears.
 */
const STEPS = {
  'before the intent': { does: 'wait', when: 'BEFORE INSERT ON coordinator.write_intents' },
  'the intent is there, and nobody has heard': { does: 'lose', when: 'AFTER INSERT ON coordinator.write_intents' },
  'after the files, before the commit': { does: 'wait', when: 'BEFORE INSERT ON catalog.idempotency_key' },
  'in the commit, before the compare-and-swap': { does: 'wait', when: 'BEFORE UPDATE ON catalog.iceberg_table' },
  'in the commit, while files are noted as loaded': { does: 'wait', when: 'BEFORE INSERT ON catalog.loaded_file' },
  'at COMMIT': { does: 'wait', when: 'AFTER UPDATE ON catalog.iceberg_table DEFERRABLE INITIALLY DEFERRED' },
  'committed, before the answer': { does: 'lose', when: 'AFTER UPDATE ON catalog.iceberg_table' },
  'answered, before the intent goes': { does: 'wait', when: 'BEFORE DELETE ON coordinator.write_intents' },
  'before the record ends': {
    does: 'wait',
    when: 'BEFORE UPDATE ON coordinator.query_history',
    if: "NEW.status = 'completed' AND NEW.sql LIKE 'COPY INTO lake.kills.ended %'",
  },
  'before an upload begins': { does: 'wait', when: 'BEFORE INSERT ON catalog.stage_upload' },
  'an upload has begun, and nobody has heard': { does: 'lose', when: 'AFTER INSERT ON catalog.stage_upload' },
  'the file is there, and its upload not ended': { does: 'wait', when: 'BEFORE UPDATE ON catalog.stage_upload' },
  'the upload has ended, and nobody has heard': { does: 'lose', when: 'AFTER UPDATE ON catalog.stage_upload' },
} satisfies Readonly<Record<string, Step>>;
type Point = keyof typeof STEPS;
const ALL_POINTS = Object.keys(STEPS) as readonly Point[];
const lockOf = (point: Point): number => ALL_POINTS.indexOf(point) + 1;

/** Whether a statement that is killed there has happened; absent = either. */
const MADE: Readonly<Partial<Record<Point, boolean>>> = {
  'before the intent': false,
  'the intent is there, and nobody has heard': false,
  'committed, before the answer': true,
  'answered, before the intent goes': true,
};
const POINTS_OF_COPY = ALL_POINTS.slice(0, lockOf('answered, before the intent goes'));
const POINTS_OF_REFRESH = POINTS_OF_COPY.filter((point) => !point.includes('files are noted'));

let postgres: TestPostgres;
let cluster: StartedCluster;
let database: Pool;
let folder: string;
let processes: readonly number[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skein-postgres-kills-'));
  // COMMITs wait for nobody unless a trigger says so.
  const settings = ['synchronous_standby_names=nobody', 'synchronous_commit=local'];
  postgres = await startTestPostgres({ settings });
  const env = { DATABASE_URL: postgres.url, SKEIN_CATALOG_BACKGROUND_INTERVAL: '200ms', ...RESTARTS_SOON };
  cluster = await startCluster({ workers: 1, env });
  database = new Pool({ connectionString: postgres.url, max: 2 });
  database.on('error', () => undefined);
  await database.query(`CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_advisory_xact_lock_shared(TG_ARGV[0]::bigint); RETURN coalesce(NEW, OLD); END $$`);
  await database.query(`CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NOT pg_try_advisory_xact_lock_shared(TG_ARGV[0]::bigint) THEN
        PERFORM set_config('synchronous_commit', 'on', true);
      END IF;
      RETURN NULL;
    END $$`);
  for (const point of ALL_POINTS) {
    const { does, when, if: condition = 'true' }: Step = STEPS[point];
    const kind = when.includes('DEFERRED') ? 'CONSTRAINT TRIGGER' : 'TRIGGER';
    const lock = lockOf(point);
    await database.query(
      `CREATE ${kind} kill_${lock} ${when} FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION ${does}(${lock})`,
    );
  }
  await cluster.sql('CREATE SCHEMA lake.kills');
  await cluster.sql(`CREATE STAGE lake.kills.box WITH ('upload_ttl' = '${UPLOAD_TTL_S}s')`);
  for (const [i, [from, to]] of [[0, 4] as const, [4, 7] as const, [7, 10] as const].entries()) {
    const rows = Array.from({ length: to - from }, (_, row) => `${from + row},text\n`);
    await putStageFile(cluster, 'lake.kills.box', `ten/${i}.csv`, rows.join(''));
  }
  processes = await pids();
});

afterAll(async () => {
  await database?.end();
  await cluster?.stop();
  await postgres?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

// Postgres takes no other process with it.
afterEach(async () => {
  const before = processes;
  processes = await pids();
  expect(processes).toEqual(before);
});

const pids = async (): Promise<readonly number[]> => (await cluster.services()).map(({ pid }) => pid ?? 0);

/** Holds what comes to a point, until it is disposed of or Postgres is killed. */
async function hold(point: Point): Promise<AsyncDisposable> {
  const holder = new Client(postgres.url);
  holder.on('error', () => undefined);
  await holder.connect();
  await holder.query('SELECT pg_advisory_lock($1)', [lockOf(point)]);
  return { [Symbol.asyncDispose]: () => holder.end().catch(() => undefined) };
}

/** Waits until something is held at a point. @param statement how it begins */
async function held(point: Point, statement = ''): Promise<void> {
  const waits =
    STEPS[point].does === 'lose'
      ? "wait_event = 'SyncRep'"
      : `pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = ${lockOf(point)} AND NOT granted)`;
  const isHeld = async (): Promise<boolean> => {
    const sql = `SELECT 1 FROM pg_stat_activity WHERE ${waits} AND query LIKE $1`;
    return (await database.query(sql, [`${statement}%`])).rows.length > 0;
  };
  await expect.poll(isHeld, { timeout: 30_000, interval: 10 }).toBe(true);
}

/** Runs what comes to a point and is held there, kills Postgres, and starts it again. */
async function killedAt<T>(point: Point, run: () => Promise<T>): Promise<T> {
  await using _holder = await hold(point);
  const running = run();
  await held(point);
  await killPostgres();
  return running;
}

async function killPostgres(): Promise<void> {
  await postgres.kill();
  await sleep(DOWN_MS);
  await postgres.start();
}

/** Waits until the intents of all statements before are gone: they go a while after the answer, and would be held in place of the next one's. */
const intentsGone = (): Promise<void> =>
  expect
    .poll(async () => (await database.query('SELECT FROM coordinator.write_intents')).rows.length, INTENTS_GO)
    .toBe(0);
/** Those whose statements ended badly go after 30 s. */
const INTENTS_GO = { timeout: 60_000, interval: 50 };

/** Runs a statement that is killed at a point. @returns its answer, and whether its record says that it happened */
async function killedStatement(point: Point, sql: string): Promise<{ answer: Answered; isMade: boolean }> {
  if (point === 'answered, before the intent goes') await intentsGone();
  const queryId = randomUUID();
  const answer = await killedAt(point, () => cluster.query(sql, { queryId }).catch(() => 'lost' as const));
  const isMade = await isCompleted({ database }, queryId);
  if (isAnswered(answer)) expect(answer.status === 200).toBe(isMade);
  if (MADE[point] !== undefined) expect(isMade).toBe(MADE[point]);
  return { answer, isMade };
}

describe('COPY INTO', () => {
  test.each(POINTS_OF_COPY)('%s', async (point) => {
    const table = `lake.kills.t${lockOf(point)}`;
    await settled(() => cluster.sql(`CREATE TABLE ${table} (i BIGINT, t VARCHAR)`));
    const copy = `COPY INTO ${table} FROM @lake.kills.box/ten`;
    const { answer, isMade } = await killedStatement(point, copy);
    if (isAnswered(answer) && isMade) {
      expect(answer.body.rows?.map(([file, status]) => [file, status])).toEqual(
        [0, 1, 2].map((file) => [`ten/${file}.csv`, 'LOADED']),
      );
    }
    expect(await settled(() => cluster.sql(`SELECT count(*)::INT FROM ${table}`))).toEqual([[isMade ? 10 : 0]]);
    await expectOnlyReached(cluster, table);
    await checkLoads({ cluster, database }, { copy, table, files: 3, rows: 10 }, isMade);
  });

  test('and the coordinator before: the next one says in the record how the commit ended', async () => {
    const table = 'lake.kills.ended';
    await cluster.sql(`CREATE TABLE ${table} (i BIGINT, t VARCHAR)`);
    await using _record = await hold('before the record ends');
    const commit = await hold('at COMMIT');
    const queryId = randomUUID();
    const copy = `COPY INTO ${table} FROM @lake.kills.box/ten`;
    const answering = cluster.query(copy, { queryId }).catch(() => 'lost' as const);
    await held('at COMMIT');
    process.kill(await cluster.pidOf('coordinator'), 'SIGKILL');
    expect(await answering).toBe('lost');
    await commit[Symbol.asyncDispose]();
    await held('before the record ends', 'update');
    processes = await pids();
    await killPostgres();
    expect(await isCompleted({ database }, queryId)).toBe(true);
    await checkLoads({ cluster, database }, { copy, table, files: 3, rows: 10 }, true);
  });
});

describe('REFRESH MATERIALIZED VIEW', () => {
  test.each(POINTS_OF_REFRESH)('%s', async (point) => {
    const [table, view] = [`lake.kills.m${lockOf(point)}`, `lake.kills.v${lockOf(point)}`];
    await settled(() => cluster.sql(`CREATE TABLE ${table} AS SELECT i FROM range(${BEFORE}) r(i)`));
    await cluster.sql(`CREATE MATERIALIZED VIEW ${view} AS ${groupQuery(table)}`);
    await cluster.sql(`INSERT INTO ${table} SELECT i FROM range(${BEFORE}, ${AFTER}) r(i)`);
    const groups = (): Promise<unknown> =>
      settled(() => cluster.sql(`SELECT k::INT, n::INT, total::INT FROM ${view} ORDER BY k`));
    const { isMade } = await killedStatement(point, `REFRESH MATERIALIZED VIEW ${view}`);
    expect(await groups()).toEqual(groupsOf(isMade ? AFTER : BEFORE));
    await expectOnlyReached(cluster, await storageOf(view));
    const [, [way] = []] = await cluster.sql(`EXPLAIN REFRESH MATERIALIZED VIEW ${view}`);
    expect(way).toContain(isMade ? 'up to date' : 'incremental: merges');
    await cluster.sql(`REFRESH MATERIALIZED VIEW ${view}`);
    expect(await groups()).toEqual(groupsOf(AFTER));
  });

  /** The table with the rows of a view. */
  async function storageOf(view: string): Promise<string> {
    const [, , name] = view.split('.');
    const { body } = await cluster.catalog('GET', `/v1/lake/namespaces/kills/views/${name}`);
    const { metadata } = body as {
      readonly metadata: { readonly versions: readonly { readonly 'storage-table': { readonly name: string } }[] };
    };
    return `lake.kills.${must(metadata.versions.at(-1), 'a version')['storage-table'].name}`;
  }
});

describe('uploads', () => {
  /** The files that were answered as uploaded, with their bytes. */
  const uploaded = new Map<string, Buffer>();
  const client = (): UploadClient => new UploadClient(cluster, 'lake.kills.box', PART_BYTES);
  /** Lines of CSV with numbers that no other file has, in three parts. */
  const linesOf = (file: number): Buffer =>
    Buffer.from(Array.from({ length: 2_200 }, (_, i) => `${10_000 * file + i},${'x'.repeat(1_000)}\n`).join(''));
  const md5 = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex');

  const POINTS = ALL_POINTS.slice(lockOf('before the record ends'));
  test.each(POINTS)('%s', async (point) => {
    const path = `steps/${lockOf(point)}.csv`;
    const bytes = linesOf(lockOf(point));
    expect(await killedAt(point, () => client().upload(path, bytes))).toBe(true);
    uploaded.set(path, bytes);
    expect(await settled(() => cluster.sql(`SELECT count(*)::INT FROM (LIST @lake.kills.box/${path})`))).toEqual([[1]]);
  });

  test('again and again, beside statements that load the files: each row comes once', async () => {
    const table = 'lake.kills.many';
    await settled(() => cluster.sql(`CREATE TABLE ${table} (i BIGINT, t VARCHAR)`));
    const files = Array.from({ length: 8 }, (_, i) => [`many/${i}.csv`, linesOf(20 + i)] as const);
    const over = new AbortController();
    const ids: string[] = [];
    const load = async (): Promise<void> => {
      while (!over.signal.aborted) {
        const queryId = randomUUID();
        ids.push(queryId);
        await cluster.query(`COPY INTO ${table} FROM @lake.kills.box/many`, { queryId }).catch(() => undefined);
        await sleep(50);
      }
    };
    const loading = load();
    const killing = (async () => {
      for (let kill = 0; kill < 3; kill += 1) {
        await sleep(400 + 600 * Math.random());
        await killPostgres();
      }
    })();
    // Half of them come in parts, the others in one request.
    const upload = async (path: string, bytes: Buffer, i: number): Promise<boolean> => {
      await sleep(300 * i);
      if (i % 2 === 0) return client().upload(path, bytes);
      const put = { method: 'PUT', body: new Uint8Array(bytes) };
      return (await persistently(await client().presign(path), () => Promise.resolve(put))).ok;
    };
    const outcomes = await Promise.all(files.map(([path, bytes], i) => upload(path, bytes, i)));
    expect(outcomes).toEqual(files.map(() => true));
    await killing;
    over.abort();
    await loading;
    for (const [path, bytes] of files) uploaded.set(path, bytes);
    for (const id of ids) await isCompleted({ database }, id);
    await settled(() => cluster.sql(`COPY INTO ${table} FROM @lake.kills.box/many`));
    const counts = `SELECT count(*)::INT, count(DISTINCT i)::INT FROM ${table}`;
    expect(await cluster.sql(counts)).toEqual([[8 * 2_200, 8 * 2_200]]);
    await expectOnlyReached(cluster, table);
  });

  test('what was answered is there, byte for byte; nothing else stays longer than upload_ttl', async () => {
    const dead = await client().begin('dead', 2 * PART_BYTES);
    await client().sendPart(must(dead.parts[0], 'two parts'), linesOf(99));
    await killPostgres();
    await cluster.cliOk(['get', '@lake.kills.box', join(folder, 'all')]);
    for (const [path, bytes] of uploaded) expect(md5(await readFile(join(folder, 'all', path)))).toBe(md5(bytes));
    expect((await storedFiles(cluster)).some((path) => path.includes('.uploads'))).toBe(true);
    const ofUploads = async (): Promise<readonly string[]> =>
      (await storedFiles(cluster)).filter((path) => path.includes('.uploads'));
    const patience = { timeout: (UPLOAD_TTL_S + 10) * 1_000, interval: 200 };
    await expect.poll(ofUploads, patience).toEqual([]);
    // With those that were put before: `ten`.
    expect(await storedFiles(cluster)).toHaveLength(uploaded.size + 3);
    const rows = async (): Promise<unknown> => (await database.query('SELECT * FROM catalog.stage_upload')).rows;
    await expect.poll(rows, patience).toEqual([]);
  });
});

test('no write is left open, and no statement', async () => {
  await expectNoOpenWrite({ database });
  const running = "SELECT query_id FROM coordinator.query_history WHERE status IN ('queued', 'running')";
  await expect.poll(async () => (await database.query(running)).rows, { timeout: GONE_MS_MAX }).toEqual([]);
});
