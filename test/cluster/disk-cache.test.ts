import { randomUUID } from 'node:crypto';
import { globSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { printJson, type Json } from '#shared/json.ts';
import type { StartedCluster } from '#test/support/cluster.ts';
import { diskCacheGauge } from '#test/support/disk-cache-gauge.ts';
import { startOwnCluster } from '#test/support/resources.ts';

/** Queries whose workers copy every file that two queries read: answers are those of the files themselves. */
const SCHEMA = 'lake.copied';
const LOOK_MS = 20;
/** A slot tells of a file once in a second. */
const TOLD_MS = 1_100;

/** Every task reads its files anew, from the first one on that is not empty. */
const READ_FILES = ['disk_cache_file_min=1', 'row_cache_memory=0', 'instances_idle_max=0'].flatMap((setting) => [
  '--set',
  `worker.${setting}`,
]);
const WHOLE = randomUUID();
const FORCED = randomUUID();

let cluster: StartedCluster;
beforeAll(async () => {
  cluster = await startOwnCluster({ workers: 2, args: ['--worker-cores', '1', ...READ_FILES] });
  await cluster.sql(`CREATE SCHEMA ${SCHEMA}`);
  await cluster.sql("SET skein.distribution = 'force'", { sessionId: FORCED });
});
afterAll(() => cluster?.stop());

/** The answers to queries, each whole and divided, over the files and over their copies. */
async function beforeAndAfter(queries: readonly string[]): Promise<readonly (readonly [Json, Json])[]> {
  const ask = async (): Promise<Json[]> => {
    const answers: Json[] = [];
    for (const sessionId of [WHOLE, FORCED]) {
      for (const sql of queries) answers.push(await cluster.sql(sql, { sessionId }));
    }
    return answers;
  };
  const files = await diskCacheGauge(cluster, 'files');
  const before = await ask();
  await sleep(TOLD_MS);
  await ask();
  while ((await diskCacheGauge(cluster, 'waiting')) > 0) await sleep(LOOK_MS);
  expect(await diskCacheGauge(cluster, 'files')).toBeGreaterThan(files);
  const after = await ask();
  return before.map((answer, i) => [answer, after[i] ?? null]);
}

const copies = (): readonly string[] => globSync(join(cluster.dataDir, 'disk-cache/*/copies/*/*.parquet'));

const ROWS = `SELECT i AS id, 'n' || i % 97 AS name, i % 7 AS k, (i / 3)::DECIMAL(12, 2) AS v FROM range(20000) r(i)`;

/** Files with deletes, renamed, added and promoted columns. @returns queries over them */
async function changedTable(version: number): Promise<readonly string[]> {
  const table = `${SCHEMA}.changed_${version}`;
  const columns = '(id BIGINT, name VARCHAR, k INT, v DECIMAL(12, 2))';
  for (const sql of [
    `CREATE TABLE ${table} ${columns} WITH (format_version = ${version})`,
    `INSERT INTO ${table} ${ROWS}`,
    `INSERT INTO ${table} ${ROWS.replace('range(20000)', 'range(20000, 30000)')}`,
    `DELETE FROM ${table} WHERE id % 11 = 3`,
    `UPDATE ${table} SET v = v + 1 WHERE id % 13 = 5`,
    `ALTER TABLE ${table} RENAME COLUMN name TO label`,
    `ALTER TABLE ${table} ADD COLUMN extra VARCHAR`,
    `ALTER TABLE ${table} ALTER COLUMN k TYPE BIGINT`,
    `INSERT INTO ${table} SELECT 50000 + i, 'late', 1, 2, 'x' FROM range(500) r(i)`,
  ]) {
    await cluster.sql(sql);
  }
  return [
    `SELECT count(*), sum(id), sum(v), count(extra), min(label), max(k) FROM ${table}`,
    `SELECT a.k, count(*) FROM ${table} a JOIN ${table} b ON a.id = b.id + 1 GROUP BY a.k ORDER BY a.k`,
    `SELECT * FROM ${table} WHERE id BETWEEN 19990 AND 20010 ORDER BY id`,
  ];
}

/** Files of partitions, and an older snapshot. @returns queries over them */
async function dividedTable(): Promise<readonly string[]> {
  const table = `${SCHEMA}.parts`;
  await cluster.sql(`CREATE TABLE ${table} PARTITIONED BY (k) AS ${ROWS}`);
  const snapshots = await cluster.sql(`SELECT snapshot_id FROM ${SCHEMA}."parts$snapshots"`);
  const snapshot = printJson(snapshots[0]?.[0] ?? null).replaceAll('"', '');
  await cluster.sql(`DELETE FROM ${table} WHERE id % 5 = 0`);
  return [
    `SELECT k, count(*), sum(v) FROM ${table} GROUP BY k ORDER BY k`,
    `SELECT count(*), sum(v) FROM ${table} FOR VERSION AS OF ${snapshot}`,
  ];
}

test('queries read copies as they read files, and so do statements that write', async () => {
  const queries = [...(await changedTable(2)), ...(await changedTable(3)), ...(await dividedTable())];
  for (const [before, after] of await beforeAndAfter(queries)) expect(after).toEqual(before);
  for (const table of [2, 3].map((version) => `${SCHEMA}.changed_${version}`)) {
    const old = `(SELECT id FROM ${table} WHERE id % 19 = 1) s`;
    await cluster.sql(`DELETE FROM ${table} WHERE id % 17 = 2`);
    await cluster.sql(`MERGE INTO ${table} t USING ${old} ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 0`);
    const counted = `SELECT count(*) FILTER (id % 17 = 2), sum(v) FILTER (id % 19 = 1) FROM ${table}`;
    expect(await cluster.sql(counted)).toEqual([[0, '0.00']]);
  }
});

test('a copy that is cut costs no answer', async () => {
  const query = `SELECT count(*), sum(id), sum(v) FROM ${SCHEMA}.cut`;
  await cluster.sql(`CREATE TABLE ${SCHEMA}.cut AS ${ROWS}`);
  const had = new Set(copies());
  const [[before] = []] = await beforeAndAfter([query]);
  const made = copies().filter((path) => !had.has(path));
  expect(made.length).toBeGreaterThan(0);
  for (const path of made) truncateSync(path, Math.floor(statSync(path).size / 2));
  // Other text, which no instance has prepared.
  for (let i = 0; i < 4; i++) {
    expect(await cluster.sql(`${query} WHERE id > -1 - ${i}`, { sessionId: WHOLE })).toEqual(before);
  }
  expect(made.filter((path) => copies().includes(path)).length).toBeLessThan(made.length);
});
