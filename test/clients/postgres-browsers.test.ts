import { afterAll, beforeAll, expect, test } from 'vitest';
import { allOk, browsedTables, toolOutcomes, type BrowsedTables } from '#test/support/browsed-tables.ts';

/** Tools that browse Postgres, each in the tables of a tenant of its own. The scripts try each feature by itself. */
let tables: BrowsedTables;
let outcomes: Awaited<ReturnType<typeof toolOutcomes>>;
beforeAll(async () => {
  tables = await browsedTables(`browsers_${process.pid}`);
  const url = tables.ours.href;
  const found = [
    await toolOutcomes('tools', 'test/clients/postgres_sqlalchemy.py', url),
    await toolOutcomes('tools', 'test/clients/postgres_django.py', url),
    await toolOutcomes('tools', 'test/clients/postgres_browsers.py', url),
    await toolOutcomes('dbt', 'test/clients/postgres_dbt.py', url),
  ];
  outcomes = Object.assign({}, ...found) as typeof outcomes;
}, 600_000);
afterAll(() => tables[Symbol.asyncDispose]());

const SQLALCHEMY = [
  'inspector',
  'reflect',
  'create_all',
  'ORM: insert',
  'ORM: update and delete',
  'ORM: query',
  'ORM: rollback',
  'drop_all',
];
const DJANGO = [
  'inspectdb',
  'introspection',
  'tables by the schema editor',
  'ORM: insert, update, delete',
  'ORM: query',
  'ORM: rollback',
  'drop',
];

test.each([
  ['psycopg', SQLALCHEMY],
  ['psycopg2', SQLALCHEMY],
  ['asyncpg', SQLALCHEMY],
  ['Django', DJANGO],
  ['pgcli', ['queries', 'describing commands', 'completion']],
  ['DuckDB', ['ATTACH and lists', 'reading', 'writing', 'CREATE TABLE AS and DROP', 'transactions']],
  ['ADBC', ['queries', 'parameters', 'metadata', 'ingest']],
  ['dbt', ['debug', 'compile', 'show', 'docs']],
])('%s', (tool, features) => {
  expect(outcomes[tool]).toEqual(allOk(features));
});
