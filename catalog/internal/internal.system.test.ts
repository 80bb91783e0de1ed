import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { credentials, type Client, type ClientReadableStream, type Metadata } from '@grpc/grpc-js';
import { decodeJwt } from 'jose';
import { Client as PgClient } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALL_ACTIONS } from '#shared/authorization/action.ts';
import type { Principal as PrincipalMessage } from '#proto/generated/skein/catalog/v1/Principal.ts';
import { fixedKeyring } from '#shared/keyring.ts';
import type { Clock } from '#shared/clock.ts';
import { internalMetadata } from '#shared/grpc/internal-auth.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { newUuidV7 } from '#shared/uuid-v7.ts';
import { startCatalog } from '#catalog/main.ts';
import { startTestCatalog, TEST_SECRET, type TestCatalog } from '#test/support/catalog.ts';
import { startTestPostgres, type TestPostgres } from '#test/support/postgres.ts';

/** A Postgres of its own, because it is killed. */
let postgres: TestPostgres;
let catalog: TestCatalog;
/** The administrator of another tenant. */
let other: PrincipalMessage;
const DAY_MS = 86_400_000;
let passedMs = 0;
const clock: Clock = { nowMs: () => Date.now() + passedMs, monotonicMs: () => performance.now() };

beforeAll(async () => {
  postgres = await startTestPostgres();
  catalog = await startTestCatalog({}, clock, postgres);
  await catalog.call('CreateTenant', { name: 'other', admin_user: 'ann', admin_password: 'a long enough password' });
  other = catalog.principal(await catalog.mint({ tenant: 'other', user: 'ann' }));
});
afterAll(async () => {
  await catalog?.[Symbol.asyncDispose]();
  await postgres?.[Symbol.asyncDispose]();
});

const SCHEMA = { type: 'struct', fields: [{ id: 1, name: 'a', required: false, type: 'long' }] };
const createTable = async (namespace: string, name: string): Promise<string> => {
  const path = `/v1/lake/namespaces/${namespace}/tables`;
  const { status, body } = await catalog.rest('POST', path, { body: { name, schema: SCHEMA } });
  expect(status).toBe(200);
  return body['metadata-location'] as string;
};
const sql = async (text: string): Promise<void> => {
  const client = new PgClient({ connectionString: catalog.databaseUrl });
  await client.connect();
  await client.query(text);
  await client.end();
};

type Loaded = {
  status: string;
  metadata_location: string;
  version: string;
  metadata_json: string;
  allowed_roots: string[];
  namespace: string[];
  table: string;
  actions: string[];
};
const load = async (names: object[], principal = catalog.principal()): Promise<Loaded[]> =>
  (await catalog.call<{ tables: Loaded[] }>('LoadTables', { principal, names })).tables;

test('every call needs the secret of the cluster', async () => {
  for (const method of [
    'LoadTables',
    'ListCatalogs',
    'ListNamespaces',
    'ListTables',
    'CommitTables',
    'AbandonCommit',
    'MintToken',
    'CreateClient',
    'RotateClient',
    'ListClients',
    'DropClient',
    'CreateTenant',
    'ListTenants',
    'CreateCatalog',
  ]) {
    await expect(catalog.call(method, {}, 'wrong'), method).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    await expect(catalog.call(method, {}, ''), method).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  }
});

const NAME = { catalog: 'lake', namespace: ['default'], table: 'one' };

