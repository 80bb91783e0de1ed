import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { decodeJwt } from 'jose';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { StartedCluster } from '#test/support/cluster.ts';
import { createTestDatabase, startOwnCluster, type TestDatabase } from '#test/support/resources.ts';
import { tableFiles } from '#test/support/table-files.ts';

type Row = Readonly<Record<string, string | number | Date | null>>;

/** The cluster's own database, so that its tables can be read; one query runs at a time. */
let database: TestDatabase;
let cluster: StartedCluster;
let client: Client;
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(join(tmpdir(), 'skein-history-'));
  const workload = join(folder, 'workload.yaml');
  await writeFile(
    workload,
    // A group below root, so that a record tells where its query waits.
    'resource_groups: [{name: root, hard_concurrency_limit: 1, groups: [{name: others}]}]\nrouting_rules: [{target_group: root.others}]',
  );
  const env = { DATABASE_URL: database.url, SKEIN_COORDINATOR_WORKLOAD_FILE: workload, SKEIN_LOG_LEVEL: 'debug' };
  cluster = await startOwnCluster({ env });
  client = new Client({ connectionString: database.url });
  await client.connect();
  await cluster.load(['tpch', '--scale', '0.01']);
});

afterAll(async () => {
  await client?.end();
  await cluster?.stop();
  await database?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** The record of a query, once it has a terminal status, or once it has this one. */
async function record(queryId: string, when: 'ended' | 'queued' | 'running' = 'ended'): Promise<Row> {
  const condition = when === 'ended' ? 'ended_at is not null' : `status = '${when}'`;
  for (let i = 0; i < 100; i++) {
    const text = `select * from coordinator.query_history where query_id = $1 and ${condition}`;
    const { rows } = await client.query<Row>(text, [queryId]);
    if (rows[0] !== undefined) return rows[0];
    await sleep(50);
  }
  throw new Error(`no record of ${queryId}: ${when}`);
}

/** Milliseconds since 1970 of the three moments of a record, null where there was none. */
const moments = (row: Row): readonly (number | null)[] =>
  ['queued_at', 'started_at', 'ended_at'].map((name) => (row[name] instanceof Date ? row[name].getTime() : null));

/** Expects that the record's moments lie in their order between two moments of this process, and that the duration is the execution's. */
function expectTimes(row: Row, sentMs: number, answeredMs: number): void {
  const [queued, started, ended] = moments(row).map((moment) => must(moment, 'a query that ran has all three'));
  const inOrder = [sentMs, queued ?? 0, started ?? 0, ended ?? 0, answeredMs];
  expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b));
  expect(Number(row['duration_ms'])).toBe((ended ?? 0) - (started ?? 0));
}

test('a query that completed: who, what, when, how many rows', async () => {
  const queryId = randomUUID();
  const { sub } = decodeJwt(await cluster.token());
  const sentMs = Date.now();
  const { body } = await cluster.query('SELECT * FROM range(7)', { queryId });
  const answeredMs = Date.now();
  const row = await record(queryId);
  expect(row).toMatchObject({
    status: 'completed',
    sql: 'SELECT * FROM range(7)',
    query_type: 'select',
    user_id: sub,
    username: 'admin',
    tenant_id: 'default',
    resource_group: '/root/others',
    priority: 3,
    rows_produced: '7',
    bytes_scanned: '0',
    fragments: 1,
    error_code: null,
    error_message: null,
  });
  expectTimes(row, sentMs, answeredMs);
  // Both clocks are read in whole milliseconds.
  const elapsedMs = must(body.elapsed_ms, 'a result says how long it took');
  expect(elapsedMs).toBeGreaterThanOrEqual(Number(row['duration_ms']) - 1);
  expect(elapsedMs).toBeLessThanOrEqual(answeredMs - sentMs + 1);
});

