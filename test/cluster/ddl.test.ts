import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import { TYPE_NAMES } from '#shared/iceberg/type-names.ts';
import type { JsonObject } from '#shared/json.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { docsStatements, readSqlDocs } from '#test/support/docs-statements.ts';
import { sharedCluster } from '#test/support/resources.ts';

let cluster: Cluster;
beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.sql('CREATE SCHEMA lake.ddl');
});

const metadataOf = async (table: string): Promise<JsonObject> => {
  const { status, body } = await cluster.catalog('GET', `/v1/lake/namespaces/ddl/tables/${table}`);
  expect(status).toBe(200);
  return (body as JsonObject)['metadata'] as JsonObject;
};

/** The part that two tables of one shape have in common. */
async function shapeOf(table: string): Promise<object> {
  const metadata = await metadataOf(table);
  const { created_at: _at, 'created-at': _alike, owner: _owner, ...properties } = metadata['properties'] as JsonObject;
  const current = (list: string, key: string, id: string): unknown =>
    (metadata[list] as readonly JsonObject[]).find((one) => one[key] === metadata[id]);
  return {
    version: metadata['format-version'],
    schema: current('schemas', 'schema-id', 'current-schema-id'),
    spec: current('partition-specs', 'spec-id', 'default-spec-id'),
    order: current('sort-orders', 'order-id', 'default-sort-order-id'),
    properties,
  };
}

describe('SHOW CREATE TABLE', () => {
  test.each([
    `(a INT, b VARCHAR) COMMENT 'it''s'`,
    `(id BIGINT NOT NULL, s STRUCT(k UUID, "q ""r" STRUCT(deep INT COMMENT 'x')[]), m MAP(VARCHAR, STRUCT<x: DATE NOT NULL>),
      l ARRAY<TIME NOT NULL>, PRIMARY KEY (id, s.k)) PARTITIONED BY (day(ts), truncate(3, name) AS short, s.k) SORTED BY (bucket(8, id) DESC, name)
      WITH ('write.format.default' = 'parquet', 'odd ''key' = 'odd ''value')`.replace(
      'l ARRAY',
      'ts TIMESTAMP, name VARCHAR, l ARRAY',
    ),
    String.raw`(a INT DEFAULT -5, b BIGINT DEFAULT 9223372036854775807, c FLOAT DEFAULT 1.5, d DOUBLE DEFAULT -1e300, e DECIMAL(38, 10) DEFAULT 12.5,
      f BOOLEAN DEFAULT FALSE, g VARCHAR DEFAULT '''', h BLOB DEFAULT '\x00\xFFa', i DATE DEFAULT '0001-01-01', j TIME DEFAULT '23:59:59.999999',
      k TIMESTAMP DEFAULT '1969-12-31 23:59:59.999999', l TIMESTAMPTZ DEFAULT '2024-02-29T12:00:00+02:00', m TIMESTAMP_NS DEFAULT '1900-01-01 00:00:00.000000001',
      n UUID DEFAULT '00000000-0000-0000-0000-00000000000a', s STRUCT(x INT DEFAULT 7)) WITH ('format-version' = 3)`,
  ])('%s makes the same table again', async (columns) => {
    const session = { sessionId: randomUUID() };
    const table = `t_${randomUUID().slice(0, 8)}`;
    await cluster.sql('USE lake.ddl', session);
    await cluster.sql(`CREATE TABLE ${table} ${columns}`, session);
    const [[statement] = []] = await cluster.sql(`SHOW CREATE TABLE ${table}`, session);
    await cluster.sql((statement as string).replace(`"${table}"`, `"${table}_again"`), session);
    expect(await shapeOf(`${table}_again`)).toEqual(await shapeOf(table));
  });
});

test('a table has its user as owner and its time, unless others are given', async () => {
  await cluster.sql('CREATE TABLE lake.ddl.mine (a INT)');
  const { owner, created_at: created, 'created-at': alike } = (await metadataOf('mine'))['properties'] as JsonObject;
  expect(owner).toBe(cluster.ready.user);
  expect(Math.abs(Date.now() - Date.parse(created as string))).toBeLessThan(60_000);
  expect(alike).toBe(created);
  const given = { owner: 'ann', created_at: '2020-01-01T00:00:00Z' };
  await cluster.sql(
    `CREATE TABLE lake.ddl.hers (a INT) WITH (owner = '${given.owner}', created_at = '${given.created_at}')`,
  );
  expect((await metadataOf('hers'))['properties']).toMatchObject(given);
});

