import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WorkerBeat } from '#proto/generated/skein/worker/v1/WorkerBeat.ts';
import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import type { ScanSpec } from '#shared/task/task.ts';
import { defaultConfig } from '#shared/config/config-schema.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { DUCKDB_RELEASE, SKEIN_RELEASE } from '#shared/release.ts';
import { startWorker, type RunningWorker } from './main.ts';
import { makeTask, TestCoordinator } from '#test/support/worker-client.ts';
import { credentialId } from '#shared/storage/credential.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';

const SECRET = 'system-test';
/** DuckDB counts memory per core, up to 32 KiB on each before it adds that to what it holds against its limit (`buffer_pool.cpp`). */
const UNCOUNTED_BYTES_MAX = availableParallelism() * 32 * 2 ** 10;

describe('a worker', () => {
  let dataDir: string;
  let worker: RunningWorker;
  let coordinator: TestCoordinator;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'skein-worker-'));
    worker = await startWorker(
      defaultConfig({
        data_dir: dataDir,
        'cluster.secret': SECRET,
        'worker.port': 0,
        'worker.cores': 2,
        'worker.memory_limit': 2 ** 30,
        'worker.orphan_timeout': 60_000,
      }),
      silentLogger,
    );
    coordinator = new TestCoordinator(worker.url, SECRET);
  });

  afterAll(async () => {
    coordinator.close();
    await worker.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(worker.metricsUrl)).text();
    return Number(new RegExp(`^skein_worker_${name}\\{.*\\} (.*)$`, 'm').exec(text)?.[1]);
  };

  /** Names of files, not folders, that instances left in their spill folders. The folder of a thread in reserve goes with it, also while this reads. */
  const spilledFiles = async (): Promise<string[]> => {
    try {
      const entries = await readdir(join(dataDir, 'spill'), { recursive: true, withFileTypes: true });
      return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return spilledFiles();
      throw error;
    }
  };

  test('shows its metrics to this machine, not to whom a proxy passes on; health is open', async () => {
    const ask = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
      fetch(new URL(path, worker.metricsUrl), { headers });
    for (const name of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip']) {
      const refused = await ask('/metrics', { [name]: '192.0.2.1', authorization: 'Bearer x' });
      expect([refused.status, refused.headers.get('www-authenticate')], name).toEqual([401, 'Bearer']);
      expect(await refused.json()).toMatchObject({ error: 'UNAUTHENTICATED' });
      expect((await ask('/health', { [name]: '192.0.2.1' })).status).toBe(200);
    }
    expect((await ask('/metrics')).status).toBe(200);
  });

  test('with metrics.token it shows them to who has it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'skein-worker-'));
    const token = 'a-token-of-prometheus';
    const own = { data_dir: folder, 'cluster.secret': SECRET, 'worker.port': 0, 'worker.cores': 1 };
    const closed = await startWorker(defaultConfig({ ...own, 'metrics.token': token }), silentLogger);
    try {
      const status = async (headers: Readonly<Record<string, string>>): Promise<number> =>
        (await fetch(closed.metricsUrl, { headers })).status;
      expect(await status({})).toBe(401);
      expect(await status({ authorization: `Bearer ${token}` })).toBe(200);
      expect(await status({ authorization: `Bearer ${token}`, 'x-forwarded-for': '192.0.2.1' })).toBe(200);
      expect(await status({ authorization: `Bearer ${SECRET}` })).toBe(401);
    } finally {
      await closed.close();
      await rm(folder, { recursive: true, force: true });
    }
  });

  test('runs a statement and reports on it', async () => {
    const { table, report } = await coordinator.run(
      makeTask("SELECT 42 AS a, now() AS n, current_user AS u, 'x' || i AS s FROM range(3) t(i)"),
    );
    expect(table.numRows).toBe(3);
    expect(table.get(2)?.toJSON()).toEqual({ a: 42, n: 1_700_000_000_000, u: 'ann', s: 'x2' });
    expect(report).toMatchObject({ rows: 3, batches: 1 });
    expect(report.scheduledMs).toBeGreaterThan(0);
  });

  test('streams many batches in order', async () => {
    const { table, report } = await coordinator.run(makeTask('SELECT i FROM range(1000000) t(i)'));
    expect(table.numRows).toBe(1_000_000);
    expect(report.batches).toBeGreaterThan(3);
    const column = table.getChildAt(0);
    for (const row of [0, 65_535, 65_536, 500_000, 999_999]) expect(column?.get(row)).toBe(BigInt(row));
  });

  test('a result without rows has its schema', async () => {
    const { table } = await coordinator.run(makeTask('SELECT 1 AS a WHERE false'));
    expect(table.numRows).toBe(0);
    expect(table.schema.fields.map((field) => field.name)).toEqual(['a']);
  });

  test.each([
    ["SELECT 'x'::INT", 'INVALID_CAST'],
    ['SELEC 1', 'SYNTAX_ERROR'],
    ["SELECT * FROM read_csv('/etc/passwd')", 'NOT_SUPPORTED'],
    ["COPY (SELECT 1) TO '/tmp/skein-must-not-exist.csv'", 'NOT_SUPPORTED'],
    ['SELECT 1\0; SELECT 2', 'INVALID_REQUEST'],
  ])('%j fails with %s', async (sql, code) => {
    await expect(coordinator.run(makeTask(sql))).rejects.toMatchObject({ code });
  });

  test.each([
    ['SELECT CAST(NULL AS STRUCT(INTEGER, VARCHAR))', 'FRAGMENT_REFUSED'],
    ["SELECT nothing('x')", 'FRAGMENT_REFUSED'],
    ["SELECT '\0'", 'FRAGMENT_REFUSED'],
    ["SELECT CAST(text AS INTEGER) FROM (VALUES ('x')) t(text)", 'INVALID_CAST'],
  ])('%j as a fragment fails with %s: what it does not bind is no fault of a client', async (sql, code) => {
    const fragment = makeTask(sql, { keepJoinOrder: true });
    await expect(coordinator.run(fragment)).rejects.toMatchObject({ code });
  });

  test.each(['x', 'é', '\n', '%', '\\', '\u0001'])(
    'a text of 200,000 times %j ends its own task, and no other call on the connection',
    async (unit) => {
      const other = makeTask('SELECT i FROM range(100000000) t(i)');
      const reading = coordinator.read(other);
      await reading.next();
      const sql = `SELECT error('begin ' || repeat('${unit}', 200000 + i::INT)) FROM range(1) t(i)`;
      const failed = {
        code: 'INVALID_ARGUMENT',
        message: expect.stringMatching(/^begin [^]{300,} bytes left out /) as string,
      };
      await expect(coordinator.run(makeTask(sql))).rejects.toMatchObject(failed);
      const output = { kind: 'spool', partitions: 1 } as const;
      await expect(coordinator.runTask(makeTask(sql, { output }))).rejects.toMatchObject(failed);
      expect(await reading.next()).toMatchObject({ done: false });
      await reading.return(undefined);
    },
  );

  test('a profile says what DuckDB did, and no local path', async () => {
    const { report } = await coordinator.run(
      makeTask('SELECT g, count(*) FROM (SELECT i % 7 AS g FROM range(3000000) t(i)) GROUP BY g', { profile: 'exact' }),
    );
    const text = JSON.stringify(report.profile);
    expect(text).toMatch(/"operator_name":"(PERFECT_)?HASH_GROUP_BY"/);
    expect(text).toContain('"operator_cardinality":3000000');
    expect(text).not.toContain(dataDir);
    expect((await coordinator.run(makeTask('SELECT 1'))).report.profile).toBeNull();
  });

  test('a wide task uses its cores, lends them out, and has the right answer', async () => {
    const sql = 'SELECT count(*) AS c FROM range(20000000) a(i) WHERE hash(i) % 3 = 0';
    const narrow = await coordinator.run(makeTask(sql));
    const wide = makeTask(sql, { threads: 2 });
    const wideResult = coordinator.run(wide);
    await expect.poll(() => metric('tasks_running')).toBe(1);
    const small: number[] = [];
    for (let i = 0; i < 5; i++) {
      const { table } = await coordinator.run(makeTask(`SELECT ${i} AS i`));
      small.push(table.get(0)?.['i'] as number);
    }
    expect(small).toEqual([0, 1, 2, 3, 4]);
    expect((await wideResult).table.get(0)?.toJSON()).toEqual(narrow.table.get(0)?.toJSON());
    const again = await coordinator.run(makeTask('SELECT 1 AS one', { threads: 2 }));
    expect(again.table.get(0)?.toJSON()).toEqual({ one: 1 });
  });

  test('a task that was cancelled before it came does not run', async () => {
    const spec = makeTask('SELECT 1');
    expect(await coordinator.call('CancelTask', { task_id: spec.taskId })).toMatchObject({ found: false });
    await expect(coordinator.run(spec)).rejects.toMatchObject({ code: 'QUERY_CANCELLED' });
  });

  test('a reader that goes away ends its task', async () => {
    const spec = makeTask('SELECT i, repeat(i::VARCHAR, 10) FROM range(100000000) t(i)');
    let messages = 0;
    for await (const message of coordinator.read(spec)) if (message.length > 0 && ++messages === 3) break;
    await expect.poll(() => metric('tasks')).toBe(0);
    await expect.poll(() => metric('spool_bytes')).toBe(0);
  });

  test('a reader that stands still pauses its task, and then gets every row', async () => {
    const spec = makeTask("SELECT i, 'some more bytes in every row ' || i AS s FROM range(2000000) t(i)");
    const messages = coordinator.read(spec);
    await messages.next();
    await expect.poll(() => metric('spool_bytes')).toBeGreaterThan(1e6);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const heldBytes = await metric('spool_bytes');
    expect(heldBytes).toBeLessThan(24 * 2 ** 20);
    let bytes = 0;
    for await (const message of messages) bytes += message.length;
    expect(bytes).toBeGreaterThan(80e6);
  });

  test('tickets and secrets are checked', async () => {
    const spec = makeTask('SELECT 1');
    await expect(coordinator.run(spec, `${coordinator.ticket(spec)}x`)).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    });
    const foreign = coordinator.ticket(makeTask('SELECT 1'));
    await expect(coordinator.run(spec, foreign)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    const late = coordinator.ticket(spec, { expiresAtMs: Date.now() - 1 });
    await expect(coordinator.run(spec, late)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    await expect(coordinator.call('Drain', {}, 'wrong')).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  test('spills at its own limit, and ends with the reason when it cannot', async () => {
    const sort = 'SELECT count(*) FROM (SELECT hash(i) h FROM range(8000000) t(i) ORDER BY h LIMIT 7000000)';
    const small = { memoryLimitBytes: 64 * 2 ** 20 };
    const { report } = await coordinator.run(makeTask(sort, small));
    expect(report.rows).toBe(1);
    expect(report.spilledBytes).toBeGreaterThan(10e6);
    expect(report.peakMemoryBytes).toBeGreaterThan(10e6);
    expect(report.peakMemoryBytes).toBeLessThanOrEqual(64 * 2 ** 20 + UNCOUNTED_BYTES_MAX);
    await expect(coordinator.run(makeTask(sort, { ...small, spillLimitBytes: 2 ** 20 }))).rejects.toMatchObject({
      code: 'SPILL_LIMIT',
    });
    await expect(coordinator.run(makeTask('SELECT list(i) FROM range(100000000) t(i)', small))).rejects.toMatchObject({
      code: 'OUT_OF_MEMORY',
    });
    expect(await spilledFiles()).toEqual([]);
  });
});

