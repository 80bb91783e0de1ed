import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '#shared/json.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { loadIceberg } from '#test/support/duckdb-extension.ts';
import { CHANGED_TABLES, makeChangedTable, rowsOfChanged } from './changed-tables.ts';

/**
 * DuckDB's own iceberg extension as a client of the catalog: it writes, Skein reads the same rows. Its releases are on PyPI as wheels that
 * hold just the extension's file. The extension itself does not support CREATE VIEW and DROP SCHEMA ... CASCADE.
 */
let cluster: Cluster;
let instance: DuckDBInstance;
let duckdb: DuckDBConnection;

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  instance = await DuckDBInstance.create(':memory:', {
    allow_unsigned_extensions: 'true',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    threads: '2',
  });
  duckdb = await instance.connect();
  await duckdb.run("SET TimeZone = 'UTC'");
  for (const sql of await loadIceberg()) await duckdb.run(sql);
  await duckdb.run(
    `ATTACH 'lake' AS lake (TYPE iceberg, ENDPOINT '${cluster.catalogUrl}', TOKEN '${await cluster.token()}')`,
  );
  await duckdb.run('CREATE SCHEMA lake.duck');
}, 300_000);

afterAll(() => {
  duckdb?.closeSync();
  instance?.closeSync();
});

const run = async (...statements: readonly string[]): Promise<void> => {
  for (const sql of statements) await duckdb.run(sql);
};
/** The rows of a query, which Skein and DuckDB must agree on; 64-bit integers cast to text, since the two print them differently. */
const both = async (sql: string): Promise<readonly (readonly Json[])[]> => {
  const theirs = (await duckdb.runAndReadAll(sql)).getRowsJson() as readonly (readonly Json[])[];
  expect(await cluster.sql(sql)).toEqual(theirs);
  return theirs;
};
const refusal = (sql: string): Promise<string> =>
  duckdb.run(sql).then(
    () => 'no refusal',
    (error: Error) => error.message,
  );

test('every type, written by DuckDB and read by Skein', async () => {
  await run(
    `CREATE TABLE lake.duck.types (id INTEGER, name VARCHAR, price DECIMAL(10,2), big BIGINT, d DATE, ts TIMESTAMP, tz TIMESTAMPTZ,
       b BLOB, u UUID, l INTEGER[], s STRUCT(x INTEGER, y VARCHAR), m MAP(VARCHAR, INTEGER), t TIME, f FLOAT, dd DOUBLE, ok BOOLEAN)`,
    `INSERT INTO lake.duck.types VALUES (1, 'ü''"', -1.50, 9223372036854775807, DATE '2024-02-29', TIMESTAMP '2024-02-29 01:02:03.123456',
       TIMESTAMPTZ '2024-02-29 01:02:03+02', 'x'::BLOB, '00000000-0000-4000-8000-000000000001', [1, NULL, 3], {'x': 1, 'y': 'z'},
       MAP {'k': 1}, TIME '01:02:03.5', 1.5, -2.25, true)`,
    'INSERT INTO lake.duck.types (id) VALUES (2)',
  );
  expect(
    await both(
      `SELECT id, name, price, big::VARCHAR, d, ts, tz::VARCHAR, hex(b), u, l, s, m['k'], t, f, dd, ok FROM lake.duck.types ORDER BY id`,
    ),
  ).toHaveLength(2);
});

test('insert, update, delete, merge', async () => {
  await run(
    'CREATE TABLE lake.duck.dml (id INTEGER, name VARCHAR)',
    "INSERT INTO lake.duck.dml SELECT range, 'n' || range FROM range(10, 20)",
    "UPDATE lake.duck.dml SET name = 'u' WHERE id = 10",
    'DELETE FROM lake.duck.dml WHERE id = 11',
    `MERGE INTO lake.duck.dml AS o USING (SELECT 12 AS id, 'merged' AS name UNION ALL SELECT 99, 'new') AS n ON o.id = n.id
       WHEN MATCHED THEN UPDATE SET name = n.name WHEN NOT MATCHED THEN INSERT (id, name) VALUES (n.id, n.name)`,
  );
  expect(await both("SELECT id, name FROM lake.duck.dml WHERE name NOT LIKE 'n1%' ORDER BY id")).toEqual([
    [10, 'u'],
    [12, 'merged'],
    [99, 'new'],
  ]);
  expect(await both('SELECT count(*)::INTEGER FROM lake.duck.dml')).toEqual([[10]]);
});

