import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ERROR_MESSAGE_BYTES_MAX, ERRORS, type ErrorCode } from '#shared/error.ts';
import type { StartedCluster } from '#test/support/cluster.ts';
import { createTestDatabase, startOwnCluster, type TestDatabase } from '#test/support/resources.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

/** Clients can make error texts of any length: none may cost another client its connection, a slot or a worker. */

/** Longest time that another client waits for an answer meanwhile on the reference machine. */
const WAIT_MS_MAX = 1_000;
const LENGTH = 200_000;
/** The texts repeat these: characters that JSON, headers or logs escape, or that our own patterns look at twice. */
const UNITS = ['x', 'é', '🦆', '\n', '%', '\\', '"', '/a', ' ', '\u0001', '\u007f', 'LINE 1: '] as const;

const literal = (unit: string): string => `'${unit.replaceAll("'", "''")}'`;
const long = (unit: string): string => `repeat(${literal(unit)}, ${Math.ceil(LENGTH / unit.length)})`;
/** The longest that a statement may have. */
const NAME = 'n'.repeat(1_024);

type Case = readonly [what: string, sql: string, code: ErrorCode];

/** Each of them fails in another place. */
const CASES: readonly Case[] = [
  ...UNITS.flatMap((unit): Case[] => [
    [`a task, of ${JSON.stringify(unit)}`, `SELECT error(${long(unit)} || i) FROM range(1) t(i)`, 'INVALID_ARGUMENT'],
    [`a constant, of ${JSON.stringify(unit)}`, `SELECT error(${long(unit)})`, 'INVALID_ARGUMENT'],
    [
      `a fragment, of ${JSON.stringify(unit)}`,
      `SELECT k, count(*) FROM (SELECT error(${long(unit)} || l_orderkey) AS k FROM tpch.lineitem) GROUP BY k`,
      'INVALID_ARGUMENT',
    ],
  ]),
  [
    'a NUL in its middle',
    `SELECT error(${long('x')} || chr(0) || ${long('y')} || i) FROM range(1) t(i)`,
    'INVALID_ARGUMENT',
  ],
  [
    // Few enough for one core: DuckDB sometimes reports an error in a helper's thread as an interrupt.
    'after many rows',
    `SELECT CASE WHEN i > 300000 THEN error(${long('é')}) ELSE 1 END FROM range(400000) t(i)`,
    'INVALID_ARGUMENT',
  ],
  ['a constant cast', "SELECT CAST(repeat('x', 1000000) AS INT)", 'INVALID_CAST'],
  ['a cast', "SELECT CAST(repeat('x', 1000000) || i AS INT) FROM range(1) t(i)", 'INVALID_CAST'],
  [
    'a cast in a fragment',
    "SELECT k, count(*) FROM (SELECT CAST(repeat('x', 1000000) || l_comment AS INT) AS k FROM tpch.lineitem) GROUP BY k",
    'INVALID_CAST',
  ],
  ['a profiled one', `EXPLAIN ANALYZE SELECT error(${long('x')} || i) FROM range(1) t(i)`, 'INVALID_ARGUMENT'],
  ['a column', `SELECT "${NAME}" FROM tpch.region`, 'COLUMN_NOT_FOUND'],
  ['an alias', `SELECT r_name::INT AS "${NAME}" FROM tpch.region`, 'INVALID_CAST'],
  [
    'a key',
    `SELECT "${NAME}"::INT AS k, count(*) FROM (SELECT r_name AS "${NAME}" FROM tpch.region) GROUP BY k`,
    'INVALID_CAST',
  ],
  ['a table', `SELECT * FROM "${NAME}"`, 'TABLE_NOT_FOUND'],
  ['a catalog', `SELECT * FROM "${NAME}".a.b`, 'CATALOG_NOT_FOUND'],
  ['a type', `SELECT 1::"${NAME}"`, 'NOT_SUPPORTED'],
  ['a setting', `SET "${NAME}" = 1`, 'SETTING_NOT_FOUND'],
  ['the value of a setting', `SET skein.query_timeout = '${NAME}'`, 'INVALID_REQUEST'],
  ['a schema', `USE "${NAME}"`, 'SCHEMA_NOT_FOUND'],
  ['a longer name', `SELECT "${'n'.repeat(LENGTH)}"`, 'NAME_TOO_LONG'],
  ['syntax', `SELECT FROM "${NAME}" WHERE ,`, 'SYNTAX_ERROR'],
];

/** The cluster's own database, so that its history can be read. */
let own: TestDatabase;
let database: Client;
let cluster: StartedCluster;
const sessionId = randomUUID();

