import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CrashPoint } from '#catalog/context.ts';
import { SkeinError } from '#shared/error.ts';
import type { CatalogAccess } from './load-catalog.ts';
import type { Config } from '#shared/config/config-schema.ts';
import { startCatalogProcess, type CatalogProcess } from '#test/support/catalog-process.ts';
import { startLoadProcess } from '#test/support/load-process.ts';
import { accessTo, LoadHarness } from '#test/support/load-harness.ts';
import { patience } from '#test/support/run/slowness.ts';

let harness: LoadHarness;
beforeAll(async () => {
  harness = await LoadHarness.start();
  await harness.sql(
    `CREATE TABLE people AS SELECT i::BIGINT id, 'name' || i AS name, DATE '2024-01-15' + (i * 10)::INT AS born FROM range(1000) t(i)`,
  );
});
afterAll(() => harness[Symbol.asyncDispose]());

describe('a load that fails leaves nothing behind', () => {
  let good: string;
  beforeAll(async () => {
    good = await harness.parquet('good.parquet', 'FROM people');
    await harness.load(['parquet', good, '--table', 'lake.keep.people', '--create']);
  });

  async function expectFailure(args: readonly string[], code: string, message: RegExp): Promise<void> {
    const before = await harness.warehouse();
    const snapshot = (await harness.table('lake.keep.people')).currentSnapshotId;
    const result = await harness.load(args);
    expect(result).toMatchObject({
      code: 1,
      events: [{ event: 'failed', code, message: expect.stringMatching(message) }],
    });
    expect(result.events).toHaveLength(1);
    expect(await harness.warehouse()).toStrictEqual(before);
    expect((await harness.table('lake.keep.people')).currentSnapshotId).toBe(snapshot);
  }

  test('a table that exists', () =>
    expectFailure(['parquet', good, '--table', 'lake.keep.people', '--create'], 'TABLE_EXISTS', /lake\.keep\.people/));

  test('a table that does not exist', () =>
    expectFailure(['parquet', good, '--table', 'lake.keep.nobody'], 'TABLE_NOT_FOUND', /nobody/));

  test('a missing file', () =>
    expectFailure(
      ['parquet', good, '/nowhere/x.parquet', '--table', 'lake.new.t', '--create'],
      'INVALID_INPUT_FILE',
      /\/nowhere\/x\.parquet/,
    ));

  test('a glob that matches nothing', () =>
    expectFailure(
      ['parquet', '/nowhere/*.parquet', '--table', 'lake.keep.people'],
      'INVALID_INPUT_FILE',
      /\/nowhere\/\*\.parquet/,
    ));

  test('a file that is no Parquet', async () => {
    await writeFile(join(harness.folder, 'text.parquet'), 'not parquet at all');
    const args = ['parquet', good, join(harness.folder, 'text.parquet'), '--table', 'lake.keep.people'];
    await expectFailure(args, 'INVALID_INPUT_FILE', /text\.parquet/);
  });

  test('a file whose pages are corrupt', async () => {
    const path = await harness.parquet(
      'broken.parquet',
      "SELECT i::BIGINT id, md5(i::VARCHAR) AS name, DATE '2024-01-01' born FROM range(50000) t(i)",
    );
    const bytes = await readFile(path);
    bytes.fill(0xff, 5_000, Math.floor(bytes.length / 2));
    await writeFile(path, bytes);
    await expectFailure(
      ['parquet', good, path, '--table', 'lake.keep.people'],
      'INVALID_INPUT_FILE',
      /broken\.parquet/,
    );
    await expectFailure(
      ['parquet', good, path, '--table', 'lake.new.t', '--create'],
      'INVALID_INPUT_FILE',
      /broken\.parquet/,
    );
    expect(await harness.hasNamespace('new')).toBe(false);
  });

  test('a file of another schema', async () => {
    const other = await harness.parquet(
      'other.parquet',
      `SELECT i::VARCHAR id, name, born FROM people t(i, name, born)`,
    );
    await expectFailure(
      ['parquet', good, other, '--table', 'lake.keep.people'],
      'INVALID_INPUT_FILE',
      /other\.parquet.*id/,
    );
    await expectFailure(['parquet', other, '--table', 'lake.keep.people'], 'INVALID_INPUT_FILE', /other\.parquet.*id/);
    const more = await harness.parquet('more.parquet', 'SELECT *, 1 AS extra FROM people');
    await expectFailure(['parquet', more, '--table', 'lake.keep.people'], 'INVALID_INPUT_FILE', /more\.parquet.*extra/);
  });

  test('types that Iceberg lacks, by column', async () => {
    const path = await harness.parquet('interval.parquet', `SELECT 1 AS a, INTERVAL 1 DAY AS how_long`);
    await expectFailure(['parquet', path, '--table', 'lake.new.t', '--create'], 'NOT_SUPPORTED', /how_long/);
    const nanos = await harness.parquet('nanos.parquet', `SELECT '2024-01-01 00:00:00.000000001'::TIMESTAMP_NS AS at`);
    await expectFailure(
      ['parquet', nanos, '--table', 'lake.new.t', '--create'],
      'INVALID_INPUT_FILE',
      /at has timestamps/,
    );
  });

  test('a partition column that is not there', () =>
    expectFailure(
      ['parquet', good, '--table', 'lake.new.t', '--create', '--partition-by', 'month(ts)'],
      'COLUMN_NOT_FOUND',
      /ts/,
    ));

  test('a load that is cancelled', async () => {
    const path = await harness.parquet(
      'slow.parquet',
      'SELECT i, md5(i::VARCHAR) a, md5((i + 1)::VARCHAR) b FROM range(1500000) t(i)',
    );
    const before = await harness.warehouse();
    const abort = new AbortController();
    const loading = harness.load(['parquet', path, '--table', 'lake.new.slow', '--create'], { signal: abort.signal });
    const made = async (): Promise<readonly string[]> => (await harness.warehouse()).filter((f) => !before.includes(f));
    await expect
      .poll(made, { interval: 5, timeout: patience(30_000) })
      .toContainEqual(expect.stringMatching(/\.parquet$/));
    abort.abort();
    const result = await loading;
    expect(result).toMatchObject({ code: 1, events: [{ event: 'failed', code: 'QUERY_CANCELLED' }] });
    expect(await harness.warehouse()).toStrictEqual(before);
    expect(await harness.hasNamespace('new')).toBe(false);
  });

  test('temporary files', async () => {
    expect(await readdir(join(harness.folder, 'tmp'))).toStrictEqual([]);
  });

  test('kill -9 of a load that writes leaves the table as it was; the next load goes through', async () => {
    const path = await harness.parquet(
      'slow.parquet',
      'SELECT i AS id, md5(i::VARCHAR) AS name FROM range(1500000) t(i)',
    );
    const args = ['parquet', path, '--table', 'lake.keep.killed', '--replace'];
    const first = await harness.parquet('first.parquet', "SELECT 1::BIGINT AS id, 'x' AS name");
    await harness.load(['parquet', first, '--table', 'lake.keep.killed', '--create']);
    const before = await harness.warehouse();
    const made = async (): Promise<readonly string[]> => (await harness.warehouse()).filter((f) => !before.includes(f));
    const load = startLoadProcess({ args, config: harness.config, catalog: harness.catalog, token: harness.token });
    await expect
      .poll(made, { interval: 5, timeout: patience(30_000) })
      .toContainEqual(expect.stringMatching(/\.parquet$/));
    await load.kill();
    expect((await made()).filter((file) => !file.endsWith('.parquet'))).toStrictEqual([]);
    expect((await harness.plan('lake.keep.killed')).report.rows).toBe(1);
    expect(await harness.load(args)).toMatchObject({ code: 0, events: [{ rows: 1_500_000 }] });
    expect((await harness.plan('lake.keep.killed')).report.rows).toBe(1_500_000);
  });
});

