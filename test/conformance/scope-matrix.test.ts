import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATIONS } from '#catalog/rest/operations.ts';
import type { Action } from '#shared/authorization/action.ts';
import { must } from '#shared/must.ts';
import { SCOPES } from '#shared/authorization/token-claims.ts';
import { startTestCatalog, type RestAnswer, type TestCatalog } from '#test/support/catalog.ts';
import { CATALOG, makeFixture, requestOf, SCHEMA, type Prepared } from './matrix-requests.ts';
import { POLICED_MATRIX, SCOPE_MATRIX } from './scope-matrix.ts';

/** A catalog that no tenant has. Its name is as long as CATALOG, so that answers have equal lengths. */
const ABSENT = 'lame';

let catalog: TestCatalog;
/** A token of another tenant's administrator, with every scope. */
let rival: string;
beforeAll(async () => {
  catalog = await startTestCatalog();
  await catalog.sql(`update catalog.catalog set undrop_window_s = 3600 where name = '${CATALOG}'`);
  await catalog.call('CreateTenant', { name: 'rival', admin_user: 'eve', admin_password: 'a long enough password' });
  await catalog.call('CreateCatalog', { tenant: 'rival', name: 'rival_lake', location: '' });
  rival = await catalog.mint({ tenant: 'rival', user: 'eve' });
});
afterAll(() => catalog[Symbol.asyncDispose]());

const operationOf = (id: string): (typeof OPERATIONS)[number] =>
  must(
    OPERATIONS.find((operation) => operation.id === id),
    id,
  );
/** The answer of the internal call `Authorize` about an action of the token's principal. */
const decisionOf = async (token: string, action: Action | null): Promise<object | undefined> => {
  const request = { principal: catalog.principal(token) };
  const { decisions } = await catalog.call<{ decisions: readonly { action: string }[] }>('Authorize', request);
  return decisions.find((one) => one.action === action);
};
const send = (endpoint: string, request: Prepared, token: string | null): Promise<RestAnswer> => {
  const { path, body, raw, type } = request;
  return catalog.rest(endpoint.split(' ')[0] ?? '', path, {
    token,
    ...(body === undefined ? {} : { body }),
    ...(raw === undefined ? {} : { raw }),
    headers: type === undefined ? {} : { 'content-type': type },
  });
};

test('the matrix has every operation once', () => {
  const listed = SCOPE_MATRIX.map(([id]) => id);
  expect(listed.toSorted()).toEqual(OPERATIONS.map(({ id }) => id).toSorted());
});

