import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '#shared/json.ts';
import type { RestAnswer } from '#test/support/catalog.ts';
import { errorOf, metadataOf, NS, SCHEMA } from '#test/support/catalog-requests.ts';
import { get, post, testCatalog } from '#test/support/catalog-rest.ts';

const PLACE = `${NS}/kept`;
const version = (storage: string | null, sql = 'select a from t', id = 1): JsonObject => ({
  'version-id': id,
  'timestamp-ms': 1_700_000_000_000,
  'schema-id': 0,
  summary: {},
  'default-namespace': ['kept'],
  representations: [{ type: 'sql', sql, dialect: 'duckdb' }],
  ...(storage === null ? {} : { 'storage-table': { namespace: ['kept'], name: storage } }),
});
const createView = (name: string, storage: string): Promise<RestAnswer> =>
  post(`${PLACE}/views`, { name, schema: SCHEMA, 'view-version': version(storage), properties: {} });
const createTable = (name: string): Promise<RestAnswer> => post(`${PLACE}/tables`, { name, schema: SCHEMA });
const replace = (view: string, next: JsonObject): Promise<RestAnswer> =>
  post(`${PLACE}/views/${view}`, {
    requirements: [],
    updates: [
      { action: 'add-view-version', 'view-version': next },
      { action: 'set-current-view-version', 'view-version-id': -1 },
    ],
  });
const drop = (path: string): Promise<RestAnswer> => testCatalog().rest('DELETE', `${PLACE}/${path}`);
const tables = async (): Promise<readonly Json[]> => {
  const { body } = await get(`${PLACE}/tables`);
  return (body['identifiers'] as readonly JsonObject[]).map(({ name }) => name ?? null);
};

describe('materialized views', () => {
  test('the table of their rows is in no list, is loaded by its name, and goes with the view', async () => {
    await post(NS, { namespace: ['kept'] });
    await createTable('other');
    const created = await createView('sums', 'sums_rows');
    expect(created.status).toBe(200);
    const [made] = metadataOf(created)['versions'] as readonly JsonObject[];
    expect(made?.['storage-table']).toEqual({ namespace: ['kept'], name: 'sums_rows' });
    expect((await createTable('sums_rows')).status).toBe(200);
    expect(await tables()).toEqual(['other']);
    expect((await get(`${PLACE}/tables/sums_rows`)).status).toBe(200);
    // A new version of the view may keep its table, which is there by now.
    expect((await replace('sums', version('sums_rows', 'select a + 1 as a from t', 2))).status).toBe(200);
    expect(await tables()).toEqual(['other']);
    expect((await drop('views/sums')).status).toBe(204);
    expect(errorOf(await get(`${PLACE}/tables/sums_rows`))[1]).toBe('NoSuchTableException');
    expect(await tables()).toEqual(['other']);
  });

  test('take no table that is there already, nor one of another view', async () => {
    await createTable('mine');
    const taken = [409, 'AlreadyExistsException', 'Storage table exists already: kept.mine'];
    expect(errorOf(await createView('thief', 'mine'))).toEqual(taken);
    expect((await createView('first', 'first_rows')).status).toBe(200);
    expect(errorOf(await createView('second', 'first_rows'))[2]).toBe('Storage table exists already: kept.first_rows');
    expect(errorOf(await replace('first', version('mine', 'select 2 as a', 2)))).toEqual(taken);
    expect(await tables()).toContain('mine');
    expect((await drop('views/first')).status).toBe(204);
    expect(await tables()).toContain('mine');
  });

  test('that become plain views leave their table in the lists', async () => {
    await createView('plain', 'plain_rows');
    await createTable('plain_rows');
    expect(await tables()).not.toContain('plain_rows');
    expect((await replace('plain', version(null, 'select 3 as a', 2))).status).toBe(200);
    expect(await tables()).toContain('plain_rows');
    expect((await drop('views/plain')).status).toBe(204);
    expect(await tables()).toContain('plain_rows');
  });

  test('a protected table keeps its view', async () => {
    await createView('guarded', 'guarded_rows');
    const properties = { 'skein.protected': 'true' };
    await post(`${PLACE}/tables`, { name: 'guarded_rows', schema: SCHEMA, properties });
    const refused = await drop('views/guarded');
    expect(refused.status).toBe(403);
    expect((await get(`${PLACE}/views/guarded`)).status).toBe(200);
  });

  test('a place without a namespace is refused', async () => {
    const nowhere = { ...version(null), 'storage-table': { namespace: ['absent'], name: 'x' } };
    const body = { name: 'lost', schema: SCHEMA, 'view-version': nowhere, properties: {} };
    expect(errorOf(await post(`${PLACE}/views`, body))[1]).toBe('NoSuchNamespaceException');
    const none = { ...version(null), 'storage-table': { namespace: [], name: 'x' } };
    expect((await post(`${PLACE}/views`, { ...body, 'view-version': none })).status).toBe(400);
  });
});
