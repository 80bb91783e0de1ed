import { randomUUID } from 'node:crypto';
import { globSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { printJson, type Json } from '#shared/json.ts';
import type { StartedCluster } from '#test/support/cluster.ts';
import { startOwnCluster } from '#test/support/resources.ts';

/** Queries whose workers copy every file that two queries read: answers are those of the files themselves. */
const SCHEMA = 'lake.copied';
const SETTLE_MS_MAX = 60_000;
/** A slot tells of a file once in a second. */
const TOLD_MS = 1_100;

/** Every task reads its files anew, from the first one on that is not empty. */
const READ_FILES = ['disk_cache_file_min=1', 'row_cache_memory=0', 'instances_idle_max=0'].flatMap((setting) => [
  '--set',
  `worker.${setting}`,
]);
const WHOLE = randomUUID();
const FORCED = randomUUID();
const SESSIONS = [WHOLE, FORCED];

let cluster: StartedCluster;
beforeAll(async () => {
  cluster = await startOwnCluster({ workers: 2, args: ['--worker-cores', '1', ...READ_FILES] });
  await cluster.sql(`CREATE SCHEMA ${SCHEMA}`);
}, 120_000);
afterAll(() => cluster?.stop());

async function gauge(name: string): Promise<number> {
  const pages = await Promise.all(cluster.workers().map(async ({ metricsUrl }) => (await fetch(metricsUrl)).text()));
  const line = new RegExp(String.raw`^skein_worker_disk_cache_${name}\{.*\} (\d+)$`, 'm');
  return pages.reduce((sum, page) => sum + Number(line.exec(page)?.[1]), 0);
}

/** Asks until the files are copied, and returns the answers from before and after. */
async function beforeAndAfter(queries: readonly string[]): Promise<readonly (readonly [Json, Json])[]> {
  const ask = async (): Promise<Json[]> => {
    const answers: Json[] = [];
    for (const sessionId of SESSIONS) {
      for (const sql of queries) answers.push(await cluster.sql(sql, { sessionId }));
    }
    return answers;
  };
  await cluster.sql("SET skein.distribution = 'force'", { sessionId: FORCED });
  const files = await gauge('files');
  const before = await ask();
  const until = performance.now() + SETTLE_MS_MAX;
  for (let calm = 0; calm < 2 && performance.now() < until;) {
    await sleep(TOLD_MS);
    const count = await gauge('files');
    await ask();
    while ((await gauge('waiting')) > 0) await sleep(20);
    calm = (await gauge('files')) === count && count > files ? calm + 1 : 0;
  }
  expect(await gauge('files')).toBeGreaterThan(files);
  const after = await ask();
  return before.map((answer, i) => [answer, after[i] ?? null]);
}

const copies = (): readonly string[] => globSync(join(cluster.dataDir, 'disk-cache/*/*/*.parquet'));

async function checkSame(queries: readonly string[]): Promise<void> {
  for (const [before, after] of await beforeAndAfter(queries)) expect(after).toEqual(before);
}

const ROWS = `SELECT i AS id, 'n' || i % 97 AS name, i % 7 AS k, (i / 3)::DECIMAL(12, 2) AS v FROM range(20000) r(i)`;

describe('a query reads copies as it reads files', () => {
  for (const version of [2, 3]) {
    test(`with deletes, addresses of rows and other columns than the files, format version ${version}`, async () => {
      const table = `${SCHEMA}.changed_${version}`;
      await cluster.sql(
        `CREATE TABLE ${table} (id BIGINT, name VARCHAR, k INT, v DECIMAL(12, 2)) WITH (format_version = ${version})`,
      );
      await cluster.sql(`INSERT INTO ${table} ${ROWS}`);
      await cluster.sql(`INSERT INTO ${table} ${ROWS.replace('range(20000)', 'range(20000, 30000)')}`);
      await cluster.sql(`DELETE FROM ${table} WHERE id % 11 = 3`);
      await cluster.sql(`UPDATE ${table} SET v = v + 1 WHERE id % 13 = 5`);
      await cluster.sql(`ALTER TABLE ${table} RENAME COLUMN name TO label`);
      await cluster.sql(`ALTER TABLE ${table} ADD COLUMN extra VARCHAR`);
      await cluster.sql(`ALTER TABLE ${table} ALTER COLUMN k TYPE BIGINT`);
      await cluster.sql(`INSERT INTO ${table} SELECT 50000 + i, 'late', 1, 2, 'x' FROM range(500) r(i)`);
      await checkSame([
        `SELECT count(*), sum(id), sum(v), count(extra), min(label), max(k) FROM ${table}`,
        `SELECT k, count(*), sum(hash(label) % 1000) FROM ${table} WHERE id > 700 GROUP BY k ORDER BY k`,
        `SELECT a.k, count(*) FROM ${table} a JOIN ${table} b ON a.id = b.id + 1 GROUP BY a.k ORDER BY a.k`,
        `SELECT * FROM ${table} WHERE id BETWEEN 19990 AND 20010 ORDER BY id`,
      ]);
      await cluster.sql(`DELETE FROM ${table} WHERE id % 17 = 2`);
      await cluster.sql(
        `MERGE INTO ${table} t USING (SELECT id FROM ${table} WHERE id % 19 = 1) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 0`,
      );
      expect(
        await cluster.sql(`SELECT count(*) FILTER (id % 17 = 2), sum(v) FILTER (id % 19 = 1) FROM ${table}`),
      ).toEqual([[0, '0.00']]);
    });
  }

  test('with partitions, and time travel', async () => {
    const table = `${SCHEMA}.parts`;
    await cluster.sql(`CREATE TABLE ${table} PARTITIONED BY (k) AS ${ROWS}`);
    const snapshots = await cluster.sql(`SELECT snapshot_id FROM ${SCHEMA}."parts$snapshots"`);
    const snapshot = printJson(snapshots[0]?.[0] ?? null).replaceAll('"', '');
    await cluster.sql(`DELETE FROM ${table} WHERE id % 5 = 0`);
    await checkSame([
      `SELECT k, count(*), sum(v) FROM ${table} GROUP BY k ORDER BY k`,
      `SELECT count(*), sum(v) FROM ${table} FOR VERSION AS OF ${snapshot}`,
      `SELECT name, count(*) FROM ${table} WHERE k = 3 GROUP BY name ORDER BY name`,
    ]);
  });
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

test('nothing is copied where there is no room for copies', async () => {
  await using other = await startOwnCluster({ workers: 1, args: ['--set', 'worker.disk_cache_size=0'] });
  await other.sql(`CREATE TABLE lake.default.t AS ${ROWS}`);
  for (let i = 0; i < 3; i++) await other.sql(`SELECT sum(v) FROM lake.default.t WHERE id > ${i}`);
  expect(globSync(join(other.dataDir, 'disk-cache/**/*.parquet'))).toEqual([]);
});