describe('the principal of a call', () => {
  /** Every call that is made for a principal, with a request that is good but for the principal. */
  const CALLS: readonly (readonly [method: string, request: object])[] = [
    ['Authorize', {}],
    ['LoadTables', { names: [NAME] }],
    ['ListCatalogs', { action: 'catalog.resolve' }],
    ['ListNamespaces', { action: 'schema.resolve', catalog: 'lake' }],
    ['ListTables', { catalog: 'lake', namespace: ['default'] }],
  ];
  const writing = { key: newUuidV7(Date.now()), transaction: Buffer.from('{}') };

  test.each(CALLS)('%s is refused without one, and for one that is not what it says', async (method, request) => {
    const good = catalog.principal();
    await catalog.call(method, { ...request, principal: good });
    const bad: Readonly<Record<string, PrincipalMessage | undefined>> = {
      none: undefined,
      "another tenant's": { ...good, tenant: 'other' },
      'of a tenant that is not there': { ...good, tenant: 'none' },
      unknown: { ...good, id: '00000000-0000-4000-8000-000000000000' },
      'no id': { ...good, id: '' },
      'no UUID': { ...good, id: "' or true --" },
      'no tenant': { ...good, tenant: '' },
      'an epoch that is over': { ...good, session_epoch: '-1' },
    };
    for (const [what, principal] of Object.entries(bad)) {
      const refused = catalog.call(method, principal === undefined ? request : { ...request, principal });
      await expect(refused, what).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    }
  });

  test('CommitTables is refused without one, and without the scope', async () => {
    await expect(catalog.call('CommitTables', writing)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    await expect(catalog.call('AbandonCommit', writing)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    const reader = catalog.principal(await catalog.mint({ scope: ['table:read'] }));
    await expect(catalog.call('CommitTables', { ...writing, principal: reader })).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'the token lacks the scope table:write',
    });
    const foreign = { ...catalog.principal(), tenant: 'other' };
    await expect(catalog.call('CommitTables', { ...writing, principal: foreign })).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    });
  });

  test('may be given what it asks for only, and a list is for one of its actions', async () => {
    const reader = catalog.principal(await catalog.mint({ scope: ['table:read'] }));
    const ask = (method: string, request: object): Promise<unknown> =>
      catalog.call(method, { ...request, principal: reader });
    await ask('ListCatalogs', { action: 'catalog.resolve' });
    await expect(ask('ListCatalogs', { action: 'catalog.list' })).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'the token lacks the scope catalog:read',
    });
    for (const action of ['', 'table.list', 'constructor']) {
      await expect(ask('ListCatalogs', { action }), action).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    }
    const lister = catalog.principal(await catalog.mint({ scope: ['namespace:read'] }));
    await expect(catalog.call('LoadTables', { principal: lister, names: [NAME] })).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'the token lacks the scope table:read',
    });
  });

  test('gets each action decided', async () => {
    const { decisions } = await catalog.call<{ decisions: { action: string; allowed: boolean }[] }>('Authorize', {
      principal: catalog.principal(),
    });
    expect(decisions.map(({ action }) => action)).toEqual(ALL_ACTIONS);
    expect(decisions.every(({ allowed }) => allowed)).toBe(true);
  });
});