test('statements that name no id have one each, and one record each', async () => {
  const answers = await Promise.all(Array.from({ length: 5 }, () => cluster.query('SELECT 1')));
  const ids = answers.map(({ queryId }) => queryId);
  for (const id of ids) await record(id);
  const text = 'select query_id from coordinator.query_history where query_id = any($1)';
  const { rows } = await client.query<Row>(text, [ids]);
  expect(new Set(rows.map((row) => row['query_id']))).toEqual(new Set(ids));
  expect(rows).toHaveLength(5);
});

test('a query over a table: the bytes of the columns that it read', async () => {
  const [wide, narrow] = [randomUUID(), randomUUID()];
  await cluster.sql('SELECT max(l_comment), max(l_extendedprice) FROM lake.tpch.lineitem', { queryId: wide });
  await cluster.sql('SELECT max(l_linenumber) FROM lake.tpch.lineitem', { queryId: narrow });
  const scanned = [await record(wide), await record(narrow)].map((row) => Number(row['bytes_scanned']));
  const columns = [['l_comment', 'l_extendedprice'], ['l_linenumber']];
  expect(scanned).toEqual(await Promise.all(columns.map((names) => bytesOf('lineitem', names))));
});

/** Compressed bytes of the columns in a table's files, by their footers. */
async function bytesOf(table: string, columns: readonly string[]): Promise<number> {
  const files = (await tableFiles(cluster, 'tpch', table)).map((file) => `'${file}'`);
  const names = columns.map((name) => `'${name}'`);
  const duckdb = await (await DuckDBInstance.create()).connect();
  const result = await duckdb.runAndReadAll(
    `SELECT sum(total_compressed_size) FROM parquet_metadata([${files.join()}]) WHERE path_in_schema IN (${names.join()})`,
  );
  return Number(result.getRows()[0]?.[0]);
}

test('a query that failed, and a statement that was refused', async () => {
  const [failed, refused] = [randomUUID(), randomUUID()];
  const sentMs = Date.now();
  const { body } = await cluster.query("SELECT CAST('x' AS INTEGER) FROM range(3)", { queryId: failed });
  const answeredMs = Date.now();
  await cluster.query("COPY t TO '/tmp/x'", { queryId: refused });
  const row = await record(failed);
  expect(row).toMatchObject({ status: 'failed', error_code: 'INVALID_CAST', error_message: body.message });
  expectTimes(row, sentMs, answeredMs);
  expect(await record(refused)).toMatchObject({
    status: 'failed',
    error_code: 'NOT_SUPPORTED',
    sql: "COPY t TO '/tmp/x'",
    started_at: null,
    duration_ms: '0',
  });
});

test('statements that wait for no place have run from the start', async () => {
  for (const sql of ['CREATE SCHEMA lake.ran', 'SHOW TABLES IN lake.ran', 'EXPLAIN SELECT 1', 'DROP SCHEMA lake.ran']) {
    const queryId = randomUUID();
    const sentMs = Date.now();
    await cluster.sql(sql, { queryId });
    const answeredMs = Date.now();
    const row = await record(queryId);
    expect(row).toMatchObject({ status: 'completed', started_at: expect.any(Date) });
    expectTimes(row, sentMs, answeredMs);
  }
});

const LONG = 'SELECT max(hash(n)) FROM range(100000000000) AS r(n)';
const TIMEOUT_MS = 300;

test('a query over its timeout is cancelled, with the reason, and has run as long as that', async () => {
  const queryId = randomUUID();
  const sentMs = Date.now();
  await cluster.query(LONG, { queryId, timeoutMs: TIMEOUT_MS });
  const row = await record(queryId);
  expect(row).toMatchObject({
    status: 'cancelled',
    error_code: 'QUERY_TIMEOUT',
    error_message: `the query ran longer than its timeout of ${TIMEOUT_MS} ms`,
  });
  expectTimes(row, sentMs, Date.now());
  // The timeout counts from the arrival; a timer may fire a millisecond early by the clock.
  const endedMs = must(moments(row)[2], 'it has ended');
  expect(endedMs - sentMs).toBeGreaterThanOrEqual(TIMEOUT_MS - 1);
});

