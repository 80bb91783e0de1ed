import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { FlightClient } from '#test/support/flight-client.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** Rows that Skein makes itself have the types of their fields at every door. */

let cluster: Cluster;
let flight: FlightClient;
const SCHEMA = 'lake.typed_rows';

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  const url = must(cluster.ready.flight_sql_url, 'it serves Flight SQL');
  flight = new FlightClient(url, `Bearer ${await cluster.token()}`);
  await cluster.sql(`CREATE SCHEMA ${SCHEMA}`);
  await cluster.sql(`CREATE TABLE ${SCHEMA}.t (id INT)`);
  await cluster.sql(`INSERT INTO ${SCHEMA}.t VALUES (1)`);
  await cluster.sql(`CREATE STAGE ${SCHEMA}.box`);
});
afterAll(() => flight[Symbol.dispose]());

const TIME = 'TIMESTAMP WITH TIME ZONE';

/** Columns that are not VARCHAR, by statement. */
const STATEMENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'SHOW QUERY HISTORY LIMIT 5': {
    priority: 'INTEGER',
    queued_at: TIME,
    started_at: TIME,
    ended_at: TIME,
    duration_ms: 'BIGINT',
    rows_produced: 'BIGINT',
    bytes_scanned: 'BIGINT',
    fragments: 'INTEGER',
    cu_consumed: 'DOUBLE',
  },
  'SHOW QUERIES': {
    priority: 'INTEGER',
    queue_position: 'INTEGER',
    queued_at: TIME,
    started_at: TIME,
    elapsed_ms: 'BIGINT',
    rows_produced: 'BIGINT',
    bytes_scanned: 'BIGINT',
    tasks: 'INTEGER',
    tasks_running: 'INTEGER',
    tasks_done: 'INTEGER',
  },
  'SHOW RESOURCE GROUPS': {
    running: 'INTEGER',
    queued: 'INTEGER',
    hard_concurrency_limit: 'INTEGER',
    soft_concurrency_limit: 'INTEGER',
    cpu_time_ms: 'BIGINT',
  },
  [`LIST @${SCHEMA}.box`]: { size: 'BIGINT', last_modified: TIME },
  [`SHOW STAGES FROM ${SCHEMA}`]: { created_at: TIME },
  [`DESCRIBE ${SCHEMA}.t`]: {},
  'SHOW ALL': {},
  'SHOW USERS': { last_login_at: TIME, created_at: TIME },
  'DESCRIBE USER admin': {
    last_login_at: TIME,
    login_failures: 'INTEGER',
    must_change_password: 'BOOLEAN',
    session_epoch: 'BIGINT',
    legal_hold: 'BOOLEAN',
    is_bootstrap_principal: 'BOOLEAN',
    created_at: TIME,
    updated_at: TIME,
    deactivated_at: TIME,
  },
  'SHOW SERVICE ACCOUNTS': { created_at: TIME },
  'SHOW PERSONAL ACCESS TOKENS': { created_at: TIME, expires_at: TIME, ttl: 'INTEGER' },
  'SHOW ROLES': { is_built_in: 'BOOLEAN', created_at: TIME },
  'SHOW AUDIT LOG LIMIT 2': { created_at: TIME },
};

describe.each(Object.entries(STATEMENTS))('%s', (statement, typed) => {
  const typesOf = async (sql: string): Promise<Readonly<Record<string, string>>> => {
    const { body } = await cluster.query(sql);
    const { columns, types } = body as { columns: readonly string[]; types: readonly string[] };
    return Object.fromEntries(columns.map((name, i) => [name, types[i] ?? '']));
  };

  test('over HTTP, in FROM and in a table that is made of it', async () => {
    const types = await typesOf(statement);
    expect(Object.fromEntries(Object.entries(types).filter(([, type]) => type !== 'VARCHAR'))).toEqual(typed);
    expect(await typesOf(`FROM (${statement})`)).toEqual(types);
    await cluster.sql(`CREATE OR REPLACE TABLE ${SCHEMA}.made AS FROM (${statement})`);
    expect(await typesOf(`FROM ${SCHEMA}.made`)).toEqual(types);
  });

  test('over Flight SQL, as the rows of a query have them', async () => {
    const own = await flight.query(statement);
    const ofQuery = await flight.query(`FROM (${statement})`);
    const fields = (table: typeof own): readonly string[] =>
      table.schema.fields.map(({ name, type, metadata }) => `${name} ${String(type)} ${metadata.get('skein.type')}`);
    expect(fields(own)).toEqual(fields(ofQuery));
  });
});

