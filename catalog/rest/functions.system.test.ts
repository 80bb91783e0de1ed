import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { parseJson, type Json, type JsonObject } from '#shared/json.ts';
import { localPath } from '#shared/storage/location.ts';
import type { RestAnswer } from '#test/support/catalog.ts';
import { errorOf, metadataOf, NS } from '#test/support/catalog-requests.ts';
import { get, post, testCatalog } from '#test/support/catalog-rest.ts';

const FUNCTIONS = `${NS}/default/functions`;
const definition = (more: JsonObject = {}): JsonObject => ({
  parameters: [{ name: 'x', type: 'int' }],
  'return-type': 'int',
  versions: [{ representations: [{ type: 'sql', dialect: 'spark', sql: 'x + 1' }], 'timestamp-ms': 7 }],
  ...more,
});
const create = (name: string, ...definitions: readonly Json[]): Promise<RestAnswer> =>
  post(FUNCTIONS, { name, definitions, doc: 'adds one' });
const drop = (path: string): Promise<RestAnswer> => testCatalog().rest('DELETE', path);

describe('functions', () => {
  test('live from create to drop', async () => {
    const nested = { type: 'struct', fields: [{ id: 9, name: 'n', type: { type: 'list', element: 'decimal(9, 2)' } }] };
    const other = definition({
      parameters: [
        { name: 'x', type: 'string' },
        { name: 'y', type: nested },
      ],
    });
    const created = await create('add_one', definition(), other);
    expect(created.status).toBe(200);
    expect(metadataOf(created)).toMatchObject({
      'format-version': 1,
      doc: 'adds one',
      secure: false,
      definitions: [
        {
          'definition-id': 'int',
          'function-type': 'udf',
          'return-nullable': true,
          'current-version-id': 1,
          versions: [{ 'version-id': 1, deterministic: false, 'on-null-input': 'call', 'timestamp-ms': 7 }],
        },
        { 'definition-id': 'string,struct<n:list<decimal(9,2)>>' },
      ],
      'definition-log': [{ 'definition-versions': [{ 'definition-id': 'int', 'version-id': 1 }, { 'version-id': 1 }] }],
    });
    expect((await get(`${FUNCTIONS}/add_one`)).body).toEqual(created.body);
    const file = created.body['metadata-location'] as string;
    expect(parseJson(await readFile(localPath(file), 'utf8'))).toEqual(metadataOf(created));
    expect(errorOf(await create('add_one', definition()))).toEqual([
      409,
      'AlreadyExistsException',
      'Function already exists: default.add_one',
    ]);
    expect((await drop(`${FUNCTIONS}/add_one`)).status).toBe(204);
    for (const answer of [await get(`${FUNCTIONS}/add_one`), await drop(`${FUNCTIONS}/add_one`)]) {
      expect(errorOf(answer)).toEqual([404, 'NoSuchFunctionException', 'Function does not exist: default.add_one']);
    }
    expect(errorOf(await get(`${NS}/none/functions/f`))[1]).toBe('NoSuchNamespaceException');
  });

  test('are listed whole or in pages, and hold their namespace', async () => {
    await post(NS, { namespace: ['udf'] });
    for (const name of ['b', 'a', 'c']) await post(`${NS}/udf/functions`, { name, definitions: [definition()] });
    const list = (query = ''): Promise<RestAnswer> => get(`${NS}/udf/functions${query}`);
    const identifiers = ['a', 'b', 'c'].map((name) => ['udf', name]);
    expect((await list()).body).toEqual({ identifiers, 'next-page-token': null });
    const first = await list('?pageSize=2&pageToken=');
    expect(first.body['identifiers']).toEqual(identifiers.slice(0, 2));
    const second = await list(`?pageSize=2&pageToken=${first.body['next-page-token'] as string}`);
    expect(second.body).toEqual({ identifiers: identifiers.slice(2), 'next-page-token': null });
    expect(errorOf(await drop(`${NS}/udf`))[1]).toBe('NamespaceNotEmptyException');
    for (const name of ['a', 'b', 'c']) await drop(`${NS}/udf/functions/${name}`);
    expect((await drop(`${NS}/udf`)).status).toBe(204);
  });

  test.each<[string, readonly Json[]]>([
    ['no definition', []],
    ['two definitions of one signature', [definition(), definition()]],
    [
      'two parameters of one name',
      [
        definition({
          parameters: [
            { name: 'x', type: 'int' },
            { name: 'x', type: 'int' },
          ],
        }),
      ],
    ],
    ['an unknown type', [definition({ 'return-type': 'varchar' })]],
    ['a definition id that the parameters do not say', [definition({ 'definition-id': 'long' })]],
    ['no version', [definition({ versions: [] })]],
    ['a current version that is not there', [definition({ 'current-version-id': 4 })]],
    ['no representation', [definition({ versions: [{ representations: [] }] })]],
    ['a table function that returns no table', [definition({ 'function-type': 'udtf' })]],
    [
      'two queries of one dialect',
      [
        definition({
          versions: [
            {
              representations: [
                { type: 'sql', dialect: 'spark', sql: '1' },
                { type: 'sql', dialect: 'Spark', sql: '2' },
              ],
            },
          ],
        }),
      ],
    ],
    ['no object', [7]],
  ])('with %s are refused', async (_what, definitions) => {
    expect(errorOf(await create('bad', ...definitions)).slice(0, 2)).toEqual([400, 'BadRequestException']);
    expect((await get(`${FUNCTIONS}/bad`)).status).toBe(404);
  });

  test('of another tenant are not found', async () => {
    await create('secret', definition());
    await testCatalog().call('CreateTenant', {
      name: 'rival',
      admin_user: 'rival_admin',
      admin_password: 'rival password',
    });
    const token = await testCatalog().mint({ tenant: 'rival', user: 'rival_admin' });
    for (const [method, path] of [
      ['GET', FUNCTIONS],
      ['GET', `${FUNCTIONS}/secret`],
      ['DELETE', `${FUNCTIONS}/secret`],
    ] as const) {
      expect(errorOf(await testCatalog().rest(method, path, { token })).slice(0, 2)).toEqual([
        404,
        'NoSuchWarehouseException',
      ]);
    }
    expect((await get(`${FUNCTIONS}/secret`)).status).toBe(200);
  });
});