async function cancel(queryId: string): Promise<void> {
  const authorization = `Bearer ${await cluster.token()}`;
  const url = `${cluster.queryUrl}/api/query/${queryId}`;
  expect((await fetch(url, { method: 'DELETE', headers: { authorization } })).status).toBe(204);
}

/** The live queries of the cluster's user, an administrator. */
async function live(parameters = ''): Promise<{ readonly queries: readonly Row[]; readonly total: number }> {
  const authorization = `Bearer ${await cluster.token()}`;
  const answer = await fetch(`${cluster.queryUrl}/api/query${parameters}`, { headers: { authorization } });
  return (await answer.json()) as { queries: readonly Row[]; total: number };
}

test('a query that its user cancels is cancelled, with the reason', async () => {
  const queryId = randomUUID();
  const answer = cluster.query(LONG, { queryId });
  await record(queryId, 'running');
  await expect.poll(async () => (await live()).queries[0]?.['tasks_running']).toBe(1);
  const { sub, preferred_username: username } = decodeJwt<{ preferred_username: string }>(await cluster.token());
  expect(await live('?state=running')).toMatchObject({
    queries: [
      {
        query_id: queryId,
        sql: LONG,
        user_id: sub,
        username,
        query_type: 'select',
        resource_group: '/root/others',
        tasks: 1,
        tasks_done: 0,
        rows_produced: 0,
        workers: [expect.stringMatching(/^worker-\d$/)],
      },
    ],
    total: 1,
  });
  await cancel(queryId);
  expect(await answer).toMatchObject({ status: 499, body: { error: 'QUERY_CANCELLED' } });
  expect(await record(queryId)).toMatchObject({
    status: 'cancelled',
    error_code: 'QUERY_CANCELLED',
    error_message: 'the query was cancelled by its user',
  });
});

test('a query that waits for a place is queued; cancelled there, it has not started', async () => {
  const [first, second] = [randomUUID(), randomUUID()];
  const running = cluster.query(LONG, { queryId: first });
  expect(await record(first, 'running')).toMatchObject({ started_at: expect.any(Date), ended_at: null });
  const waiting = cluster.query('SELECT 1', { queryId: second });
  // A query is `queued` while it is planned, too, so the test waits to see that it stays queued.
  await sleep(300);
  expect(await record(second, 'queued')).toMatchObject({ started_at: null, ended_at: null, duration_ms: null });
  expect((await live()).queries.map((query) => [query['query_id'], query['state']])).toEqual([
    [first, 'running'],
    [second, 'queued'],
  ]);
  expect(await record(second, 'queued')).toMatchObject({
    query_type: 'select',
    priority: 3,
    resource_group: '/root/others',
  });
  expect((await live('?state=queued&limit=1')).queries).toMatchObject([
    { query_id: second, started_at: null, tasks: 0 },
  ]);
  const { body } = await cluster.query('SHOW QUERIES');
  const shown = body.rows?.find(([id]) => id === second) ?? [];
  expect(Object.fromEntries(body.columns?.map((name, i) => [name, shown[i]]) ?? [])).toMatchObject({
    state: 'queued',
    workload_class: 'interactive',
    queue_position: 1,
    reason: 'root runs 1 of 1',
  });
  await cancel(second);
  expect(await waiting).toMatchObject({ status: 499, body: { error: 'QUERY_CANCELLED' } });
  const row = await record(second);
  expect(row).toMatchObject({ status: 'cancelled', started_at: null, duration_ms: '0' });
  expect(row['ended_at']).toBeInstanceOf(Date);
  await cancel(first);
  expect(await running).toMatchObject({ status: 499 });
  expect(await live()).toEqual({ queries: [], total: 0 });
});