describe('values', () => {
  test('are JSON of their types, times in ISO 8601 UTC', async () => {
    await cluster.sql('SELECT 4711 AS typed');
    const [row] = await cluster.sql("SHOW QUERY HISTORY LIMIT 1 LIKE '%4711 AS typed'");
    const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;
    const number = expect.any(Number) as unknown;
    expect(row?.slice(7)).toEqual([3, iso, iso, iso, number, 1, number, number, null, number]);
    const [[group] = []] = await cluster.sql('SELECT running + 1 > running FROM (SHOW RESOURCE GROUPS) LIMIT 1');
    expect(group).toBe(true);
  });

  test('are in ISO 8601 UTC below a query, too; what the query computes is its own', async () => {
    await cluster.sql('SELECT 4713 AS typed');
    const history = "(SHOW QUERY HISTORY LIMIT 1 LIKE '%4713 AS typed')";
    const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;
    const duckdb = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+\d\d$/) as unknown;
    const computed = 'queued_at + INTERVAL 1 HOUR, now(), queued_at::TIMESTAMPTZ';
    expect(await cluster.sql(`SELECT queued_at, ${computed} FROM ${history}`)).toEqual([[iso, duckdb, duckdb, iso]]);
    expect(await cluster.sql(`WITH h AS (FROM ${history}) SELECT h.queued_at FROM h, h AS g GROUP BY ALL`)).toEqual([
      [iso],
    ]);
    expect(await cluster.sql(`SELECT queued_at FROM ${history} UNION ALL SELECT now()`)).toEqual([[duckdb], [duckdb]]);
    const [direct] = await cluster.sql(`SHOW QUERY HISTORY LIMIT 1 LIKE '%4713 AS typed'`);
    const [[queued] = []] = await cluster.sql(`SELECT queued_at FROM ${history} ORDER BY 1`);
    expect(queued).toBe(direct?.[8]);
  });

  test('are the same over Flight SQL', async () => {
    await cluster.sql('SELECT 4712 AS typed');
    const statement = "SHOW QUERY HISTORY LIMIT 1 LIKE 'SELECT 4712 AS typed'";
    const [row] = await cluster.sql(statement);
    const [found] = (await flight.query(statement)).toArray() as { toJSON(): Record<string, unknown> }[];
    const values = Object.values(must(found, 'a row').toJSON());
    expect(values.map((value) => (typeof value === 'bigint' ? Number(value) : value))).toEqual(
      row?.map((value) => (typeof value === 'string' && /^\d{4}-.*Z$/.test(value) ? Date.parse(value) : value)),
    );
  });

  test('are sorted as numbers', async () => {
    const rows = await cluster.sql('SELECT duration_ms FROM (SHOW QUERY HISTORY LIMIT 50) ORDER BY duration_ms');
    const found = rows.map(([value]) => value).filter((value) => value !== null);
    expect(found.length).toBeGreaterThan(10);
    expect(found).toEqual(found.toSorted((a, b) => Number(a) - Number(b)));
    // Other suites' statements may have begun after this one.
    const asTime = 'SELECT max(queued_at) <= now() + INTERVAL 1 MINUTE FROM (SHOW QUERY HISTORY)';
    expect(await cluster.sql(asTime)).toEqual([[true]]);
  });

  test('of procedures and ANALYZE are numbers, ids beyond 2^53 texts', async () => {
    expect(await cluster.sql(`ANALYZE ${SCHEMA}.t`)).toEqual([['id', 1]]);
    const ids = await cluster.sql(`SELECT snapshot_id::VARCHAR FROM ${SCHEMA}."t$snapshots"`);
    const id = ids[0]?.[0] as string;
    const rolled = await cluster.query(`ALTER TABLE ${SCHEMA}.t EXECUTE rollback_to_snapshot(${id})`);
    expect(rolled.body.types).toEqual(['VARCHAR', 'BIGINT']);
    expect(rolled.body.rows?.map(([, value]) => `${value as string | number}`)).toEqual([id, id]);
    expect((await cluster.sql(`OPTIMIZE ${SCHEMA}.t`))[0]).toEqual(['rewritten_data_files_count', 0]);
  });
});
