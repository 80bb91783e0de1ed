import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '#shared/json.ts';
import { NS, SCHEMA } from '#test/support/catalog-requests.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';

let catalog: TestCatalog;
let schema: string;
beforeAll(async () => {
  catalog = await startTestCatalog();
});
afterAll(() => catalog?.[Symbol.asyncDispose]());

const post = async (path: string, body: JsonObject): Promise<JsonObject> => {
  const answer = await catalog.rest('POST', path, { body });
  expect(answer, path).toMatchObject({ status: expect.toSatisfy((status: number) => status < 300) as unknown });
  return answer.body;
};
const newSchema = async (): Promise<string> => {
  schema = `s${randomUUID().slice(0, 8)}`;
  await post(NS, { namespace: [schema], properties: { owner: 'ada' } });
  return schema;
};
const createTable = (name: string, more: JsonObject = {}): Promise<JsonObject> =>
  post(`${NS}/${schema}/tables`, { name, schema: SCHEMA, ...more });

type Relation = {
  readonly id: string;
  readonly version: string;
  readonly namespace: readonly string[];
  readonly name: string;
  readonly kind: string;
  readonly summary: string;
  readonly storage_summary: string;
  readonly columns: string;
};
type List = { readonly relations: readonly Relation[]; readonly more: boolean; readonly last: string };
const list = (request: object = {}, token?: string): Promise<List> =>
  catalog.call<List>('ListRelations', {
    principal: catalog.principal(token),
    catalog: 'lake',
    schemas: [schema],
    with_columns: true,
    ...request,
  });
const summaryOf = (relation: Relation | undefined): JsonObject => JSON.parse(relation?.summary ?? '{}') as JsonObject;
const fieldsOf = (relation: Relation | undefined): unknown =>
  (JSON.parse(relation?.columns ?? 'null') as { readonly fields: unknown }).fields;

const view = (name: string, storage?: JsonObject): JsonObject => ({
  name,
  schema: { ...SCHEMA, 'schema-id': 0 },
  'view-version': {
    'version-id': 1,
    'timestamp-ms': Date.now(),
    'schema-id': 0,
    summary: {},
    'default-namespace': [schema],
    representations: [{ type: 'sql', sql: 'SELECT 1 AS a', dialect: 'duckdb' }],
    ...(storage === undefined ? {} : { 'storage-table': storage }),
  },
  properties: { owner: 'bob', comment: 'a view' },
});

