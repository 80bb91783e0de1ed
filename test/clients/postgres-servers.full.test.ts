import { afterAll, beforeAll, expect, test } from 'vitest';
import { allOk, browsedTables, toolOutcomes, type BrowsedTables } from '#test/support/browsed-tables.ts';

/** Programs that browse Postgres and have servers of their own, each in the tables of a tenant. */
let tables: BrowsedTables;
beforeAll(async () => {
  tables = await browsedTables(`servers_${process.pid}`);
});
afterAll(() => tables[Symbol.asyncDispose]());

const PGADMIN = [
  'a server, with its password',
  'databases',
  'schemas',
  'tables',
  'views',
  'columns with their types',
  'properties of a table',
  'properties of a view',
  'primary keys',
  'texts that make objects',
  'what needs what',
  'sessions',
  'statistics of tables',
  'search',
  'query tool',
  'data of a table',
  'settings',
];

test('pgAdmin', async () => {
  for (const url of [tables.theirs, tables.ours]) {
    const outcomes = await toolOutcomes('pgadmin', 'test/clients/postgres_pgadmin.py', url.href);
    expect(outcomes['pgAdmin']).toEqual(allOk(PGADMIN));
  }
});

test('Superset', async () => {
  const outcomes = await toolOutcomes('superset', 'test/clients/postgres_superset.py', tables.ours.href);
  expect(outcomes['Superset']).toEqual(allOk(['database', 'dataset', "a chart's query", 'SQL Lab']));
});