test('a query over its memory limit that cannot spill is cancelled, with the reason', async () => {
  const [queryId, sessionId] = [randomUUID(), randomUUID()];
  await cluster.sql("SET skein.query_memory_limit = '64MB'", { sessionId });
  const { status, body } = await cluster.query('SELECT list(n) FROM range(100000000) AS r(n)', { queryId, sessionId });
  expect([status, body.error]).toEqual([507, 'OUT_OF_MEMORY']);
  expect(await record(queryId)).toMatchObject({
    status: 'cancelled',
    error_code: 'OUT_OF_MEMORY',
    error_message: expect.stringMatching(/^the query needs more memory than its limit: .*MiB used\)$/),
  });
});

describe('a query that did not come to its end records what was done up to then', () => {
  const CROSS = 'SELECT max(hash(a.l_comment, b.l_comment)) FROM lake.tpch.lineitem AS a, lake.tpch.lineitem AS b';

  test.each<[string, string, string, object, object]>([
    [
      'fails',
      'single',
      'SELECT max(CAST(l_comment AS INTEGER)) FROM lake.tpch.lineitem',
      {},
      { status: 'failed', fragments: 1 },
    ],
    [
      'fails',
      'force',
      'SELECT l_tax, max(CAST(l_comment AS INTEGER)) FROM lake.tpch.lineitem GROUP BY 1',
      {},
      { status: 'failed' },
    ],
    ['is cancelled', 'single', CROSS, { timeoutMs: 700 }, { status: 'cancelled', fragments: 1 }],
    ['is cancelled', 'force', CROSS, { timeoutMs: 1_500 }, { status: 'cancelled' }],
  ])('%s, %s: %s', async (_how, distribution, sql, request, expected) => {
    const [queryId, sessionId] = [randomUUID(), randomUUID()];
    await cluster.sql(`SET skein.distribution = '${distribution}'`, { sessionId });
    await cluster.query(sql, { ...request, queryId, sessionId });
    const row = await record(queryId);
    expect(row).toMatchObject({ ...expected, rows_produced: '0' });
    for (const field of ['bytes_scanned', 'fragments', 'cu_consumed']) {
      expect(Number(row[field]), field).toBeGreaterThan(0);
    }
    const cores = await liveCores();
    expect(row['cu_consumed']).toBeCloseTo((cores * Number(row['duration_ms'])) / 3_600_000, 12);
  });

  test('rows that its client got before it failed', async () => {
    const queryId = randomUUID();
    const sql = "SELECT CASE WHEN n = 2000000 THEN error('late') ELSE n END FROM range(2000001) AS r(n)";
    await cluster.query(sql, { queryId }).catch(() => undefined);
    const { status, rows_produced: rows } = await record(queryId);
    expect(status).toBe('failed');
    expect(Number(rows)).toBeGreaterThan(0);
  });
});

/** Cores of the workers that are live. */
async function liveCores(): Promise<number> {
  const headers = { authorization: `Bearer ${await cluster.token()}` };
  const body = (await (await fetch(`${cluster.queryUrl}/api/cluster`, { headers })).json()) as {
    readonly workers: readonly { readonly slots: number }[];
  };
  return body.workers.reduce((sum, { slots }) => sum + slots, 0);
}

