import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DuckdbEngine } from '#test/slt/duckdb-engine.ts';
import type { StartedCluster } from '#test/support/cluster.ts';
import { startOwnCluster } from '#test/support/resources.ts';

/** Rows of the big tables: enough for dynamic filters on their scans, and for dividing one key's partition. */
const ROWS = 3_000_000;

let folder: string;
let cluster: StartedCluster;
let duckdb: DuckDBConnection;
const sessionId = randomUUID();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skein-adaptive-'));
  duckdb = await (await DuckDBInstance.create()).connect();
  const tables = {
    ordered: `SELECT n AS k, hash(n) % 1000 AS v FROM range(${ROWS}) AS r(n)`,
    // Nine rows of ten have one key.
    skewed: `SELECT CASE WHEN n % 10 > 0 THEN 7 ELSE n END AS k, hash(n) % 1000 AS v FROM range(${ROWS}) AS r(n)`,
    few: 'SELECT 1000000 + n * 10 AS k, n AS w FROM range(50) AS r(n)',
    keys: 'SELECT n AS k, n AS w FROM range(200000) AS r(n)',
    thirds: `SELECT n * 3 AS k, n AS w FROM range(${ROWS / 3}) AS r(n)`,
  };
  cluster = await startOwnCluster({ workers: 2, args: ['--worker-cores', '1'] });
  for (const [name, sql] of Object.entries(tables)) {
    await duckdb.run(`CREATE TABLE ${name} AS ${sql}`);
    const file = join(folder, `${name}.parquet`);
    await duckdb.run(`COPY ${name} TO '${file}'`);
    await cluster.load(['parquet', file, '--table', `lake.default.${name}`, '--create']);
  }
  await cluster.sql("SET skein.distribution = 'force'", { sessionId });
  await cluster.sql("SET skein.join_distribution = 'partitioned'", { sessionId });
  await cluster.sql('SET skein.partitions = 4', { sessionId });
}, 300_000);

afterAll(async () => {
  await cluster?.stop();
  duckdb?.closeSync();
  await rm(folder, { recursive: true, force: true });
});

async function compare(sql: string, runs = 1): Promise<void> {
  const expected = await new DuckdbEngine(duckdb).run(sql);
  if (expected.kind === 'error') throw new Error(expected.message);
  for (let run = 0; run < runs; run++) expect(await cluster.sql(sql, { sessionId })).toEqual(expected.rows);
}

async function check(sql: string): Promise<string> {
  await compare(sql);
  return (await cluster.sql(`EXPLAIN ANALYZE ${sql}`, { sessionId })).map(([line]) => line as string).join('\n');
}

test('the keys of a small build side that has run prune row groups of the probe side and filter its rows', async () => {
  const text = await check('SELECT count(*), sum(v), sum(w) FROM ordered JOIN few USING (k)');
  expect(text).toMatch(
    /dynamic filter: lake\.default\.ordered\.k from 1000000 to 1000490 \(50 values\), from stage \d+/,
  );
  const [, pruned = '0'] = /scan \d+ lake\.default\.ordered: .* row_groups_pruned=(\d+)/.exec(text) ?? [];
  expect(Number(pruned)).toBeGreaterThan(20);
}, 240_000);

test('a whole table is looked at for its keys only when they are fewer than those of the probe side', async () => {
  const fewer = await check('SELECT count(*), sum(v), sum(w) FROM ordered JOIN keys USING (k)');
  expect(fewer).toMatch(/dynamic filter: lake\.default\.ordered\.k from 0 to 199999/);
  const all = await check('SELECT count(*), sum(v), sum(w) FROM ordered JOIN thirds USING (k)');
  expect(all).not.toMatch(/dynamic filter|keys of stage/);
}, 240_000);

/** Lists have at most 1,000 values, so this many are those of a set. */
const KEY_SET = /dynamic filter: .* \(66667 values\)/;

test('SET skein.dynamic_filters turns filters off, or the sets of many keys alone', async () => {
  const sql = 'SELECT count(*), sum(v), sum(w) FROM ordered JOIN keys USING (k) WHERE w % 3 = 0';
  expect(await check(sql)).toMatch(KEY_SET);
  try {
    await cluster.sql("SET skein.dynamic_filters = 'bounds'", { sessionId });
    expect(await check(sql)).not.toMatch(KEY_SET);
    await cluster.sql("SET skein.dynamic_filters = 'off'", { sessionId });
    expect(await check('SELECT count(*), sum(v), sum(w) FROM ordered JOIN few USING (k)')).not.toContain(
      'dynamic filter',
    );
  } finally {
    await cluster.sql('RESET skein.dynamic_filters', { sessionId });
  }
}, 240_000);

test('rows that an outer join keeps are not filtered', async () => {
  const text = await check('SELECT count(*), sum(v), sum(w) FROM ordered LEFT JOIN few USING (k)');
  expect(text).not.toContain('dynamic filter');
}, 240_000);

test('a partition with one hot key is divided among several tasks', async () => {
  const text = await check('SELECT count(*), sum(v), sum(w) FROM skewed JOIN keys USING (k)');
  expect(text).toMatch(/skew_splits=1/);
}, 240_000);