beforeAll(async () => {
  own = await createTestDatabase();
  cluster = await startOwnCluster({ env: { DATABASE_URL: own.url } });
  database = new Client({ connectionString: own.url });
  await database.connect();
  await cluster.load(['tpch', '--scale', '0.01']);
  await cluster.sql("SET skein.distribution = 'force'", { sessionId });
  await cluster.sql('SELECT count(*) FROM tpch.lineitem', { sessionId });
}, 240_000);

afterAll(async () => {
  await database?.end();
  await cluster?.stop();
  await own?.[Symbol.asyncDispose]();
});

/** Another client, which sends the smallest query again and again. */
class Bystander {
  readonly failures: string[] = [];
  longestMs = 0;
  asked = 0;
  readonly #done: Promise<void>;
  #stopped = false;

  constructor() {
    this.#done = this.#run();
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const startMs = performance.now();
      const { status, body } = await cluster.query('SELECT 1');
      this.longestMs = Math.max(this.longestMs, performance.now() - startMs);
      if (status !== 200) this.failures.push(`${body.error}: ${body.message}`);
      this.asked += 1;
      await sleep(5);
    }
  }

  stop(): Promise<void> {
    this.#stopped = true;
    return this.#done;
  }
}

const metric = async (name: string): Promise<number> => {
  const page = await (await fetch(`${cluster.queryUrl}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(page)?.[1] ?? 0);
};

const workers = async (): Promise<readonly number[]> =>
  (await cluster.services()).filter(({ kind }) => kind === 'worker').map(({ pid }) => pid);

test('whoever gets an error of any length gets it alone, cut: nobody else waits, and no worker, connection or task is lost', async () => {
  const before = { pids: await workers(), retries: await metric('skein_task_retries_total') };
  const bystander = new Bystander();
  const wrong: string[] = [];
  try {
    for (const [what, sql, code] of CASES) {
      const { status, body } = await cluster.query(sql, { sessionId, timeoutMs: 30_000 });
      const { message = '' } = body;
      const expected = `${ERRORS[code].http} ${code} ${ERRORS[code].sqlState}`;
      const answer = `${status} ${body.error} ${body.sql_state}`;
      if (answer !== expected) wrong.push(`${what}: ${answer} (${message.slice(0, 200)}), not ${expected}`);
      if (Buffer.byteLength(message) > ERROR_MESSAGE_BYTES_MAX) wrong.push(`${what}: a message of ${message.length}`);
    }
  } finally {
    await bystander.stop();
  }
  expect(wrong).toEqual([]);
  expect(bystander.failures).toEqual([]);
  expect(bystander.asked).toBeGreaterThan(CASES.length);
  expect(bystander.longestMs).toBeLessThan(WAIT_MS_MAX * machineSlowness());
  expect(await workers()).toEqual(before.pids);
  expect(await metric('skein_task_retries_total')).toBe(before.retries);
  expect(await metric('skein_workers_live')).toBe(2);
  expect(cluster.log).not.toMatch(/worker lost|worker refused/);
}, 240_000);

test('a long text is cut in its middle, and its two ends say what and where', async () => {
  const sql = `SELECT error('begin ' || ${long('x')} || ' end ' || i) FROM range(1) t(i)`;
  const { body } = await cluster.query(sql);
  expect(body.message).toMatch(/^begin x{1000,} \[\.\.\. \d+ bytes left out \.\.\.\] x{1000,} end 0$/);
});

test('a result may have the longest names', async () => {
  const { status, body } = await cluster.query(`SELECT r_regionkey AS "${NAME}" FROM tpch.region LIMIT 1`, {
    sessionId,
  });
  expect(status).toBe(200);
  expect(body.columns).toEqual([NAME]);
});

test('the catalog cuts as well', async () => {
  const fields = [{ id: 1, name: 'a', required: false, type: 'n'.repeat(LENGTH) }];
  const table = { name: 't', schema: { type: 'struct', fields } };
  const { status, body } = await cluster.catalog('POST', '/v1/lake/namespaces/tpch/tables', table);
  const { message } = (body as { error: { message: string } }).error;
  expect(status).toBe(400);
  expect(message).toContain('bytes left out');
  expect(Buffer.byteLength(message)).toBeLessThanOrEqual(ERROR_MESSAGE_BYTES_MAX);
});

test('history keeps no longer message than the client got', async () => {
  await expect
    .poll(async () => (await database.query('select 1 from coordinator.query_history where ended_at is null')).rowCount)
    .toBe(0);
  const { rows } = await database.query<{ bytes: number; failed: string }>(
    'select max(octet_length(error_message)) as bytes, count(error_code) as failed from coordinator.query_history',
  );
  expect(Number(rows[0]?.failed)).toBeGreaterThanOrEqual(CASES.length);
  expect(rows[0]?.bytes).toBeLessThanOrEqual(ERROR_MESSAGE_BYTES_MAX);
});