describe('ListRelations', () => {
  test('lists tables and views with the facts of their documents, as each commit leaves them', async () => {
    await newSchema();
    await createTable('t', { properties: { comment: 'it is\n"new"', 'created-at': '2026-01-02T03:04:05Z' } });
    await post(`${NS}/${schema}/views`, view('v'));
    const { relations } = await list();
    const [t, v] = relations.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    expect(t).toMatchObject({ namespace: [schema], name: 't', kind: 'TABLE', storage_summary: '' });
    const created = '2026-01-02T03:04:05Z';
    const changed = expect.stringMatching(/^17\d{11}$|^1[89]\d{11}$/) as unknown;
    expect(summaryOf(t)).toEqual({ owner: 'admin', created, changed, comment: 'it is\n"new"', rows: '0', bytes: '0' });
    expect(fieldsOf(t)).toEqual(SCHEMA.fields);
    expect(v).toMatchObject({ name: 'v', kind: 'VIEW' });
    expect(summaryOf(v)).toEqual({ owner: 'bob', changed, comment: 'a view' });
    expect(fieldsOf(v)).toEqual(SCHEMA.fields);
    const table = `${NS}/${schema}/tables/t`;
    await post(table, {
      requirements: [],
      updates: [
        {
          action: 'add-schema',
          schema: {
            ...SCHEMA,
            'schema-id': 1,
            fields: [{ id: 1, name: 'b', required: true, type: 'long' }],
            'identifier-field-ids': [1],
          },
        },
        { action: 'set-current-schema', 'schema-id': -1 },
        { action: 'set-properties', updates: { comment: 'changed' } },
      ],
    });
    const after = (await list({ names: ['t'] })).relations;
    expect(after.map(({ id }) => id)).toEqual([t?.id]);
    expect(after[0]?.version).not.toBe(t?.version);
    expect(summaryOf(after[0])).toMatchObject({ comment: 'changed' });
    expect(Number(summaryOf(after[0])['changed'])).toBeGreaterThan(Number(summaryOf(t)['changed']));
    expect(JSON.parse(after[0]?.columns ?? '')).toEqual({
      fields: [{ id: 1, name: 'b', required: true, type: 'long' }],
      keys: [1],
    });
    expect((await list({ names: ['t'], with_columns: false })).relations[0]?.columns).toBe('');
  });

  test('shows a materialized view in the place of its storage table', async () => {
    await newSchema();
    await post(`${NS}/${schema}/views`, view('m', { namespace: [schema], name: 'rows' }));
    expect((await list()).relations).toMatchObject([{ name: 'm', kind: 'MATERIALIZED_VIEW', storage_summary: '' }]);
    await createTable('rows');
    const [m, ...others] = (await list()).relations;
    expect(others).toEqual([]);
    expect(JSON.parse(m?.storage_summary ?? '')).toMatchObject({ rows: '0', bytes: '0' });
  });

  test('pages have every relation once, and filters take exact names', async () => {
    await newSchema();
    for (let i = 0; i < 7; i += 1) await createTable(`t${i}`);
    await post(`${NS}/${schema}/views`, view('v'));
    const names: string[] = [];
    let after = '';
    for (let more = true; more;) {
      const page = await list({ after, limit: 3 });
      expect(page.relations.length).toBeLessThanOrEqual(3);
      names.push(...page.relations.map(({ name }) => name));
      ({ more, last: after } = page);
    }
    expect(names.toSorted()).toEqual(['t0', 't1', 't2', 't3', 't4', 't5', 't6', 'v']);
    expect((await list({ names: ['t1', 'v', 'T2'] })).relations.map(({ name }) => name).toSorted()).toEqual([
      't1',
      'v',
    ]);
    expect((await list({ schemas: ['elsewhere'] })).relations).toEqual([]);
    const { relations } = await list({ names: ['t3'] });
    expect((await list({ ids: relations.map(({ id }) => id), names: [] })).relations).toEqual(relations);
    await expect(list({ after: "x' or true" })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  test('a token without table:read lists none, and another catalog is not found', async () => {
    await newSchema();
    await createTable('t');
    const token = await catalog.mint({ scope: ['catalog:read', 'namespace:read'] });
    expect((await list({}, token)).relations).toEqual([]);
    await expect(list({ catalog: 'elsewhere' })).rejects.toMatchObject({ code: 'CATALOG_NOT_FOUND' });
  });

  test('facts that are not there, or of another version, are made of the document', async () => {
    await newSchema();
    await createTable('t', { properties: { comment: 'old' } });
    await post(`${NS}/${schema}/views`, view('v'));
    const right = (await list()).relations;
    const forget = async (): Promise<void> => {
      await catalog.sql(`update catalog.iceberg_table set facts_version = null, summary = null, columns = null`);
      await catalog.sql(`update catalog.iceberg_view set facts_version = version - 1, summary = '{}', columns = '{}'`);
    };
    await forget();
    expect((await list()).relations).toEqual(right);
    await forget();
    await catalog.restart();
    const stale = `select id from catalog.iceberg_table where facts_version is distinct from version
      union all select id from catalog.iceberg_view where facts_version is distinct from version`;
    await expect.poll(() => catalog.sql(stale)).toEqual([]);
    expect((await list()).relations).toEqual(right);
  });

  test('a table that is dropped and comes back has its facts', async () => {
    await newSchema();
    await catalog.sql(`update catalog.catalog set undrop_window_s = 3600 where name = 'lake'`);
    await createTable('t', { properties: { comment: 'back' } });
    const right = (await list()).relations;
    expect((await catalog.rest('DELETE', `${NS}/${schema}/tables/t`)).status).toBe(204);
    expect((await list()).relations).toEqual([]);
    await post(`${NS}/${schema}/tables/t/undrop`, {});
    expect((await list()).relations).toEqual(right);
  });
});
