import { execFileSync } from 'node:child_process';
import { glob, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { QueryAnswer, StartedCluster } from '#test/support/cluster.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';

/** Only root may mount a file system; `test/announce.ts` says so. */
describe.runIf(process.getuid?.() === 0)('a warehouse on a file system of 24 MB', () => {
  let cluster: StartedCluster;
  let warehouse: string;

  beforeAll(async () => {
    warehouse = await mkdtemp(join(tmpdir(), 'skein-full-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m,mode=0755', 'tmpfs', warehouse]);
    cluster = await startOwnCluster({
      env: { SKEIN_BOOTSTRAP_WAREHOUSE: `file://${warehouse}`, SKEIN_COORDINATOR_RESULT_BYTES_MAX: `${2 ** 20}` },
    });
    await ok('CREATE SCHEMA lake.full');
  });

  afterAll(async () => {
    await cluster?.stop();
    execFileSync('umount', ['--lazy', warehouse]);
    await rm(warehouse, { recursive: true });
  });

  async function ok(sql: string): Promise<QueryAnswer['body']> {
    const { status, body } = await cluster.query(sql);
    if (status !== 200) throw new Error(`${sql}: ${body.error} ${body.message}`);
    return body;
  }

  async function files(pattern = '**/*.{parquet,avro,tmp}'): Promise<readonly string[]> {
    const found: string[] = [];
    for await (const file of glob(pattern, { cwd: warehouse })) found.push(file);
    return found.sort();
  }

  /** Leaves so many blocks of 4 KB free while `work` runs. */
  async function withBlocks<T>(blocks: number, work: () => Promise<T>): Promise<T> {
    const filler = join(warehouse, 'filler');
    const { bavail, bsize } = await statfs(warehouse);
    await writeFile(filler, Buffer.alloc((bavail - blocks) * bsize));
    expect((await statfs(warehouse)).bavail).toBe(blocks);
    try {
      return await work();
    } finally {
      await rm(filler);
    }
  }

  test('rows of RETURNING that are larger than a result may be: RESULT_TOO_LARGE, no snapshot and no file', async () => {
    await ok('CREATE TABLE lake.full.returned (i BIGINT, t VARCHAR)');
    const insert = (rows: number): string =>
      `INSERT INTO lake.full.returned SELECT i, repeat('x', 100) FROM range(${rows}) AS r(i) RETURNING *`;
    const { status, body } = await cluster.query(insert(20_000));
    expect([status, body.error]).toEqual([413, 'RESULT_TOO_LARGE']);
    expect((await ok('SELECT count(*)::INT FROM lake.full.returned')).rows).toEqual([[0]]);
    expect(await files()).toEqual([]);
    expect((await ok(insert(5_000))).rows).toHaveLength(5_000);
    const gone = await cluster.query('UPDATE lake.full.returned SET t = repeat(t, 3) RETURNING t');
    expect([gone.status, gone.body.error]).toEqual([413, 'RESULT_TOO_LARGE']);
    expect((await ok('SELECT max(length(t)) FROM lake.full.returned')).rows).toEqual([[100]]);
    await ok('DROP TABLE lake.full.returned PURGE');
    await expect.poll(() => files(), { timeout: patience(10_000) }).toEqual([]);
  });

  test('rows that do not fit: STORAGE_FULL, no snapshot, no table and no file', async () => {
    await ok('CREATE TABLE lake.full.large (i BIGINT, t VARCHAR)');
    const rows = 'SELECT i, md5(i::VARCHAR) AS t FROM range(3000000) r(i)';
    const { status, body } = await cluster.query(`INSERT INTO lake.full.large ${rows}`);
    expect([status, body]).toMatchObject([507, { error: 'STORAGE_FULL', sql_state: '53100' }]);
    expect(await files()).toEqual([]);
    expect((await cluster.query(`CREATE TABLE lake.full.made AS ${rows}`)).body).toMatchObject({
      error: 'STORAGE_FULL',
    });
    expect(await files()).toEqual([]);
    expect((await cluster.query('FROM lake.full.made')).body).toMatchObject({ error: 'TABLE_NOT_FOUND' });
    expect((await ok('SELECT count(*) FROM lake.full.large')).rows).toEqual([[0]]);
    expect((await ok('SELECT count(*) FROM lake.full."large$snapshots"')).rows).toEqual([[0]]);
    await ok(`INSERT INTO lake.full.large ${rows} LIMIT 1000`);
  });

  test('each file of a write may be the one that does not fit: a clear error, and nothing of the others stays', async () => {
    await ok('CREATE TABLE lake.full.small (i INTEGER, t VARCHAR)');
    await ok(`INSERT INTO lake.full.small VALUES (-1, 'x')`);
    const kept: number[] = [-1];
    const errors: string[] = [];
    for (let blocks = 0; blocks < 8; blocks++) {
      const before = await files();
      const { status, body } = await withBlocks(blocks, () =>
        cluster.query(`INSERT INTO lake.full.small VALUES (${blocks}, 'x')`),
      );
      if (status === 200) {
        kept.push(blocks);
        continue;
      }
      expect(body.message).toMatch(/no space/i);
      errors.push(body.error ?? '');
      expect(await files()).toEqual(before);
    }
    // The data file, the manifest and its list; then the metadata document, which the catalog writes.
    expect(new Set(errors)).toEqual(new Set(['STORAGE_FULL', 'COMMIT_NOT_APPLIED']));
    expect(errors.length).toBeGreaterThanOrEqual(4);
    expect(kept).toContain(7);
    const rows = (await ok('SELECT i FROM lake.full.small ORDER BY i')).rows?.map(([i]) => i);
    expect(rows).toEqual(kept);
    expect((await ok('SELECT count(*)::INT FROM lake.full."small$snapshots"')).rows).toEqual([[kept.length]]);
  });

  test('INSERTs that share a commit fail together, and succeed when there is space again', async () => {
    await ok('CREATE TABLE lake.full.shared (i INTEGER, t VARCHAR)');
    const insert = (i: number): Promise<QueryAnswer> =>
      cluster.query(`INSERT INTO lake.full.shared VALUES (${i}, 'x')`);
    const before = await files();
    const answers = await withBlocks(9, () => Promise.all(Array.from({ length: 12 }, (_, i) => insert(i))));
    const made = answers.flatMap(({ status }, i) => (status === 200 ? [i] : []));
    expect(made.length).toBeLessThan(12);
    for (const { status, body } of answers) {
      if (status !== 200)
        expect(['STORAGE_FULL', 'COMMIT_NOT_APPLIED'], cluster.log.slice(-8_000)).toContain(body.error);
    }
    const read = async (): Promise<unknown> =>
      (await ok('SELECT i FROM lake.full.shared ORDER BY i')).rows?.map(([i]) => i);
    expect(await read()).toEqual(made);
    const snapshots = (await ok('SELECT count(*)::INT FROM lake.full."shared$snapshots"')).rows?.[0]?.[0];
    const added = (await files()).length - before.length;
    expect(added).toBe(made.length + 2 * Number(snapshots));
    expect((await insert(100)).status).toBe(200);
    expect(await read()).toEqual([...made, 100]);
  });
});