test('literals of a statement that does not parse and speaks of secrets are masked', async () => {
  const kept = {
    "CREATE USER x PASSWORD = 'hunter2' NONSENSE '": 'CREATE USER x PASSWORD ***',
    'CREATE USER x PASSWORD "hunter2" hunter2': 'CREATE USER x PASSWORD ***',
    'ALTER USER x PASSWRD hunter2 -- hunter2': 'ALTER USER x ***',
    'REDEEM INVITATION hunter2': 'REDEEM INVITATION ***',
    'EXPLAIN CREATE USER x hunter2': 'EXPLAIN CREATE USER x ***',
    'PREPARE p AS CREATE WEBHOOK w hunter2': 'PREPARE *** CREATE WEBHOOK w ***',
    'hunter2 USER x': '***',
    "SELECT CAST('abc' AS INTEGER) AS token": "SELECT CAST('abc' AS INTEGER) AS token",
  };
  for (const [sql, text] of Object.entries(kept)) {
    const queryId = randomUUID();
    const { body } = await cluster.query(sql, { queryId, sessionId: randomUUID() });
    const row = await record(queryId);
    expect(row).toMatchObject({ status: 'failed', sql: text });
    expect(row['error_message']).toBe(
      text === sql ? body.message : body.message?.replaceAll(/"(?:[^"\\]|\\.)*"/g, "'***'"),
    );
  }
  const written: string[] = [];
  for (const folder of ['history', 'logs']) {
    const entries = await readdir(join(cluster.dataDir, folder), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((file) => join(file.parentPath, file.name));
    for (const file of files) written.push(await readFile(file, 'latin1'));
  }
  expect(written.join()).toContain('statement failed');
  expect(written.join()).not.toContain('hunter2');
  const leaked = await client.query('select * from coordinator.query_history where query_history::text ~ $1', [
    'hunter2',
  ]);
  expect(leaked.rows).toEqual([]);
});

