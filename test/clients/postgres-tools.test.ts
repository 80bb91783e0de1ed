import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD } from '#test/support/cluster.ts';
import { pythonIn } from '#test/support/python.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** Tools of Python browse by `pg_catalog`. `postgres_tools.py` tries each feature by itself. */
let client: pg.Client;
let lines: readonly (readonly string[])[];
const SCHEMA = `tools${process.pid}`;

beforeAll(async () => {
  const { cluster } = await sharedCluster();
  const url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  [url.username, url.password, url.pathname] = [cluster.ready.user, ADMIN_PASSWORD, '/lake'];
  client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query(`CREATE SCHEMA lake.${SCHEMA}; USE lake.${SCHEMA}`);
  await client.query(
    `CREATE TABLE customers (id BIGINT NOT NULL, name VARCHAR COMMENT 'the name', price DECIMAL(10, 2), tags VARCHAR[], PRIMARY KEY (id)) COMMENT 'people'`,
  );
  await client.query('CREATE VIEW v AS SELECT id FROM customers');
  const printed = await pythonIn('postgres', 'test/clients/postgres_tools.py', url.href, SCHEMA);
  lines = printed.split('\n').map((line) => line.split('\t'));
}, 600_000);
afterAll(async () => {
  await client.query(`DROP VIEW v; DROP TABLE customers; DROP TABLE IF EXISTS items; DROP SCHEMA ${SCHEMA}`);
  await client.end();
});

const outcomesOf = (tool: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    lines.filter(([name]) => name === tool).map(([, feature = '', outcome = '']) => [feature, outcome]),
  );

test.each(['psycopg', 'psycopg2'])('SQLAlchemy by %s inspects, reflects and maps', (driver) => {
  expect(outcomesOf(`SQLAlchemy by ${driver}`)).toEqual({
    inspector: 'yes',
    reflect: 'yes',
    'ORM with create_all and drop_all': 'yes',
  });
});

test('SQLAlchemy by asyncpg maps', () => {
  expect(outcomesOf('SQLAlchemy by asyncpg')).toEqual({ 'ORM with create_all and drop_all': 'yes' });
});

test('Django makes models of tables and views', () => {
  expect(outcomesOf('Django')).toEqual({ inspectdb: 'yes' });
});
