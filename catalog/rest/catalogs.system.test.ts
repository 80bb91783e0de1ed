import { chmodSync, mkdirSync, mkdtempSync, statSync } from 'node:fs';
import { access, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '#shared/json.ts';
import { errorOf, locationOf, metadataOf, NS, SCHEMA } from '#test/support/catalog-requests.ts';
import { startTestCatalog, type RestAnswer, type TestCatalog } from '#test/support/catalog.ts';

/** Outside of the data directory. */
const PLACES = mkdtempSync(join(tmpdir(), 'skein-places-'));
let catalog: TestCatalog;
/** A token of another tenant. */
let foreign: string;
beforeAll(async () => {
  catalog = await startTestCatalog({ 'catalog.client_roots': [`${PLACES}/client`] });
  await catalog.call('CreateTenant', { name: 'rival', admin_user: 'eve', admin_password: 'a long enough password' });
  await catalog.call('CreateCatalog', { tenant: 'rival', name: 'rival_lake', location: `${PLACES}/rival` });
  foreign = await catalog.mint({ tenant: 'rival', user: 'eve' });
});
afterAll(async () => {
  await catalog[Symbol.asyncDispose]();
  await rm(PLACES, { recursive: true, force: true });
});

const get = (path: string, token?: string): Promise<RestAnswer> =>
  catalog.rest('GET', path, token === undefined ? {} : { token });
const post = (path: string, body: unknown = {}): Promise<RestAnswer> => catalog.rest('POST', path, { body });
const drop = (path: string): Promise<RestAnswer> => catalog.rest('DELETE', path);
const placeOf = ({ body }: RestAnswer): string => (body['storage-profile'] as { location: string }).location;

/** Creates a catalog with a table and drops both; returns its location and the metadata file that is left there. */
async function dropUsed(body: object): Promise<{ readonly location: string; readonly file: string }> {
  const created = await post('/v1/catalogs', body);
  const prefix = `/v1/${created.body['name'] as string}/namespaces`;
  await post(prefix, { namespace: ['n'] });
  const table = await post(`${prefix}/n/tables`, { name: 't', schema: SCHEMA });
  const file = table.body['metadata-location'] as string;
  await drop(`${prefix}/n/tables/t`);
  await drop(`${prefix}/n`);
  expect((await drop(`/v1/catalogs/${created.body['name'] as string}`)).status).toBe(204);
  await access(new URL(file));
  return { location: placeOf(created), file };
}

describe('catalogs', () => {
  test('live from create to drop', async () => {
    const created = await post('/v1/catalogs', { name: 'second' });
    const location = placeOf(created);
    expect(created).toMatchObject({
      status: 200,
      body: {
        name: 'second',
        'storage-profile': { type: 'file', location, 'allowed-locations': [location] },
        'undrop-window-seconds': 0,
      },
    });
    expect(location.replace(/-[0-9a-f-]{36}$/, '')).toBe(`file://${catalog.dataDir}/catalogs/second`);
    expect((await get('/v1/catalogs/second')).body).toEqual(created.body);
    const { body } = await get('/v1/catalogs');
    expect((body['catalogs'] as JsonObject[]).map(({ name }) => name)).toEqual(['lake', 'second']);
    expect(body['next-page-token']).toBeNull();
    expect((await get('/v1/config?warehouse=second')).body).toMatchObject({ defaults: { prefix: 'second' } });
    await post('/v1/second/namespaces', { namespace: ['n'] });
    expect(errorOf(await drop('/v1/catalogs/second')).slice(0, 2)).toEqual([409, 'CatalogNotEmptyException']);
    await drop('/v1/second/namespaces/n');
    expect((await drop('/v1/catalogs/second')).status).toBe(204);
    expect(errorOf(await get('/v1/catalogs/second'))).toEqual([
      404,
      'NoSuchWarehouseException',
      'Warehouse does not exist: second',
    ]);
    expect((await drop('/v1/catalogs/second')).status).toBe(404);
  });

  test('names are one in the deployment, and some are reserved', async () => {
    expect(errorOf(await post('/v1/catalogs', { name: 'lake' })).slice(0, 2)).toEqual([409, 'AlreadyExistsException']);
    for (const name of ['config', 'oauth', 'Catalogs', 'transactions', 'stages', 'a/b', '..', '', 5]) {
      expect(errorOf(await post('/v1/catalogs', { name }))[0], String(name)).toBe(400);
    }
  });

  test('of another tenant are absent, word for word', async () => {
    const absent = errorOf(await get('/v1/catalogs/none'));
    expect(errorOf(await get('/v1/catalogs/rival_lake'))).toEqual([
      ...absent.slice(0, 2),
      absent[2].replace('none', 'rival_lake'),
    ]);
    expect((await drop('/v1/catalogs/rival_lake')).status).toBe(404);
    expect(((await get('/v1/catalogs', foreign)).body['catalogs'] as JsonObject[]).map(({ name }) => name)).toEqual([
      'rival_lake',
    ]);
  });

  test('lie where the operator lets clients put them', async () => {
    const at = (location: string): Promise<RestAnswer> =>
      post('/v1/catalogs', { name: 'placed', 'storage-profile': { type: 'file', location } });
    for (const location of ['/etc', `${PLACES}/client`, `${PLACES}/client/../x`, `${PLACES}/rival/x`]) {
      expect((await at(location)).status, location).toBe(400);
    }
    expect((await at(`${PLACES}/client/placed`)).status).toBe(200);
    await drop('/v1/catalogs/placed');
    const secret = { type: 'file', 'secret-key': 'x' };
    expect((await post('/v1/catalogs', { name: 'odd', 'storage-profile': secret })).status).toBe(400);
    expect((await post('/v1/catalogs', { name: 'odd', 'storage-profile': { type: 's3' } })).status).toBe(400);
  });

  test('have a folder of their own: a name that comes again, with another tenant, comes without the files', async () => {
    const { location, file } = await dropUsed({ name: 'reused' });
    const again = await catalog.rest('POST', '/v1/catalogs', { token: foreign, body: { name: 'reused' } });
    expect(again.status).toBe(200);
    expect(placeOf(again)).not.toBe(location);
    const send = (path: string, body: object): Promise<RestAnswer> =>
      catalog.rest('POST', `/v1/reused/namespaces${path}`, { token: foreign, body });
    await send('', { namespace: ['n'] });
    for (const [path, body] of [
      ['/n/register', { name: 't', 'metadata-location': file }],
      ['/n/register-view', { name: 'v', 'metadata-location': file }],
      ['/n/tables', { name: 't', schema: SCHEMA, location: `${location}/n/t` }],
    ] as const) {
      expect(errorOf(await send(path, body)), path).toEqual([
        400,
        'BadRequestException',
        `Location ${path === '/n/tables' ? `${location}/n/t` : file} is not inside of the catalog's location ${placeOf(again)}`,
      ]);
    }
    for (const path of ['/v1/reused/namespaces/n', '/v1/catalogs/reused']) {
      await catalog.rest('DELETE', path, { token: foreign });
    }
  });

  test('leave their folders to their tenant, whoever has it next', async () => {
    const root = `${PLACES}/client/kept`;
    const at = (location: string): object => ({ name: 'kept', 'storage-profile': { type: 'file', location } });
    const create = (location: string, token: string): Promise<RestAnswer> =>
      catalog.rest('POST', '/v1/catalogs', { token, body: at(location) });
    await dropUsed(at(root));
    await catalog.call('AlterCatalog', { name: 'lake', allow_roots: [`${root}-2`], undrop_window_ms: '-1' });
    await catalog.call('AlterCatalog', { name: 'lake', disallow_roots: [`${root}-2`], undrop_window_ms: '-1' });
    for (const location of [root, `${root}/n`, `${root}-2`, `${root}-2/x`]) {
      expect(errorOf(await create(location, foreign)), location).toEqual([
        400,
        'BadRequestException',
        `the location of catalog kept cannot be used: file://${location}`,
      ]);
    }
    expect((await create(`${root}-3`, foreign)).status, 'a folder beside it').toBe(200);
    await catalog.rest('DELETE', '/v1/catalogs/kept', { token: foreign });
    expect((await create(root, catalog.token)).status, 'its own').toBe(200);
    await drop('/v1/catalogs/kept');
    // Only the operator can give a former root to another tenant; then it belongs to that tenant.
    await catalog.call('CreateCatalog', { tenant: 'rival', name: 'kept', location: root });
    await catalog.call('DropCatalog', { name: 'kept' });
    expect((await create(root, catalog.token)).status).toBe(400);
    expect((await create(root, foreign)).status).toBe(200);
    await catalog.rest('DELETE', '/v1/catalogs/kept', { token: foreign });
  });

  test('come in pages', async () => {
    for (const name of ['page_a', 'page_b', 'page_c']) await post('/v1/catalogs', { name });
    const first = await get('/v1/catalogs?pageSize=2&pageToken=');
    expect((first.body['catalogs'] as JsonObject[]).map(({ name }) => name)).toEqual(['lake', 'page_a']);
    const rest = await get(`/v1/catalogs?pageSize=5&pageToken=${first.body['next-page-token'] as string}`);
    expect((rest.body['catalogs'] as JsonObject[]).map(({ name }) => name)).toEqual(['page_b', 'page_c']);
    expect(rest.body['next-page-token']).toBeNull();
    for (const name of ['page_a', 'page_b', 'page_c']) await drop(`/v1/catalogs/${name}`);
  });
});

describe('folders that the service makes', () => {
  const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

  test('for catalogs are its account’s alone; folders that are there stay as they are', async () => {
    const open = `${PLACES}/open`;
    mkdirSync(open);
    chmodSync(open, 0o755);
    for (const [name, location] of [
      ['made', `${PLACES}/made`],
      ['found', open],
    ] as const) {
      await catalog.call('CreateCatalog', { tenant: 'default', name, location, allow_roots: [`${location}-2`] });
    }
    const inClientRoot = { type: 'file', location: `${PLACES}/client/made` };
    await post('/v1/catalogs', { name: 'chosen', 'storage-profile': inClientRoot });
    await catalog.call('AlterCatalog', { name: 'made', allow_roots: [`${PLACES}/made-3`], undrop_window_ms: '-1' });
    const own = placeOf(await post('/v1/catalogs', { name: 'unnamed' }));
    const made = ['made', 'made-2', 'made-3', 'open-2', 'client/made'].map((name) => `${PLACES}/${name}`);
    for (const path of [...made, `${catalog.dataDir}/warehouse`, `${catalog.dataDir}/catalogs`, own.slice(7)]) {
      expect(modeOf(path), path).toBe('700');
    }
    expect(modeOf(open)).toBe('755');
    for (const name of ['made', 'found', 'chosen', 'unnamed']) await drop(`/v1/catalogs/${name}`);
  });

  test('for the first catalog, too, also where the operator puts it', async () => {
    await using placed = await startTestCatalog({ 'bootstrap.warehouse': `${PLACES}/first` });
    expect(modeOf(`${PLACES}/first`)).toBe('700');
    expect(modeOf(`${placed.dataDir}/catalogs`)).toBe('700');
  });

  test('and that an earlier release left open are closed at the next start', async () => {
    const folders = ['', '/warehouse', '/catalogs'].map((name) => `${catalog.dataDir}${name}`);
    for (const path of folders) chmodSync(path, 0o755);
    await catalog.restart();
    expect(folders.map(modeOf)).toEqual(['700', '700', '700']);
  });
});

describe('further roots', () => {
  const root = `${PLACES}/further`;
  const create = (name: string, location: string): Promise<RestAnswer> =>
    post(`${NS}/default/tables`, { name, schema: SCHEMA, location });

  test('are allowed by the operator, and taken back', async () => {
    expect((await create('further', `${root}/further`)).status).toBe(400);
    await catalog.call('AlterCatalog', { name: 'lake', allow_roots: [`${root}/`], undrop_window_ms: '-1' });
    const created = await create('further', `${root}/further`);
    expect(created.status).toBe(200);
    expect(locationOf(created)).toBe(`${root}/further`);
    await access(`${root}/further/metadata`);
    expect((await create('whole', root)).status, 'the root itself').toBe(400);
    const loaded = await catalog.call<{ tables: { allowed_roots: string[] }[] }>('LoadTables', {
      principal: catalog.principal(),
      names: [{ catalog: 'lake', namespace: ['default'], table: 'further' }],
    });
    expect(loaded.tables[0]?.allowed_roots).toEqual([`file://${catalog.dataDir}/warehouse`, `file://${root}`]);
    await catalog.call('AlterCatalog', { name: 'lake', disallow_roots: [root], undrop_window_ms: '-1' });
    expect((await create('again', `${root}/again`)).status).toBe(400);
    // Existing tables stay readable, and can be dropped.
    expect((await get(`${NS}/default/tables/further`)).status).toBe(200);
    expect((await drop(`${NS}/default/tables/further`)).status).toBe(204);
  });

  test('never overlap another tenant’s', async () => {
    for (const location of [`${PLACES}/rival`, `${PLACES}/rival/x`, PLACES, '/']) {
      await expect(
        catalog.call('AlterCatalog', { name: 'lake', allow_roots: [location], undrop_window_ms: '-1' }),
        location,
      ).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    }
    await catalog.call('AlterCatalog', {
      name: 'rival_lake',
      allow_roots: [`${PLACES}/rival-2`],
      undrop_window_ms: '-1',
    });
    await expect(
      catalog.call('CreateCatalog', { tenant: 'default', name: 'x', location: `${PLACES}/rival-2/y` }),
    ).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });
});

describe('folders of a table', () => {
  const create = (name: string, more: object): Promise<RestAnswer> =>
    post(`${NS}/default/tables`, { name, schema: SCHEMA, ...more });
  const root = (): string => `file://${catalog.dataDir}/warehouse/folders`;

  test('also those of its properties are no other table’s', async () => {
    const properties = { 'write.data.path': `${root()}/data-a/`, 'write.metadata.path': `${root()}/metadata-a` };
    expect((await create('paths_a', { location: `${root()}/a`, properties })).status).toBe(200);
    for (const location of ['data-a', 'data-a/x', 'metadata-a', 'a', 'a/data']) {
      expect((await create('paths_b', { location: `${root()}/${location}` })).status, location).toBe(400);
      const path = { 'write.data.path': `${root()}/${location}` };
      expect((await create('paths_b', { properties: path })).status, location).toBe(400);
    }
    expect((await create('paths_b', { location: `${root()}/b` })).status).toBe(200);
    const set = (updates: object): Promise<RestAnswer> =>
      post(`${NS}/default/tables/paths_b`, { updates: [{ action: 'set-properties', updates }] });
    expect((await set({ 'write.data.path': `${root()}/data-a` })).status).toBe(400);
    expect((await set({ 'write.data.path': `${root()}/data-b` })).status).toBe(200);
    expect((await set({ 'write.metadata.path': `${root()}/${'x'.repeat(2_500)}` })).status).toBe(400);
    expect((await create('paths_c', { location: `${root()}/data-b` })).status).toBe(400);
    // A table keeps its former folders: its older snapshots have files there.
    await set({ 'write.data.path': `${root()}/data-c` });
    expect((await create('paths_c', { location: `${root()}/data-b` })).status).toBe(400);
    await drop(`${NS}/default/tables/paths_b`);
    expect((await create('paths_c', { location: `${root()}/data-b` })).status).toBe(200);
  });

  test('hold no table that is made later, also when one lies where a namespace has its tables', async () => {
    const location = `file://${catalog.dataDir}/warehouse/squatted`;
    expect((await create('squatter', { location })).status).toBe(200);
    await post(NS, { namespace: ['squatted'] });
    const inside = await post(`${NS}/squatted/tables`, { name: 't', schema: SCHEMA });
    expect(inside.status).toBe(200);
    expect(locationOf(inside)).toMatch(/\/warehouse\/t-[0-9a-f-]{36}$/);
    const staged = await post(`${NS}/squatted/tables`, { name: 's', schema: SCHEMA, 'stage-create': true });
    expect(locationOf(staged)).not.toContain('squatted');
    await post(NS, { namespace: ['later'] });
    await post(`${NS}/later/tables`, { name: 't', schema: SCHEMA });
    const moved = { updates: [{ action: 'set-location', location: location.replace('squatted', 'later') }] };
    expect((await post(`${NS}/default/tables/squatter`, moved)).status).toBe(400);
  });

  test('are compared between all catalogs of the tenant', async () => {
    const location = `${catalog.dataDir}/warehouse`;
    await catalog.call('CreateCatalog', { tenant: 'default', name: 'twin', location });
    await post('/v1/twin/namespaces', { namespace: ['n'] });
    const inTwin = (place: string): Promise<RestAnswer> =>
      post('/v1/twin/namespaces/n/tables', { name: 't', schema: SCHEMA, location: place });
    await create('shared', { location: `${root()}/shared` });
    expect((await inTwin(`${root()}/shared`)).status).toBe(400);
    expect((await inTwin(`${root()}/other`)).status).toBe(200);
  });

  test('of two tables that want one folder at once one gets it', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_none, i) => create(`want${i}`, { location: `${root()}/wanted` })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(9);
  });
});

