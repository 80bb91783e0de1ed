import { IcebergError, IcebergRestCatalog, generateIdempotencyKey, getCurrentSchema } from 'iceberg-js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';

/** Tests every call of iceberg-js, the REST client for JavaScript. */
let started: TestCatalog;
let catalog: IcebergRestCatalog;
const SHOP = { namespace: ['shop'] };
const ORDERS = { ...SHOP, name: 'orders' };
const SCHEMA = {
  type: 'struct' as const,
  'schema-id': 0,
  fields: [
    { id: 1, name: 'id', type: 'long', required: true },
    { id: 2, name: 'price', type: 'decimal(10,2)', required: false },
    { id: 3, name: 'at', type: 'timestamptz', required: false },
  ],
  'identifier-field-ids': [1],
};
const SPEC = { fields: [{ 'source-id': 3, name: 'day', transform: 'day' }] };
const ORDER = {
  'order-id': 1,
  fields: [{ 'source-id': 1, transform: 'identity', direction: 'asc' as const, 'null-order': 'nulls-first' as const }],
};

beforeAll(async () => {
  started = await startTestCatalog();
  catalog = new IcebergRestCatalog({
    baseUrl: started.running.url,
    warehouse: 'lake',
    auth: { type: 'bearer', token: started.token },
    accessDelegation: ['vended-credentials'],
  });
  await catalog.createNamespace(SHOP, { properties: { owner: 'ann' } });
});
afterAll(() => started[Symbol.asyncDispose]());

const refusal = async (work: Promise<unknown>): Promise<readonly [number, string | undefined]> => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(IcebergError);
  const { status, icebergType } = error as IcebergError;
  return [status, icebergType];
};

test('the configuration names the prefix and the endpoints', async () => {
  const config = await catalog.loadConfig();
  expect({ ...config.defaults, ...config.overrides }['prefix']).toBe('lake');
  expect(config.endpoints).toContain('GET /v1/{prefix}/namespaces/{namespace}/tables/{table}');
});

describe('namespaces', () => {
  test('create, load, change, list by parent and by page, drop', async () => {
    expect((await catalog.loadNamespaceMetadata(SHOP)).properties).toMatchObject({ owner: 'ann' });
    expect(
      await catalog.updateNamespaceProperties(SHOP, { removals: ['none'], updates: { owner: 'bob', 'a b': 'ü/%' } }),
    ).toMatchObject({ removed: [], missing: ['none'] });
    expect((await catalog.loadNamespaceMetadata(SHOP)).properties).toMatchObject({ owner: 'bob', 'a b': 'ü/%' });
    for (const name of ['x', 'y', 'dots.and spaces/ü']) await catalog.createNamespace({ namespace: ['shop', name] });
    const children = [
      ['shop', 'dots.and spaces/ü'],
      ['shop', 'x'],
      ['shop', 'y'],
    ];
    expect((await catalog.listNamespaces({ parent: SHOP })).namespaces.map((n) => n.namespace)).toEqual(children);
    const first = await catalog.listNamespaces({ parent: SHOP, pageToken: '', pageSize: 2 });
    const second = await catalog.listNamespaces({
      parent: SHOP,
      pageToken: must(first.nextPageToken, 'a second page'),
      pageSize: 2,
    });
    expect([...first.namespaces, ...second.namespaces].map((n) => n.namespace)).toEqual(children);
    for (const namespace of children) await catalog.dropNamespace({ namespace });
    expect(await catalog.namespaceExists({ namespace: ['shop', 'x'] })).toBe(false);
    expect(await catalog.createNamespaceIfNotExists(SHOP)).toBeUndefined();
  });

  test('refusals carry the specification’s types', async () => {
    expect(await refusal(catalog.createNamespace(SHOP))).toEqual([409, 'AlreadyExistsException']);
    expect(await refusal(catalog.loadNamespaceMetadata({ namespace: ['none'] }))).toEqual([
      404,
      'NoSuchNamespaceException',
    ]);
  });
});

