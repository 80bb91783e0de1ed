import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { credentials } from '@grpc/grpc-js';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCatalog, type RunningCatalog } from '#catalog/main.ts';
import { defaultConfig, type Config } from '#shared/config/config-schema.ts';
import { internalMetadata } from '#shared/grpc/internal-auth.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { LruManifestCache } from '#shared/iceberg/manifest-cache.ts';
import { planFiles, type PlannedFiles } from '#shared/iceberg/plan-files.ts';
import type { Predicate } from '#shared/iceberg/predicate.ts';
import { currentSchema, type TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { localFileIo } from '#shared/storage/local-file-io.ts';
import { localPath } from '#shared/storage/location.ts';
import { startTestPostgres, type TestPostgres } from '#test/support/postgres.ts';
import { python } from '#test/support/python.ts';
import { parseTableName } from './load-arguments.ts';
import { RestCatalog, type CatalogAccess } from './rest-catalog.ts';
import { runLoad } from './run-load.ts';
import { TPCH_TABLES } from './tpch.ts';

const SECRET = 'load-test';

let folder: string;
let postgres: TestPostgres;
let catalog: RunningCatalog;
let config: Config;
let token: string;
let duck: DuckDBConnection;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skein-load-'));
  postgres = await startTestPostgres();
  config = defaultConfig({
    data_dir: folder,
    'database.url': postgres.url,
    'catalog.port': 0,
    'cluster.secret': SECRET,
    'bootstrap.warehouse': join(folder, 'warehouse'),
    'admin.password': 'not-used-here',
  });
  catalog = await startCatalog(config, silentLogger);
  token = await mintToken(catalog.internalAddress);
  duck = await (await DuckDBInstance.create(':memory:')).connect();
  await sql(
    `CREATE TABLE people AS SELECT i::BIGINT id, 'name' || i AS name, DATE '2024-01-15' + (i * 10)::INT AS born FROM range(1000) t(i)`,
  );
});