describe('POST /v1/transactions/commit', () => {
  const change = (name: string, key: string, more: object = {}): object => ({
    identifier: { namespace: ['tx'], name, ...more },
    requirements: [],
    updates: [{ action: 'set-properties', updates: { [key]: 'v' } }],
  });
  const commit = (body: object, token?: string): Promise<RestAnswer> =>
    catalog.rest('POST', '/v1/transactions/commit', { body, ...(token === undefined ? {} : { token }) });
  const properties = async (path: string): Promise<unknown> => metadataOf(await get(path))['properties'];

  test('takes the only catalog, else the one that is named; all or none, also of several catalogs', async () => {
    const alone = await catalog.mint({ tenant: 'rival', user: 'eve' });
    await catalog.rest('POST', '/v1/rival_lake/namespaces', { token: alone, body: { namespace: ['tx'] } });
    await catalog.rest('POST', '/v1/rival_lake/namespaces/tx/tables', {
      token: alone,
      body: { name: 'r', schema: SCHEMA },
    });
    expect((await commit({ 'table-changes': [change('r', 'k')] }, alone)).status).toBe(204);

    for (const prefix of ['lake', 'twin']) {
      await post(`/v1/${prefix}/namespaces`, { namespace: ['tx'] });
      await post(`/v1/${prefix}/namespaces/tx/tables`, { name: 'a', schema: SCHEMA });
    }
    expect((await commit({ catalog: 'lake', 'table-changes': [change('a', 'k')] })).status).toBe(204);
    expect(await properties('/v1/lake/namespaces/tx/tables/a')).toMatchObject({ k: 'v' });
    expect(await properties('/v1/twin/namespaces/tx/tables/a')).not.toHaveProperty('k');
    const both = [change('a', 'both', { catalog: 'lake' }), change('a', 'both', { catalog: 'twin' })];
    expect((await commit({ 'table-changes': both })).status).toBe(204);
    expect(await properties('/v1/twin/namespaces/tx/tables/a')).toMatchObject({ both: 'v' });
    const broken = [change('a', 'half', { catalog: 'lake' }), change('none', 'half', { catalog: 'twin' })];
    expect((await commit({ 'table-changes': broken })).status).toBe(404);
    expect(await properties('/v1/lake/namespaces/tx/tables/a')).not.toHaveProperty('half');
    expect(errorOf(await commit({ 'table-changes': [change('r', 'k', { catalog: 'rival_lake' })] }))[1]).toBe(
      'NoSuchWarehouseException',
    );
  });
});