describe('LoadTables', () => {
  test('says what the principal may do with the table, and which policies it has', async () => {
    await createTable('default', 'permitted');
    const permitted = { ...NAME, table: 'permitted' };
    const [all] = await load([permitted]);
    expect(all?.actions).toEqual(ALL_ACTIONS.filter((action) => action.startsWith('table.')));
    expect(all).toMatchObject({ policies: [], policy_version: '0' });
    const reader = catalog.principal(await catalog.mint({ scope: ['table:read'] }));
    expect((await load([permitted], reader))[0]?.actions).toEqual(['table.list', 'table.describe', 'table.select']);
  });

  test('resolves many names at once, in their order', async () => {
    const location = await createTable('default', 'one');
    await catalog.rest('POST', '/v1/lake/namespaces', { body: { namespace: ['default', 'deep'] } });
    await createTable('default%1Fdeep', 'two');
    const one = { catalog: 'lake', namespace: ['default'], table: 'one' };
    const version = (await load([one]))[0]?.version;
    const tables = await load([
      { catalog: 'lake', namespace: ['default', 'deep'], table: 'two' },
      { catalog: 'none', namespace: ['default'], table: 'one' },
      { catalog: 'lake', namespace: ['none'], table: 'one' },
      { catalog: 'lake', namespace: ['default'], table: 'none' },
      { catalog: 'lake', namespace: ['default'], table: 'one' },
      { catalog: 'lake', namespace: ['default'], table: 'one', known_version: version },
      { catalog: 'lake', namespace: ['default'], table: 'one', known_version: 'older' },
    ]);
    expect(tables.map(({ status }) => status)).toEqual([
      'FOUND',
      'CATALOG_NOT_FOUND',
      'SCHEMA_NOT_FOUND',
      'TABLE_NOT_FOUND',
      'FOUND',
      'FOUND',
      'FOUND',
    ]);
    expect(tables[0]).toMatchObject({ namespace: ['default', 'deep'], table: 'two' });
    expect(tables[4]).toMatchObject({
      metadata_location: location,
      allowed_roots: [`file://${catalog.dataDir}/warehouse`],
    });
    expect(JSON.parse(tables[4]?.metadata_json ?? '')).toMatchObject({ 'format-version': 2 });
    expect(tables[5]).toMatchObject({ metadata_location: location, metadata_json: '' });
    expect(tables[6]?.metadata_json).toBe(tables[4]?.metadata_json);
  });

  test('a document is known by its version, not by the path of its file', async () => {
    const location = await createTable('default', 'rewritten');
    const name = { catalog: 'lake', namespace: ['default'], table: 'rewritten' };
    const [before] = await load([name]);
    expect(before?.version).toMatch(/^[0-9a-f-]{36}\.\d+$/);
    // The table is unregistered, its file overwritten, and registered again: name, table id and path stay the same.
    const rest = (path: string, body?: object) => catalog.rest('POST', `/v1/lake/namespaces/default${path}`, { body });
    expect((await rest('/tables/rewritten/unregister')).status).toBe(200);
    const document = JSON.parse(before?.metadata_json ?? '') as { properties: object };
    await writeFile(new URL(location), JSON.stringify({ ...document, properties: { rewritten: 'true' } }));
    expect((await rest('/register', { name: 'rewritten', 'metadata-location': location })).status).toBe(200);
    const [after] = await load([{ ...name, known_version: before?.version ?? '' }]);
    expect(after?.metadata_location).toBe(location);
    expect(after?.metadata_json).toContain('"rewritten"');
    expect((await load([{ ...name, known_version: after?.version ?? '' }]))[0]?.metadata_json).toBe('');
  });

  test('the exact name comes first, then the one that differs in case', async () => {
    await catalog.rest('POST', '/v1/lake/namespaces', { body: { namespace: ['Ünder'] } });
    await createTable(encodeURIComponent('Ünder'), 'Mixed');
    await createTable(encodeURIComponent('Ünder'), 'mixed');
    const found = await load([
      { catalog: 'LAKE', namespace: ['ÜNDER'], table: 'mixed' },
      { catalog: 'lake', namespace: ['Ünder'], table: 'Mixed' },
      { catalog: 'lake', namespace: ['Ünder'], table: 'MIXED' },
    ]);
    expect(found.map(({ table }) => table)).toEqual(['mixed', 'Mixed', 'Mixed']);
    expect(found[0]?.namespace).toEqual(['Ünder']);
  });

  test('of a letter beyond A to Z the case counts, as it does for DuckDB and in USE', async () => {
    await createTable(encodeURIComponent('Ünder'), 'Kä');
    const names = [
      ['Ünder', 'kä'],
      ['Ünder', 'KÄ'],
      ['Ünder', '\u212aä'],
      ['ünder', 'Kä'],
    ].map(([namespace, table]) => ({ catalog: 'lake', namespace: [namespace], table }));
    const found = await load(names);
    expect(found.map(({ status }) => status)).toEqual([
      'FOUND',
      'TABLE_NOT_FOUND',
      'TABLE_NOT_FOUND',
      'SCHEMA_NOT_FOUND',
    ]);
  });

  test('names that cannot exist are not found, and spoil no other name', async () => {
    const tables = await load([
      { catalog: 'lake', namespace: ['default'], table: 'o\0ne' },
      { catalog: 'lake', namespace: ['default\u001Fdeep'], table: 'two' },
      { catalog: 'la\0ke', namespace: ['default'], table: 'one' },
      { catalog: 'lake', namespace: [], table: '' },
      { catalog: 'lake', namespace: ['default'], table: 'one' },
    ]);
    expect(tables.map(({ status }) => status).slice(0, 4)).not.toContain('FOUND');
    expect(tables[4]?.status).toBe('FOUND');
  });

  test("another tenant's catalog is not found", async () => {
    const found = await load([{ catalog: 'lake', namespace: ['default'], table: 'one' }], other);
    expect(found[0]?.status).toBe('CATALOG_NOT_FOUND');
  });

  test('calls at once share statements, and each gets its own answer', async () => {
    for (let i = 0; i < 5; i += 1) await createTable('default', `shared${i}`);
    const answers = await Promise.all(
      Array.from({ length: 100 }, async (_none, i) => {
        const principal = i % 7 === 0 ? other : catalog.principal();
        const name = { catalog: 'lake', namespace: ['default'], table: `shared${i % 5}` };
        const tables = await load(
          Array.from({ length: 1 + (i % 3) }, () => name),
          principal,
        );
        return tables.map(({ status, table }) => `${status} ${table}`);
      }),
    );
    for (const [i, answer] of answers.entries()) {
      const expected = i % 7 === 0 ? 'CATALOG_NOT_FOUND ' : `FOUND shared${i % 5}`;
      expect(answer).toEqual(Array.from({ length: 1 + (i % 3) }, () => expected));
    }
  });
});

