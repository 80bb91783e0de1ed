import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** The tables and columns that descriptions of results name, by their numbers in `pg_catalog`. */
let client: pg.Client;
const SCHEMA = `origins${process.pid}`;

beforeAll(async () => {
  const { cluster } = await sharedCluster();
  const url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  [url.username, url.password] = [cluster.ready.user, ADMIN_PASSWORD];
  client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query(`CREATE SCHEMA lake.${SCHEMA}; USE lake.${SCHEMA}`);
  await client.query('CREATE TABLE t (a INTEGER, b TEXT); CREATE VIEW v AS SELECT b AS y, a AS x FROM t');
});
afterAll(async () => {
  await client.query('ROLLBACK; DROP VIEW v; DROP TABLE u');
  await client.query(`DROP SCHEMA lake.${SCHEMA}`);
  await client.end();
});

type Place = { readonly tableID: number; readonly columnID: number };

async function places(sql: string, values: readonly unknown[] = []): Promise<readonly Place[]> {
  const { fields } = await client.query(sql, [...values]);
  return fields.map(({ tableID, columnID }) => ({ tableID, columnID }));
}

/** `t.a` for each column of a result; `-` for one of no table. */
async function origins(sql: string, ...values: readonly unknown[]): Promise<string> {
  const names: string[] = [];
  for (const { tableID, columnID } of await places(sql, values)) {
    const { rows } = await client.query<{ name: string }>(
      `SELECT c.relname || '.' || a.attname AS name FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
       WHERE a.attrelid = ${tableID} AND a.attnum = ${columnID}`,
    );
    names.push(tableID === 0 ? '-' : (rows[0]?.name ?? `${tableID}.${columnID}`));
  }
  return names.join(' ');
}

test('they are those of the table or view that the statement names, with parameters or without', async () => {
  expect(await origins('SELECT b, a + 1, a FROM t')).toBe('t.b - t.a');
  expect(await origins('SELECT * FROM t WHERE a = $1', 7)).toBe('t.a t.b');
  expect(await origins('SELECT w.x, t.b, * FROM v AS w, t')).toBe('v.x t.b v.y v.x t.a t.b');
  // Two views with one text have one plan.
  await client.query('CREATE VIEW v2 AS SELECT b AS y, a AS x FROM t');
  expect(await origins('SELECT x FROM v AS w')).toBe('v.x');
  expect(await origins('SELECT x FROM v2 AS w')).toBe('v2.x');
  await client.query('DROP VIEW v2');
  expect(await origins('SELECT snapshot_id FROM "t$snapshots"')).toBe('-');
});

test('they stay in a transaction and behind another name, and follow the columns', async () => {
  const [before] = await places('SELECT a FROM t');
  await client.query("BEGIN; INSERT INTO t VALUES (1, 'x')");
  expect(await places('SELECT a FROM t')).toEqual([before]);
  await client.query('COMMIT');
  const { rows } = await client.query<{ id: string }>('SELECT snapshot_id::VARCHAR AS id FROM "t$snapshots"');
  await client.query('ALTER TABLE t ADD COLUMN c INTEGER FIRST');
  await client.query('ALTER TABLE t RENAME TO u');
  expect(await places('SELECT a FROM u')).toEqual([{ ...before, columnID: 2 }]);
  // The columns of an earlier snapshot have the numbers that they have by now.
  expect(await origins(`SELECT * FROM u AT (VERSION => ${rows[0]?.id ?? ''})`)).toBe('u.a u.b');
});
