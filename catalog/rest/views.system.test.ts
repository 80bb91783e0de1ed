import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { parseJson, type Json, type JsonObject } from '#shared/json.ts';
import { localPath } from '#shared/storage/location.ts';
import type { RestAnswer } from '#test/support/catalog.ts';
import { errorOf, metadataOf, NS, SCHEMA } from '#test/support/catalog-requests.ts';
import { createTable, get, post, testCatalog } from '#test/support/catalog-rest.ts';

const VIEWS = `${NS}/default/views`;
const view = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  schema: SCHEMA,
  'view-version': viewVersion('select a from t'),
  properties: {},
  ...more,
});
const viewVersion = (sql: string, dialect = 'spark'): JsonObject => ({
  'version-id': 1,
  'timestamp-ms': 1_700_000_000_000,
  'schema-id': 0,
  summary: {},
  'default-namespace': ['default'],
  representations: [{ type: 'sql', sql, dialect }],
});
const createView = (name: string, more: JsonObject = {}): Promise<RestAnswer> => post(VIEWS, view(name, more));
const replace = (name: string, sql: string, requirements: readonly Json[] = []): Promise<RestAnswer> =>
  post(`${VIEWS}/${name}`, { ...replaceRequest(sql), requirements });
const replaceRequest = (sql: string): { readonly updates: readonly Json[] } => ({
  updates: [
    { action: 'add-view-version', 'view-version': { ...viewVersion(sql), 'version-id': 2 } },
    { action: 'set-current-view-version', 'view-version-id': -1 },
  ],
});
const drop = (path: string): Promise<RestAnswer> => testCatalog().rest('DELETE', path);
const head = async (path: string): Promise<number> => (await testCatalog().rest('HEAD', path)).status;
const rename = (from: string, to: string, namespace = 'default'): Promise<RestAnswer> =>
  post('/v1/lake/views/rename', renameRequest(from, to, namespace));
const renameRequest = (from: string, to: string, namespace = 'default'): JsonObject => ({
  source: { namespace: ['default'], name: from },
  destination: { namespace: [namespace], name: to },
});