describe('tables', () => {
  test('create with a partition spec and a write order, load, and not load again what has not changed', async () => {
    const created = await catalog.createTableResult(SHOP, {
      name: 'orders',
      schema: SCHEMA,
      'partition-spec': SPEC,
      'write-order': ORDER,
      properties: { p: '1' },
    });
    expect(created.metadata['default-spec-id']).toBe(0);
    expect(created.metadata['partition-specs'][0]?.fields).toMatchObject([
      { 'source-id': 3, 'field-id': 1000, name: 'day', transform: 'day' },
    ]);
    expect(created.metadata['sort-orders'].at(-1)?.fields).toEqual(ORDER.fields);
    const loaded = must(await catalog.loadTableResult(ORDERS), 'it changed');
    expect(loaded.metadata).toEqual(created.metadata);
    expect(loaded.etag).toBe(created.etag);
    expect(await catalog.loadTable(ORDERS, { ifNoneMatch: must(loaded.etag, 'an etag') })).toBeNull();
    expect(await catalog.tableExists(ORDERS)).toBe(true);
    expect(await refusal(catalog.createTable(SHOP, { name: 'orders', schema: SCHEMA }))).toEqual([
      409,
      'AlreadyExistsException',
    ]);
    expect((await catalog.createTableIfNotExists(SHOP, { name: 'orders', schema: SCHEMA }))['table-uuid']).toBe(
      created.metadata['table-uuid'],
    );
  });

  test('commits change schema, spec, order and properties; a stale one is refused', async () => {
    const before = must(await catalog.loadTable(ORDERS), 'orders');
    const requirements = [
      { type: 'assert-table-uuid' as const, uuid: before['table-uuid'] },
      { type: 'assert-last-assigned-field-id' as const, 'last-assigned-field-id': 3 },
    ];
    const added = { ...SCHEMA, fields: [...SCHEMA.fields, { id: 4, name: 'note', type: 'string', required: false }] };
    const request = {
      requirements,
      updates: [
        { action: 'add-schema' as const, schema: added },
        { action: 'set-current-schema' as const, 'schema-id': -1 },
        { action: 'add-spec' as const, spec: { fields: [{ 'source-id': 1, name: 'b', transform: 'bucket[8]' }] } },
        { action: 'set-default-spec' as const, 'spec-id': -1 },
        { action: 'add-sort-order' as const, 'sort-order': { ...ORDER, 'order-id': 2, fields: [] } },
        { action: 'set-default-sort-order' as const, 'sort-order-id': -1 },
        { action: 'set-properties' as const, updates: { q: '2' } },
        { action: 'remove-properties' as const, removals: ['p'] },
      ],
    };
    const { metadata } = await catalog.commitTable(ORDERS, request);
    expect(getCurrentSchema(metadata)?.fields.map(({ name }) => name)).toEqual(['id', 'price', 'at', 'note']);
    expect(metadata).toMatchObject({ 'default-spec-id': 1, properties: { q: '2' } });
    expect(metadata.properties).not.toHaveProperty('p');
    expect(await refusal(catalog.updateTable(ORDERS, request))).toEqual([409, 'CommitFailedException']);
  });

  test('stage-create makes nothing durable until the commit', async () => {
    const staged = await catalog.createTable(SHOP, { name: 'staged', schema: SCHEMA, 'stage-create': true });
    expect(await catalog.tableExists({ ...SHOP, name: 'staged' })).toBe(false);
    await catalog.commitTable(
      { ...SHOP, name: 'staged' },
      {
        requirements: [{ type: 'assert-create' }],
        updates: [
          { action: 'assign-uuid', uuid: staged['table-uuid'] },
          { action: 'upgrade-format-version', 'format-version': 2 },
          { action: 'add-schema', schema: SCHEMA },
          { action: 'set-current-schema', 'schema-id': -1 },
          { action: 'add-spec', spec: { 'spec-id': 0, fields: [] } },
          { action: 'set-default-spec', 'spec-id': -1 },
          { action: 'add-sort-order', 'sort-order': { 'order-id': 0, fields: [] } },
          { action: 'set-default-sort-order', 'sort-order-id': -1 },
          { action: 'set-location', location: must(staged.location, 'a location') },
        ],
      },
    );
    expect((await catalog.loadTable({ ...SHOP, name: 'staged' }))['table-uuid']).toBe(staged['table-uuid']);
  });

  test('list by page, rename to another namespace, drop, register again', async () => {
    await catalog.createNamespaceIfNotExists({ namespace: ['other'] });
    const first = await catalog.listTables(SHOP, { pageToken: '', pageSize: 1 });
    const second = await catalog.listTables(SHOP, { pageToken: must(first.nextPageToken, 'a page'), pageSize: 1 });
    expect([...first.identifiers, ...second.identifiers]).toEqual([ORDERS, { ...SHOP, name: 'staged' }]);
    const there = { namespace: ['other'], name: 'with / and . and ü' };
    await catalog.renameTable({ source: ORDERS, destination: there });
    expect(await catalog.tableExists(ORDERS)).toBe(false);
    const file = must((await catalog.loadTableResult(there))?.['metadata-location'], 'a metadata file');
    await catalog.dropTable(there);
    const registered = await catalog.registerTableResult(SHOP, { name: 'again', 'metadata-location': file });
    expect(registered.metadata.properties['q']).toBe('2');
    for (const name of ['again', 'staged']) await catalog.dropTable({ ...SHOP, name }, { purge: true });
    expect((await catalog.listTables(SHOP)).identifiers).toEqual([]);
    expect(await refusal(catalog.loadTable({ ...SHOP, name: 'again' }))).toEqual([404, 'NoSuchTableException']);
  });

  test('many creates of one name at once: one succeeds', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => catalog.createTable(SHOP, { name: 'race', schema: SCHEMA })),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

test('a wrong token is refused', async () => {
  const stranger = new IcebergRestCatalog({
    baseUrl: started.running.url,
    warehouse: 'lake',
    auth: { type: 'bearer', token: `${started.token}x` },
  });
  expect(await refusal(stranger.listNamespaces())).toEqual([401, 'NotAuthorizedException']);
  expect(generateIdempotencyKey()).toMatch(/^[\da-f-]{36}$/);
});
