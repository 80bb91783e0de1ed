import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorOf, metadataOf, NS, SCHEMA } from '#test/support/catalog-requests.ts';
import { startTestCatalog, type RestAnswer, type TestCatalog } from '#test/support/catalog.ts';

let catalog: TestCatalog;
beforeAll(async () => {
  catalog = await startTestCatalog();
});
afterAll(() => catalog[Symbol.asyncDispose]());

const get = (path: string): Promise<RestAnswer> => catalog.rest('GET', path);
const post = (path: string, body: unknown = {}): Promise<RestAnswer> => catalog.rest('POST', path, { body });
const drop = (path: string): Promise<RestAnswer> => catalog.rest('DELETE', path);
const FUNCTION = {
  parameters: [{ name: 'x', type: 'int' }],
  'return-type': 'int',
  versions: [{ representations: [{ type: 'sql', dialect: 'spark', sql: 'x + 1' }], 'timestamp-ms': 7 }],
};
const VIEW = {
  name: 'v',
  schema: SCHEMA,
  properties: {},
  'view-version': {
    'version-id': 1,
    'schema-id': 0,
    'timestamp-ms': 1,
    summary: {},
    'default-namespace': ['default'],
    representations: [{ type: 'sql', sql: 'SELECT 1 AS a', dialect: 'duckdb' }],
  },
};

test.each(['information_schema', 'INFORMATION_SCHEMA', 'Information_Schema', 'pg_catalog', 'PG_Catalog'])(
  'a namespace %s is refused',
  async (name) => {
    const message = `Namespace name is reserved: ${name}`;
    expect(errorOf(await post(NS, { namespace: [name] }))).toEqual([400, 'BadRequestException', message]);
    expect((await post(NS, { namespace: [name, 'below'] })).status).toBe(400);
  },
);

test('below another namespace, and as a part of a name, they are names like others', async () => {
  for (const namespace of [
    ['above'],
    ['above', 'pg_catalog'],
    ['information_schema_2'],
    ['pg'],
    ['above', 'pg_mine'],
  ]) {
    expect((await post(NS, { namespace })).status, namespace.join('/')).toBe(200);
  }
});

describe('a name that begins with pg_', () => {
  const MINE = `${NS}/PG_mine`;
  beforeAll(async () => {
    await post(NS, { namespace: ['mine'] });
    await catalog.sql(`update catalog.namespace set path = 'PG_mine', path_folded = 'pg_mine' where path = 'mine'`);
  });

  test.each(['pg_other', 'PG_Other', 'pg_', 'pg_catalog.x'])('is none for a new namespace: %s', async (name) => {
    const message = `Namespace name is reserved: ${name}`;
    expect(errorOf(await post(NS, { namespace: [name] }))).toEqual([400, 'BadRequestException', message]);
    await post(NS, { namespace: ['free'] });
    const renamed = await post(`${NS}/free/rename`, { destination: [name] });
    expect([renamed.status, errorOf(renamed)[2]]).toEqual([400, message]);
  });

  test('stays that of one that is there: it is read, takes tables and namespaces, is renamed', async () => {
    expect((await get(MINE)).body).toMatchObject({ namespace: ['PG_mine'] });
    expect((await post(`${MINE}/tables`, { name: 'new', schema: SCHEMA })).status).toBe(200);
    expect((await post(NS, { namespace: ['PG_mine', 'below'] })).status).toBe(200);
    expect((await post(`${MINE}/rename`, { destination: ['no_longer'] })).status).toBe(204);
    expect((await get(`${NS}/no_longer/tables`)).body['identifiers']).toHaveLength(1);
  });
});

describe('one that is there from before', () => {
  const OLD = `${NS}/PG_Catalog`;
  beforeAll(async () => {
    await catalog.call('AlterCatalog', { name: 'lake', undrop_window_ms: String(3_600_000) });
    await post(NS, { namespace: ['old'] });
    await post(`${NS}/old/tables`, { name: 't', schema: SCHEMA });
    await post(`${NS}/old/views`, VIEW);
    await post(`${NS}/default/tables`, { name: 't', schema: SCHEMA });
    await post(`${NS}/default/views`, VIEW);
    await catalog.sql(
      `update catalog.namespace set path = 'PG_Catalog', path_folded = 'pg_catalog' where path = 'old'`,
    );
  });

  test('takes nothing new: no namespace, table, view, stage or function', async () => {
    const from = { namespace: ['default'], name: 't' };
    const into = { namespace: ['PG_Catalog'], name: 'new' };
    const { body } = await get(`${NS}/default/tables/t`);
    const requests: readonly (readonly [path: string, body: object])[] = [
      [NS, { namespace: ['PG_Catalog', 'below'] }],
      [`${OLD}/tables`, { name: 'new', schema: SCHEMA }],
      [`${OLD}/views`, { ...VIEW, name: 'new' }],
      [`${OLD}/register`, { name: 'new', 'metadata-location': body['metadata-location'] }],
      [`${OLD}/stages`, { name: 'new' }],
      [`${OLD}/functions`, { name: 'new', definitions: [FUNCTION] }],
      ['/v1/lake/tables/rename', { source: from, destination: into }],
      ['/v1/lake/views/rename', { source: { ...from, name: 'v' }, destination: into }],
    ];
    for (const [path, request] of requests) {
      const refused = await post(path, request);
      expect([refused.status, errorOf(refused)[2]], path).toEqual([
        400,
        expect.stringMatching(/^Namespace name is reserved: PG_Catalog/),
      ]);
    }
    expect((await get(`${OLD}/tables`)).body['identifiers']).toHaveLength(1);
    expect((await get(`${OLD}/views`)).body['identifiers']).toHaveLength(1);
  });

  test('can be read and changed, emptied and dropped', async () => {
    expect((await get(OLD)).body).toMatchObject({ namespace: ['PG_Catalog'] });
    expect((await get(`${OLD}/views/v`)).status).toBe(200);
    const updates = [{ action: 'set-properties', updates: { k: 'v' } }];
    expect((await post(`${OLD}/tables/t`, { requirements: [], updates })).status).toBe(200);
    expect(metadataOf(await get(`${OLD}/tables/t`))['properties']).toMatchObject({ k: 'v' });
    expect((await post(`${OLD}/properties`, { updates: { k: 'v' } })).status).toBe(200);
    expect((await drop(`${OLD}/tables/t`)).status).toBe(204);
    const back = await post(`${OLD}/tables/t/undrop`);
    expect([back.status, errorOf(back)[2]]).toEqual([400, 'Namespace name is reserved: PG_Catalog']);
    expect(
      (await post(`${OLD}/tables/t/undrop`, { destination: { namespace: ['default'], name: 'saved' } })).status,
    ).toBe(200);
    const [source, destination] = [
      { namespace: ['PG_Catalog'], name: 'v' },
      { namespace: ['default'], name: 'moved' },
    ];
    expect((await post('/v1/lake/views/rename', { source, destination })).status).toBe(204);
    expect((await drop(OLD)).status).toBe(204);
    expect((await get(OLD)).status).toBe(404);
  });
});