afterAll(async () => {
  duck.closeSync();
  await catalog.close();
  await postgres[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

function mintToken(address: string): Promise<string> {
  const { Client } = loadService('catalog.proto', 'skein.catalog.v1.CatalogInternal');
  const client = new Client(address, credentials.createInsecure());
  return new Promise((resolve, reject) => {
    type Reply = { readonly token: string };
    const call = (client as unknown as Record<string, Function>)['MintToken'];
    call?.call(
      client,
      { tenant: 'default', user: 'admin' },
      internalMetadata(SECRET),
      (error: unknown, reply: Reply) => {
        client.close();
        if (error !== null && error !== undefined) reject(new Error('no token', { cause: error }));
        else resolve(reply.token);
      },
    );
  });
}

async function sql(text: string): Promise<readonly Record<string, unknown>[]> {
  return (await duck.runAndReadAll(text)).getRowObjectsJson();
}

type Event = {
  readonly event: string;
  readonly code?: string;
  readonly message?: string;
  readonly [key: string]: unknown;
};

type LoadOptions = {
  readonly signal?: AbortSignal;
  readonly overrides?: Partial<Config>;
  readonly connect?: () => Promise<CatalogAccess>;
};

/** Runs the command with `--json`; a signal cancels it. */
async function load(
  args: readonly string[],
  { signal, overrides, connect }: LoadOptions = {},
): Promise<{ code: number; events: readonly Event[] }> {
  const stdout = new PassThrough().setEncoding('utf8');
  const stderr = new PassThrough().setEncoding('utf8');
  stderr.on('data', (part: string) => console.error(part));
  let text = '';
  stdout.on('data', (part: string) => (text += part));
  const code = await runLoad([...args, '--json'], {
    config: { ...config, ...overrides },
    connect: connect ?? (async () => ({ catalogUrl: catalog.url, token })),
    stdout,
    stderr,
    isTty: false,
    signal: signal ?? new AbortController().signal,
  });
  await new Promise((resolve) => stdout.end(resolve));
  return {
    code,
    events: text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Event),
  };
}

async function table(name: string): Promise<TableMetadata> {
  const rest = await RestCatalog.open(async () => ({ catalogUrl: catalog.url, token }));
  return rest.loadTable(parseTableName(name));
}

async function plan(name: string, predicate: Predicate = { kind: 'true' }): Promise<PlannedFiles & { sql: string }> {
  const metadata = await table(name);
  const planned = await planFiles(localFileIo, metadata, metadata.currentSnapshotId, predicate, {
    manifestCache: new LruManifestCache(1e7),
    allowedRoots: [metadata.location],
  });
  const list = planned.files.map(({ path }) => `'${localPath(path)}'`).join(', ');
  return { ...planned, sql: `read_parquet([${list}])` };
}

/** Every file below the warehouse. */
async function warehouse(): Promise<readonly string[]> {
  const entries = await readdir(join(folder, 'warehouse'), { recursive: true }).catch(() => []);
  return entries.filter((name) => name.includes('.')).sort();
}

async function parquet(name: string, query: string): Promise<string> {
  const path = join(folder, name);
  await sql(`COPY (${query}) TO '${path}' (FORMAT parquet)`);
  return path;
}

describe('TPC-H 0.01', () => {
  test('all eight tables, once', async () => {
    const { code, events } = await load(['tpch', '--scale', '0.01']);
    expect(events).toStrictEqual(
      TPCH_TABLES.map((name): unknown => ({
        event: 'committed',
        table: `lake.tpch.${name}`,
        snapshot_id: expect.stringMatching(/^\d+$/),
        rows: expect.any(Number),
        files: 1,
      })),
    );
    expect(code).toBe(0);
    const before = await warehouse();
    const again = await load(['tpch', '--scale', '0.01']);
    expect(again).toMatchObject({ code: 1, events: [{ event: 'failed', code: 'TABLE_EXISTS' }] });
    expect(await warehouse()).toStrictEqual(before);
  });

  test.each(TPCH_TABLES)('%s: rows, order, field ids and bounds are those of the input', async (name) => {
    const { files, sql: loaded } = await plan(`lake.tpch.${name}`);
    const source = `read_parquet('cli/load/tpch-0.01/${name}.parquet')`;
    const [difference] = await sql(
      `SELECT count(*) AS n FROM (SELECT row_number() OVER () AS r, * FROM ${loaded}) a
       FULL JOIN (SELECT row_number() OVER () AS r, * FROM ${source}) b USING (r) WHERE a IS DISTINCT FROM b`,
    );
    expect(difference).toStrictEqual({ n: '0' });
    const metadata = await table(`lake.tpch.${name}`);
    const ids = await sql(
      `SELECT name, field_id::INT AS id FROM parquet_schema('${localPath(files[0]?.path ?? '')}') WHERE field_id IS NOT NULL`,
    );
    expect(ids).toStrictEqual(currentSchema(metadata).fields.map((field) => ({ name: field.name, id: field.id })));
    expect(metadata.snapshots.get(metadata.currentSnapshotId ?? 0n)?.summary).toMatchObject({
      operation: 'append',
      'added-records': String(files[0]?.recordCount),
      'total-records': String(files[0]?.recordCount),
      'total-files-size': String(files[0]?.sizeBytes),
      'added-data-files': '1',
    });
  });

  test('--replace keeps the table and its history', async () => {
    const before = await table('lake.tpch.nation');
    const { code } = await load(['tpch', '--scale', '0.01', '--replace']);
    const after = await table('lake.tpch.nation');
    expect(code).toBe(0);
    expect(after.tableUuid).toBe(before.tableUuid);
    expect(after.snapshots.size).toBe(2);
    expect(after.schemas.length).toBe(1);
    expect((await plan('lake.tpch.nation')).report.rows).toBe(25);
  });

  test('another scale without the generator says how to get it', async () => {
    const path = process.env['PATH'];
    process.env['PATH'] = '/nowhere';
    const { code, events } = await load(['tpch', '--scale', '0.02', '--namespace', 'other']);
    process.env['PATH'] = path;
    expect(code).toBe(1);
    expect(events[0]?.message).toContain('pip install tpchgen-cli');
  });
});

describe('parquet', () => {
  test('--create makes namespace and table; appending adds; the new snapshot stands behind the old', async () => {
    const path = await parquet('people.parquet', 'FROM people');
    const created = await load(['parquet', path, '--table', 'lake.a.b.people', '--create']);
    expect(created).toMatchObject({ code: 0, events: [{ event: 'committed', rows: 1000, files: 1 }] });
    const appended = await load(['parquet', path, path, '--table', 'lake.a.b.people']);
    expect(appended).toMatchObject({ code: 0, events: [{ rows: 1000, files: 1 }] });
    const metadata = await table('lake.a.b.people');
    expect(metadata.formatVersion).toBe(2);
    const current = metadata.snapshots.get(metadata.currentSnapshotId ?? 0n);
    expect(current?.summary).toMatchObject({
      'total-records': '2000',
      'total-data-files': '2',
      'added-records': '1000',
    });
    expect(current?.parentSnapshotId).toBe(BigInt(String(created.events[0]?.['snapshot_id'])));
    expect((await plan('lake.a.b.people')).report).toMatchObject({ manifests: 2, files: 2, rows: 2000 });
  });

  test('many files become few, a large one several, in order', async () => {
    for (let i = 0; i < 4; i++) await parquet(`part-${i}.parquet`, `SELECT ${i} AS part, i FROM range(1000) t(i)`);
    const few = await load(['parquet', join(folder, 'part-*.parquet'), '--table', 'lake.ns.few', '--create']);
    expect(few).toMatchObject({ code: 0, events: [{ rows: 4000, files: 1 }] });
    const overrides = { 'load.data_file_bytes': 4_000, 'load.row_group_rows': 2_048 };
    await parquet('large.parquet', 'SELECT i, hash(i) h FROM range(100000) t(i)');
    const args = ['parquet', join(folder, 'large.parquet'), '--table', 'lake.ns.several', '--create'];
    const several = await load(args, { overrides });
    expect(several.code).toBe(0);
    const { files, sql: loaded } = await plan('lake.ns.several');
    expect(files.length).toBeGreaterThan(10);
    expect(
      await sql(
        `SELECT bool_and(i = r - 1)::VARCHAR ok, count(*)::INT n FROM (SELECT i, row_number() OVER () r FROM ${loaded})`,
      ),
    ).toStrictEqual([{ ok: 'true', n: 100_000 }]);
    const one = await plan('lake.ns.several', { kind: 'compare', op: 'eq', fieldId: 1, value: 34_567n });
    expect(one.files.length).toBe(1);
  });

  test('every transform partitions, and prunes', async () => {
    const path = await parquet(
      'events.parquet',
      `SELECT i::BIGINT id, CASE WHEN i % 7 = 0 THEN NULL ELSE 'né/=%' || i % 5 END AS "a b", (i * 1.11)::DECIMAL(9,2) amount,
         TIMESTAMP '1969-12-30 22:30:00' + to_hours(i::INT) ts, (i % 3 = 0) flag, uuid() u, i::DOUBLE / 3 x, ('x' || i % 4)::BLOB raw
       FROM range(200) t(i)`,
    );
    const by =
      'bucket(4, id), "a b", truncate(50, amount), day(ts), flag, bucket(3, u), truncate(1, raw), bucket(2, "a b")';
    const { code, events } = await load([
      'parquet',
      path,
      '--table',
      'lake.ns.events',
      '--create',
      '--partition-by',
      by,
    ]);
    expect(events).toMatchObject([{ event: 'committed', rows: 200 }]);
    expect(code).toBe(0);
    const all = await plan('lake.ns.events');
    expect(all.report.rows).toBe(200);
    expect(all.files.every(({ path: file }) => /^file:\/\/\/[\w/.-]+$/.test(file))).toBe(true);
    const missing = await sql(`SELECT count(*)::INT n FROM (FROM '${path}' EXCEPT ALL FROM ${all.sql})`);
    expect(missing).toStrictEqual([{ n: 0 }]);
    const one = await plan('lake.ns.events', { kind: 'compare', op: 'eq', fieldId: 1, value: 34n });
    expect(one.files.length).toBe(1);
    const nulls = await plan('lake.ns.events', { kind: 'isNull', fieldId: 2 });
    expect(nulls.report.rows).toBe(29);
    expect(nulls.files[0]?.constants).toMatchObject({ 2: null });
    expect(await readdir(join(localPath((await table('lake.ns.events')).location), 'data'))).toHaveLength(
      all.files.length,
    );
  });

  test('nested columns keep their ids and counts; NaN, long and empty values are told apart', async () => {
    const path = await parquet(
      'nested.parquet',
      `SELECT {a: i, "b c": [{x: i, y: 'v' || i}]} s, MAP {i: i * 2} m, CASE WHEN i = 3 THEN 'nan'::DOUBLE ELSE i END f,
         repeat('é', 300) || i AS long, i::UBIGINT ub, i::UTINYINT ut, NULL::INT absent, '2024-01-01'::TIMESTAMP_NS AS ns
       FROM range(10) t(i)`,
    );
    expect(await load(['parquet', path, '--table', 'lake.ns.nested', '--create'])).toMatchObject({ code: 0 });
    const { sql: loaded, files } = await plan('lake.ns.nested');
    expect(await sql(`SELECT s, m, f::VARCHAR f FROM ${loaded}`)).toStrictEqual(
      await sql(`SELECT s, m, f::VARCHAR f FROM '${path}'`),
    );
    const ids = await sql(
      `SELECT field_id::INT id FROM parquet_schema('${localPath(files[0]?.path ?? '')}') WHERE field_id IS NOT NULL`,
    );
    expect(new Set(ids.map(({ id }) => id)).size).toBe(15);
    const long = (text: string): Predicate => ({ kind: 'compare', op: 'eq', fieldId: 4, value: text });
    expect((await plan('lake.ns.nested', long(`${'é'.repeat(300)}5`))).files.length).toBe(1);
    expect((await plan('lake.ns.nested', long(`${'é'.repeat(255)}f`))).files.length).toBe(0);
    expect((await plan('lake.ns.nested', { kind: 'notNull', fieldId: 7 })).files.length).toBe(0);
    expect((await plan('lake.ns.nested', { kind: 'compare', op: 'gt', fieldId: 3, value: 100 })).files.length).toBe(1);
    expect((await plan('lake.ns.nested', { kind: 'compare', op: 'lt', fieldId: 3, value: 0 })).files.length).toBe(0);
  });

  test('file names that look like patterns or hold quotes', async () => {
    const names = ["it's [1]*?.parquet", 'it1.parquet'];
    for (const [index, name] of names.entries()) {
      await parquet('plain.parquet', `SELECT ${index} AS i`);
      await rename(join(folder, 'plain.parquet'), join(folder, name));
    }
    const args = ['parquet', join(folder, names[0] ?? ''), '--table', 'lake.ns.odd', '--create'];
    expect(await load(args)).toMatchObject({ code: 0, events: [{ rows: 1 }] });
    expect(await sql(`SELECT i FROM ${(await plan('lake.ns.odd')).sql}`)).toStrictEqual([{ i: 0 }]);
  });

  test('a table of no rows', async () => {
    const path = await parquet('empty.parquet', 'FROM people WHERE false');
    expect(await load(['parquet', path, '--table', 'lake.ns.empty', '--create'])).toMatchObject({
      code: 0,
      events: [{ rows: 0, files: 0 }],
    });
    expect((await plan('lake.ns.empty')).files).toStrictEqual([]);
  });

  test('--replace takes another shape under the same name', async () => {
    const first = await parquet('shape-1.parquet', `SELECT 1::BIGINT id, 'x' AS v`);
    const second = await parquet('shape-2.parquet', `SELECT 2::BIGINT id, DATE '2024-05-06' AS v, 7::INT w`);
    expect(await load(['parquet', first, '--table', 'lake.ns.shape', '--replace'])).toMatchObject({ code: 0 });
    const args = ['parquet', second, '--table', 'lake.ns.shape', '--replace', '--partition-by', 'month(v)'];
    expect(await load(args)).toMatchObject({ code: 0, events: [{ rows: 1 }] });
    const metadata = await table('lake.ns.shape');
    expect(currentSchema(metadata).fields.map(({ id, name }) => [id, name])).toStrictEqual([
      [1, 'id'],
      [4, 'v'],
      [5, 'w'],
    ]);
    const may: Predicate = { kind: 'compare', op: 'lt', fieldId: 4, value: 19_844n };
    expect((await plan('lake.ns.shape', may)).report).toMatchObject({ files: 1, filesPruned: 1 });
  });

  test('appends that race each other all land', async () => {
    const path = await parquet('race.parquet', 'SELECT 1::BIGINT i');
    await load(['parquet', path, '--table', 'lake.ns.race', '--create']);
    const results = await Promise.all(
      Array.from({ length: 4 }, () => load(['parquet', path, '--table', 'lake.ns.race'])),
    );
    expect(results.map(({ code }) => code)).toStrictEqual([0, 0, 0, 0]);
    expect((await plan('lake.ns.race')).report).toMatchObject({ rows: 5, manifests: 5 });
  });
});

type Inspected = {
  readonly rows: number;
  readonly mismatches: readonly unknown[];
  readonly files: readonly {
    readonly path: string;
    readonly rows: number;
    readonly split_offsets: number;
    readonly columns: Readonly<Record<string, Readonly<Record<string, string | null>>>>;
  }[];
};

const inspect = async (...names: readonly string[]): Promise<Readonly<Record<string, Inspected>>> =>
  JSON.parse(await python('cli/load/inspect-tables.py', catalog.url, token, 'lake', ...names)) as Readonly<
    Record<string, Inspected>
  >;

describe('PyIceberg', () => {
  test('its bounds and counts of all eight TPC-H tables are those of DuckDB', async () => {
    const inspected = await inspect(...TPCH_TABLES.map((name) => `tpch.${name}`));
    for (const name of TPCH_TABLES) {
      const source = `read_parquet('cli/load/tpch-0.01/${name}.parquet')`;
      const found = inspected[`tpch.${name}`];
      const columns = Object.keys(found?.files[0]?.columns ?? {});
      expect(columns).toHaveLength(currentSchema(await table(`lake.tpch.${name}`)).fields.length);
      for (const column of columns) {
        const [expected] = await sql(
          `SELECT min(${column})::VARCHAR AS lower_bound, max(${column})::VARCHAR AS upper_bound, count(*)::VARCHAR AS value_count,
             (count(*) - count(${column}))::VARCHAR AS null_value_count FROM ${source}`,
        );
        expect({ column, ...found?.files[0]?.columns[column] }).toMatchObject({ column, ...expected });
        expect(Number(found?.files[0]?.columns[column]?.['column_size'])).toBeGreaterThan(0);
      }
      expect(found?.rows).toBe(found?.files[0]?.rows);
      expect(found?.files[0]?.split_offsets).toBeGreaterThan(0);
    }
  });

  test('it reads partitioned, nested, appended and replaced tables, and computes the same partitions', async () => {
    const found = await inspect('ns.events', 'ns.nested', 'a.b.people', 'ns.shape', 'ns.empty', 'ns.several');
    expect(Object.entries(found).map(([name, { rows, mismatches }]) => [name, rows, mismatches])).toStrictEqual([
      ['ns.events', 200, []],
      ['ns.nested', 10, []],
      ['a.b.people', 2000, []],
      ['ns.shape', 1, []],
      ['ns.empty', 0, []],
      ['ns.several', 100_000, []],
    ]);
    expect(found['ns.nested']?.files[0]?.columns['f']).toMatchObject({
      nan_value_count: '1',
      null_value_count: '0',
      lower_bound: '0.0',
      upper_bound: '9.0',
    });
  });
});

describe('what fails leaves nothing behind', () => {
  let good: string;
  beforeAll(async () => {
    good = await parquet('good.parquet', 'FROM people');
    await load(['parquet', good, '--table', 'lake.keep.people', '--create']);
  });

  async function expectFailure(args: readonly string[], code: string, message: RegExp): Promise<void> {
    const before = await warehouse();
    const snapshot = (await table('lake.keep.people')).currentSnapshotId;
    const result = await load(args);
    expect(result).toMatchObject({
      code: 1,
      events: [{ event: 'failed', code, message: expect.stringMatching(message) }],
    });
    expect(result.events).toHaveLength(1);
    expect(await warehouse()).toStrictEqual(before);
    expect((await table('lake.keep.people')).currentSnapshotId).toBe(snapshot);
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
    await writeFile(join(folder, 'text.parquet'), 'not parquet at all');
    const args = ['parquet', good, join(folder, 'text.parquet'), '--table', 'lake.keep.people'];
    await expectFailure(args, 'INVALID_INPUT_FILE', /text\.parquet/);
  });

  test('a file whose pages are corrupt', async () => {
    const path = await parquet(
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
    await expect(table('lake.new.t')).rejects.toMatchObject({ code: 'SCHEMA_NOT_FOUND' });
  });

  test('a file of another schema', async () => {
    const other = await parquet('other.parquet', `SELECT i::VARCHAR id, name, born FROM people t(i, name, born)`);
    await expectFailure(
      ['parquet', good, other, '--table', 'lake.keep.people'],
      'INVALID_INPUT_FILE',
      /other\.parquet.*id/,
    );
    await expectFailure(['parquet', other, '--table', 'lake.keep.people'], 'INVALID_INPUT_FILE', /other\.parquet.*id/);
    const more = await parquet('more.parquet', 'SELECT *, 1 AS extra FROM people');
    await expectFailure(['parquet', more, '--table', 'lake.keep.people'], 'INVALID_INPUT_FILE', /more\.parquet.*extra/);
  });

  test('types that Iceberg lacks, by column', async () => {
    const path = await parquet('interval.parquet', `SELECT 1 AS a, INTERVAL 1 DAY AS how_long`);
    await expectFailure(['parquet', path, '--table', 'lake.new.t', '--create'], 'NOT_SUPPORTED', /how_long/);
    const nanos = await parquet('nanos.parquet', `SELECT '2024-01-01 00:00:00.000000001'::TIMESTAMP_NS AS at`);
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
    const path = await parquet(
      'slow.parquet',
      'SELECT i, md5(i::VARCHAR) a, md5((i + 1)::VARCHAR) b FROM range(1500000) t(i)',
    );
    const before = await warehouse();
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 250);
    const result = await load(['parquet', path, '--table', 'lake.new.slow', '--create'], { signal: abort.signal });
    expect(result).toMatchObject({ code: 1, events: [{ event: 'failed', code: 'QUERY_CANCELLED' }] });
    expect(await warehouse()).toStrictEqual(before);
    await expect(table('lake.new.slow')).rejects.toMatchObject({ code: 'SCHEMA_NOT_FOUND' });
  });

  test('temporary files', async () => {
    expect(await readdir(join(folder, 'tmp'))).toStrictEqual([]);
  });
});

describe('a catalog that is hard to reach', () => {
  /** Passes requests on, but for commits: their answer is lost after, or before, the catalog saw them. */
  async function lossyProxy(forward: boolean): Promise<AsyncDisposable & { readonly url: string }> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks);
        const isCommit = body.includes('"requirements"');
        if (isCommit && !forward) return void request.socket.destroy();
        const method = request.method ?? 'GET';
        const headers = { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' };
        void forwardTo(`${catalog.url}${request.url}`, { method, headers, body: body.length === 0 ? null : body }).then(
          ({ status, text }) => {
            if (isCommit) return request.socket.destroy();
            return response.writeHead(status, { 'content-type': 'application/json' }).end(text);
          },
        );
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const close = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
    return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: close };
  }

  async function forwardTo(url: string, request: RequestInit): Promise<{ status: number; text: string }> {
    const answer = await fetch(url, request);
    return { status: answer.status, text: await answer.text() };
  }

  const args = async (name: string): Promise<readonly string[]> => [
    'parquet',
    await parquet('lost.parquet', 'SELECT 1 AS i'),
    '--table',
    `lake.lost.${name}`,
    '--create',
  ];

  test('a commit whose answer was lost is found in the table', async () => {
    await using proxy = await lossyProxy(true);
    const result = await load(await args('found'), { connect: async () => ({ catalogUrl: proxy.url, token }) });
    expect(result).toMatchObject({ code: 0, events: [{ event: 'committed', rows: 1 }] });
    expect((await plan('lake.lost.found')).report.rows).toBe(1);
  });

  test('one whose fate is unknown keeps its files', async () => {
    await using proxy = await lossyProxy(false);
    const before = await warehouse();
    const result = await load(await args('unknown'), { connect: async () => ({ catalogUrl: proxy.url, token }) });
    expect(result).toMatchObject({ code: 1, events: [{ event: 'failed', code: 'CATALOG_UNAVAILABLE' }] });
    expect((await warehouse()).length).toBe(before.length + 3);
  });

  test('a token that has run out is replaced; one that is never valid is exit code 3', async () => {
    let asked = 0;
    const connect = async () => ({ catalogUrl: catalog.url, token: asked++ === 0 ? 'expired' : token });
    expect(await load(await args('renewed'), { connect })).toMatchObject({ code: 0 });
    const bad = await load(await args('bad'), { connect: async () => ({ catalogUrl: catalog.url, token: 'bad' }) });
    expect(bad).toMatchObject({ code: 3, events: [{ code: 'UNAUTHENTICATED' }] });
  });

  test('no catalog at all', async () => {
    const connect = async () => ({ catalogUrl: 'http://127.0.0.1:1', token });
    expect(await load(await args('none'), { connect })).toMatchObject({
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
  expect(await load(args)).toStrictEqual({ code: 2, events: [] });
});
