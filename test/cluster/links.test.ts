import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';

/**
 * A tenant writes files below its folders, and so it may put a symbolic link there, to another tenant's files or to Skein's own. No
 * statement and no request follows it.
 */
const SCHEMA = 'lake.links';
let cluster: Cluster;
let outside: string;
/** Folders of a stage and of a table, in which the tenant has put links. */
let stage: string;
let table: string;

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  outside = await mkdtemp(join(tmpdir(), 'skein-elsewhere-'));
  await cluster.sql(`CREATE SCHEMA ${SCHEMA}`);
  await cluster.sql(`CREATE STAGE ${SCHEMA}.box`);
  await cluster.sql(`CREATE TABLE ${SCHEMA}.t (id INT)`);
  await cluster.sql(`INSERT INTO ${SCHEMA}.t VALUES (7)`);
  await cluster.sql(`COPY INTO @${SCHEMA}.box/own/ FROM ${SCHEMA}.t FILE_FORMAT = (TYPE = PARQUET)`);
  const { urls } = await presign('own/some', 'GET');
  expect(urls).toHaveLength(1);
  const [[file = null] = []] = await cluster.sql(`SELECT _file FROM ${SCHEMA}.t`);
  const data = fileURLToPath(must(file, 'a table of one file') as string);
  table = data.slice(0, data.indexOf('/data/'));
  const root = table.slice(0, table.indexOf('/links/'));
  stage = await stageFolder(root);
  await cp(data, join(outside, 'rows.parquet'));
  await writeFile(join(outside, 'secret.csv'), 'key-of-another\n');
  await writeFile(join(outside, 'v.metadata.json'), '{"format-version": "key-of-another"}');
  await symlink(outside, join(stage, 'link'));
  await symlink(join(outside, 'secret.csv'), join(stage, 'file.csv'));
  await symlink(outside, join(table, 'link'));
  await symlink(outside, `${table}-away`);
  const longAgo = new Date(Date.now() - 30 * 86_400_000);
  for (const name of OUTSIDE) await utimes(join(outside, name), longAgo, longAgo);
});
afterAll(async () => {
  for (const name of ['t', 'taken']) await cluster.sql(`DROP TABLE IF EXISTS ${SCHEMA}.${name} PURGE`);
  await cluster.sql(`DROP STAGE ${SCHEMA}.box`);
  await cluster.sql(`DROP SCHEMA ${SCHEMA}`);
  await rm(outside, { recursive: true, force: true });
});

/** The folder of the stage that has the files of `own/`. */
async function stageFolder(root: string): Promise<string> {
  for (const id of await readdir(join(root, '.stages'))) {
    if ((await readdir(join(root, '.stages', id))).includes('own')) return join(root, '.stages', id);
  }
  throw new Error('no stage has the files');
}

type Urls = { readonly urls: readonly { readonly url: string }[]; readonly message?: string };

