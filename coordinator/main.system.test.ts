import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { decodeJwt, type JWK } from 'jose';
import { credentials } from '@grpc/grpc-js';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startCatalog, type RunningCatalog } from '#catalog/main.ts';
import { fixedKeyring } from '#shared/keyring.ts';
import { defaultConfig, type Config } from '#shared/config/config-schema.ts';
import { internalMetadata } from '#shared/grpc/internal-auth.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { SCOPES } from '#shared/authorization/token-claims.ts';
import { forgedTokens } from '#test/support/forged-tokens.ts';
import { SKEIN_RELEASE } from '#shared/release.ts';
import { SCHEMA, setMain } from '#test/support/catalog-requests.ts';
import { catalogPost } from '#test/support/hostile-table.ts';
import { writeSnapshot, type SnapshotFiles } from '#test/support/table-snapshot.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/resources.ts';
import { startWorker, type RunningWorker } from '#worker/main.ts';
import { startScriptedWorker } from '#test/support/scripted/worker.ts';
import { startCoordinator, type RunningCoordinator } from './main.ts';
import { patience } from '#test/support/run/slowness.ts';

const RUNNING_MAX = 2;

/** A coordinator with a real Postgres, catalog and worker, all but the planners in this process. */
let folder: string;
let database: TestDatabase;
let catalog: RunningCatalog;
let worker: RunningWorker;
let coordinator: RunningCoordinator;
let config: Config;
let token: string;
let client: pg.Client;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skein-coordinator-'));
  database = await createTestDatabase();
  await writeFile(join(folder, 'workload.yaml'), workloadOf(RUNNING_MAX));
  const base = defaultConfig({
    data_dir: folder,
    'database.url': database.url,
    'cluster.secret': 'coordinator-test',
    'catalog.port': 0,
    'coordinator.http_port': 0,
    'coordinator.flight_port': 0,
    'coordinator.postgres_port': 0,
    'worker.port': 0,
    'worker.cores': 2,
    'planner.processes': 1,
    'bootstrap.warehouse': join(folder, 'warehouse'),
    'admin.password': 'not-used-here',
  });
  catalog = await startCatalog(base, silentLogger);
  worker = await startWorker(base, silentLogger);
  config = {
    ...base,
    'catalog.url': catalog.url,
    'catalog.internal_url': [catalog.internalAddress],
    'cluster.workers': [worker.url],
  };
  coordinator = await startCoordinator(config, silentLogger);
  await vi.waitFor(async () => expect(await ready()).toBe(200), { timeout: patience(10_000) });
  token = await mint([]);
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});

afterAll(async () => {
  await client.end();
  await coordinator.close();
  await worker.close();
  await catalog.close();
  await database[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** A workload of the root group alone. */
const workloadOf = (runningMax: number, queuedMax = 1_000): string =>
  `resource_groups: [{name: root, hard_concurrency_limit: ${runningMax}, max_queued_queries: ${queuedMax}}]\n`;

const ready = async (): Promise<number> => (await fetch(`${coordinator.queryUrl}/health/ready`)).status;

function mint(scope: readonly string[]): Promise<string> {
  const { Client } = loadService('catalog.proto', 'skein.catalog.v1.CatalogInternal');
  const internal = new Client(catalog.internalAddress, credentials.createInsecure());
  return new Promise((resolve, reject) => {
    const request = { tenant: 'default', user: 'admin', ttl_ms: '0', scope };
    const done = (error: Error | null, reply: { token: string }): void => {
      internal.close();
      if (error === null) resolve(reply.token);
      else reject(error);
    };
    (internal as unknown as Record<string, (...args: unknown[]) => void>)['MintToken']?.call(
      internal,
      request,
      internalMetadata(fixedKeyring('coordinator-test')),
      done,
    );
  });
}

type Answer = {
  readonly status: number;
  readonly id: string;
  readonly body: Readonly<Record<string, unknown>> & { readonly rows?: readonly (readonly unknown[])[] };
};
type Options = {
  readonly headers?: Record<string, string>;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
};

async function query(sql: string, { headers = {}, timeoutMs, signal }: Options = {}): Promise<Answer> {
  const response = await fetch(`${coordinator.queryUrl}/api/query`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ sql, ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }) }),
    signal: signal ?? null,
  });
  const id = response.headers.get('x-skein-query-id') ?? '';
  return { status: response.status, id, body: (await response.json()) as Answer['body'] };
}

