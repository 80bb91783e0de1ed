import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { Json, JsonObject } from '#shared/json.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { createOtherTenant } from '#test/support/other-tenant.ts';
import type { Fixture, Tenant } from './fixture.ts';
import { answerOf, askCatalog, grant } from './requests.ts';

/** Settings of the fixture. Its tokens must outlive it; the lifetime of an access token shows that the file is read. */
export const SETTINGS = `catalog:
  token_ttl: 2h
  token_ttl_max: 36500d
  refresh_token_ttl: 36500d
  metrics_report_age_max: 36500d
up:
  workers: 1
`;
const TOKEN_TTL_MS = 36_500 * 86_400_000;

const SALES = '/v1/lake/namespaces/sales';
/** Namespace levels in a path are joined by the unit separator. */
const ARCHIVE = '/v1/lake/namespaces/sales%1Farchive';

const ORDERS = `SELECT i::INTEGER AS id, i * 1000000000000 AS big, 'customer ' || (i % 7) AS customer, i % 3 = 0 AS paid,
  (i * 1.25)::DECIMAL(10, 2) AS amount, i / 8 AS share, DATE '2025-01-15' + (i % 90)::INTEGER AS ordered,
  TIMESTAMP '2025-01-15 08:00:00' + i * INTERVAL 90 MINUTE AS at, [i, i + 1] AS parts, {'street': 'road ' || i, 'zip': i} AS address,
  CASE WHEN i % 5 = 0 THEN NULL ELSE 'é' || chr(10) || '''' || i END AS note`;

/** Makes the contents of a fixture, except its history, which is complete only when the cluster has ended. */
export async function fillCluster(cluster: Cluster): Promise<Omit<Fixture, 'commit' | 'history'>> {
  const file = join(tmpdir(), `skein-fixture-${process.pid}.parquet`);
  try {
    await makeTables(cluster, file);
    await makeViews(cluster);
    await createOtherTenant(cluster, file);
  } finally {
    await rm(file, { force: true });
  }
  const tokens = {
    default: await cluster.token({ ttlMs: TOKEN_TTL_MS }),
    rival: await cluster.token({ ttlMs: TOKEN_TTL_MS, tenant: 'rival', user: 'rival_admin' }),
  };
  const { client, tokenSeconds } = await makeClient(cluster);
  await makeHistory(cluster, tokens.default);
  return {
    tokens,
    client,
    tokenSeconds,
    queries: await recordQueries(cluster, tokens),
    documents: await recordDocuments(cluster, tokens),
  };
}

/** Makes tables: one loaded twice, with columns added in between, one made over REST, and one that is dropped. */
async function makeTables(cluster: Cluster, file: string): Promise<void> {
  const load = async (select: string, table: string, ...flags: readonly string[]): Promise<void> => {
    const duckdb = await (await DuckDBInstance.create(':memory:')).connect();
    await duckdb.run(`COPY (${select}) TO '${file}'`);
    duckdb.closeSync();
    await cluster.cliOk(['load', 'parquet', file, '--table', table, ...flags]);
  };
  const orders = ['lake.sales.orders', '--partition-by', 'month(ordered), bucket(2, id)'] as const;
  await load(`${ORDERS} FROM range(0, 60) t(i)`, ...orders, '--create');
  await load(`${ORDERS} FROM range(60, 100) t(i)`, 'lake.sales.orders');

  await load("SELECT i::INTEGER AS id, 'name ' || i AS name FROM range(5) t(i)", 'lake.sales.customers', '--create');
  await evolveCustomers(cluster);
  await load(
    "SELECT i + 5000000000 AS id, 'name ' || i AS full_name, i || '@example.com' AS email FROM range(5) t(i)",
    'lake.sales.customers',
  );

  const post = poster(cluster);
  await post('/v1/lake/namespaces', {
    namespace: ['sales', 'archive'],
    properties: { owner: 'ops', retention: '7 years' },
  });
  const schema = { type: 'struct', fields: [{ id: 1, name: 'a', required: true, type: 'timestamptz' }] };
  await post(`${ARCHIVE}/tables`, { name: 'later', schema, properties: { 'format-version': '3', comment: 'empty' } });
  const report = {
    'report-type': 'commit-report',
    'table-name': 'sales.orders',
    'snapshot-id': 1,
    'sequence-number': 1,
  };
  await post(`${SALES}/tables/orders/metrics`, { ...report, operation: 'append', metrics: {}, metadata: {} });

  // So that migrations of later releases find a row in each table; this one expires after a year.
  await cluster.cliOk(['admin', 'catalog', 'alter', 'lake', '--undrop-window', '366d']);
  await post(`${SALES}/tables`, { name: 'dropped', schema });
  await askCatalog(cluster, await cluster.token(), 'DELETE', `${SALES}/tables/dropped`);
}