describe('lists', () => {
  /** Reads a list in pages of one item. */
  async function pagesOf(method: string, request: object, member: string, none: unknown): Promise<readonly unknown[]> {
    const found: unknown[] = [];
    for (let after = none, more = true; more;) {
      const page = { principal: catalog.principal(), catalog: 'lake', ...request, after, limit: 1 };
      const reply: Record<string, unknown> = await catalog.call(method, page);
      const items = reply[member] as readonly (string | { readonly levels: readonly string[] })[];
      found.push(...items);
      const [item] = items;
      after = typeof item === 'object' ? item.levels : item;
      more = reply['more'] === true;
    }
    return found;
  }

  test('of catalogs, namespaces and tables', async () => {
    const principal = catalog.principal();
    const listed = { principal, action: 'catalog.list' };
    expect(await catalog.call('ListCatalogs', listed)).toEqual({ names: ['lake'] });
    expect(await catalog.call('ListCatalogs', { ...listed, principal: other })).toEqual({ names: [] });
    const { namespaces } = await catalog.call<{ namespaces: object[] }>('ListNamespaces', {
      principal,
      action: 'schema.list',
      catalog: 'lake',
    });
    const deep = { levels: ['default', 'deep'], owner: '', comment: '', oid: expect.any(Number) };
    expect(namespaces).toContainEqual(deep);
    const tables = await catalog.call<{ names: string[] }>('ListTables', {
      principal,
      catalog: 'lake',
      namespace: ['default'],
    });
    expect(tables.names).toContain('one');
    expect(await pagesOf('ListTables', { namespace: ['default'] }, 'names', '')).toEqual(tables.names);
    expect(await pagesOf('ListNamespaces', { action: 'schema.resolve' }, 'namespaces', [])).toEqual(namespaces);
    await expect(
      catalog.call('ListNamespaces', { principal, action: 'schema.list', catalog: 'none' }),
    ).rejects.toMatchObject({ code: 'CATALOG_NOT_FOUND' });
    await expect(catalog.call('ListTables', { principal, catalog: 'lake', namespace: ['none'] })).rejects.toMatchObject(
      { code: 'SCHEMA_NOT_FOUND' },
    );
  });
});

describe('MintToken', () => {
  test('has the claims of the service', async () => {
    const claims = decodeJwt(await catalog.mint({ ttl_ms: 60_000, scope: ['table:read'] }));
    expect(claims).toMatchObject({
      iss: 'skein',
      aud: 'skein',
      tenant: 'default',
      preferred_username: 'admin',
      roles: ['tenant_admin'],
      scope: 'table:read',
      sess_epoch: 0,
      auth_method: 'operator',
    });
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(60);
    expect(decodeJwt(await catalog.mint())['scope']).toContain('catalog:write');
  });

  test.each([
    [{ tenant: 'none' }, 'TENANT_NOT_FOUND'],
    [{ user: 'none' }, 'PRINCIPAL_NOT_FOUND'],
    [{ scope: ['table:read', 'everything'] }, 'INVALID_REQUEST'],
    [{ scope: ['constructor'] }, 'INVALID_REQUEST'],
    [{ ttl_ms: 31 * DAY_MS }, 'INVALID_REQUEST'],
    [{ ttl_ms: -5 }, 'INVALID_REQUEST'],
  ])('refuses %j', async (request, code) => {
    await expect(catalog.mint(request)).rejects.toMatchObject({ code });
  });
});