test.each([
  ['CREATE SCHEMA lake.x', 'table:write'],
  ['COMMENT ON SCHEMA lake.ddl IS NULL', 'table:write'],
  ['CREATE TABLE lake.ddl.x (a INT)', 'namespace:write'],
  ['ALTER TABLE lake.ddl.scoped ADD b INT', 'namespace:write'],
  ['ALTER TABLE lake.ddl.scoped RENAME TO x', 'namespace:write'],
  ['COMMENT ON TABLE lake.ddl.scoped IS NULL', 'namespace:write'],
  ['DROP TABLE IF EXISTS lake.ddl.scoped', 'namespace:write'],
  ['UNDROP TABLE lake.ddl.scoped', 'namespace:write'],
  ['DROP SCHEMA lake.ddl', 'table:write'],
  ['CREATE CATALOG x', 'table:write'],
  ['DROP CATALOG lake', 'table:write'],
])('%s needs another scope than %s', async (sql, scope) => {
  await cluster.sql('CREATE TABLE IF NOT EXISTS lake.ddl.scoped (a INT)');
  const token = await cluster.token({ scope: ['catalog:read', 'namespace:read', 'table:read', scope] });
  const { status, body } = await cluster.query(sql, { token });
  expect([status, body.error, body.sql_state]).toEqual([403, 'FORBIDDEN', '42501']);
});

test.each([
  ['CREATE TABLE lake.ddl.x (a INT, b NUMBERS)', /column b: there is no type NUMBERS .*column 35/],
  ['CREATE TABLE lake.dd.x (a INT)', /schema lake.dd does not exist; did you mean lake.ddl\? .*column 14/],
  [
    'CREATE TABLE lake.ddl.x (region INT) PARTITIONED BY (regoin)',
    /column regoin does not exist; did you mean region\?.*column 54/,
  ],
  ['DROP TABLE lake.ddl.positoin', /did you mean lake.ddl.position\?.*column 12/],
  ['CREATE VIEW lake.ddl.position AS SELECT 1 AS a', /table lake.ddl.position exists already.*column 13/],
  ['CREATE TABLE lake.ddl.position AS SELECT 1 AS a', /table lake.ddl.position exists already.*column 14/],
  ['ALTER TABLE lake.ddl.position DROP COLUMN an_colum', /did you mean a_column\?.*column 43/],
])('%s says where and what', async (sql, message) => {
  await cluster.sql('CREATE TABLE IF NOT EXISTS lake.ddl.position (a_column INT, b INT)');
  expect((await cluster.query(sql)).body.message).toMatch(message);
});

test('UNDROP TABLE brings a table back within the window of its catalog', async () => {
  await cluster.sql('CREATE CATALOG ddl_window');
  await cluster.cliOk(['admin', 'catalog', 'alter', 'ddl_window', '--undrop-window', '1h']);
  for (const sql of [
    'CREATE SCHEMA ddl_window.s',
    'CREATE TABLE ddl_window.s.t (a INT)',
    'DROP TABLE ddl_window.s.t',
    'UNDROP TABLE ddl_window.s.t',
    'DROP TABLE ddl_window.s.t PURGE',
    'CREATE TABLE ddl_window.s.t (b INT)',
    'UNDROP TABLE ddl_window.s.t AS ddl_window.s.u',
    'SELECT a FROM ddl_window.s.u',
  ]) {
    await cluster.sql(sql);
  }
  const { body } = await cluster.query('UNDROP TABLE ddl_window.s.t');
  expect(body.sql_state).toBe('42P07');
});

