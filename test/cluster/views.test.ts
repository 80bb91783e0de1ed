import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '#shared/json.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';

const VIEWS = '/v1/lake/namespaces/sql_views/views';
const session = { sessionId: randomUUID() };
let cluster: Cluster;
beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.sql('CREATE SCHEMA lake.sql_views');
  await cluster.sql('USE lake.sql_views', session);
  await cluster.sql('CREATE TABLE t AS SELECT * FROM (VALUES (1, 10), (2, 20)) AS v(id, amount)', session);
});

const sql = (text: string): ReturnType<Cluster['sql']> => cluster.sql(text, session);
const errorOf = (text: string): Promise<unknown> => sql(text).catch((error: unknown) => (error as Error).message);

const load = async (view: string): Promise<JsonObject> => {
  const { status, body } = await cluster.catalog('GET', `${VIEWS}/${view}`);
  expect(status).toBe(200);
  return (body as JsonObject)['metadata'] as JsonObject;
};
const currentOf = (metadata: JsonObject): JsonObject =>
  (metadata['versions'] as readonly JsonObject[]).find(
    (version) => version['version-id'] === metadata['current-version-id'],
  ) ?? {};

/** A view of another engine. */
const create = async (
  name: string,
  representations: readonly JsonObject[],
  more: JsonObject = {},
  type = 'long',
): Promise<void> => {
  const version = { 'version-id': 1, 'timestamp-ms': 1_700_000_000_000, 'schema-id': 0, summary: {} };
  const { status } = await cluster.catalog('POST', VIEWS, {
    name,
    schema: {
      type: 'struct',
      'schema-id': 0,
      fields: [{ id: 1, name: 'id', required: false, type }],
    },
    'view-version': { ...version, 'default-namespace': ['sql_views'], representations, ...more },
    properties: {},
  });
  expect(status).toBe(200);
};

test('a view is an Iceberg view for REST clients: schema, comment, default catalog and namespace', async () => {
  await sql("CREATE VIEW made (k COMMENT 'key') COMMENT 'ours' AS SELECT t.id FROM t;");
  const metadata = await load('made');
  expect(metadata).toMatchObject({ properties: { comment: 'ours' } });
  expect((metadata['schemas'] as readonly JsonObject[])[0]).toMatchObject({
    fields: [{ id: 1, name: 'k', type: 'int', required: false, doc: 'key' }],
  });
  expect(currentOf(metadata)).toMatchObject({
    'default-catalog': 'lake',
    'default-namespace': ['sql_views'],
    representations: [{ type: 'sql', dialect: 'duckdb', sql: 'SELECT * FROM (SELECT t.id FROM t\n) AS "v"("k")' }],
  });
});

test("another engine's view is read in our dialect, with its columns' types, and refused by name in another", async () => {
  await create('twofold', [
    { type: 'sql', dialect: 'spark', sql: 'select `id` from t' },
    { type: 'sql', dialect: 'DuckDB', sql: 'SELECT id FROM t -- the end' },
  ]);
  expect(await sql('SELECT typeof(id), id FROM lake.sql_views.twofold ORDER BY id')).toEqual([
    ['BIGINT', 1],
    ['BIGINT', 2],
  ]);
  await sql('CREATE OR REPLACE VIEW twofold AS SELECT id FROM t WHERE id = 2');
  expect(await sql('SELECT id FROM twofold')).toEqual([[2]]);
  const { representations } = currentOf(await load('twofold'));
  expect((representations as readonly JsonObject[]).map(({ dialect, sql: text }) => [dialect, text])).toEqual([
    ['duckdb', 'SELECT id FROM t WHERE id = 2'],
    ['spark', 'select `id` from t'],
  ]);
  await create('hives', [{ type: 'sql', dialect: 'hive', sql: 'select `id` from t' }]);
  expect(await errorOf('SELECT 1, * FROM hives')).toMatch(
    /NOT_SUPPORTED.*view lake\.sql_views\.hives: its query is written in hive.*line 1, column 18/s,
  );
});

test.each([
  ['SELECT 1 AS id) UNION ALL (SELECT 2', 'SYNTAX_ERROR'],
  ['SELECT 1 AS id; DROP TABLE t', 'SYNTAX_ERROR'],
  ['DROP TABLE t', 'only queries are served here'],
  ["SELECT id FROM read_parquet('/etc/passwd')", ''],
  ['SELECT $1 AS id', ''],
  ["SELECT id FROM 'file.parquet'", ''],
])('a view whose text is %s reads nothing, and its error names the view', async (text, code) => {
  const name = `bad_${randomUUID().slice(0, 8)}`;
  await create(name, [{ type: 'sql', dialect: 'duckdb', sql: text }]);
  const message = await errorOf(`SELECT * FROM ${name}`);
  expect(message).toContain(`view lake.sql_views.${name}: `);
  expect(message).toContain(code);
});

test('a view with columns of a type that is not read is refused by name, and dropped', async () => {
  await create('strange', [{ type: 'sql', dialect: 'duckdb', sql: 'SELECT id FROM t' }], {}, 'geometry');
  expect(await errorOf('SELECT 1, * FROM strange')).toMatch(
    /NOT_SUPPORTED.*view lake\.sql_views\.strange: columns of the type geometry cannot be read.*line 1, column 18/s,
  );
  expect(await sql('SHOW TABLES')).toContainEqual(['strange']);
  await sql('ALTER VIEW strange RENAME TO odd');
  await sql('DROP VIEW odd');
  expect(await errorOf('DROP VIEW odd')).toContain('VIEW_NOT_FOUND');
});

test('a cached plan is not used for a view that was replaced', async () => {
  await sql('CREATE VIEW changing AS SELECT id FROM t WHERE id = 1');
  const read = (): Promise<unknown> => sql('SELECT sum(id) FROM changing WHERE id > 0');
  expect([await read(), await read()]).toEqual([[['1']], [['1']]]);
  await sql('CREATE OR REPLACE VIEW changing AS SELECT id FROM t WHERE id = 2');
  expect(await read()).toEqual([['2']]);
});

test("parameters and errors of the user's own text keep their places beside a view", async () => {
  await sql('CREATE VIEW plain AS SELECT id, amount FROM t');
  await sql('PREPARE p AS SELECT amount FROM plain WHERE id = $1 AND amount > $2');
  expect(await sql('EXECUTE p(2, 5)')).toEqual([[20]]);
  expect(await errorOf('SELECT id FROM plain WHERE nothing = 1')).toMatch(/COLUMN_NOT_FOUND.*line 1, column 28/s);
  expect(await errorOf('SELECT id FROM plain WHERE nothing = 1')).not.toContain('view lake');
  expect(JSON.stringify(await sql('EXPLAIN SELECT id FROM plain WHERE id = 1'))).toContain('sql_views.t');
});