describe('tables that Skein changed', () => {
  beforeAll(() => cluster.sql('CREATE SCHEMA lake.changed_for_duckdb'));
  afterAll(() => cluster.sql('DROP SCHEMA lake.changed_for_duckdb'));

  test.each(CHANGED_TABLES)('%s, format version %i, %s: DuckDB reads the same', async (...kind) => {
    const table = `lake.changed_for_duckdb.${kind[0]}`;
    await makeChangedTable(cluster, table, kind);
    expect((await both(rowsOfChanged(table))).length).toBeGreaterThan(600);
    await cluster.sql(`DROP TABLE ${table} PURGE`);
  });
});

test('a table that DuckDB changed is changed by Skein, and DuckDB reads the same', async () => {
  const table = 'lake.duck.changed_by_both';
  await run(
    `CREATE TABLE ${table} (id BIGINT, name VARCHAR)`,
    `INSERT INTO ${table} SELECT i, 'n' || i FROM range(100) r(i)`,
    `DELETE FROM ${table} WHERE id % 3 = 0`,
    `UPDATE ${table} SET name = 'duck' WHERE id % 5 = 1`,
  );
  const rows = (): ReturnType<typeof both> => both(`SELECT id::VARCHAR, name FROM ${table} ORDER BY id`);
  const before = await rows();
  expect(before).toHaveLength(66);
  expect(await cluster.sql(`DELETE FROM ${table} WHERE name = 'duck' AND id < 20`)).toEqual([[3]]);
  expect(await cluster.sql(`UPDATE ${table} SET name = 'skein' WHERE id >= 90`)).toEqual([[6]]);
  await cluster.sql(`MERGE INTO ${table} t USING (SELECT unnest([1, 2, 4, 500]) AS id) s ON t.id = s.id
    WHEN MATCHED THEN UPDATE SET name = 'merged' WHEN NOT MATCHED THEN INSERT VALUES (s.id, 'new')`);
  expect(await rows()).toHaveLength(65);
  await run(`DELETE FROM ${table} WHERE id < 50`, `UPDATE ${table} SET name = 'again' WHERE id = 500`);
  expect((await rows()).at(-1)).toEqual(['500', 'again']);
  await run(`DROP TABLE ${table}`);
});

describe('transactions', () => {
  test('over two tables are whole or not at all; a snapshot keeps what was', async () => {
    await run(
      'CREATE TABLE lake.duck.a AS SELECT range::INTEGER AS n FROM range(100)',
      'CREATE TABLE lake.duck.b (n INTEGER)',
      'BEGIN',
      'INSERT INTO lake.duck.a VALUES (1000)',
      'INSERT INTO lake.duck.a VALUES (1001)',
      'INSERT INTO lake.duck.b VALUES (1)',
      'COMMIT',
      'BEGIN',
      'INSERT INTO lake.duck.a VALUES (2000)',
      'ROLLBACK',
    );
    const counts = 'SELECT (SELECT count(*) FROM lake.duck.a)::INTEGER, (SELECT count(*) FROM lake.duck.b)::INTEGER';
    expect(await both(counts)).toEqual([[102, 1]]);
    const [first] = (
      await duckdb.runAndReadAll('SELECT snapshot_id FROM iceberg_snapshots(lake.duck.a) ORDER BY sequence_number')
    ).getRows();
    const then = `SELECT count(*)::INTEGER FROM lake.duck.a AT (VERSION => ${String(first?.[0])})`;
    expect(await both(then)).toEqual([[100]]);
  });

  test('of two writers that began at the same state: the second is refused, or both are kept; none is lost', async () => {
    await run('CREATE TABLE lake.duck.race (n INTEGER)');
    const other = await instance.connect();
    await run('BEGIN', 'INSERT INTO lake.duck.race VALUES (1)');
    await other.run('BEGIN');
    await other.run('INSERT INTO lake.duck.race VALUES (2)');
    await run('COMMIT');
    const second = await other.run('COMMIT').then(
      () => 1,
      () => 0,
    );
    other.closeSync();
    expect(await both('SELECT count(*)::INTEGER FROM lake.duck.race')).toEqual([[1 + second]]);
  });
});

