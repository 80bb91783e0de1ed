import { randomUUID } from 'node:crypto';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { setMain } from '#test/support/catalog-requests.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { writeSnapshot } from '#test/support/table-snapshot.ts';

const SCHEMA = 'lake.maintained';
const DAY_MS = 86_400_000;
let cluster: Cluster;
let databaseUrl: string;

beforeAll(async () => {
  ({ cluster, databaseUrl } = await sharedCluster());
  await cluster.sql(`CREATE SCHEMA ${SCHEMA}`);
});
afterAll(async () => {
  for (const table of ['orphans', 'small', 'theirs', 'taker', 'said'])
    await cluster.sql(`DROP TABLE IF EXISTS ${SCHEMA}.${table} PURGE`);
  await cluster.sql(`DROP SCHEMA ${SCHEMA}`);
});

async function folderOf(table: string): Promise<string> {
  const { body } = await cluster.catalog('GET', `/v1/lake/namespaces/maintained/tables/${table}`);
  return fileURLToPath(new URL((body as { metadata: { location: string } }).metadata.location));
}

/** Writes a file as if it had been there for some days. */
async function leave(path: string, days: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, 'x');
  await age(path, days);
}

async function age(path: string, days: number): Promise<void> {
  const time = new Date(Date.now() - days * DAY_MS);
  await utimes(path, time, time);
}

test('orphans that are old go; files of snapshots, of open writes and of other tables stay, and young ones', async () => {
  await cluster.sql(`CREATE TABLE ${SCHEMA}.orphans (id INT) PARTITIONED BY (id)`);
  await cluster.sql(`INSERT INTO ${SCHEMA}.orphans VALUES (1), (2)`);
  await cluster.sql(`INSERT INTO ${SCHEMA}.orphans VALUES (3)`);
  const folder = await folderOf('orphans');
  // Every file of the table is old.
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) if (entry.isFile()) await age(join(entry.parentPath, entry.name), 30);
  const writeId = randomUUID();
  const left = {
    old: join(folder, 'data/old.parquet'),
    manifest: join(folder, `metadata/${randomUUID()}-m0.avro`),
    young: join(folder, 'data/young.parquet'),
    open: join(folder, `data/${writeId}/task/open.parquet`),
    document: join(folder, 'metadata/00009-lost.metadata.json'),
    inner: join(folder, 'inner/metadata/00000-a.metadata.json'),
    innerData: join(folder, 'inner/data/theirs.parquet'),
  };
  for (const [name, path] of Object.entries(left)) await leave(path, name === 'young' ? 6 : 8);
  const database = new Client(databaseUrl);
  await database.connect();
  try {
    await database.query(
      `INSERT INTO coordinator.write_intents (write_id, record_id, principal, commit_key, places, epoch, begun_at)
      VALUES ($1, $2, '{}', $3, '{}', 2147483647, now())`,
      [writeId, randomUUID(), randomUUID()],
    );
    const run = (call: string) => cluster.sql(`ALTER TABLE ${SCHEMA}.orphans EXECUTE remove_orphan_files${call}`);
    const isThere = async (): Promise<readonly string[]> => {
      const files = new Set(await readdir(folder, { recursive: true }));
      return Object.entries(left).flatMap(([name, path]) => (files.has(path.slice(folder.length + 1)) ? [name] : []));
    };
    const [, deleted] = await run('(dry_run => true)');
    expect(deleted).toEqual(['deleted_files_count', 2]);
    expect(await isThere()).toEqual(Object.keys(left));
    expect((await run(''))[1]).toEqual(['deleted_files_count', 2]);
    expect(await isThere()).toEqual(['young', 'open', 'document', 'inner', 'innerData']);
    expect(await cluster.sql(`SELECT id FROM ${SCHEMA}.orphans ORDER BY id`)).toEqual([[1], [2], [3]]);
    await database.query('DELETE FROM coordinator.write_intents WHERE write_id = $1', [writeId]);
    expect((await run("(retention_threshold => '7d')"))[1]).toEqual(['deleted_files_count', 1]);
  } finally {
    await database.query('DELETE FROM coordinator.write_intents WHERE write_id = $1', [writeId]);
    await database.end();
  }
  const { body } = await cluster.query(`ALTER TABLE ${SCHEMA}.orphans EXECUTE remove_orphan_files('6d')`);
  expect(body).toMatchObject({
    error: 'INVALID_ARGUMENT',
    message: expect.stringContaining('coordinator.orphan_retention_min'),
  });
});

