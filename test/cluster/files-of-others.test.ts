import { mkdir, readdir, symlink, utimes } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { printJson, type Json, type JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { seededRandom } from '#test/chaos/faults.ts';
import { setMain } from '#test/support/catalog-requests.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { fixedSeed } from '#test/support/seed.ts';
import { writeSnapshot } from '#test/support/table-snapshot.ts';

/**
 * Random changes of a table that has files of another one in its snapshots, and links to them in its folder: whatever is deleted of the one,
 * the other keeps its rows and its files.
 */
const SCHEMA = 'lake.lent';
const SEEDS = 2;
const STEPS = 12;
const LONG_AGO = new Date(Date.now() - 30 * 86_400_000);
const TABLES = '/v1/lake/namespaces/lent/tables';
let cluster: Cluster;

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.sql(`CREATE SCHEMA ${SCHEMA}`);
  await cluster.sql(`CREATE TABLE ${SCHEMA}.lender (a BIGINT)`);
  for (let i = 0; i < 4; i++) await cluster.sql(`INSERT INTO ${SCHEMA}.lender VALUES (${i}), (${i + 100})`);
  await cluster.sql(`DELETE FROM ${SCHEMA}.lender WHERE a = 101`);
});
afterAll(async () => {
  for (const table of ['lender', 'taker']) await cluster.sql(`DROP TABLE IF EXISTS ${SCHEMA}.${table} PURGE`);
  await cluster.sql(`DROP SCHEMA ${SCHEMA}`);
});

type Document = {
  readonly location: string;
  readonly 'current-snapshot-id'?: Json;
  readonly 'last-sequence-number': number;
};

async function documentOf(table: string): Promise<Document> {
  const { body } = await cluster.catalog('GET', `${TABLES}/${table}`);
  return (body as { metadata: Document }).metadata;
}

const folderOf = async (table: string): Promise<string> => fileURLToPath((await documentOf(table)).location);

/** The table's files; one that a statement has staged goes soon behind its commit. */
async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !entry.name.startsWith('staged-'));
  return files.map((entry) => join(entry.parentPath, entry.name));
}

/** Commits a data file of the lender to the taker, as `add_files` of other engines does. */
async function take(file: string, id: bigint): Promise<void> {
  const { location, 'current-snapshot-id': current, 'last-sequence-number': last } = await documentOf('taker');
  const parent = current === undefined || current === -1 ? null : current;
  const { update } = await writeSnapshot(location, id, [file], parent, last + 1);
  const updates = [update as JsonObject, setMain(Number(id)) as JsonObject];
  const { status, body } = await cluster.catalog('POST', `${TABLES}/taker`, { requirements: [], updates });
  expect(status, printJson(body)).toBe(200);
}

/** Puts a link to the lender's folder, or to one file of it, below the taker's. */
async function link(target: string, name: string): Promise<void> {
  const path = join(await folderOf('taker'), name);
  await mkdir(dirname(path), { recursive: true });
  await symlink(target, path).catch(() => undefined);
}

const TAKER = `${SCHEMA}.taker`;
const CREATE = `CREATE TABLE IF NOT EXISTS ${TAKER} (a BIGINT)`;
const procedure = (call: string): string => `ALTER TABLE ${TAKER} EXECUTE ${call}`;

/** Statements of the taker; some fail, as one over a file that a link stands for. */
const STATEMENTS: readonly string[] = [
  `INSERT INTO ${TAKER} VALUES (7), (8)`,
  `DELETE FROM ${TAKER} WHERE a % 2 = 0`,
  `DELETE FROM ${TAKER}`,
  `UPDATE ${TAKER} SET a = a + 1 WHERE a < 50`,
  `MERGE INTO ${TAKER} USING (SELECT 7 AS b) ON a = b WHEN MATCHED THEN DELETE`,
  `TRUNCATE TABLE ${TAKER}`,
  `INSERT OVERWRITE ${TAKER} SELECT 9`,
  procedure("expire_snapshots(retention_threshold => '0s')"),
  procedure("expire_snapshots(retention_threshold => '0s')"),
  procedure("remove_orphan_files(retention_threshold => '7d')"),
  procedure('optimize'),
  procedure('optimize_manifests'),
  `CREATE OR REPLACE TABLE ${TAKER} AS SELECT 1::BIGINT AS a`,
  `DROP TABLE ${TAKER} PURGE`,
];

test.each(Array.from({ length: SEEDS }, (_, i) => fixedSeed() + i))(
  'a table keeps its rows and files, whatever is done to one that has them, too: seed %d',
  async (seed) => {
    const random = seededRandom(seed);
    const oneOf = <T>(values: readonly T[]): T => must(values[Math.floor(random() * values.length)], 'a value');
    const lender = await folderOf('lender');
    const files = (await filesIn(lender)).toSorted();
    for (const file of files) await utimes(file, LONG_AGO, LONG_AGO);
    const data = await cluster.sql(`SELECT DISTINCT _file FROM ${SCHEMA}.lender`);
    const rows = await cluster.sql(`SELECT a FROM ${SCHEMA}.lender ORDER BY a`);
    const done: string[] = [];
    for (let step = 0; step < STEPS; step++) {
      await cluster.sql(CREATE);
      const kind = random();
      if (kind < 0.35) {
        const [file] = oneOf(data);
        await take(file as string, BigInt(seed) * 1_000n + BigInt(step) + 1n);
        done.push(`take ${basename(file as string)}`);
      } else if (kind < 0.5) {
        const target = random() < 0.5 ? lender : oneOf(files);
        await link(target, `${oneOf(['data', 'metadata'])}/link-${seed}-${step}${random() < 0.5 ? '.parquet' : ''}`);
        done.push(`link ${target}`);
      } else {
        const statement = oneOf(STATEMENTS);
        const { status, body } = await cluster.query(statement);
        done.push(`${statement}: ${status} ${body.error ?? ''}`);
        expect(body.error, done.join('\n')).not.toBe('INTERNAL_ERROR');
      }
      expect((await filesIn(lender)).toSorted(), done.join('\n')).toEqual(files);
    }
    expect(await cluster.sql(`SELECT a FROM ${SCHEMA}.lender ORDER BY a`), done.join('\n')).toEqual(rows);
    await cluster.sql(CREATE);
    const { body } = await cluster.query(`SELECT count(*) FROM ${TAKER}`);
    expect(body.error, done.join('\n')).toBeUndefined();
  },
  120_000,
);