test('schema evolution, partitions, renames, properties', async () => {
  await run(
    'CREATE TABLE lake.duck.evolve (id INTEGER, part VARCHAR, gone INTEGER)',
    "INSERT INTO lake.duck.evolve VALUES (1, 'x', 1)",
    'ALTER TABLE lake.duck.evolve ADD COLUMN extra INTEGER',
    'ALTER TABLE lake.duck.evolve RENAME COLUMN part TO label',
    'ALTER TABLE lake.duck.evolve DROP COLUMN gone',
    'ALTER TABLE lake.duck.evolve ALTER COLUMN id TYPE BIGINT',
    'ALTER TABLE lake.duck.evolve SET PARTITIONED BY (bucket(4, id))',
    "INSERT INTO lake.duck.evolve VALUES (5000000000, 'y', 2)",
    'ALTER TABLE lake.duck.evolve RENAME TO evolved',
  );
  expect(await both('SELECT id::VARCHAR, label, extra FROM lake.duck.evolved ORDER BY id')).toEqual([
    ['1', 'x', null],
    ['5000000000', 'y', 2],
  ]);
  await run("CALL set_iceberg_table_properties(lake.duck.evolved, {'comment': 'hello'})");
  const properties = "SELECT value FROM iceberg_table_properties(lake.duck.evolved) WHERE key = 'comment'";
  expect((await duckdb.runAndReadAll(properties)).getRowsJson()).toEqual([['hello']]);
  await run("CALL remove_iceberg_table_properties(lake.duck.evolved, ['comment'])");
  expect((await duckdb.runAndReadAll(properties)).getRowsJson()).toEqual([]);

  await run(
    'CREATE TABLE lake.duck.months (id INTEGER, d DATE) PARTITIONED BY (month(d))',
    "INSERT INTO lake.duck.months VALUES (1, DATE '2024-01-01'), (2, DATE '2024-02-01'), (3, NULL)",
  );
  expect(await both("SELECT id FROM lake.duck.months WHERE d < DATE '2024-02-01'")).toEqual([[1]]);
});

test('names of every kind, and what Skein’s SQL sees of them', async () => {
  await run(
    'CREATE TABLE lake.duck."we ird.näme /+%25" (a INTEGER)',
    'INSERT INTO lake.duck."we ird.näme /+%25" VALUES (7)',
  );
  expect(await both('SELECT a FROM lake.duck."we ird.näme /+%25"')).toEqual([[7]]);
});

test('a schema that holds tables is not dropped; without them it is', async () => {
  expect(await refusal('DROP SCHEMA lake.duck')).toContain('Namespace duck is not empty');
  const named = await duckdb.runAndReadAll("SELECT name FROM (SHOW ALL TABLES) WHERE schema = 'duck'");
  const tables = (named.getRows() as string[][]).flat();
  expect(tables.sort()).toEqual(['a', 'b', 'dml', 'evolved', 'months', 'race', 'types', 'we ird.näme /+%25']);
  for (const table of tables) await run(`DROP TABLE lake.duck."${table}"`);
  await run('DROP SCHEMA lake.duck');
  expect((await cluster.catalog('GET', '/v1/lake/namespaces/duck')).status).toBe(404);
});
