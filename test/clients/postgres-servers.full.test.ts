import { afterAll, beforeAll, expect, test } from 'vitest';
import { allOk, browsedTables, toolOutcomes, type BrowsedTables } from '#test/support/browsed-tables.ts';

/** Programs that browse Postgres and have servers of their own, each in the tables of a tenant. */
let tables: BrowsedTables;
beforeAll(async () => {
  tables = await browsedTables(`servers_${process.pid}`);
});
afterAll(() => tables[Symbol.asyncDispose]());

test('pgAdmin', async () => {
  const outcomes = await toolOutcomes('pgadmin', 'test/clients/postgres_pgadmin.py', tables.ours.href);
  const features = ['databases', 'schemas', 'tables', 'views', 'columns with their types', 'query tool', 'settings'];
  expect(outcomes['pgAdmin']).toEqual(allOk(['a server, with its password', 'data of a table', ...features]));
});

test('Superset', async () => {
  const outcomes = await toolOutcomes('superset', 'test/clients/postgres_superset.py', tables.ours.href);
  expect(outcomes['Superset']).toEqual(allOk(['database', 'dataset', "a chart's query", 'SQL Lab']));
});
