import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TPCH_TABLES } from '#cli/load/tpch.ts';
import type { Json } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { projectRoot, settingsEnv } from '#test/support/cluster.ts';
import { differences } from '#test/support/compare-rows.ts';
import { startFaultyCluster, type FaultyCluster } from '#test/support/faulty-cluster.ts';
import { OTHER_STORE_MS } from '#test/support/other-stores.ts';
import { newSeed } from '#test/support/seed.ts';
import { tpchAnswers } from '#test/support/tpch-duckdb.ts';
import { TPCH_QUERIES } from '#test/tpch/tpch-queries.ts';

/** TPC-H and writes over a store with every fault at once, and over one that goes away while workers die. */

const STATEMENT_MS = 180_000;
/** An answer that has not come this long after the statement's time hangs. */
const HANG_MS = 30_000;
const seed = newSeed();

type Rows = readonly (readonly Json[])[];
type Done = { readonly well: number; readonly asked: number };

/** More bytes than the small cache holds, so that it is fetched again and again. */
const ROWS = 400_000;
const BASE = 'SELECT count(*), sum(id), count(DISTINCT text) FROM cloud.tpch.base';
const BASE_ROWS = [[ROWS, String((ROWS * (ROWS - 1)) / 2), ROWS]];
/** Times that something is hurt, at least. */
const HURTS_MIN = 6;

describe.each(['0', '8MiB'])('with a disk cache of %j', (diskCacheSize) => {
  let faulty: FaultyCluster;
  let expected: readonly { readonly name: string; readonly sql: string; readonly rows: Rows }[];
  const sessionId = randomUUID();
  let next = 0;
  let writes = 0;

  beforeAll(async () => {
    process.stdout.write(`TEST_SEED=${seed}\n`);
    const cache = { 'worker.disk_cache_size': diskCacheSize, 'worker.row_cache_memory': '0' } as const;
    faulty = await startFaultyCluster({
      seed,
      env: settingsEnv({ ...cache, 'coordinator.orphan_retention_min': '0s' }),
    });
    const { cluster } = faulty;
    for (const one of TPCH_TABLES) {
      const file = join(projectRoot, 'cli/load/tpch-0.01', `${one}.parquet`);
      await cluster.load(['parquet', file, '--table', `cloud.tpch.${one}`, '--create']);
    }
    await cluster.sql(
      `CREATE TABLE cloud.tpch.base AS SELECT i AS id, hash(i)::VARCHAR AS text FROM range(${ROWS}) AS r(i)`,
    );
    const answers = tpchAnswers();
    expected = await Promise.all(TPCH_QUERIES.map(async (one) => ({ ...one, rows: await answers.rows(one.sql) })));
    await answers.close();
    await cluster.sql('USE cloud.tpch', { sessionId });
  }, OTHER_STORE_MS);

  afterAll(() => faulty?.[Symbol.asyncDispose]());

  /** The rows of a statement; null when it ended with an SQLSTATE, or its connection did with its coordinator. */
  async function ask(sql: string): Promise<Rows | null> {
    const signal = AbortSignal.timeout(STATEMENT_MS + HANG_MS);
    const { status, body } = await faulty.cluster.query(sql, { sessionId, timeoutMs: STATEMENT_MS, signal });
    if (status === 200) return body.rows ?? [];
    expect(body.sql_state, `${sql}: ${body.message}`).toMatch(/^[0-9A-Z]{5}$/);
    return null;
  }

  /** Queries of TPC-H and writes in turn. @returns how many ended well; each of them is right */
  async function work(table: string, statements: number): Promise<Done> {
    let well = 0;
    for (let i = 0; i < statements; i++) {
      if (i % 4 === 3) {
        const rows = await ask(`INSERT INTO cloud.tpch.${table} SELECT ${++writes}, r.i FROM range(1000) AS r(i)`);
        if (rows !== null) well += 1;
        continue;
      }
      if (i % 4 === 1) {
        const base = await ask(BASE);
        if (base !== null) expect(base).toEqual(BASE_ROWS);
        if (base !== null) well += 1;
        continue;
      }
      const one = must(expected[next++ % expected.length], 'a query');
      const rows = await ask(one.sql);
      if (rows === null) continue;
      expect(differences(rows, one.rows), one.name).toBeNull();
      well += 1;
    }
    return { well, asked: statements };
  }

  /** Every write is there once or not at all, and every query has its answer, as if nothing had happened. */
  async function requireWell(table: string): Promise<void> {
    const { cluster, proxy } = faulty;
    proxy.set({});
    await expect.poll(async () => (await cluster.query('SELECT 1')).status, { timeout: 60_000 }).toBe(200);
    const torn = `SELECT id FROM cloud.tpch.${table} GROUP BY id HAVING count(*) <> 1000 OR sum(v) <> 499500`;
    expect(await cluster.sql(torn)).toEqual([]);
    for (const { name, sql, rows: right } of expected) {
      expect(differences(await cluster.sql(sql, { sessionId }), right), name).toBeNull();
    }
  }

  test('with every fault at once nine of ten statements are right, and the rest have an SQLSTATE', async () => {
    const { proxy } = faulty;
    proxy.takeCounts();
    await faulty.cluster.sql('CREATE TABLE cloud.tpch.faulty (id BIGINT, v BIGINT)');
    proxy.set({ refused: 0.1, cut: 0.1, delayMs: 150, bytesPerSecond: 10e6 });
    const { well, asked } = await work('faulty', 40);
    const { faults } = proxy.takeCounts();
    process.stdout.write(`${well} of ${asked} statements right, ${faults} faults\n`);
    expect(faults).toBeGreaterThan(20);
    expect(well).toBeGreaterThanOrEqual(asked * 0.9);
    await requireWell('faulty');
  }, 3_600_000);

  test('a store that goes for five seconds and workers that die: no wrong row, no hang, right afterwards', async () => {
    const { proxy, store, cluster } = faulty;
    const end = new AbortController();
    const hurts = { count: 0 };
    const hurt = async (): Promise<void> => {
      for (let i = 0; !end.signal.aborted; i++) {
        hurts.count = i;
        await sleep(4_000);
        if (i % 3 === 0) {
          process.kill(await cluster.pidOf('worker'), 'SIGKILL');
          continue;
        }
        await (i % 3 === 1 ? proxy.closePort() : store.kill());
        await sleep(5_000);
        await (i % 3 === 1 ? proxy.openPort() : store.start());
      }
    };
    await cluster.sql('CREATE TABLE cloud.tpch.hurt (id BIGINT, v BIGINT)');
    proxy.set({ delayMs: 20, bytesPerSecond: 10e6 });
    const hurting = hurt();
    try {
      while (hurts.count < HURTS_MIN) {
        const { well, asked } = await work('hurt', 20);
        process.stdout.write(`${well} of ${asked} statements right, hurt ${hurts.count} times\n`);
      }
    } finally {
      end.abort();
      await hurting;
    }
    await requireWell('hurt');
    // The files of failed statements go by themselves.
    const left = async (): Promise<unknown> =>
      (
        await cluster.sql(
          "ALTER TABLE cloud.tpch.hurt EXECUTE remove_orphan_files(retention_threshold => '0s', dry_run => true)",
        )
      )[1];
    await expect.poll(left, { timeout: 90_000, interval: 2_000 }).toEqual(['deleted_files_count', 0]);
    expect((await faulty.objects()).length).toBeGreaterThan(20);
  }, 3_600_000);
});