/** Adds a column, renames one, and widens the type of another. */
async function evolveCustomers(cluster: Cluster): Promise<void> {
  const fields = [
    { id: 1, name: 'id', required: false, type: 'long' },
    { id: 2, name: 'full_name', required: false, type: 'string' },
    { id: 3, name: 'email', required: false, type: 'string' },
  ];
  await poster(cluster)(`${SALES}/tables/customers`, {
    requirements: [],
    updates: [
      { action: 'add-schema', schema: { type: 'struct', fields }, 'last-column-id': 3 },
      { action: 'set-current-schema', 'schema-id': -1 },
      { action: 'set-properties', updates: { comment: 'evolved' } },
    ],
  });
}

/** Makes a view of two versions, and a function. */
async function makeViews(cluster: Cluster): Promise<void> {
  const post = poster(cluster);
  const schema = { type: 'struct', fields: [{ id: 1, name: 'id', required: false, type: 'int' }] };
  const version = (sql: string): JsonObject => ({
    'version-id': 1,
    'timestamp-ms': 1_700_000_000_000,
    'schema-id': 0,
    summary: {},
    'default-namespace': ['sales'],
    representations: [{ type: 'sql', sql, dialect: 'duckdb' }],
  });
  await post(`${SALES}/views`, {
    name: 'unpaid',
    schema,
    'view-version': version('SELECT id FROM orders WHERE NOT paid'),
    properties: { comment: 'a view' },
  });
  await post(`${SALES}/views/unpaid`, {
    updates: [
      {
        action: 'add-view-version',
        'view-version': { ...version('SELECT id FROM orders WHERE paid IS NOT TRUE'), 'version-id': 2 },
      },
      { action: 'set-current-view-version', 'view-version-id': -1 },
    ],
  });
  await post(`${SALES}/functions`, {
    name: 'add_one',
    definitions: [
      {
        parameters: [{ name: 'x', type: 'int' }],
        'return-type': 'int',
        versions: [{ representations: [{ type: 'sql', dialect: 'duckdb', sql: 'x + 1' }] }],
      },
    ],
  });
}

async function makeClient(cluster: Cluster): Promise<Pick<Fixture, 'client' | 'tokenSeconds'>> {
  const scope = 'namespace:read table:read table:write';
  const { client_id, client_secret } = JSON.parse(
    await cluster.cliOk(['admin', 'client', 'create', 'etl', '--scope', scope]),
  ) as { client_id: string; client_secret: string };
  const granted = await grant(cluster, { grant_type: 'client_credentials', client_id, client_secret });
  return {
    client: { client_id, client_secret, refresh_token: granted.refresh_token },
    tokenSeconds: granted.expires_in,
  };
}