async function history(id: string): Promise<Record<string, unknown> | undefined> {
  const { rows } = await client.query('select * from coordinator.query_history where query_id = $1', [id]);
  return rows[0] as Record<string, unknown> | undefined;
}
const recorded = (id: string) => expect.poll(() => history(id), { timeout: patience(3_000) });

/** DuckDB folds it, and looks at no interrupt meanwhile. */
const PLANS_LONG = "SELECT levenshtein(repeat('a', 300000), repeat('b', 300000))";
const LONG = 'SELECT max(hash(n)) FROM range(1000000000000) AS r(n)';

test('a query is answered, and its record follows', async () => {
  const { status, id, body } = await query('SELECT 1 AS a UNION ALL SELECT 2 ORDER BY a', {
    headers: { 'x-skein-source': 'etl' },
  });
  expect([status, body]).toEqual([
    200,
    { columns: ['a'], types: ['INTEGER'], rows: [[1], [2]], row_count: 2, elapsed_ms: expect.any(Number) },
  ]);
  await recorded(id).toMatchObject({
    status: 'completed',
    query_type: 'select',
    rows_produced: '2',
    fragments: 1,
    tenant_id: 'default',
    username: 'admin',
    source: 'etl',
    resource_group: '/root',
    error_message: null,
  });
});

test('refused statements have records too, secrets masked', async () => {
  const broken = await query("CREATE USER x PASSWORD 'hunter2'");
  expect(broken.status).toBe(400);
  await recorded(broken.id).toMatchObject({ status: 'failed', started_at: null });
  expect((await history(broken.id))?.['sql']).not.toContain('hunter2');
  const missing = await query('SELECT * FROM nothing');
  expect(missing.body).toMatchObject({ error: 'TABLE_NOT_FOUND', sql_state: '42P01' });
  await recorded(missing.id).toMatchObject({ status: 'failed', error_code: 'TABLE_NOT_FOUND' });
});

/** For actions that both doors have: a statement, and the REST operation that is the same action, on objects that need not be there. */
const DOORS: readonly (readonly [statement: string, operation: string])[] = [
  ['SHOW CATALOGS', 'GET /v1/catalogs'],
  ['USE CATALOG lake', 'GET /v1/catalogs/lake'],
  ['SHOW SCHEMAS', 'GET /v1/lake/namespaces'],
  ['USE lake.default', 'GET /v1/lake/namespaces/default'],
  ['SHOW TABLES', 'GET /v1/lake/namespaces/default/tables'],
  ['DESCRIBE nothing', 'GET /v1/lake/namespaces/default/tables/nothing'],
  ['SELECT * FROM nothing', 'POST /v1/lake/namespaces/default/tables/nothing/plan'],
  ['DESCRIBE stranger.default.t', 'GET /v1/stranger/namespaces/default/tables/t'],
];

test.each(Object.keys(SCOPES))('SQL and REST decide alike for a token of %s', async (scope) => {
  const headers = { authorization: `Bearer ${await mint([scope])}`, 'x-skein-session': randomUUID() };
  for (const [statement, operation] of DOORS) {
    const [method = '', path = ''] = operation.split(' ');
    const rest = await fetch(catalog.url + path, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      ...(method === 'POST' ? { body: '{}' } : {}),
    });
    const { error } = (await rest.json()) as { readonly error?: { readonly message: string } };
    const { status, body } = await query(statement, { headers });
    expect(status === 403, `${statement}: ${status}, ${operation}: ${rest.status}`).toBe(rest.status === 403);
    if (status === 403) expect(body).toMatchObject({ error: 'FORBIDDEN', message: error?.message });
  }
});

test('a forged token is refused at both doors', async () => {
  const { rows } = await client.query<{ kid: string; private_jwk: JWK }>(
    'select kid, private_jwk from catalog.signing_key',
  );
  const [key] = rows;
  const signing = { kid: key?.kid ?? '', privateJwk: key?.private_jwk ?? {}, claims: decodeJwt(token) };
  for (const [what, forged] of await forgedTokens(signing)) {
    const headers = { authorization: `Bearer ${forged}` };
    expect((await fetch(`${catalog.url}/v1/lake/namespaces`, { headers })).status, what).toBe(401);
    expect((await query('SELECT 1', { headers })).body, what).toMatchObject({ error: 'UNAUTHENTICATED' });
  }
});

