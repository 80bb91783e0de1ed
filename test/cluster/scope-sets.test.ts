import { beforeAll, describe, expect, test } from 'vitest';
import { AdminClients } from '#test/support/admin-clients.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** The sets of scopes that clients request (service specification, Authentication 4): what they suffice for, and what not. */
const READER = ['catalog:read', 'namespace:read', 'table:read', 'table:data'];
const WRITER = [...READER, 'table:write'];
const CREATOR = [...WRITER, 'namespace:write'];

const TENANT = 'scope_sets';
const NAMESPACES = `/v1/${TENANT}/namespaces`;
const READS = [
  'GET /v1/catalogs',
  `GET /v1/catalogs/${TENANT}`,
  `GET ${NAMESPACES}`,
  `GET ${NAMESPACES}/s`,
  `GET ${NAMESPACES}/s/tables`,
  `GET ${NAMESPACES}/s/tables/t`,
  `HEAD ${NAMESPACES}/s/tables/t`,
  `GET ${NAMESPACES}/s/views`,
  `GET ${NAMESPACES}/s/views/v`,
];

let cluster: Cluster;
/** Signs a client of the tenant in, which asks for these scopes and may be granted every one. */
let signIn: (scope: readonly string[]) => Promise<{ readonly token: string; readonly granted: string }>;

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.cliOk(['admin', 'tenant', 'create', TENANT, '--user', 'ann']);
  await cluster.cliOk(['admin', 'catalog', 'create', TENANT, '--tenant', TENANT]);
  const token = await cluster.token({ tenant: TENANT, user: 'ann' });
  await cluster.sql(`CREATE SCHEMA ${TENANT}.s`, { token });
  await cluster.sql(`CREATE TABLE ${TENANT}.s.t AS SELECT 1 AS a`, { token });
  await cluster.sql(`CREATE VIEW ${TENANT}.s.v AS SELECT a FROM ${TENANT}.s.t`, { token });
  const client = await new AdminClients(cluster).admin('create', 'loader', '--tenant', TENANT);
  signIn = async (scope) => {
    const form = { grant_type: 'client_credentials', client_id: client.client_id, client_secret: client.client_secret };
    const body = new URLSearchParams({ ...form, scope: scope.join(' ') });
    const response = await fetch(`${cluster.catalogUrl}/v1/oauth/tokens`, { method: 'POST', body });
    const answer = (await response.json()) as { readonly access_token: string; readonly scope: string };
    return { token: answer.access_token, granted: answer.scope };
  };
});

async function status(operation: string, token: string, body?: object): Promise<number> {
  const [method = '', path = ''] = operation.split(' ');
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return (await fetch(cluster.catalogUrl + path, { method, headers, ...sent })).status;
}

const refusal = async (sql: string, token: string): Promise<string | undefined> =>
  (await cluster.query(sql, { token })).body.error;

describe.each([
  ['reads', READER],
  ['writes', WRITER],
  ['writes and makes namespaces', CREATOR],
] as const)('a client that %s', (_what, scope) => {
  test('is granted the scopes that it requests, lists and loads everything, and reads rows', async () => {
    const { token, granted } = await signIn(scope);
    expect(granted.split(' ').toSorted()).toEqual(scope.toSorted());
    for (const read of READS)
      expect([read, await status(read, token)]).toEqual([read, read.startsWith('HEAD') ? 204 : 200]);
    expect(await cluster.sql(`SELECT count(*) > 0 FROM ${TENANT}.s.v`, { token })).toEqual([[true]]);
    expect(await cluster.sql(`SHOW SCHEMAS FROM ${TENANT} LIKE 's'`, { token })).toEqual([['s']]);
  });
});

const TABLE = { name: 'u', schema: { type: 'struct', fields: [{ id: 1, name: 'a', required: false, type: 'long' }] } };

test('a client that reads changes nothing', async () => {
  const { token } = await signIn(READER);
  for (const sql of [
    `INSERT INTO ${TENANT}.s.t VALUES (2)`,
    `DELETE FROM ${TENANT}.s.t`,
    `CREATE TABLE ${TENANT}.s.u (a INT)`,
    `DROP TABLE ${TENANT}.s.t`,
    `DROP VIEW ${TENANT}.s.v`,
    `CREATE SCHEMA ${TENANT}.n`,
    'CREATE CATALOG scope_sets_2',
  ])
    expect([sql, await refusal(sql, token)]).toEqual([sql, 'FORBIDDEN']);
  expect(await status(`POST ${NAMESPACES}/s/tables`, token, TABLE)).toBe(403);
  expect(await status(`DELETE ${NAMESPACES}/s/tables/t`, token)).toBe(403);
  expect(await status(`POST ${NAMESPACES}`, token, { namespace: ['n'] })).toBe(403);
});

test('a client that writes changes tables, and makes namespaces with one scope more; catalogs it makes none', async () => {
  const { token } = await signIn(WRITER);
  await cluster.sql(`INSERT INTO ${TENANT}.s.t VALUES (2)`, { token });
  expect(await status(`POST ${NAMESPACES}/s/tables`, token, TABLE)).toBe(200);
  await cluster.sql(`INSERT INTO ${TENANT}.s.u VALUES (3)`, { token });
  await cluster.sql(`DROP TABLE ${TENANT}.s.u`, { token });
  expect(await refusal(`CREATE SCHEMA ${TENANT}.n`, token)).toBe('FORBIDDEN');
  expect(await status(`POST ${NAMESPACES}`, token, { namespace: ['n'] })).toBe(403);
  const { token: creator } = await signIn(CREATOR);
  await cluster.sql(`CREATE SCHEMA ${TENANT}.n`, { token: creator });
  await cluster.sql(`DROP SCHEMA ${TENANT}.n`, { token: creator });
  expect(await refusal('CREATE CATALOG scope_sets_2', creator)).toBe('FORBIDDEN');
});