/** Runs statements that end in each way; those of `recordQueries` follow. */
async function makeHistory(cluster: Cluster, token: string): Promise<void> {
  for (const sql of [
    "SELECT CAST('x' AS INTEGER) FROM range(3)",
    "COPY t TO '/tmp/x'",
    'SELECT no_such FROM lake.sales.orders',
  ]) {
    await cluster.query(sql, { token });
  }
  await cluster.query('SELECT max(hash(n)) FROM range(100000000000) AS r(n)', { token, timeoutMs: 300 });
}

async function recordQueries(cluster: Cluster, tokens: Fixture['tokens']): Promise<Fixture['queries']> {
  const { body } = await askCatalog(cluster, tokens.default, 'GET', `${SALES}/tables/orders`);
  const { snapshots } = body['metadata'] as {
    readonly snapshots: readonly { readonly 'snapshot-id': number | bigint }[];
  };
  const first = String(snapshots[0]?.['snapshot-id']);
  const statements: readonly (readonly [Tenant, string])[] = [
    ['default', 'SELECT * FROM lake.sales.orders ORDER BY id'],
    ['default', `SELECT count(*), sum(amount), max(id) FROM lake.sales.orders AT (VERSION => ${first})`],
    ['default', 'SELECT customer, count(*), sum(amount) FROM lake.sales.orders WHERE paid GROUP BY ALL ORDER BY ALL'],
    ['default', "SELECT count(*) FROM lake.sales.orders WHERE ordered >= DATE '2025-03-01'"],
    ['default', 'SELECT * FROM lake.sales.customers ORDER BY id'],
    ['default', 'SELECT count(*), max(a) FROM lake."sales.archive".later'],
    [
      'default',
      'SELECT o.id, c.full_name FROM lake.sales.orders o JOIN lake.sales.customers c USING (id) ORDER BY ALL',
    ],
    ['default', 'SELECT * FROM rival_lake.private.secrets'],
    ['rival', 'SELECT count(*) FROM rival_lake.private.secrets'],
    ['rival', 'SELECT count(*) FROM lake.sales.orders'],
  ];
  const recorded = [];
  for (const [tenant, sql] of statements)
    recorded.push({ tenant, sql, answer: await answerOf(cluster, tokens[tenant], sql) });
  return recorded;
}

async function recordDocuments(cluster: Cluster, tokens: Fixture['tokens']): Promise<Fixture['documents']> {
  // The members of answers that must stay the same: lists and documents, but not further members such as a session's configuration.
  const LASTING = ['namespaces', 'namespace', 'properties', 'identifiers', 'metadata', 'metadata-location'];
  const paths: readonly (readonly [Tenant, string])[] = [
    ['default', '/v1/lake/namespaces'],
    ['default', '/v1/lake/namespaces?parent=sales'],
    ['default', ARCHIVE],
    ['default', `${SALES}/tables`],
    ['default', `${SALES}/tables/orders`],
    ['default', `${SALES}/tables/customers`],
    ['default', `${ARCHIVE}/tables/later`],
    ['default', `${SALES}/views`],
    ['default', `${SALES}/views/unpaid`],
    ['default', `${SALES}/functions/add_one`],
    ['rival', '/v1/rival_lake/namespaces'],
    ['rival', '/v1/rival_lake/namespaces/private/tables/secrets'],
  ];
  const recorded = [];
  for (const [tenant, path] of paths) {
    const { status, body } = await askCatalog(cluster, tokens[tenant], 'GET', path);
    if (status !== 200) throw new Error(`${path}: HTTP ${status}`);
    const lasting = Object.fromEntries(Object.entries(body).filter(([name]) => LASTING.includes(name)));
    recorded.push({ tenant, path, body: lasting });
  }
  return recorded;
}

/** POSTs as the administrator. */
const poster =
  (cluster: Cluster) =>
  async (path: string, body: Json): Promise<void> => {
    const answer = await askCatalog(cluster, await cluster.token(), 'POST', path, body);
    if (answer.status >= 300) throw new Error(`POST ${path}: HTTP ${answer.status} ${JSON.stringify(answer.body)}`);
  };