test('a tenant is dropped when its catalogs are gone; its tokens are refused, also by a tenant of the same name', async () => {
  const make = async (): Promise<string> => {
    await catalog.call('CreateTenant', { name: 'brief', admin_user: 'u', admin_password: 'a long enough password' });
    await catalog.call('CreateCatalog', { tenant: 'brief', name: 'brief_lake', location: '' });
    return catalog.mint({ tenant: 'brief', user: 'u' });
  };
  const old = await make();
  expect((await get('/v1/catalogs', old)).status).toBe(200);
  await expect(catalog.call('DropTenant', { name: 'brief' })).rejects.toMatchObject({ code: 'TENANT_NOT_EMPTY' });
  await catalog.call('DropCatalog', { name: 'brief_lake' });
  await catalog.call('DropTenant', { name: 'brief' });
  await expect(catalog.call('DropTenant', { name: 'brief' })).rejects.toMatchObject({ code: 'TENANT_NOT_FOUND' });
  const { names } = await catalog.call<{ names: string[] }>('ListTenants', {});
  expect(names).not.toContain('brief');
  const fresh = await make();
  await expect.poll(async () => (await get('/v1/catalogs', old)).status).toBe(401);
  expect((await get('/v1/catalogs', fresh)).status).toBe(200);
});