describe('tenants', () => {
  test('see nothing of each other', async () => {
    await catalog.call('CreateTenant', { name: 'acme', admin_user: 'eve', admin_password: 'a long enough password' });
    expect(await catalog.call('ListTenants', {})).toEqual({ names: ['acme', 'default', 'other'] });
    await catalog.call('CreateCatalog', { tenant: 'acme', name: 'acme_lake', location: '' });
    const token = await catalog.mint({ tenant: 'acme', user: 'eve' });
    const rest = (path: string, options: object = {}) => catalog.rest('GET', path, { token, ...options });
    expect((await rest('/v1/acme_lake/namespaces')).body['namespaces']).toEqual([]);
    const missing = (await rest('/v1/missing/namespaces')).body;
    const foreign = (await rest('/v1/lake/namespaces')).body;
    expect(foreign).toEqual(JSON.parse(JSON.stringify(missing).replace('missing', 'lake')));
    for (const path of ['/default', '/default/tables', '/default/tables/one']) {
      expect((await rest(`/v1/lake/namespaces${path}`)).status, path).toBe(404);
    }
    const create = await catalog.rest('POST', '/v1/lake/namespaces', { token, body: { namespace: ['x'] } });
    expect(create.status).toBe(404);
  });

  test('cannot share locations, names are unique, some are reserved', async () => {
    const create = (name: string, location: string): Promise<unknown> =>
      catalog.call('CreateCatalog', { tenant: 'acme', name, location });
    const warehouse = `${catalog.dataDir}/warehouse`;
    for (const location of [warehouse, `${warehouse}/inside`, catalog.dataDir, `${warehouse}/../warehouse/x`]) {
      await expect(create('overlap', location), location).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    }
    await expect(create('lake', '/tmp/elsewhere')).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    for (const name of ['config', 'oauth', 'catalogs', 'transactions', 'stages', 'a/b', '', '..']) {
      await expect(create(name, '/tmp/elsewhere'), name).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    }
    await expect(
      catalog.call('CreateTenant', { name: 'acme', admin_user: 'x', admin_password: 'a long enough password' }),
    ).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    await expect(catalog.call('CreateCatalog', { tenant: 'none', name: 'x', location: '' })).rejects.toMatchObject({
      code: 'TENANT_NOT_FOUND',
    });
  });
});

test('a raised session epoch refuses older tokens at once, and is told to watchers', async () => {
  await catalog.call('CreateTenant', { name: 'epochs', admin_user: 'u', admin_password: 'a long enough password' });
  const token = await catalog.mint({ tenant: 'epochs', user: 'u' });
  expect((await catalog.rest('GET', '/v1/x/namespaces', { token })).status).toBe(404);

  const { Client: Internal } = loadService('catalog.proto', 'skein.catalog.v1.CatalogInternal');
  const client = new Internal(catalog.running.internalAddress, credentials.createInsecure()) as unknown as Client & {
    WatchEpochs: (request: object, metadata: Metadata) => ClientReadableStream<{ epochs: { session_epoch: string }[] }>;
  };
  const refused = client.WatchEpochs({}, internalMetadata(fixedKeyring('wrong')));
  const code = await new Promise((resolve) =>
    refused.once('error', (error) => resolve((error as { code?: number }).code)),
  );
  expect(code).toBe(16);
  const stream = client.WatchEpochs({}, internalMetadata(fixedKeyring(TEST_SECRET)));
  const messages: string[][] = [];
  stream.on('data', ({ epochs }: { epochs: { session_epoch: string }[] }) =>
    messages.push(epochs.map((e) => e.session_epoch)),
  );
  stream.on('error', () => undefined);
  await expect.poll(() => messages).toEqual([[]]);

  await sql("update catalog.principal set session_epoch = 3 where username = 'u'");
  await expect.poll(async () => (await catalog.rest('GET', '/v1/x/namespaces', { token })).status).toBe(401);
  await expect.poll(() => messages).toEqual([[], ['3']]);
  stream.cancel();
  client.close();
  const newer = await catalog.mint({ tenant: 'epochs', user: 'u' });
  expect((await catalog.rest('GET', '/v1/x/namespaces', { token: newer })).status).toBe(404);

  await sql("update catalog.principal set status = 'SUSPENDED' where username = 'u'");
  await expect(catalog.mint({ tenant: 'epochs', user: 'u' })).rejects.toMatchObject({ code: 'FORBIDDEN' });
});