test('DELETE cancels a query of its own principal, and its request answers 499', async () => {
  const id = randomUUID();
  const running = query(LONG, { headers: { 'x-skein-query-id': id } });
  await recorded(id).toMatchObject({ status: 'running' });
  expect((await query('SELECT 1', { headers: { 'x-skein-query-id': id } })).body).toMatchObject({
    error: 'INVALID_REQUEST',
  });
  const remove = (): Promise<Response> =>
    fetch(`${coordinator.queryUrl}/api/query/${id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${token}` },
    });
  expect((await remove()).status).toBe(204);
  expect(await running).toMatchObject({ status: 499, body: { error: 'QUERY_CANCELLED', sql_state: '57014' } });
  expect((await remove()).status).toBe(404);
});

test('a timeout ends a query with 408, a disconnect without an answer; both are cancelled in history', async () => {
  const late = await query(LONG, { timeoutMs: 300 });
  expect(late).toMatchObject({ status: 408, body: { error: 'QUERY_TIMEOUT' } });
  await recorded(late.id).toMatchObject({ status: 'cancelled', error_code: 'QUERY_TIMEOUT' });
  const id = randomUUID();
  const leave = new AbortController();
  const left = query(LONG, { headers: { 'x-skein-query-id': id }, signal: leave.signal });
  left.catch(() => undefined);
  await recorded(id).toMatchObject({ status: 'running' });
  leave.abort();
  await recorded(id).toMatchObject({ status: 'cancelled', error_message: expect.stringContaining('disconnected') });
});

test('a timeout counts from the arrival of the request, whatever the statement waits for', async () => {
  const timed = async (sql: string): Promise<readonly [number, unknown, boolean]> => {
    const started = performance.now();
    const { status, body } = await query(sql, { timeoutMs: 300 });
    return [status, body['error'], performance.now() - started < 1_300];
  };
  const late = [408, 'QUERY_TIMEOUT', true] as const;
  // The first times out in the only planner, the others while they wait for it.
  expect(await Promise.all([timed(PLANS_LONG), timed(PLANS_LONG), timed(`EXPLAIN ${PLANS_LONG}`)])).toEqual([
    late,
    late,
    late,
  ]);
  await vi.waitFor(async () => expect((await query('SELECT 1')).status).toBe(200), { timeout: patience(5_000) });
  // Others wait for a place among the running queries.
  const leave = new AbortController();
  const ids = Array.from({ length: RUNNING_MAX }, () => randomUUID());
  for (const id of ids) {
    query(LONG, { headers: { 'x-skein-query-id': id }, signal: leave.signal }).catch(() => undefined);
  }
  for (const id of ids) await recorded(id).toMatchObject({ status: 'running' });
  expect(await timed('SELECT 1')).toEqual(late);
  leave.abort();
  for (const id of ids) await recorded(id).toMatchObject({ status: 'cancelled' });
});

test('a query has the priority of its class', async () => {
  const headers = { 'x-skein-session': randomUUID() };
  const priorityOf = async (sql: string): Promise<unknown> => {
    const { id } = await query(sql, { headers });
    await recorded(id).toMatchObject({ status: 'completed' });
    return (await history(id))?.['priority'];
  };
  expect(await priorityOf('SELECT 1')).toBe(3);
  expect(await priorityOf('SELECT count(*) FROM range(20000000)')).toBe(3);
  expect(await priorityOf('SELECT 1 FROM range(3) AS a, range(4) AS b')).toBe(2);
  expect(await priorityOf('SELECT 1 FROM range(3) AS a, range(4) AS b, range(2) AS c, range(2) AS d')).toBe(1);
  await query("SET service.workload_class = 'batch'", { headers });
  expect(await priorityOf('SELECT 1')).toBe(1);
});

