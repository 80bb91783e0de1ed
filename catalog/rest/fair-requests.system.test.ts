import { Client } from 'pg';
import { expect, test } from 'vitest';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { patience } from '#test/support/run/slowness.ts';

const SCHEMA = { type: 'struct', fields: [] };

/** A tenant with a small table; its path, and a token. */
async function quietTenant(catalog: TestCatalog): Promise<{ readonly token: string; readonly table: string }> {
  await catalog.call('CreateTenant', { name: 'quiet', admin_user: 'q', admin_password: 'a long enough password' });
  const token = await catalog.mint({ tenant: 'quiet', user: 'q' });
  const post = async (path: string, body: object): Promise<void> => {
    expect((await catalog.rest('POST', path, { token, body })).status).toBe(200);
  };
  await post('/v1/catalogs', { name: 'pond' });
  await post('/v1/pond/namespaces', { namespace: ['own'] });
  await post('/v1/pond/namespaces/own/tables', { name: 'small', schema: SCHEMA });
  return { token, table: '/v1/pond/namespaces/own/tables/small' };
}

/** Locks the rows of all namespaces until it is ended. */
async function lockNamespaces(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('begin');
  await client.query('select from catalog.namespace for no key update');
  return client;
}

test('requests of one tenant that take long in Postgres leave a connection to other tenants and to coordinators', async () => {
  await using catalog = await startTestCatalog();
  const { 'database.pool_max': connections } = catalog.config;
  const quiet = await quietTenant(catalog);
  const lock = await lockNamespaces(catalog.databaseUrl);
  const changes = Array.from({ length: 2 * connections }, async (_none, i) => {
    const body = { updates: { [`p${i}`]: 'x' } };
    return (await catalog.rest('POST', '/v1/lake/namespaces/default/properties', { body })).status;
  });
  const waiting =
    "select count(*)::integer as n from pg_locks where not granted and locktype in ('tuple', 'transactionid')";
  await expect
    .poll(async () => (await catalog.sql(waiting))[0], { timeout: patience(20_000) })
    .toEqual({ n: connections - 1 });
  const load = async (): Promise<number> => (await catalog.rest('GET', quiet.table, { token: quiet.token })).status;
  for (let i = 0; i < connections; i += 1) expect(await load()).toBe(200);
  const principal = catalog.principal(quiet.token);
  const names = [{ catalog: 'pond', namespace: ['own'], table: 'small', known_version: '' }];
  expect(await catalog.call('LoadTables', { names, principal })).toMatchObject({ tables: [{ status: 'FOUND' }] });
  await lock.end();
  // Those that had no connection may have been refused meanwhile.
  expect(await Promise.all(changes)).toContain(200);
});