describe('what is shown of it', () => {
  const get = async (path: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${await cluster.token()}` };
    return (await fetch(`${cluster.queryUrl}/api/query-history${path}`, { headers })).json();
  };

  test('a statement that was answered is the newest of the list, and so is SHOW QUERY HISTORY itself, which runs', async () => {
    const queryId = randomUUID();
    await cluster.sql('SELECT 42 AS shown', { queryId });
    const shown = { queryId, status: 'completed', sql: 'SELECT 42 AS shown', queryType: 'select', rowsProduced: 1 };
    expect(await get('?limit=1')).toEqual([expect.objectContaining(shown)]);
    expect(await get(`/${queryId}`)).toMatchObject(shown);
    const { body } = await cluster.query("SHOW QUERY HISTORY LIMIT 1 LIKE '%AS shown'");
    expect(body.columns).toEqual(
      `query_id status sql user_id tenant_id query_type resource_group priority queued_at started_at ended_at duration_ms
       rows_produced bytes_scanned fragments error_message cu_consumed`.split(/\s+/),
    );
    expect(body.rows?.map((row) => row.slice(0, 3))).toEqual([[queryId, 'completed', 'SELECT 42 AS shown']]);
    const [own] = await cluster.sql('SHOW QUERY HISTORY LIMIT 1');
    expect(own?.slice(1, 3)).toEqual(['running', 'SHOW QUERY HISTORY LIMIT 1']);
    expect(own?.[5]).toBe('show');
    expect(await cluster.sql('SELECT count(*) >= 1 FROM (SHOW QUERY HISTORY LIMIT 10000)')).toEqual([[true]]);
    expect((await cluster.sql('SHOW QUERIES')).map((row) => row.at(-1))).toEqual(['SHOW QUERIES']);
  });

  test('status=all and query_type=all filter nothing', async () => {
    const ids = [];
    for (const sql of ['SELECT 1', 'SELEC 1', "SET timezone = 'UTC'"]) ids.push((await cluster.query(sql)).queryId);
    const all = (await get('?status=all&query_type=all&limit=3')) as readonly { readonly queryId: string }[];
    expect(all.map(({ queryId }) => queryId)).toEqual(ids.toReversed());
  });

  test.each([
    ['SHOW QUERY HISTORY LIMIT 0', 'INVALID_REQUEST'],
    ['SHOW QUERY HISTORY LIMIT 10001', 'INVALID_REQUEST'],
    ['SHOW QUERY HISTORY LIMIT x', 'SYNTAX_ERROR'],
    ['SHOW QUERY HISTORY LIKE', 'SYNTAX_ERROR'],
  ])('%s is refused', async (statement, code) => {
    expect((await cluster.query(statement)).body.error).toBe(code);
  });

  test.each([
    ['CREATE TABLE lake.tpch.kinds AS SELECT 1 AS a', 'ctas', 3],
    ['INSERT INTO lake.tpch.kinds VALUES (2)', 'insert', 3],
    ['INSERT INTO lake.tpch.kinds SELECT 3', 'insert', 3],
    ['UPDATE lake.tpch.kinds SET a = 4 WHERE a = 3', 'update', 3],
    ['DELETE FROM lake.tpch.kinds WHERE a = 4', 'delete', 3],
    ['DELETE FROM lake.tpch.kinds WHERE a = 2 RETURNING a', 'delete', 3],
    ['MERGE INTO lake.tpch.kinds k USING (SELECT 1 AS a) s ON k.a = s.a WHEN MATCHED THEN DELETE', 'merge', 2],
    ['ANALYZE lake.tpch.kinds', 'maintenance', 3],
    ['OPTIMIZE lake.tpch.kinds', 'maintenance', 3],
    ['ALTER TABLE lake.tpch.kinds EXECUTE expire_snapshots', 'maintenance', 3],
    ['CREATE MATERIALIZED VIEW lake.tpch.kept AS SELECT a FROM lake.tpch.kinds', 'ctas', 3],
    ['REFRESH MATERIALIZED VIEW lake.tpch.kept', 'maintenance', 3],
    ['EXPLAIN ANALYZE DELETE FROM lake.tpch.kinds WHERE a = 9', 'explain', 3],
    ['EXPLAIN INSERT INTO lake.tpch.kinds SELECT 3', 'explain', 3],
    ['DROP MATERIALIZED VIEW lake.tpch.kept', 'ddl', 3],
    ['DROP TABLE lake.tpch.kinds', 'ddl', 3],
    ['CREATE SCHEMA lake.kinds', 'ddl', 3],
    ['DESCRIBE lake.tpch.orders', 'show', 3],
    ['SUMMARIZE lake.tpch.region', 'select', 3],
    ["SET timezone = 'UTC'", 'set', 3],
    ['USE lake.tpch', 'set', 3],
    ['EXPLAIN SELECT 1', 'explain', 3],
    ['EXPLAIN ANALYZE SELECT 1', 'explain', 3],
    ['ROLLBACK', 'transaction', 3],
    ['SELEC 1', 'unknown', 3],
  ])('%s is recorded as %s, with priority %i', async (statement, queryType, priority) => {
    const { queryId } = await cluster.query(statement);
    expect(await get(`/${queryId}`)).toMatchObject({ sql: statement, queryType, priority });
  });

  test('EXPLAIN tells the class of a write, and its estimate', async () => {
    const last = async (statement: string): Promise<unknown> =>
      (await cluster.sql(`EXPLAIN ${statement}`))
        .flat()
        .find((line) => typeof line === 'string' && line.startsWith('Workload class'));
    expect(await last('DELETE FROM lake.tpch.nation WHERE n_nationkey = 1')).toMatch(
      /^Workload class: interactive \(no joins, no windows, about \d+ rows\)$/,
    );
    expect(await last('INSERT INTO lake.tpch.nation SELECT a.* FROM lake.tpch.nation a, lake.tpch.nation b')).toBe(
      'Workload class: medium (1 join, about 50 rows)',
    );
    expect(await last('SELECT 1 FROM lake.tpch.nation a, lake.tpch.nation b')).toBe(
      'Workload class: medium (1 join, about 50 rows)',
    );
  });

  test('OPTIMIZE has the costs of its tasks', async () => {
    await cluster.sql('CREATE TABLE lake.tpch.many AS SELECT n AS id FROM range(100000) r(n)');
    await cluster.sql('INSERT INTO lake.tpch.many VALUES (1)');
    const { queryId } = await cluster.query('OPTIMIZE lake.tpch.many');
    const found = (await get(`/${queryId}`)) as Readonly<Record<string, number>>;
    for (const field of ['fragments', 'bytesScanned', 'cuConsumed']) expect(found[field], field).toBeGreaterThan(0);
    await cluster.sql('DROP TABLE lake.tpch.many');
  });
});