test('settings, USE and SHOW belong to a session', async () => {
  const headers = { 'x-skein-session': randomUUID() };
  expect((await query("SET skein.query_timeout = '200ms'", { headers })).body.rows).toEqual([['SET']]);
  expect((await query('SHOW skein.query_timeout', { headers })).body.rows).toEqual([['200ms']]);
  expect((await query(LONG, { headers })).status).toBe(408);
  expect((await query('RESET skein.query_timeout', { headers })).body.rows).toEqual([['RESET']]);
  expect((await query('SHOW skein.query_timeout')).body.rows).toEqual([['600000ms']]);
  expect((await query('USE lake.default', { headers })).body.rows).toEqual([['USE']]);
  expect((await query('SELECT current_catalog, current_schema', { headers })).body.rows).toEqual([['lake', 'default']]);
  expect((await query('SHOW SCHEMAS', { headers })).body.rows).toEqual([['default']]);
  expect((await query('SHOW TABLES', { headers })).body).toMatchObject({
    columns: ['table_name'],
    rows: [],
    row_count: 0,
  });
  expect((await query('USE nothing')).body).toMatchObject({ error: 'SCHEMA_NOT_FOUND' });
  expect((await query('COMMIT', { headers })).body).toMatchObject({ error: 'NO_TRANSACTION', sql_state: '25P01' });
});

test('EXPLAIN prints a plan, EXPLAIN ANALYZE also how it went', async () => {
  const text = async (sql: string): Promise<string> => JSON.stringify((await query(sql)).body.rows);
  expect(await text('EXPLAIN SELECT count(*) FROM range(10)')).toMatch(/aggregate/i);
  expect(await text('EXPLAIN ANALYZE SELECT count(*) FROM range(10)')).toMatch(/rows=1 .*quanta=\d+/);
});