/** A catalog process that dies at a point of the first commit, and is started again with the next call. */
class CatalogUnderFire implements AsyncDisposable {
  deaths = 0;
  #process: CatalogProcess;

  private constructor(first: CatalogProcess) {
    this.#process = first;
  }

  static async start(config: Config, dieAt: CrashPoint): Promise<CatalogUnderFire> {
    const first = await startCatalogProcess(config, dieAt);
    await first.arm();
    return new CatalogUnderFire(first);
  }

  /** Tables are loaded from the harness's own catalog; commits go to the one that dies. */
  access(config: Config, base: CatalogAccess): CatalogAccess {
    const call: CatalogAccess['call'] = async (method, request) => {
      try {
        return await accessTo(this.#process, base.token).call(method, request);
      } catch (error) {
        await this.#process.died();
        this.deaths += 1;
        this.#process = await startCatalogProcess(config);
        throw error;
      }
    };
    return { ...base, call };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.kill();
  }
}

describe('a catalog that is hard to reach', () => {
  /** Loses the answers of the first commits (`seen`), or the commits themselves. */
  function lossy(seen: boolean, losses: number): { readonly connect: () => Promise<CatalogAccess>; sent: number } {
    const state = { sent: 0, connect: () => Promise.resolve({ ...harness.access, call }) };
    const call: CatalogAccess['call'] = async (method, request) => {
      if (method !== 'CommitTables') return harness.access.call(method, request);
      state.sent += 1;
      if (state.sent > losses) return harness.access.call(method, request);
      if (seen) await harness.access.call(method, request);
      throw new SkeinError('CATALOG_UNAVAILABLE', 'the answer is lost');
    };
    return state;
  }

  const args = async (name: string): Promise<readonly string[]> => [
    'parquet',
    await harness.parquet('lost.parquet', 'SELECT 1 AS i'),
    '--table',
    `lake.lost.${name}`,
    '--create',
  ];

  test.each([true, false])('a commit whose answer is lost (seen by the catalog: %s) happens once', async (seen) => {
    const catalog = lossy(seen, 2);
    const result = await harness.load(await args(`lost-${seen}`), { connect: catalog.connect });
    expect(result).toMatchObject({ code: 0, events: [{ event: 'committed', rows: 1 }] });
    expect(catalog.sent).toBe(3);
    const table = await harness.table(`lake.lost."lost-${seen}"`);
    expect(table.snapshots.size).toBe(1);
    expect((await harness.plan(`lake.lost."lost-${seen}"`)).report.rows).toBe(1);
  });

  test('a load that is ended while its commit has no answer deletes its files, and the commit never happens', async () => {
    const catalog = lossy(false, Infinity);
    const before = await harness.warehouse();
    const abort = new AbortController();
    const loading = harness.load(await args('ended'), { connect: catalog.connect, signal: abort.signal });
    await expect.poll(() => catalog.sent, { timeout: patience(30_000) }).toBeGreaterThan(1);
    abort.abort();
    expect(await loading).toMatchObject({ code: 1, events: [{ event: 'failed', code: 'QUERY_CANCELLED' }] });
    expect(await harness.warehouse()).toStrictEqual(before);
  });

  test('a load that is ended after its commit was seen has happened', async () => {
    const catalog = lossy(true, Infinity);
    const abort = new AbortController();
    const loading = harness.load(await args('seen'), { connect: catalog.connect, signal: abort.signal });
    await expect.poll(() => catalog.sent, { timeout: patience(30_000) }).toBeGreaterThan(1);
    abort.abort();
    expect(await loading).toMatchObject({ code: 0, events: [{ event: 'committed', rows: 1 }] });
    expect((await harness.plan('lake.lost.seen')).report.rows).toBe(1);
  });

  test('a commit of which the catalog says nothing at all keeps its files', async () => {
    const before = await harness.warehouse();
    const abort = new AbortController();
    let sent = 0;
    const call: CatalogAccess['call'] = (method, ...rest) => {
      if (method !== 'CommitTables' && method !== 'AbandonCommit') return harness.access.call(method, ...rest);
      sent += 1;
      if (sent > 1) abort.abort();
      return Promise.reject(new SkeinError('CATALOG_UNAVAILABLE', 'the catalog does not answer'));
    };
    const connect = () => Promise.resolve({ ...harness.access, call });
    const result = await harness.load(await args('unknown'), { connect, signal: abort.signal });
    expect(result).toMatchObject({ code: 1, events: [{ event: 'failed', code: 'COMMIT_STATE_UNKNOWN' }] });
    expect((await harness.warehouse()).length).toBe(before.length + 3);
  });

  test('a catalog that is killed after the commit, and started again, says that it happened', async () => {
    await using victim = await CatalogUnderFire.start(harness.config, 'committed');
    const connect = () => Promise.resolve(victim.access(harness.config, harness.access));
    const result = await harness.load(await args('killed'), { connect });
    expect(result).toMatchObject({ code: 0, events: [{ event: 'committed', rows: 1 }] });
    expect(victim.deaths).toBe(1);
    expect((await harness.table('lake.lost.killed')).snapshots.size).toBe(1);
    expect((await harness.plan('lake.lost.killed')).report.rows).toBe(1);
  });

  test('a token that has run out is replaced; one that is never valid is exit code 3', async () => {
    let asked = 0;
    const connect = async () => ({ ...harness.access, token: asked++ === 0 ? 'expired' : harness.token });
    expect(await harness.load(await args('renewed'), { connect })).toMatchObject({ code: 0 });
    const bad = await harness.load(await args('bad'), {
      connect: async () => ({ ...harness.access, token: 'bad' }),
    });
    expect(bad).toMatchObject({ code: 3, events: [{ code: 'UNAUTHENTICATED' }] });
  });

  test('no catalog at all', async () => {
    const connect = async () => ({ ...harness.access, catalogUrl: 'http://127.0.0.1:1' });
    expect(await harness.load(await args('none'), { connect })).toMatchObject({
      code: 1,
      events: [{ code: 'CATALOG_UNAVAILABLE' }],
    });
  });
});

test.each([
  [[]],
  [['orc', 'x']],
  [['parquet', '--table', 'lake.ns.t']],
  [['parquet', 'x']],
  [['parquet', 'x', '--table', 't']],
  [['parquet', 'x', '--table', 'lake.ns.t', '--create', '--replace']],
  [['parquet', 'x', '--table', 'lake.ns.t', '--partition-by', 'month(ts)']],
  [['parquet', 'x', '--table', 'lake.ns.t', '--create', '--partition-by', 'moonth(ts)']],
  [['tpch']],
  [['tpch', '--scale', '-1']],
  [['tpch', '--scale', '1', '--what']],
])('usage: %j', async (args) => {
  expect(await harness.load(args)).toStrictEqual({ code: 2, events: [] });
});