test.each(SCOPE_MATRIX)('%s needs %s: %i, and without it %i', async (id, scope, withScope, withoutScope) => {
  const operation = operationOf(id);
  const { endpoint } = operation;
  const fixture = await makeFixture(catalog, id);
  const request = requestOf(operation, fixture);
  if (scope === null) {
    expect((await send(endpoint, request, null)).status).toBe(withScope);
    expect(withoutScope).toBe(withScope);
    return;
  }
  const needed = scope.split(' ');
  const poorer = await Promise.all(
    needed.map(async (one) => {
      const poor = await catalog.mint({ scope: Object.keys(SCOPES).filter((other) => other !== one) });
      const refused = await send(endpoint, request, poor);
      expect(refused.status).toBe(withoutScope);
      const told = refused.body['error'] as { readonly message: string } | undefined;
      return { poor, reason: told?.message ?? `the token lacks the scope ${one}` };
    }),
  );
  const anonymous = await send(endpoint, request, null);
  expect([anonymous.status, anonymous.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  // Last, because the request may delete its objects.
  const rich = await catalog.mint({ scope: needed });
  const answer = await send(endpoint, request, rich);
  expect(answer.status, JSON.stringify(answer.body)).toBe(withScope);
  // The internal call makes the same decision, in the same words.
  expect(await decisionOf(rich, operation.action)).toMatchObject({ allowed: true });
  for (const { poor, reason } of poorer) {
    expect(await decisionOf(poor, operation.action)).toMatchObject({ allowed: false, reason });
  }
});

describe('of a table with policies', () => {
  const IN_BODY = ['renameTable', 'commitTransaction', 'commitAcrossCatalogs', 'loadCredentialsOfMany'];
  const THROUGH_SQL = 'query it through SQL';

  test('every operation that names a table is in the matrix', () => {
    const named = OPERATIONS.filter(({ id, endpoint }) => endpoint.includes('{table}') || IN_BODY.includes(id));
    expect(POLICED_MATRIX.map(([id]) => id).toSorted()).toEqual(named.map(({ id }) => id).toSorted());
  });

  /** Binds a policy to the tables of a fixture, dropped ones among them. */
  const bind = (namespace: string): Promise<unknown> =>
    catalog.sql(`with place as (
        select n.id, c.tenant_id from catalog.namespace n join catalog.catalog c on c.id = n.catalog_id where n.path = '${namespace}'),
      made as (
        insert into catalog.policy (tenant_id, namespace_id, kind, name, name_folded, arguments, returns, body, owner)
        select tenant_id, id, 'row_access', 'p', 'p', '[{"name":"x","shown":"a","type":"BIGINT"}]', 'BOOLEAN', '"x" = 1', 'admin'
        from place returning id),
      tables as (
        select t.id from catalog.iceberg_table t join place on place.id = t.namespace_id
        union select d.id from catalog.dropped_table d where d.path = '${namespace}')
      insert into catalog.policy_binding (table_id, policy_id, kind, field_ids)
      select tables.id, made.id, 'row_access', '{1}' from tables, made`);

  test.each(POLICED_MATRIX)('%s answers %i', async (id, status) => {
    const operation = operationOf(id);
    const fixture = await makeFixture(catalog, `policed_${id}`);
    await bind(fixture.namespace);
    const answer = await send(operation.endpoint, requestOf(operation, fixture), await catalog.mint());
    const text = JSON.stringify(answer.body);
    const isTold = status === 403 || id === 'loadCredentialsOfMany';
    expect([id, answer.status, text]).toEqual([id, status, isTold ? expect.stringContaining(THROUGH_SQL) : text]);
  });
});

describe('another tenant’s objects are answered, word for word, as absent ones', () => {
  const named = OPERATIONS.filter(
    ({ id, endpoint }) => /\{(prefix|catalog)\}/.test(endpoint) || id === 'commitAcrossCatalogs' || id === 'getConfig',
  );

  /** All that a client sees of an answer. */
  const told = ({ status, body, headers }: RestAnswer): object => ({
    status,
    text: JSON.stringify(body).replaceAll(ABSENT, CATALOG),
    headers: Object.fromEntries([...headers].filter(([name]) => name !== 'date')),
  });

  test.each(named.map((operation) => [operation.id, operation] as const))('%s', async (id, operation) => {
    const fixture = await makeFixture(catalog, `rival_${id}`);
    const request = requestOf(operation, fixture, { catalog: CATALOG });
    const foreign = await send(operation.endpoint, request, rival);
    const absent = await send(
      operation.endpoint,
      requestOf(operation, fixture, { prefix: ABSENT, catalog: ABSENT }),
      rival,
    );
    expect(foreign.status).toBe(404);
    expect(told(foreign)).toEqual(told(absent));
    // The object is unchanged.
    for (const path of ['', '/tables/t', '/views/v']) {
      const url = `/v1/${CATALOG}/namespaces/${fixture.namespace}${path}`;
      expect((await catalog.rest('GET', url)).status, url).toBe(200);
    }
  });

  test('files in its folders neither', async () => {
    const fixture = await makeFixture(catalog, 'rival_files');
    const post = (path: string, body: object): Promise<RestAnswer> =>
      catalog.rest('POST', `/v1/rival_lake/namespaces${path}`, { body, token: rival });
    await post('', { namespace: ['own'] });
    const real = fixture.unregisteredTable;
    const folder = real.slice(0, real.lastIndexOf('/metadata/'));
    for (const [path, body] of [
      ['/own/register', (at: string) => ({ name: 'x', 'metadata-location': `${at}${real.slice(folder.length)}` })],
      ['/own/register-view', (at: string) => ({ name: 'x', 'metadata-location': `${at}${real.slice(folder.length)}` })],
      ['/own/tables', (at: string) => ({ name: 'x', schema: SCHEMA, location: at })],
    ] as const) {
      const nowhere = folder.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
      const [foreign, absent] = [await post(path, body(folder)), await post(path, body(nowhere))];
      expect(foreign.status, path).toBe(400);
      expect(JSON.stringify(foreign.body), path).toBe(JSON.stringify(absent.body).replaceAll(nowhere, folder));
    }
  });

  test('the configuration tells who shows no good token nothing of any name', async () => {
    const ask = (name: string, token: string | null): Promise<RestAnswer> =>
      catalog.rest('GET', `/v1/config?warehouse=${name}`, { token });
    for (const token of [null, 'x', `${rival}x`]) {
      const [used, absent] = [await ask(CATALOG, token), await ask(ABSENT, token)];
      expect([used.status, absent.status]).toEqual([200, 200]);
      expect(JSON.stringify(used.body)).toBe(JSON.stringify(absent.body).replaceAll(ABSENT, CATALOG));
    }
    // With a token the answer is that of an absent catalog.
    const [foreign, absent] = [await ask(CATALOG, rival), await ask(ABSENT, rival)];
    expect(foreign.status).toBe(404);
    expect(JSON.stringify(foreign.body)).toBe(JSON.stringify(absent.body).replaceAll(ABSENT, CATALOG));
    expect((await ask('rival_lake', rival)).status).toBe(200);
  });

  test('lists leave it out', async () => {
    const lists = OPERATIONS.filter(({ endpoint }) => endpoint === 'GET /v1/catalogs');
    for (const operation of lists) {
      const { body } = await send(operation.endpoint, { path: '/v1/catalogs' }, rival);
      expect(JSON.stringify(body)).toContain('rival_lake');
      expect(JSON.stringify(body)).not.toContain(`"${CATALOG}"`);
    }
  });
});