describe('a query that waits for admission', () => {
  const state = async (id: string): Promise<Record<string, unknown>> => {
    const answer = await fetch(`${coordinator.queryUrl}/api/query/${id}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return (await answer.json()) as Record<string, unknown>;
  };

  /** Puts the workload of the other tests in force again: the coordinator looks at its file twice a second. */
  const restore = async (): Promise<void> => {
    await writeFile(join(folder, 'workload.yaml'), workloadOf(RUNNING_MAX));
    await sleep(1_200);
  };

  test('tells its place in the queue and the reason, and a changed file lets it run within two seconds', async () => {
    const { free, answers } = await whileFull(['SELECT 1', 'SELECT 2']);
    const live = await fetch(`${coordinator.queryUrl}/api/query?state=queued`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { queries } = (await live.json()) as { queries: { query_id: string }[] };
    const ids = queries.map(({ query_id: id }) => id);
    expect(await Promise.all(ids.map(state))).toMatchObject([
      {
        state: 'queued',
        resource_group: '/root',
        queue_position: 1,
        reason: 'root runs 2 of 2',
        workload_class: 'interactive',
      },
      { state: 'queued', queue_position: 2, started_at: null, progress: { tasks: 0 } },
    ]);
    const leave = new AbortController();
    onTestFinished(() => leave.abort());
    const headers = { authorization: `Bearer ${token}` };
    const events = await fetch(`${coordinator.queryUrl}/api/events?topics=queries`, { headers, signal: leave.signal });
    const told = events.body?.pipeThrough(new TextDecoderStream()).getReader();
    query('SELECT 3', { signal: leave.signal }).catch(() => undefined);
    let text = '';
    while (!text.includes('"queue_position":3')) text += (await told?.read())?.value ?? '';
    expect(text).toContain('"workload_class":"interactive","queue_position":3,"reason":"root runs 2 of 2"');
    leave.abort();
    await expect.poll(() => gauge('skein_queries_queued'), { timeout: patience(5_000) }).toBe(2);
    await writeFile(join(folder, 'workload.yaml'), 'resource_groups: [{name: root, hard_concurrency: 9}]');
    await expect.poll(() => gauge('skein_workload_file_valid'), { timeout: patience(2_000) }).toBe(0);
    expect(await gauge('skein_queries_queued')).toBe(2);
    await writeFile(join(folder, 'workload.yaml'), workloadOf(9, 1));
    expect((await Promise.all(answers)).map(({ body }) => body.rows)).toEqual([[[1]], [[2]]]);
    expect(await gauge('skein_workload_file_valid')).toBe(1);
    free();
    await restore();
  });

  test('a full queue refuses at once, and says when to come again', async () => {
    await writeFile(join(folder, 'workload.yaml'), workloadOf(1, 0));
    const leave = new AbortController();
    onTestFinished(() => leave.abort());
    query(LONG, { signal: leave.signal }).catch(() => undefined);
    const message = 'the queue of root is full: 0 queries wait, and 0 may';
    const expected = [429, { error: 'QUEUE_FULL', message, sql_state: '53300' }];
    await expect
      .poll(async () => [(await query('SELECT 1')).status, (await query('SELECT 1')).body], {
        timeout: patience(5_000),
      })
      .toEqual(expected);
    leave.abort();
    await restore();
  });

  test('other levels of the feedback queue are in force for queries that run; one of High priority stays on the top level', async () => {
    /** Tasks that can run, by level. */
    const levels = async (): Promise<readonly number[]> => {
      const text = await (await fetch(worker.metricsUrl)).text();
      const found = text.matchAll(/^skein_worker_level_tasks\{level="\d",worker="[^"]*"\} (\d+)$/gm);
      return [...found].map(([, count]) => Number(count));
    };
    const leave = new AbortController();
    onTestFinished(() => leave.abort());
    const headers = { 'x-skein-session': randomUUID() };
    await query("SET service.workload_class = 'batch'", { headers });
    for (const one of [headers, {}]) query(LONG, { headers: one, signal: leave.signal }).catch(() => undefined);
    await expect
      .poll(async () => (await levels()).reduce((sum, count) => sum + count, 0), { timeout: patience(10_000) })
      .toBe(2);
    expect((await levels())[4]).toBe(0);
    const file = `${workloadOf(RUNNING_MAX)}mlfq: {levels_ms: [1, 2, 3, 4], level_weight_ratio: 3}\n`;
    await writeFile(join(folder, 'workload.yaml'), file);
    await expect.poll(levels, { timeout: patience(5_000) }).toEqual([1, 0, 0, 0, 1]);
    leave.abort();
    await restore();
    await expect.poll(levels, { timeout: patience(5_000) }).toEqual([0, 0, 0, 0, 0]);
  });

  test('an interactive query that outgrows its estimate gets another class, and says so', async () => {
    const id = randomUUID();
    const leave = new AbortController();
    onTestFinished(() => leave.abort());
    // Its client reads nothing, so the result waits.
    const answer = await fetch(`${coordinator.queryUrl}/api/query`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-skein-query-id': id },
      body: JSON.stringify({ sql: 'SELECT i FROM range(200000000) AS t(i)' }),
      signal: leave.signal,
    });
    expect(answer.status).toBe(200);
    await expect.poll(async () => (await state(id))['workload_class'], { timeout: patience(15_000) }).toBe('medium');
    leave.abort();
    await recorded(id).toMatchObject({ status: 'cancelled', priority: 2 });
  });

  const gauge = async (name: string): Promise<number> => {
    const text = await (await fetch(`${coordinator.queryUrl}/metrics`)).text();
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
  };

  /** Starts statements while every place is taken; `free` gives the places back. */
  async function whileFull(statements: readonly string[]): Promise<{
    readonly answers: readonly Promise<Answer>[];
    readonly free: () => void;
  }> {
    const leave = new AbortController();
    onTestFinished(() => leave.abort());
    const ids = Array.from({ length: RUNNING_MAX }, () => randomUUID());
    for (const id of ids) {
      query(LONG, { headers: { 'x-skein-query-id': id }, signal: leave.signal }).catch(() => undefined);
    }
    for (const id of ids) await recorded(id).toMatchObject({ status: 'running' });
    const answers = statements.map((sql) => query(sql));
    await expect.poll(() => gauge('skein_queries_queued'), { timeout: patience(10_000) }).toBe(statements.length);
    return { answers, free: () => leave.abort() };
  }

  /** A table of one column `a`, whose snapshot n has one file with the value n. */
  async function oneFileTable(name: string): Promise<{
    readonly add: (id: number) => Promise<SnapshotFiles>;
    readonly commit: (...updates: readonly object[]) => Promise<unknown>;
  }> {
    const post = catalogPost(catalog.url, 'lake', token);
    const created = await post('/namespaces/default/tables', { name, schema: SCHEMA });
    const { location } = created['metadata'] as { location: string };
    const commit = (...updates: readonly object[]): Promise<unknown> =>
      post(`/namespaces/default/tables/${name}`, { updates });
    const duckdb = await (await DuckDBInstance.create()).connect();
    return {
      commit,
      add: async (id) => {
        const file = `${location}/data/${id}.parquet`;
        await mkdir(fileURLToPath(`${location}/data`), { recursive: true });
        await duckdb.run(
          `COPY (SELECT ${id}::BIGINT AS a) TO '${fileURLToPath(file)}' (FORMAT parquet, FIELD_IDS {a: 1})`,
        );
        const files = await writeSnapshot(location, BigInt(id), [file], id === 1 ? undefined : id - 1, id);
        await commit(files.update, setMain(id));
        return files;
      },
    };
  }

  test('holds no list of files', async () => {
    const { add } = await oneFileTable('waits');
    await add(1);
    const { answers, free } = await whileFull(['SELECT a FROM waits', 'FROM waits AS x JOIN waits AS y USING (a)']);
    expect(await gauge('skein_file_list_bytes')).toBe(0);
    free();
    for (const answer of answers) expect((await answer).body.rows).toEqual([[1]]);
  });

  test('is resolved again when its snapshot has expired meanwhile, with the values of its PIVOT', async () => {
    const { add, commit } = await oneFileTable('expires');
    const first = await add(1);
    const { answers, free } = await whileFull([
      'SELECT a FROM expires',
      'SELECT * FROM (PIVOT expires ON a USING count(*))',
      'SELECT a FROM expires AT (VERSION => 1)',
    ]);
    await add(2);
    await commit({ action: 'remove-snapshots', 'snapshot-ids': [1] });
    for (const file of [...first.dataFiles, first.manifest, first.manifestList]) await rm(fileURLToPath(file));
    free();
    const [current, pivot, old] = await Promise.all(answers);
    expect(current?.body.rows).toEqual([[2]]);
    expect(pivot?.body).toMatchObject({ columns: ['2'], rows: [[1]] });
    expect(old).toMatchObject({ status: 400, body: { error: 'SNAPSHOT_NOT_FOUND', sql_state: '42704' } });
  });

  test('keeps its snapshot while that is there, and is refused when its table has gone', async () => {
    const { add } = await oneFileTable('stays');
    await add(1);
    const gone = await oneFileTable('goes');
    await gone.add(1);
    const { answers, free } = await whileFull(['SELECT a FROM stays', 'SELECT a FROM goes']);
    await add(2);
    const headers = { authorization: `Bearer ${token}` };
    await fetch(`${catalog.url}/v1/lake/namespaces/default/tables/goes`, { method: 'DELETE', headers });
    free();
    expect((await answers[0])?.body.rows).toEqual([[1]]);
    expect(await answers[1]).toMatchObject({ status: 400, body: { error: 'TABLE_NOT_FOUND' } });
  });
});

test('a second start has a greater epoch and fails what the first left behind', async () => {
  const id = randomUUID();
  const insert = `insert into coordinator.query_history (record_id, query_id, status, sql, user_id, username, tenant_id, query_type,
    resource_group, priority, queued_at, rows_produced, bytes_scanned, fragments, cu_consumed, epoch)
    values ($1::text::uuid, $1::text, 'running', 'x', 'p', 'u', 'default', 'select', '/root', 5, now(), 0, 0, 0, 0, 0)`;
  await client.query(insert, [id]);
  await coordinator.close();
  coordinator = await startCoordinator(config, silentLogger);
  await expect.poll(ready, { timeout: patience(10_000) }).toBe(200);
  expect(await history(id)).toMatchObject({ status: 'failed' });
  expect((await query('SELECT 42')).body.rows).toEqual([[42]]);
});

test('a coordinator whose only worker is of another release is not ready, and says which', async () => {
  const other = await startScriptedWorker({
    secret: 'coordinator-test',
    release: { skein: '0.2.0' },
    output: async function* () {},
  });
  const alone = await startCoordinator({ ...config, 'cluster.workers': [other.address] }, silentLogger);
  const health = async (): Promise<unknown> => (await fetch(`${alone.queryUrl}/health/ready`)).json();
  try {
    const refused = `scripted is Skein 0.2.0 with DuckDB 1.5.5, this coordinator Skein ${SKEIN_RELEASE} with DuckDB 1.5.5`;
    await expect.poll(health).toEqual({ status: 'not ready', reason: `no worker is available; refused: ${refused}` });
  } finally {
    await alone.close();
    other.kill();
  }
});