describe('scans of a worker', () => {
  let dataDir: string;
  let worker: RunningWorker;
  let coordinator: TestCoordinator;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'skein-worker-'));
    const config = defaultConfig({ data_dir: dataDir, 'cluster.secret': SECRET, 'worker.port': 0, 'worker.cores': 1 });
    worker = await startWorker(config, silentLogger);
    coordinator = new TestCoordinator(worker.url, SECRET);
  });

  afterAll(async () => {
    coordinator.close();
    await worker.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  const scanOf = (files: readonly ScanFile[], allowedRoots: readonly string[]): ScanSpec => ({
    tableName: 'lake.s.t',
    tableUuid: 'u',
    snapshotId: '1',
    schemaId: 0,
    columns: [{ fieldId: 1, name: 'n', type: 'long', required: false, initialDefault: null }],
    files,
    nameMapping: null,
    predicate: { kind: 'true' },
    allowedRoots,
    credential: FILE_CREDENTIAL,
  });
  const fileOf = (path: string, deletes: ScanFile['deletes'] = []): ScanFile => ({
    path,
    recordCount: 0,
    sizeBytes: 0,
    rows: null,
    constants: {},
    deletes,
    firstRowId: null,
  });

  const writeTable = async (name: string): Promise<{ root: string; path: string }> => {
    const root = join(dataDir, 'warehouse', name);
    await mkdir(root, { recursive: true });
    const path = join(root, 'data.parquet');
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    await connection.run(
      `COPY (SELECT i AS n FROM range(10000) t(i)) TO '${path}' (FIELD_IDS {n: 1}, ROW_GROUP_SIZE 2048)`,
    );
    connection.closeSync();
    return { root, path };
  };

  test('reads a Parquet file by its scan, with a deletion vector', async () => {
    const { root, path } = await writeTable('one');
    // Positions 1, 3 and 70000 as a 64-bit Roaring bitmap: one 32-bit bitmap of two array containers.
    const words = (...values: number[]): Buffer => Buffer.from(Uint32Array.from(values).buffer);
    const shorts = (...values: number[]): Buffer => Buffer.from(Uint16Array.from(values).buffer);
    const containers = [shorts(0, 1, 1, 0), words(24, 28), shorts(1, 3), shorts(70_000 - 65_536)];
    const bitmap = Buffer.concat([words(1, 0, 0, 12_346, 2), ...containers]);
    const vectorBytes = Buffer.concat([Buffer.from('d1d33964', 'hex'), bitmap]);
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(vectorBytes.length, 0);
    frame.writeUInt32BE(crc32(vectorBytes), 4);
    const blob = Buffer.concat([frame.subarray(0, 4), vectorBytes, frame.subarray(4)]);
    const puffin = join(root, 'deletes.puffin');
    await writeFile(puffin, Buffer.concat([Buffer.from('PFA1'), blob]));
    const vector = { kind: 'vector', path: puffin, offset: 4, lengthBytes: blob.length, cardinality: 3 } as const;
    const spec = makeTask(['SELECT count(*) AS c, sum(n)::BIGINT AS s FROM ', { scan: 0 }, ' AS t'], {
      scans: [scanOf([fileOf(path, [vector])], [`file://${root}`])],
    });
    const { table, report } = await coordinator.run(spec);
    expect(table.get(0)?.toJSON()).toEqual({ c: 9_998n, s: BigInt((9_999 * 10_000) / 2 - 4) });
    expect(report.scans).toMatchObject([{ scan: 0, files: 1, rowGroups: 5, rowGroupsPruned: 0 }]);
    expect(report.bytesScanned).toBeGreaterThan(0);
  });

  test('an instance reads below the roots of its task and nowhere else', async () => {
    const mine = await writeTable('mine');
    const other = await writeTable('other');
    const scans = [scanOf([fileOf(mine.path)], [mine.root])];
    const peek = (path: string) =>
      coordinator.run(makeTask([`SELECT * FROM read_parquet('${path}'), `, { scan: 0 }, ' AS t LIMIT 1'], { scans }));
    expect((await peek(mine.path)).table.numRows).toBe(1);
    await expect(peek(other.path)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
    await expect(peek(join(mine.root, '..', 'other', 'data.parquet'))).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
  });

  test('a ticket that does not cover the roots is refused', async () => {
    const { root, path } = await writeTable('ticket');
    const spec = makeTask(['FROM ', { scan: 0 }], { scans: [scanOf([fileOf(path)], [root])] });
    const narrow = coordinator.ticket(spec, {
      grants: [{ location: `${root}-other`, credentialId: credentialId(FILE_CREDENTIAL) }],
    });
    await expect(coordinator.run(spec, narrow)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });
});

describe('a worker and its coordinators', () => {
  test('its beats tell the time of tasks that run, and these go to the level of what their query has had in all', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'skein-worker-'));
    const settings = { 'worker.port': 0, 'worker.cores': 1, 'cluster.heartbeat_interval': 100 };
    const worker = await startWorker(
      defaultConfig({ data_dir: dataDir, 'cluster.secret': SECRET, ...settings }),
      silentLogger,
    );
    const coordinator = new TestCoordinator(worker.url, SECRET);
    const attached = coordinator.attach();
    const next = async (): Promise<WorkerBeat> => (await attached.beats.next()).value as WorkerBeat;
    try {
      attached.beat(1);
      const spec = makeTask('SELECT sum(a.i * b.i) FROM range(10000000) a(i), range(1000000) b(i)');
      const result = coordinator.run(spec).catch((error: unknown) => error);
      const times: number[] = [];
      while (times.length < 3) {
        const { tasks } = await next();
        const [task] = tasks.filter(({ scheduled_ms: ms }) => ms > (times.at(-1) ?? 0));
        if (task === undefined) continue;
        expect(task).toMatchObject({ query_id: spec.queryId, task_id: spec.taskId });
        times.push(task.scheduled_ms);
      }
      const level = { query_id: spec.queryId, scheduled_ms: 70_000, pinned_to_top: false };
      attached.beat(1, [level]);
      await expect.poll(async () => (await next()).level_tasks).toEqual([0, 0, 0, 1, 0]);
      attached.beat(1, [{ ...level, pinned_to_top: true }]);
      await expect.poll(async () => (await next()).level_tasks).toEqual([1, 0, 0, 0, 0]);
      await coordinator.call('CancelTask', { task_id: spec.taskId, code: 'QUERY_CANCELLED', reason: 'enough' });
      expect(await result).toMatchObject({ code: 'QUERY_CANCELLED' });
    } finally {
      attached.end();
      coordinator.close();
      await worker.close();
      await rm(dataDir, { recursive: true, force: true });
    }
  });

  test('an older epoch is refused, and tasks of a silent coordinator end', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'skein-worker-'));
    const config = defaultConfig({
      data_dir: dataDir,
      'cluster.secret': SECRET,
      'worker.port': 0,
      'worker.cores': 1,
      'worker.orphan_timeout': 500,
      'cluster.heartbeat_interval': 100,
    });
    const worker = await startWorker(config, silentLogger);
    const coordinator = new TestCoordinator(worker.url, SECRET);
    try {
      const attached = coordinator.attach();
      attached.beat(7);
      expect((await attached.beats.next()).value).toMatchObject({
        name: 'worker-1',
        cores: 1,
        skein_release: SKEIN_RELEASE,
        duckdb_version: `v${DUCKDB_RELEASE}`,
      });
      const beating = setInterval(() => attached.beat(7), 100);
      const spec = makeTask('SELECT sum(a.i * b.i) FROM range(10000000) a(i), range(1000000) b(i)', { epoch: 7 });
      await coordinator.run(makeTask('SELECT 1', { epoch: 7 }));
      await expect(coordinator.run(makeTask('SELECT 1', { epoch: 6 }))).rejects.toMatchObject({ code: 'FORBIDDEN' });
      let ended = false;
      const result = coordinator.run(spec).catch((error: unknown) => {
        ended = true;
        return error;
      });
      await new Promise((resolve) => setTimeout(resolve, 1200));
      expect(ended).toBe(false);
      clearInterval(beating);
      attached.end();
      expect(await result).toMatchObject({ code: 'QUERY_CANCELLED', message: 'the coordinator of the query is gone' });
    } finally {
      coordinator.close();
      await worker.close();
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});
