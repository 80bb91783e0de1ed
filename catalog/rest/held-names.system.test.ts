import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RestAnswer } from '#test/support/catalog.ts';
import { NS, SCHEMA } from '#test/support/catalog-requests.ts';
import { post, testCatalog } from '#test/support/catalog-rest.ts';
import { patience } from '#test/support/run/slowness.ts';

/** Whoever puts something into a namespace that gets another name at this moment waits for that, and is told that the namespace is not there. */

let renaming: Client;
beforeAll(async () => {
  renaming = new Client({ connectionString: testCatalog().databaseUrl });
  await renaming.connect();
  await post(NS, { namespace: ['source'] });
  for (const name of ['moved', 'away']) await post(`${NS}/source/tables`, { name, schema: SCHEMA });
  await post(`${NS}/source/stages`, { name: 'box' });
  await post(`${NS}/source/views`, view('looks'));
});
afterAll(() => renaming.end());

const view = (name: string): object => ({
  name,
  schema: SCHEMA,
  'view-version': {
    'version-id': 1,
    'timestamp-ms': 1,
    'schema-id': 0,
    summary: {},
    'default-namespace': ['held'],
    representations: [{ type: 'sql', sql: 'select 1', dialect: 'duckdb' }],
  },
  properties: {},
});
const udf = {
  name: 'f',
  definitions: [
    {
      parameters: [],
      'return-type': 'int',
      versions: [{ representations: [{ type: 'sql', dialect: 'duckdb', sql: '1' }] }],
    },
  ],
};
const into = (name: string, kind: string): (() => Promise<RestAnswer>) => {
  const idents = { source: { namespace: ['source'], name }, destination: { namespace: ['held'], name } };
  return () => post(`/v1/lake/${kind}/rename`, idents);
};

const MAKERS: readonly (readonly [what: string, make: () => Promise<RestAnswer>])[] = [
  ['a table', () => post(`${NS}/held/tables`, { name: 't', schema: SCHEMA })],
  ['a view', () => post(`${NS}/held/views`, view('v'))],
  ['a function', () => post(`${NS}/held/functions`, udf)],
  ['a stage', () => post(`${NS}/held/stages`, { name: 's' })],
  ['a table of another one', into('moved', 'tables')],
  ['a view of another one', into('looks', 'views')],
  ['a stage of another one', into('box', 'stages')],
  [
    'a table that was dropped',
    () => post(`${NS}/source/tables/away/undrop`, { destination: { namespace: ['held'], name: 'a' } }),
  ],
];

test.each(MAKERS)('%s', async (_what, make) => {
  await testCatalog().sql(`update catalog.catalog set undrop_window_s = 3600`);
  await testCatalog().rest('DELETE', `${NS}/source/tables/away`);
  expect((await post(NS, { namespace: ['held'] })).status).toBe(200);
  await renaming.query('begin');
  await renaming.query(`update catalog.namespace set path = 'free', path_folded = 'free' where path = 'held'`);
  const made = make();
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await renaming.query(waiting)).rowCount, { timeout: patience(10_000) }).toBe(1);
  await renaming.query('commit');
  const answer = await made;
  expect([answer.status, JSON.stringify(answer.body)]).toEqual([
    404,
    expect.stringContaining('NoSuchNamespaceException'),
  ]);
  // Nothing is there.
  expect((await testCatalog().rest('DELETE', `${NS}/free`)).status).toBe(204);
});

test('a namespace below it', async () => {
  await post(NS, { namespace: ['held'] });
  await renaming.query('begin');
  await renaming.query(
    `select pg_advisory_xact_lock(hashtextextended('namespaces ' || id, 0)) from catalog.catalog where name = 'lake'`,
  );
  await renaming.query(`update catalog.namespace set path = 'free', path_folded = 'free' where path = 'held'`);
  const made = post(NS, { namespace: ['held', 'below'] });
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`;
  await expect.poll(async () => (await renaming.query(waiting)).rowCount, { timeout: patience(10_000) }).toBe(1);
  await renaming.query('commit');
  expect((await made).status).toBe(404);
  expect((await testCatalog().rest('DELETE', `${NS}/free`)).status).toBe(204);
});