test('TRUNCATE TABLE takes every row away, in one snapshot; those before it keep theirs', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'skein-ddl-'));
  try {
    const file = join(folder, 'rows.parquet');
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    await connection.run(`COPY (SELECT range AS a, range % 3 AS part FROM range(100)) TO '${file}'`);
    connection.closeSync();
    const table = 'lake.ddl.full';
    await cluster.load(['parquet', file, '--table', table, '--create', '--partition-by', 'part']);
    const before = (await metadataOf('full'))['current-snapshot-id'];
    expect(await cluster.sql(`TRUNCATE TABLE ${table}`)).toEqual([['TRUNCATE TABLE']]);
    expect(await cluster.sql(`SELECT count(*) FROM ${table}`)).toEqual([[0]]);
    expect(await cluster.sql(`SELECT count(*) FROM ${table} AT (VERSION => ${before as bigint})`)).toEqual([[100]]);
    const { snapshots, 'current-snapshot-id': now } = await metadataOf('full');
    const last = (snapshots as readonly JsonObject[]).find((one) => one['snapshot-id'] === now);
    expect(last?.['summary']).toMatchObject({
      operation: 'delete',
      'deleted-data-files': '3',
      'deleted-records': '100',
      'changed-partition-count': '3',
      'total-data-files': '0',
      'total-records': '0',
      'total-files-size': '0',
    });
    await cluster.load(['parquet', file, '--table', table]);
    await cluster.sql(`ALTER TABLE ${table} DROP PARTITION FIELD part, DROP part`);
    await cluster.sql(`TRUNCATE ${table}`);
    await cluster.sql(`TRUNCATE ${table}`);
    expect(await cluster.sql(`SELECT count(*) FROM ${table}`)).toEqual([[0]]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('changes of one table at once are all made', async () => {
  await cluster.sql('CREATE TABLE lake.ddl.busy (a INT)');
  const names = Array.from({ length: 8 }, (_, i) => `c${i}`);
  await Promise.all(names.map((name) => cluster.sql(`ALTER TABLE lake.ddl.busy ADD ${name} BIGINT`)));
  const rows = await cluster.sql('DESCRIBE lake.ddl.busy');
  expect(new Set(rows.map(([name]) => name))).toEqual(new Set(['a', ...names]));
});

test('of several that create one table at once, one does', async () => {
  const all = async (statement: string, table: string): Promise<readonly unknown[]> => {
    const answers = Array.from({ length: 6 }, (_, i) => cluster.query(`${statement} lake.ddl.${table} (c${i} INT)`));
    return (await Promise.all(answers)).map(({ body }) => body.sql_state ?? 'ok').sort();
  };
  expect(await all('CREATE TABLE', 'race')).toEqual([...Array.from({ length: 5 }, () => '42P07'), 'ok']);
  expect(new Set(await all('CREATE TABLE IF NOT EXISTS', 'race_2'))).toEqual(new Set(['ok']));
  expect(new Set(await all('CREATE OR REPLACE TABLE', 'race_3'))).toEqual(new Set(['ok']));
  expect(await cluster.sql('DESCRIBE lake.ddl.race_3')).toHaveLength(1);
});

test('a literal may be a parameter', async () => {
  const sql = "CREATE TABLE lake.ddl.parameters (a INT DEFAULT $1, b VARCHAR DEFAULT $2) WITH ('format-version' = '3')";
  const response = await fetch(`${cluster.queryUrl}/api/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${await cluster.token()}` },
    body: JSON.stringify({ sql, parameters: [-5, "it's"] }),
  });
  expect(response.status).toBe(200);
  const rows = await cluster.sql('SELECT "default" FROM (DESCRIBE lake.ddl.parameters)');
  expect(rows).toEqual([['-5'], ["it's"]]);
});

describe('docs/sql.md', () => {
  test('its statements about maintenance run', async () => {
    const session = { sessionId: randomUUID() };
    await cluster.sql('CREATE SCHEMA lake.docs_maintenance', session);
    await cluster.sql('USE lake.docs_maintenance', session);
    await cluster.sql("CREATE TABLE orders AS SELECT 1 AS id, DATE '2024-02-29' AS order_date", session);
    const statements = await docsStatements('Maintenance');
    expect(statements.length).toBeGreaterThan(3);
    // The snapshot of the example is not there.
    for (const sql of statements.filter((one) => !one.includes('rollback'))) await cluster.sql(sql, session);
  });

  test('its statements about schemas and tables run', async () => {
    const session = { sessionId: randomUUID() };
    const statements = await docsStatements('Schemas and tables');
    expect(statements.length).toBeGreaterThan(30);
    for (const sql of statements) await cluster.sql(sql, session);
  });

  test('its table of types is that of the code', async () => {
    const rows = Object.entries(TYPE_NAMES).map(([kind, { duckdb, sql, spelled, format }]) => {
      const names = [...spelled].map((name) => `\`${name}\``).join(', ');
      const values = duckdb === null ? 'none' : duckdb === '"NULL"' ? '`NULL`' : `\`${duckdb}\``;
      return `| \`${kind}\` | \`${sql}\` | ${names} | ${values} | ${format} |`;
    });
    expect(await readSqlDocs()).toContain(rows.join('\n'));
  });
});