async function presign(path: string, method: string): Promise<Urls> {
  const answer = await fetch(`${cluster.queryUrl}/v1/stages/presign`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await cluster.token()}`, 'content-type': 'application/json' },
    body: JSON.stringify({ stage: `${SCHEMA}.box`, files: [{ path }], method }),
  });
  return (await answer.json()) as Urls;
}

/** The answer to a signed request, or the refusal to sign one. */
async function signed(path: string, method: string, body?: string): Promise<string> {
  const { urls, message } = await presign(path, method);
  const [first] = urls ?? [];
  if (first === undefined) return String(message);
  return (await fetch(first.url, { method, ...(body === undefined ? {} : { body }) })).text();
}

const left = async (): Promise<readonly string[]> => (await readdir(outside)).toSorted();
const OUTSIDE = ['rows.parquet', 'secret.csv', 'v.metadata.json'];

describe('a link in a stage', () => {
  test('is not listed, nor what lies behind it', async () => {
    const names = (await cluster.sql(`LIST @${SCHEMA}.box`)).map(([name]) => name as string);
    expect(names.filter((name) => !name.startsWith('own/'))).toEqual([]);
    const { body } = await cluster.query(`LIST @${SCHEMA}.box/link/`);
    expect(JSON.stringify(body)).not.toContain('secret.csv"');
  });

  test.each(['link/secret.csv', 'file.csv'])('%s is not read', async (path) => {
    for (const sql of [
      `SELECT * FROM @${SCHEMA}.box/${path} (FILE_FORMAT => (TYPE = CSV))`,
      `COPY INTO ${SCHEMA}.t FROM @${SCHEMA}.box/${path} FILE_FORMAT = (TYPE = CSV)`,
    ]) {
      const { body } = await cluster.query(sql);
      expect(JSON.stringify(body)).not.toContain('key-of-another');
    }
    expect(await signed(path, 'GET')).not.toContain('key-of-another');
  });

  test('is not written through', async () => {
    await signed('link/new', 'PUT', 'x');
    await signed('link/secret.csv', 'PUT', 'x');
    await cluster.query(`COPY INTO @${SCHEMA}.box/link/ FROM ${SCHEMA}.t FILE_FORMAT = (TYPE = PARQUET)`);
    expect(await left()).toEqual(OUTSIDE);
    expect(await readFile(join(outside, 'secret.csv'), 'utf8')).toBe('key-of-another\n');
  });

  test('deletes nothing elsewhere', async () => {
    await cluster.query(`REMOVE @${SCHEMA}.box/link/`);
    await cluster.query(`REMOVE @${SCHEMA}.box/link/secret.csv`);
    expect(await left()).toEqual(OUTSIDE);
  });
});

describe('a link in the folder of a table', () => {
  test('shows nothing of a file that is registered through it', async () => {
    const { status, body } = await cluster.catalog('POST', '/v1/lake/namespaces/links/register', {
      name: 'taken',
      'metadata-location': `file://${table}/link/v.metadata.json`,
    });
    expect([status, JSON.stringify(body)]).toEqual([403, expect.not.stringContaining('key-of-another')]);
  });

  test('is not written through by INSERT, nor cleared by remove_orphan_files', async () => {
    const properties = `'write.data.path' = 'file://${table}/link/data'`;
    const altered = await cluster.query(`ALTER TABLE ${SCHEMA}.t SET PROPERTIES (${properties})`);
    expect(altered.status).toBe(200);
    expect((await cluster.query(`INSERT INTO ${SCHEMA}.t VALUES (8)`)).body).toMatchObject({ error: 'FORBIDDEN' });
    await cluster.sql(`ALTER TABLE ${SCHEMA}.t SET PROPERTIES ('write.data.path' = 'file://${table}-away')`);
    const swept = await cluster.query(
      `ALTER TABLE ${SCHEMA}.t EXECUTE remove_orphan_files(retention_threshold => '7d')`,
    );
    expect(swept.body).toMatchObject({ error: 'FORBIDDEN' });
    expect(await left()).toEqual(OUTSIDE);
    expect(await cluster.sql(`SELECT id FROM ${SCHEMA}.t`)).toEqual([[7]]);
    await cluster.sql(`ALTER TABLE ${SCHEMA}.t UNSET PROPERTIES ('write.data.path')`);
  });

  test('is not read in place of a data file', async () => {
    const [[file = null] = []] = await cluster.sql(`SELECT _file FROM ${SCHEMA}.t`);
    const path = fileURLToPath(must(file, 'a table of one file') as string);
    const kept = await readFile(path);
    await rm(path);
    await symlink(join(outside, 'rows.parquet'), path);
    expect((await cluster.query(`SELECT * FROM ${SCHEMA}.t WHERE id > ${Date.now() % 7}`)).body).toMatchObject({
      error: 'FORBIDDEN',
    });
    await rm(path);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, kept);
  });
});