test('small manifests become one, in a snapshot of the same files', async () => {
  const manifests = () => cluster.sql(`SELECT count(*)::INT FROM ${SCHEMA}."small$manifests"`);
  await cluster.sql(`CREATE TABLE ${SCHEMA}.small (id INT) WITH ('commit.manifest-merge.enabled' = 'false')`);
  for (let i = 0; i < 4; i++) await cluster.sql(`INSERT INTO ${SCHEMA}.small VALUES (${i})`);
  const run = (call: string) => cluster.sql(`ALTER TABLE ${SCHEMA}.small EXECUTE optimize_manifests${call}`);
  const done = [
    ['rewritten_manifests_count', 4],
    ['added_manifests_count', 1],
  ];
  expect(await run('(dry_run => true)')).toEqual(done);
  expect(await manifests()).toEqual([[4]]);
  expect(await run('')).toEqual(done);
  expect(await manifests()).toEqual([[1]]);
  expect(await cluster.sql(`SELECT id FROM ${SCHEMA}.small ORDER BY id`)).toEqual([[0], [1], [2], [3]]);
  expect((await run(''))[0]).toEqual(['rewritten_manifests_count', 0]);
  expect(await cluster.sql(`SELECT count(*)::INT FROM ${SCHEMA}."small$snapshots"`)).toEqual([[5]]);
});

test('files of another table stay when snapshots expire, and the answer counts them', async () => {
  await cluster.sql(`CREATE TABLE ${SCHEMA}.theirs (a BIGINT)`);
  await cluster.sql(`INSERT INTO ${SCHEMA}.theirs VALUES (1), (2)`);
  await cluster.sql(`CREATE TABLE ${SCHEMA}.taker (a BIGINT)`);
  await cluster.sql(`INSERT INTO ${SCHEMA}.taker VALUES (3)`);
  const documentOf = async (table: string): Promise<Document> => {
    const { body } = await cluster.catalog('GET', `/v1/lake/namespaces/maintained/tables/${table}`);
    return (body as { metadata: Document }).metadata;
  };
  // As `add_files` of another engine does it.
  const [[file = null] = []] = await cluster.sql(`SELECT DISTINCT _file FROM ${SCHEMA}.theirs`);
  const own = await documentOf('taker');
  const parent = must(own.snapshots[0], 'one INSERT')['snapshot-id'] ?? null;
  const { update } = await writeSnapshot(own.location, 77n, [must(file, 'a table of one file') as string], parent, 2);
  const path = '/v1/lake/namespaces/maintained/tables/taker';
  const updates = [update as JsonObject, setMain(77) as JsonObject];
  expect((await cluster.catalog('POST', path, { requirements: [], updates })).status).toBe(200);
  await cluster.sql(`DELETE FROM ${SCHEMA}.taker`);
  const run = (dry: boolean) =>
    cluster.sql(`ALTER TABLE ${SCHEMA}.taker EXECUTE expire_snapshots(retention_threshold => '0s', dry_run => ${dry})`);
  const counts = [
    ['expired_snapshots_count', 2],
    ['expired_refs_count', 0],
    // Two lists, two manifests, a data file.
    ['deleted_files_count', 5],
    ['files_elsewhere_count', 1],
  ];
  expect(await run(true)).toEqual(counts);
  expect(await run(false)).toEqual(counts);
  expect(await cluster.sql(`SELECT a FROM ${SCHEMA}.theirs ORDER BY a`)).toEqual([[1], [2]]);
});

type Document = { readonly location: string; readonly snapshots: readonly JsonObject[] };

test('a comment or a property that is there already commits nothing: some clients send it with every run', async () => {
  await cluster.sql(`CREATE TABLE ${SCHEMA}.said (a INT)`);
  await cluster.sql(`CREATE VIEW ${SCHEMA}.shown AS SELECT a FROM ${SCHEMA}.said`);
  const documents = async (): Promise<readonly unknown[]> => {
    const paths = ['tables/said', 'views/shown'].map((name) => `/v1/lake/namespaces/maintained/${name}`);
    const answers = await Promise.all(paths.map((path) => cluster.catalog('GET', path)));
    return answers.map(({ body }) => (body as JsonObject)['metadata-location']);
  };
  const say = async (): Promise<void> => {
    await cluster.sql(`COMMENT ON TABLE ${SCHEMA}.said IS 'a table'`);
    await cluster.sql(`COMMENT ON COLUMN ${SCHEMA}.said.a IS 'a column'`);
    await cluster.sql(`ALTER TABLE ${SCHEMA}.said SET PROPERTIES ('k' = 'v')`);
    await cluster.sql(`ALTER TABLE ${SCHEMA}.said UNSET PROPERTIES ('none')`);
    await cluster.sql(`COMMENT ON VIEW ${SCHEMA}.shown IS 'a view'`);
    await cluster.sql(`COMMENT ON COLUMN ${SCHEMA}.shown.a IS 'its column'`);
  };
  const before = await documents();
  await say();
  const said = await documents();
  expect(said[0]).not.toBe(before[0]);
  expect(said[1]).not.toBe(before[1]);
  await say();
  expect(await documents()).toEqual(said);
  await cluster.sql(`DROP VIEW ${SCHEMA}.shown`);
});