describe('views', () => {
  test('live from create to drop, their metadata in Postgres and in the warehouse', async () => {
    expect(await head(`${VIEWS}/life`)).toBe(404);
    const created = await createView('life', { properties: { p: '1' } });
    expect(created.status).toBe(200);
    expect(metadataOf(created)).toMatchObject({ 'current-version-id': 1, properties: { p: '1' }, 'format-version': 1 });
    expect(await head(`${VIEWS}/life`)).toBe(204);
    expect((await get(`${VIEWS}/life`)).body).toEqual(created.body);

    const uuid = metadataOf(created)['view-uuid'] as string;
    const replaced = await replace('life', 'select a + 1 as a from t', [{ type: 'assert-view-uuid', uuid }]);
    expect(replaced.status).toBe(200);
    expect(metadataOf(replaced)).toMatchObject({ 'current-version-id': 2, 'view-uuid': uuid });
    const file = replaced.body['metadata-location'] as string;
    expect(file).not.toBe(created.body['metadata-location']);
    expect(parseJson(await readFile(localPath(file), 'utf8'))).toEqual(metadataOf(replaced));

    expect((await drop(`${VIEWS}/life`)).status).toBe(204);
    for (const answer of [await get(`${VIEWS}/life`), await drop(`${VIEWS}/life`), await replace('life', 'x')]) {
      expect(errorOf(answer)).toEqual([404, 'NoSuchViewException', 'View does not exist: default.life']);
    }
  });

  test('of a namespace or catalog that is not there are not found, as clients expect it', async () => {
    expect(errorOf(await get(`${NS}/none/views/v`))).toEqual([
      404,
      'NoSuchViewException',
      'View does not exist: none.v',
    ]);
    expect(errorOf(await get(`${NS}/none/views`))[1]).toBe('NoSuchNamespaceException');
    expect(errorOf(await post(`${NS}/none/views`, view('v')))[1]).toBe('NoSuchNamespaceException');
    expect(errorOf(await get('/v1/none/namespaces/default/views/v'))[1]).toBe('NoSuchWarehouseException');
  });

  test('are listed whole or in pages, without the tables', async () => {
    await post(NS, { namespace: ['listed'] });
    await post(`${NS}/listed/tables`, { name: 'b2', schema: SCHEMA });
    for (const name of ['c', 'a', 'b']) await post(`${NS}/listed/views`, view(name));
    const names = ({ body }: RestAnswer): Json[] =>
      (body['identifiers'] as readonly JsonObject[]).map(({ name }) => name ?? null);
    const all = await get(`${NS}/listed/views`);
    expect([names(all), all.body['next-page-token']]).toEqual([['a', 'b', 'c'], null]);
    expect(names(await get(`${NS}/listed/tables`))).toEqual(['b2']);
    const first = await get(`${NS}/listed/views?pageSize=2&pageToken=`);
    expect(names(first)).toEqual(['a', 'b']);
    const second = await get(`${NS}/listed/views?pageSize=2&pageToken=${first.body['next-page-token'] as string}`);
    expect([names(second), second.body['next-page-token']]).toEqual([['c'], null]);
  });

  test('share their names with tables, both ways', async () => {
    await createTable('a_table');
    await createView('a_view');
    expect(errorOf(await createView('a_view'))).toEqual([
      409,
      'AlreadyExistsException',
      'View already exists: default.a_view',
    ]);
    const isTable = [409, 'AlreadyExistsException', 'Table with same name already exists: default.a_table'];
    const isView = [409, 'AlreadyExistsException', 'View with same name already exists: default.a_view'];
    expect(errorOf(await createView('a_table'))).toEqual(isTable);
    expect(errorOf(await createTable('a_view'))).toEqual(isView);
    expect(errorOf(await get(`${VIEWS}/a_table`))[1]).toBe('NoSuchViewException');
    expect(errorOf(await get(`${NS}/default/tables/a_view`))[1]).toBe('NoSuchTableException');

    expect(errorOf(await createTable('a_view', { 'stage-create': true }))).toEqual(isView);
    const staged = metadataOf(await createTable('raced', { 'stage-create': true }));
    await createView('raced');
    const finish = await post(`${NS}/default/tables/raced`, {
      requirements: [{ type: 'assert-create' }],
      updates: [
        { action: 'assign-uuid', uuid: staged['table-uuid'] },
        { action: 'upgrade-format-version', 'format-version': 2 },
        { action: 'add-schema', schema: SCHEMA },
        { action: 'set-current-schema', 'schema-id': -1 },
        { action: 'set-location', location: staged['location'] },
      ],
    });
    expect(errorOf(finish)[2]).toBe('View with same name already exists: default.raced');

    const file = (await get(`${NS}/default/tables/a_table`)).body['metadata-location'];
    await drop(`${NS}/default/tables/a_table`);
    const register = await post(`${NS}/default/register`, { name: 'a_view', 'metadata-location': file });
    expect(errorOf(register)).toEqual(isView);
  });

  test('one name that fifty create at once, as table or view, is made once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => (i % 2 === 0 ? createTable('fifty') : createView('fifty'))),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(49);
  });

  test('are renamed, also into another namespace', async () => {
    for (const name of ['one', 'two']) await createView(name);
    await createTable('renamed_table');
    await post(NS, { namespace: ['moved'] });
    expect(errorOf(await rename('one', 'two'))).toEqual([
      409,
      'AlreadyExistsException',
      'Cannot rename default.one to default.two. View already exists',
    ]);
    expect(errorOf(await rename('one', 'renamed_table'))[2]).toBe(
      'Cannot rename default.one to default.renamed_table. Table already exists',
    );
    const table = await post('/v1/lake/tables/rename', {
      source: { namespace: ['default'], name: 'renamed_table' },
      destination: { namespace: ['default'], name: 'one' },
    });
    expect(errorOf(table)).toEqual([
      409,
      'AlreadyExistsException',
      'Cannot rename default.renamed_table to default.one. View already exists',
    ]);
    expect(errorOf(await rename('one', 'x', 'none')).slice(1)).toEqual([
      'NoSuchNamespaceException',
      'Namespace does not exist: none',
    ]);
    expect(errorOf(await rename('absent', 'x'))[1]).toBe('NoSuchViewException');
    expect((await rename('one', 'one', 'moved')).status).toBe(204);
    expect([await head(`${VIEWS}/one`), await head(`${NS}/moved/views/one`)]).toEqual([404, 204]);
  });

  test('renamed and dropped at once are renamed once, or dropped', async () => {
    for (let round = 0; round < 6; round += 1) {
      await createView('wanted');
      const renames = Array.from({ length: 8 }, (_, i) => rename('wanted', `got_${round}_${i}`));
      const answers = await Promise.all([...renames, drop(`${VIEWS}/wanted`)]);
      const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
      expect(statuses).toEqual([204, ...Array.from({ length: 8 }, () => 404)]);
    }
  });

  test('keep their namespace from being dropped', async () => {
    await post(NS, { namespace: ['held'] });
    await post(`${NS}/held/views`, view('v'));
    expect(errorOf(await drop(`${NS}/held`))).toEqual([
      409,
      'NamespaceNotEmptyException',
      'Namespace held is not empty.',
    ]);
    await drop(`${NS}/held/views/v`);
    expect((await drop(`${NS}/held`)).status).toBe(204);
  });

  test('are registered from their metadata file', async () => {
    const created = await createView('registered');
    const body = { name: 'registered', 'metadata-location': created.body['metadata-location'] };
    expect(errorOf(await post(`${NS}/default/register-view`, body))[2]).toBe('View already exists: default.registered');
    await drop(`${VIEWS}/registered`);
    const again = await post(`${NS}/default/register-view`, body);
    expect(again).toMatchObject({ status: 200, body: created.body });
    await drop(`${VIEWS}/registered`);
    await createTable('registered');
    expect(errorOf(await post(`${NS}/default/register-view`, body))[2]).toBe(
      'Table with same name already exists: default.registered',
    );
    const tableFile = (await get(`${NS}/default/tables/registered`)).body['metadata-location'];
    for (const file of [tableFile, 'file:///etc/passwd', '/etc/passwd']) {
      const answer = await post(`${NS}/default/register-view`, { name: 'other', 'metadata-location': file });
      expect(answer.status).toBe(400);
    }
    const missing = `${tableFile as string}.gone`;
    expect(errorOf(await post(`${NS}/default/register-view`, { name: 'other', 'metadata-location': missing }))).toEqual(
      [404, 'NotFoundException', `Failed to open input stream for file: ${missing}`],
    );
  });

  test('replaced by sixteen at once lose no version that the history has room for', async () => {
    await createView('busy', { properties: { 'version.history.num-entries': '100' } });
    const answers = await Promise.all(Array.from({ length: 16 }, (_, i) => replace('busy', `select ${i} as a`)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const versions = metadataOf(await get(`${VIEWS}/busy`))['versions'] as readonly JsonObject[];
    expect(versions.map((one) => one['version-id'])).toEqual(Array.from({ length: 17 }, (_, i) => i + 1));
  });

  test('changed twice with one idempotency key change once', async () => {
    const keyed = (method: string, path: string, key: number, body?: unknown): Promise<RestAnswer> =>
      testCatalog().rest(method, path, {
        ...(body === undefined ? {} : { body }),
        headers: { 'idempotency-key': `01936a5e-7c00-7000-8000-00000000000${key}` },
      });
    const updates = replaceRequest('select 2').updates;
    const requests = [
      ['POST', VIEWS, view('keyed'), 200],
      ['POST', `${VIEWS}/keyed`, { requirements: [], updates }, 200],
      ['POST', '/v1/lake/views/rename', renameRequest('keyed', 'keyed_again'), 204],
      ['DELETE', `${VIEWS}/keyed_again`, undefined, 204],
    ] as const;
    for (const [i, [method, path, body, status]] of requests.entries()) {
      const first = await keyed(method, path, i, body);
      const second = await keyed(method, path, i, body);
      expect(first.status).toBe(status);
      expect([second.status, second.body]).toEqual([first.status, first.body]);
    }
    expect((await keyed('POST', VIEWS, 0, view('another'))).status).toBe(422);
  });

  test('that do not fit together, or lie elsewhere, are refused', async () => {
    const twice = viewVersion('select 1', 'trino');
    const queries = twice['representations'] as readonly Json[];
    const bad = { ...twice, representations: [...queries, ...queries] };
    expect(errorOf(await createView('bad', { 'view-version': bad }))).toEqual([
      400,
      'IllegalArgumentException',
      'Invalid view version: Cannot add multiple queries for dialect trino',
    ]);
    expect((await createView('bad', { location: 'file:///etc/views' })).status).toBe(400);
    expect((await createView('bad', { properties: { 'write.metadata.path': 's3://other/x' } })).status).toBe(400);
    for (const body of [{}, [], { name: 'bad' }, view('bad', { schema: 7 }), view('bad', { 'view-version': {} })]) {
      expect((await post(VIEWS, body)).status).toBe(400);
    }
    expect(await head(`${VIEWS}/bad`)).toBe(404);
    const root = (await get(`${VIEWS}/busy`)).body['metadata'] as JsonObject;
    const location = `${(root['location'] as string).replace(/\/[^/]+$/, '')}/custom`;
    const custom = await createView('custom', { location, properties: { 'write.metadata.path': `${location}/meta` } });
    expect(metadataOf(custom)['location']).toBe(location);
    expect((custom.body['metadata-location'] as string).startsWith(`${location}/meta/`)).toBe(true);
  });

  test('of another tenant are not found, word for word as absent ones', async () => {
    await testCatalog().call('CreateTenant', {
      name: 'rival',
      admin_user: 'rival_admin',
      admin_password: 'rival password',
    });
    await createView('secret');
    const token = await testCatalog().mint({ tenant: 'rival', user: 'rival_admin' });
    for (const [method, path, body] of [
      ['GET', `${VIEWS}/secret`, undefined],
      ['HEAD', `${VIEWS}/secret`, undefined],
      ['DELETE', `${VIEWS}/secret`, undefined],
      ['GET', VIEWS, undefined],
      ['POST', VIEWS, view('mine')],
      ['POST', `${VIEWS}/secret`, { updates: [] }],
      [
        'POST',
        '/v1/lake/views/rename',
        { source: { namespace: ['default'], name: 'secret' }, destination: { namespace: ['default'], name: 'x' } },
      ],
      ['POST', `${NS}/default/register-view`, { name: 'x', 'metadata-location': 'file:///x' }],
    ] as const) {
      const there = await testCatalog().rest(method, path, { token, ...(body === undefined ? {} : { body }) });
      const absent = await testCatalog().rest(method, path.replace('/lake/', '/absent/'), {
        token,
        ...(body === undefined ? {} : { body }),
      });
      expect(there.status, path).toBe(404);
      expect(there.body, path).toEqual(JSON.parse(JSON.stringify(absent.body).replaceAll('absent', 'lake')));
    }
    expect(await head(`${VIEWS}/secret`)).toBe(204);
  });
});
