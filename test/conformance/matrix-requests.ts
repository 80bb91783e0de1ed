import { randomUUID } from 'node:crypto';
import type { Json, JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import type { RestAnswer, TestCatalog } from '#test/support/catalog.ts';

/** Valid requests of every operation, each on objects of its own, for the lines of `scope-matrix.ts`. */

export const CATALOG = 'lake';

/** Names for the templates of paths. */
type Params = Readonly<Record<string, string>>;

/**
 * The objects that one request may use: a namespace with a table that has a scan plan, a view, a function, a stage and a dropped table, and the
 * files of an unregistered table and view.
 */
export type Fixture = {
  readonly namespace: string;
  readonly params: Params;
  /** A catalog without namespaces. */
  readonly emptyCatalog: string;
  readonly clientSecret: string;
  readonly tableUuid: string;
  readonly viewUuid: string;
  readonly unregisteredTable: string;
  readonly unregisteredView: string;
};
export type Prepared = { readonly path: string; readonly body?: Json; readonly raw?: string; readonly type?: string };

export const SCHEMA = {
  type: 'struct',
  'schema-id': 0,
  fields: [{ id: 1, name: 'a', required: false, type: 'long' }],
} as const;

const viewVersion = (namespace: string): JsonObject => ({
  'version-id': 1,
  'timestamp-ms': 1_700_000_000_000,
  'schema-id': 0,
  summary: {},
  representations: [{ type: 'sql', sql: 'SELECT 1 AS a', dialect: 'duckdb' }],
  'default-namespace': [namespace],
});
const viewOf = (name: string, namespace: string): JsonObject => ({
  name,
  schema: SCHEMA,
  'view-version': viewVersion(namespace),
  properties: {},
});

const functionOf = (name: string): JsonObject => ({
  name,
  definitions: [
    {
      parameters: [{ name: 'x', type: 'int' }],
      'return-type': 'int',
      versions: [{ representations: [{ type: 'sql', dialect: 'duckdb', sql: 'x + 1' }] }],
    },
  ],
});

/** A stored plan, as the catalog makes it for a table without data. */
const SCAN = {
  kind: 'snapshot',
  snapshotIds: [],
  schemaId: 0,
  filter: true,
  caseSensitive: true,
  statsFieldIds: [],
} as const;

/** Makes the objects of one request, with an administrator's token. */
export async function makeFixture(catalog: TestCatalog, operation: string): Promise<Fixture> {
  const namespace = `m_${operation}`;
  const root = `/v1/${CATALOG}/namespaces/${namespace}`;
  const post = async (path: string, body: Json): Promise<RestAnswer> => {
    const answer = await catalog.rest('POST', path, { body });
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer;
  };
  const uuidOf = ({ body }: RestAnswer, name: string): string =>
    must((body['metadata'] as JsonObject)[name] as string | undefined, name);
  await post(`/v1/${CATALOG}/namespaces`, { namespace: [namespace] });
  await post(`/v1/${CATALOG}/namespaces`, { namespace: [`${namespace}_empty`] });
  const create = (name: string): Promise<RestAnswer> =>
    post(`${root}/tables`, { name, schema: SCHEMA as unknown as Json });
  const table = await create('t');
  const view = await post(`${root}/views`, viewOf('v', namespace));
  await post(`${root}/functions`, functionOf('f'));
  await post(`${root}/stages`, { name: 's' });
  const planId = randomUUID();
  await catalog.sql(
    `insert into catalog.scan_plan (id, table_id, scan, expires_at)
     select '${planId}', t.id, '${JSON.stringify(SCAN)}', now() + interval '1 day'
     from catalog.iceberg_table t join catalog.namespace n on n.id = t.namespace_id
     where t.name = 't' and n.path = '${namespace}'`,
  );
  await create('dropped');
  await catalog.rest('DELETE', `${root}/tables/dropped`);
  await create('gone_table');
  const goneTable = await post(`${root}/tables/gone_table/unregister`, {});
  const goneView = await post(`${root}/views`, viewOf('gone_view', namespace));
  await catalog.rest('DELETE', `${root}/views/gone_view`);
  await catalog.call('CreateCatalog', { tenant: 'default', name: `c_${operation}`, location: '' });
  const client = await catalog.call<{ client_secret: string }>('CreateClient', { tenant: 'default', name: namespace });
  return {
    namespace,
    params: {
      prefix: CATALOG,
      catalog: CATALOG,
      namespace,
      table: 't',
      view: 'v',
      function: 'f',
      stage: 's',
      'plan-id': planId,
    },
    emptyCatalog: `c_${operation}`,
    clientSecret: client.client_secret,
    tableUuid: uuidOf(table, 'table-uuid'),
    viewUuid: uuidOf(view, 'view-uuid'),
    unregisteredTable: goneTable.body['metadata-location'] as string,
    unregisteredView: goneView.body['metadata-location'] as string,
  };
}

type Special = {
  /** Parameters of the path that replace the fixture's names. */
  readonly params?: (fixture: Fixture) => Params;
  readonly query?: (params: Params) => string;
  readonly body?: (fixture: Fixture, params: Params) => Json;
  readonly form?: (fixture: Fixture) => string;
};

const set = (key: string): JsonObject => ({ action: 'set-properties', updates: { [key]: 'v' } });

const commitOf = ({ namespace, tableUuid }: Fixture): JsonObject => ({
  'table-changes': [
    {
      identifier: { namespace: [namespace], name: 't' },
      requirements: [{ type: 'assert-table-uuid', uuid: tableUuid }],
      updates: [set('x')],
    },
  ],
});

/** Parts of a request that the path with the fixture's names does not say. */
const SPECIAL: Readonly<Record<string, Special>> = {
  getConfig: { query: ({ catalog }) => `?warehouse=${catalog ?? ''}` },
  getToken: { form: ({ clientSecret }) => `grant_type=client_credentials&client_secret=${clientSecret}` },
  revokeToken: { form: () => 'token=one+that+nobody+knows' },
  createCatalog: { body: ({ namespace }) => ({ name: `${namespace}_new` }) },
  renameCatalog: {
    params: ({ emptyCatalog }) => ({ catalog: emptyCatalog }),
    body: ({ namespace }) => ({ name: `${namespace}_renamed` }),
  },
  dropCatalog: { params: ({ emptyCatalog }) => ({ catalog: emptyCatalog }) },
  createNamespace: { body: ({ namespace }) => ({ namespace: [`${namespace}_new`] }) },
  dropNamespace: { params: ({ namespace }) => ({ namespace: `${namespace}_empty` }) },
  renameNamespace: { body: ({ namespace }) => ({ destination: [`${namespace}_renamed`] }) },
  updateProperties: { body: () => ({ updates: { a: 'b' }, removals: ['c'] }) },
  createTable: { body: () => ({ name: 'created', schema: SCHEMA as unknown as Json }) },
  updateTable: { body: () => ({ requirements: [], updates: [set('x')] }) },
  registerTable: { body: (f) => ({ name: 'registered', 'metadata-location': f.unregisteredTable }) },
  renameTable: {
    body: ({ namespace }) => ({
      source: { namespace: [namespace], name: 't' },
      destination: { namespace: [namespace], name: 't2' },
    }),
  },
  createFunction: { body: () => functionOf('g') },
  createStage: { body: () => ({ name: 's2' }) },
  renameStage: {
    body: ({ namespace }) => ({
      source: { namespace: [namespace], name: 's' },
      destination: { namespace: [namespace], name: 's3' },
    }),
  },
  loadCredentialsOfMany: { body: ({ namespace }) => ({ identifiers: [{ namespace: [namespace], name: 't' }] }) },
  signRequest: { body: () => ({ method: 'GET', uri: 'https://s3.example.com/bucket/key', headers: {} }) },
  signRequestByLocation: { body: () => ({ method: 'GET', uri: 'https://s3.example.com/bucket/key', headers: {} }) },
  reportMetrics: {
    body: () => ({
      'report-type': 'commit-report',
      'table-name': 't',
      'snapshot-id': 1,
      'sequence-number': 1,
      operation: 'append',
      metrics: {},
    }),
  },
  planTableScan: { body: () => ({}) },
  fetchScanTasks: { body: ({ params }) => ({ 'plan-task': `${params['plan-id'] ?? ''}.0` }) },
  undropTable: { params: () => ({ table: 'dropped' }), body: () => ({}) },
  unregisterTable: { body: () => ({}) },
  commitTransaction: { body: (fixture) => commitOf(fixture) },
  commitAcrossCatalogs: { body: (fixture, params) => ({ ...commitOf(fixture), catalog: params['catalog'] ?? '' }) },
  createView: { body: ({ namespace }) => viewOf('created', namespace) },
  replaceView: {
    body: ({ viewUuid }) => ({
      requirements: [{ type: 'assert-view-uuid', uuid: viewUuid }],
      updates: [set('x')],
    }),
  },
  registerView: { body: (f) => ({ name: 'registered', 'metadata-location': f.unregisteredView }) },
  renameView: {
    body: ({ namespace }) => ({
      source: { namespace: [namespace], name: 'v' },
      destination: { namespace: [namespace], name: 'v2' },
    }),
  },
};

/** The request of an operation on its fixture; `overrides` replace names of the path. */
export function requestOf(
  operation: { readonly id: string; readonly endpoint: string },
  fixture: Fixture,
  overrides: Params = {},
): Prepared {
  const special = SPECIAL[operation.id] ?? {};
  const params: Params = { ...fixture.params, ...special.params?.(fixture), ...overrides };
  const [, template = ''] = operation.endpoint.split(' ');
  const path = template.replaceAll(/\{([a-z-]+)\}/g, (_all, name: string) =>
    encodeURIComponent(must(params[name], `a value for ${name} of ${operation.id}`)),
  );
  const form = special.form?.(fixture);
  return {
    path: path + (special.query?.(params) ?? ''),
    ...(special.body === undefined ? {} : { body: special.body(fixture, params) }),
    ...(form === undefined ? {} : { raw: form, type: 'application/x-www-form-urlencoded' }),
  };
}
