import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { parseJson } from '#shared/json.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { loadIceberg } from '#test/support/duckdb-extension.ts';
import { python } from '#test/support/python.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { storageOf } from '#test/support/storage-of.ts';

/**
 * Views and the tables of materialized views for other clients: a view is listed and loaded as one, and the table, which no list has, is read
 * by the name that the view's version gives, also after refreshes that append, merge and replace.
 */
const SCHEMA = 'kept_by_views';
const VIEWS = {
  filtered: 'SELECT id, name FROM t WHERE id > 1',
  summed: 'SELECT name, count(*) AS n, sum(price) AS total, avg(id) AS mean FROM t GROUP BY name',
} as const;
const COLUMNS = { filtered: 'id,name', summed: 'name,n,total,mean' } as const;

/** The columns as text; averages with six digits. */
const textsOf = (columns: string): readonly string[] =>
  columns.split(',').map((column) => (column === 'mean' ? `format('{:.6f}', ${column})` : `${column}::VARCHAR`));

const sorted = (rows: readonly (readonly string[])[]): readonly string[] => rows.map((row) => row.join(' | ')).sort();

/** Rows as the client has read them, values as text. */
type Read = (table: string, columns: string) => Promise<readonly (readonly string[])[]>;

const ofSkein = async (cluster: Cluster, view: keyof typeof VIEWS): Promise<readonly (readonly string[])[]> => {
  const columns = textsOf(COLUMNS[view]);
  const rows = await cluster.sql(`SELECT ${columns.join(', ')} FROM lake.${SCHEMA}.${view}`);
  return rows.map((row) => row.map(String));
};

async function checkAll(cluster: Cluster, read: Read): Promise<void> {
  for (const view of Object.keys(VIEWS) as (keyof typeof VIEWS)[]) {
    const storage = await storageOf(cluster, SCHEMA, view);
    expect(sorted(await read(storage, COLUMNS[view])), view).toEqual(sorted(await ofSkein(cluster, view)));
  }
}

test('PyIceberg and DuckDB’s extension read the rows of materialized views after each kind of refresh', async () => {
  const { cluster } = await sharedCluster();
  const token = await cluster.token();
  const instance = await DuckDBInstance.create(':memory:', { allow_unsigned_extensions: 'true' });
  const duckdb = await instance.connect();
  for (const sql of await loadIceberg()) await duckdb.run(sql);
  await duckdb.run(`ATTACH 'lake' AS lake (TYPE iceberg, ENDPOINT '${cluster.catalogUrl}', TOKEN '${token}')`);
  const byDuckdb: Read = async (table, columns) => {
    const sql = `SELECT ${textsOf(columns).join(', ')} FROM lake.${SCHEMA}.${table}`;
    return (await duckdb.runAndReadAll(sql)).getRowsJson().map((row) => row.map(String));
  };
  const byPyIceberg: Read = async (table, columns) => {
    const name = `${SCHEMA}.${table}`;
    const printed = await python('test/clients/read_rows.py', cluster.catalogUrl, token, columns, name);
    const rows = (parseJson(printed) as Readonly<Record<string, readonly (readonly unknown[])[]>>)[name] ?? [];
    // JSON has no point in a number like 4.0, which is an average here.
    const isMean = (at: number): boolean => columns.split(',')[at] === 'mean';
    return rows.map((row) => row.map((value, at) => (isMean(at) ? Number(value).toFixed(6) : String(value))));
  };
  const session = { sessionId: crypto.randomUUID() };
  const sql = (text: string): ReturnType<Cluster['sql']> => cluster.sql(text, session);
  await sql(`CREATE SCHEMA lake.${SCHEMA}`);
  await sql(`USE lake.${SCHEMA}`);
  await sql(
    `CREATE TABLE t AS SELECT i AS id, 'n' || i % 3 AS name, (i * 1.25)::DECIMAL(12, 2) AS price FROM range(10) r(i)`,
  );
  for (const [view, query] of Object.entries(VIEWS)) await sql(`CREATE MATERIALIZED VIEW ${view} AS ${query}`);
  await sql('CREATE VIEW plain AS SELECT id FROM t');
  const refresh = async (way: string): Promise<void> => {
    for (const view of Object.keys(VIEWS)) {
      expect(JSON.stringify(await sql(`EXPLAIN REFRESH MATERIALIZED VIEW ${view}`))).toContain(way);
      await sql(`REFRESH MATERIALIZED VIEW ${view}`);
    }
  };
  const check = async (): Promise<void> => {
    await checkAll(cluster, byDuckdb);
    await checkAll(cluster, byPyIceberg);
  };
  // It keeps the names that it has loaded, so this comes first.
  const listed = (
    await duckdb.runAndReadAll(`SELECT table_name FROM duckdb_tables() WHERE schema_name = '${SCHEMA}'`)
  ).getRowsJson();
  expect(listed.flat()).not.toContain(await storageOf(cluster, SCHEMA, 'filtered'));
  await check();
  await sql(`INSERT INTO t SELECT i, 'n' || i % 4, 1 FROM range(10, 20) r(i)`);
  await refresh('incremental');
  await check();
  await sql('DELETE FROM t WHERE id % 5 = 0');
  await refresh('full');
  await check();
  await sql(`CREATE OR REPLACE MATERIALIZED VIEW filtered AS SELECT id, upper(name) AS name FROM t`);
  await check();
  const seen = parseJson(await python('test/clients/list_views.py', cluster.catalogUrl, token, SCHEMA));
  expect(seen).toEqual({ tables: ['t'], views: ['filtered', 'plain', 'summed'] });
  duckdb.closeSync();
  instance.closeSync();
}, 300_000);