test('a second catalog on the same database shares all of it, and generates no password', async () => {
  const config = { ...catalog.config, 'admin.password': '' };
  const both = await Promise.all([
    startCatalog(config, silentLogger, clock),
    startCatalog(config, silentLogger, clock),
  ]);
  try {
    for (const other of both) {
      expect(other).not.toHaveProperty('generatedAdminPassword');
      const response = await fetch(`${other.url}/v1/lake/namespaces`, {
        headers: { authorization: `Bearer ${catalog.token}` },
      });
      expect(response.status).toBe(200);
    }
  } finally {
    for (const other of both) await other.close();
  }
});

test('without Postgres it is not ready and says so; with it again it goes on, and knows changed epochs', async () => {
  const ready = async (): Promise<number> => (await catalog.rest('GET', '/health/ready', { token: null })).status;
  expect(await ready()).toBe(200);
  await postgres.kill();
  await expect.poll(ready).toBe(503);
  expect((await catalog.rest('GET', '/health', { token: null })).status).toBe(200);
  const refused = await catalog.rest('GET', '/v1/lake/namespaces');
  expect(refused).toMatchObject({ status: 503, body: { error: { type: 'ServiceUnavailableException' } } });
  await expect(load([{ catalog: 'lake', namespace: ['default'], table: 'one' }])).rejects.toMatchObject({
    code: 'CATALOG_UNAVAILABLE',
  });
  await postgres.start();
  await expect.poll(ready).toBe(200);
  expect((await load([{ catalog: 'lake', namespace: ['default'], table: 'one' }]))[0]?.status).toBe('FOUND');

  await catalog.call('CreateTenant', { name: 'again', admin_user: 'v', admin_password: 'a long enough password' });
  const token = await catalog.mint({ tenant: 'again', user: 'v' });
  await sql("update catalog.principal set session_epoch = 1 where username = 'v'");
  await expect.poll(async () => (await catalog.rest('GET', '/v1/x/namespaces', { token })).status).toBe(401);
});

test('a catalog waits for a Postgres that comes up later', async () => {
  await postgres.kill();
  const starting = startCatalog(catalog.config, silentLogger, clock);
  await sleep(300);
  await postgres.start();
  await (await starting).close();
});

test('a start again keeps everything; keys rotate by age and old ones are served while tokens of theirs live', async () => {
  const keys = async (): Promise<string[]> => {
    const { body } = await catalog.rest('GET', '/.well-known/jwks.json', { token: null });
    return (body['keys'] as { kid: string; d?: string }[]).map(({ kid, d }) => {
      expect(d).toBeUndefined();
      return kid;
    });
  };
  const [first = ''] = await keys();
  const late = await (async () => {
    passedMs = 29 * DAY_MS;
    return catalog.mint({ ttl_ms: 30 * DAY_MS });
  })();
  passedMs = 31 * DAY_MS;
  await catalog.restart();
  expect(await keys()).toHaveLength(2);
  expect((await catalog.rest('GET', '/v1/lake/namespaces', { token: late })).status).toBe(200);
  expect((await catalog.rest('GET', '/v1/lake/namespaces')).body).toMatchObject({
    error: { message: 'the token has expired' },
  });
  // The new key signs once it has settled; the old one goes when no token of its can live.
  expect((await load([{ catalog: 'lake', namespace: ['default'], table: 'one' }]))[0]?.status).toBe('FOUND');
  passedMs = 60 * DAY_MS;
  await catalog.restart();
  expect(await keys()).toContain(first);
  passedMs = 62 * DAY_MS;
  await catalog.restart();
  expect(await keys()).not.toContain(first);
});
