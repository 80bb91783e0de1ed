import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import type { Json } from '#shared/json.ts';
import { ApiDocument } from '#test/support/api-document.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** Which of several catalogs a session means: a tenant has two, whose tables differ (service specification, SQL statements, Query HTTP API). */
const TENANT = 'shelves';
const USER = 'shelves_admin';
/** The catalog that is current while a session has chosen none: the first by name, because the tenant has no `lake`. */
const FIRST = 'shelf_a';
const SECOND = 'shelf_b';

let cluster: Cluster;
let document: ApiDocument;
let token: string;

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  document = new ApiDocument(await (await fetch(`${cluster.queryUrl}/openapi.json`)).json());
  await cluster.cliOk(['admin', 'tenant', 'create', TENANT, '--user', USER]);
  token = await cluster.token({ tenant: TENANT, user: USER });
  for (const [catalog, value] of [
    [FIRST, 1],
    [SECOND, 2],
  ] as const) {
    await cluster.sql(`CREATE CATALOG ${catalog}`, { token });
    await cluster.sql(`CREATE SCHEMA ${catalog}.s`, { token });
    await cluster.sql(`CREATE TABLE ${catalog}.s.both AS SELECT ${value} AS a`, { token });
  }
  await cluster.sql(`CREATE TABLE ${SECOND}.s.only_here (a INT)`, { token });
  await cluster.sql(`CREATE SCHEMA ${SECOND}."s.deep"`, { token });
  await cluster.sql(`CREATE TABLE ${SECOND}."s.deep".nested (a INT)`, { token });
});

const inSession = (sessionId: string) => (sql: string) => cluster.query(sql, { token, sessionId });

/** `GET /api/tables`, checked against the OpenAPI document; in the order of the answer's members. */
async function tables(sessionId?: string): Promise<readonly Json[]> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(sessionId === undefined ? {} : { 'x-skein-session': sessionId }),
  };
  const response = await fetch(`${cluster.queryUrl}/api/tables`, { headers });
  const text = await response.text();
  document.check({ method: 'GET', path: '/api/tables', status: response.status, headers: response.headers, text });
  return (JSON.parse(text) as { readonly tables: readonly Json[] }).tables;
}

const OF_FIRST = [{ catalog: FIRST, schema: 's', name: 'both' }];
const OF_SECOND = [
  { catalog: SECOND, schema: 's', name: 'both' },
  { catalog: SECOND, schema: 's', name: 'only_here' },
  { catalog: SECOND, schema: 's.deep', name: 'nested' },
];

test('USE CATALOG: names without a catalog are those of the chosen one, in this session alone', async () => {
  const [here, elsewhere] = [inSession(randomUUID()), inSession(randomUUID())];
  expect((await here('SELECT current_catalog(), a FROM s.both')).body.rows).toEqual([[FIRST, 1]]);
  expect((await here('SELECT 1 FROM s.only_here')).body.error).toBe('TABLE_NOT_FOUND');
  expect((await here(`USE CATALOG ${SECOND}`)).body.rows).toEqual([['USE CATALOG']]);
  expect((await here('SELECT current_catalog(), a FROM s.both')).body.rows).toEqual([[SECOND, 2]]);
  expect((await here('SELECT count(*) FROM s.only_here')).body.rows).toEqual([[0]]);
  expect((await here(`SELECT a FROM ${FIRST}.s.both`)).body.rows).toEqual([[1]]);
  expect((await here('SHOW TABLES FROM s')).body.rows).toEqual([['both'], ['only_here']]);
  await here('INSERT INTO s.only_here VALUES (7)');
  expect(await cluster.sql(`SELECT a FROM ${SECOND}.s.only_here`, { token })).toEqual([[7]]);
  expect((await elsewhere('SELECT current_catalog(), a FROM s.both')).body.rows).toEqual([[FIRST, 1]]);
  expect((await here('USE CATALOG shelf_c')).body.error).toBe('CATALOG_NOT_FOUND');
  expect((await here('SELECT current_catalog()')).body.rows).toEqual([[SECOND]]);
});

test('GET /api/tables has exactly the tables of the current catalog, those of deeper schemas too', async () => {
  const sessionId = randomUUID();
  expect(await tables()).toEqual(OF_FIRST);
  expect(await tables(sessionId)).toEqual(OF_FIRST);
  await inSession(sessionId)(`USE CATALOG ${SECOND}`);
  expect(await tables(sessionId)).toEqual(OF_SECOND);
  expect(await tables()).toEqual(OF_FIRST);
  await inSession(sessionId)(`USE ${FIRST}.s`);
  expect(await tables(sessionId)).toEqual(OF_FIRST);
});

test('an entry of GET /api/tables has catalog, schema and name, in this order, and nothing else', async () => {
  const sessionId = randomUUID();
  await inSession(sessionId)(`USE CATALOG ${SECOND}`);
  for (const entry of await tables(sessionId)) {
    expect(Object.entries(entry as object).map(([key, value]) => [key, typeof value])).toEqual([
      ['catalog', 'string'],
      ['schema', 'string'],
      ['name', 'string'],
    ]);
  }
});
