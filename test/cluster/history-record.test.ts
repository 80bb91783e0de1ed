import { randomUUID } from 'node:crypto';
import { DuckDBInstance } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import type { HistoryEntry } from '#coordinator/history/history-request.ts';
import type { QueryRunProfile } from '#coordinator/profile/profile-types.ts';
import { AdminClients } from '#test/support/admin-clients.ts';
import { must } from '#shared/must.ts';
import { ApiDocument } from '#test/support/api-document.ts';
import type { Cluster, QueryRequest } from '#test/support/cluster.ts';
import { sharedFixture } from '#test/support/resources.ts';
import { tableFiles } from '#test/support/table-files.ts';

/** The history as a client reads it: its filters, and the figures of its records. How records come to be: `history.test.ts`. */
let cluster: Cluster;
let document: ApiDocument;

beforeAll(async () => {
  ({ cluster } = await sharedFixture());
  document = new ApiDocument(await (await fetch(`${cluster.queryUrl}/openapi.json`)).json());
});

/** A path of the API, its answer checked against the OpenAPI document. */
async function get<T>(path: string, token?: string): Promise<T> {
  const headers = { authorization: `Bearer ${token ?? (await cluster.token())}` };
  const response = await fetch(`${cluster.queryUrl}${path}`, { headers });
  const text = await response.text();
  document.check({ method: 'GET', path, status: response.status, headers: response.headers, text });
  return JSON.parse(text) as T;
}

const history = (parameters: string, token: string): Promise<readonly HistoryEntry[]> =>
  get(`/api/query-history${parameters}`, token);

describe('the list', () => {
  const TENANT = 'chronicle';
  const FAILS = "SELECT CAST('x' AS INTEGER)";
  const LATE = 'SELECT max(hash(n)) FROM range(100000000000) AS r(n)';
  const PAGE = 50;
  let ann: string;
  let bob: string;

  /** More statements than a page has: all of ann's, the last one first, but for those that tests add. */
  beforeAll(async () => {
    await cluster.cliOk(['admin', 'tenant', 'create', TENANT, '--user', 'ann']);
    ann = await cluster.token({ tenant: TENANT, user: 'ann' });
    // A service account, which sees its own statements alone.
    const clients = new AdminClients(cluster);
    bob = await clients.tokenOf(await clients.admin('create', 'bob', '--tenant', TENANT));
    for (let i = 0; i < PAGE; i++) await cluster.sql(`SELECT ${i}`, { token: ann });
    await cluster.query(FAILS, { token: ann });
    await cluster.query(LATE, { token: ann, timeoutMs: 200 });
    await cluster.sql('SHOW SCHEMAS', { token: ann });
    await cluster.sql('SELECT 1 AS of_bob', { token: bob });
  });

  const texts = async (parameters: string): Promise<readonly string[]> =>
    (await history(parameters, ann)).map(({ sql }) => sql);

  test.each([
    ['completed', ['SELECT 1 AS of_bob', 'SHOW SCHEMAS', `SELECT ${PAGE - 1}`]],
    ['failed', [FAILS]],
    ['cancelled', [LATE]],
  ])('status=%s gives the records of this status, and only them', async (status, expected) => {
    const entries = await history(`?status=${status}&limit=500`, ann);
    expect(new Set(entries.map((entry) => entry.status))).toEqual(new Set([status]));
    expect(entries.slice(0, expected.length).map(({ sql }) => sql)).toEqual(expected);
    expect(entries).toHaveLength(status === 'completed' ? PAGE + 2 : 1);
  });

  test('user_id and query_type give the records of this user and this type, and only them', async () => {
    const [of] = await history('?limit=1', bob);
    expect(await texts(`?user_id=${of?.userId}`)).toEqual(['SELECT 1 AS of_bob']);
    expect(await texts('?query_type=show')).toEqual(['SHOW SCHEMAS']);
    expect(await texts('?query_type=show&status=failed')).toEqual([]);
  });

  test('a page has 50 records, and offset leads to the next', async () => {
    expect(await texts('')).toHaveLength(PAGE);
    const all = await texts('?limit=500');
    expect(all).toHaveLength(PAGE + 4);
    expect(await texts('?limit=5&offset=3')).toEqual(all.slice(3, 8));
    expect(await texts(`?offset=${PAGE}`)).toEqual(all.slice(PAGE));
  });

  test('a record has exactly the fields of the specification, in camelCase, and its moments in UTC', async () => {
    const [entry] = await history('?status=completed&limit=1', ann);
    expect(Object.keys(must(entry, 'a record'))).toEqual(
      `queryId status sql userId tenantId queryType resourceGroup priority queuedAt startedAt endedAt durationMs rowsProduced
       bytesScanned fragments errorMessage cuConsumed`.split(/\s+/),
    );
    for (const moment of [entry?.queuedAt, entry?.startedAt, entry?.endedAt])
      expect(moment).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  test('SHOW QUERY HISTORY has 50 rows, with LIMIT n as many', async () => {
    const shown = async (sql: string): Promise<readonly unknown[]> =>
      (await cluster.sql(sql, { token: bob })).map(([, , text]) => text);
    for (let i = 0; i < PAGE; i++) await cluster.sql(`SELECT 'b${i}'`, { token: bob });
    const rows = await shown('SHOW QUERY HISTORY');
    expect(rows).toHaveLength(PAGE);
    expect(rows.slice(0, 3)).toEqual(['SHOW QUERY HISTORY', "SELECT 'b49'", "SELECT 'b48'"]);
    expect(await shown('SHOW QUERY HISTORY LIMIT 2')).toEqual(['SHOW QUERY HISTORY LIMIT 2', 'SHOW QUERY HISTORY']);
    expect(await shown('SHOW QUERY HISTORY LIMIT 52')).toHaveLength(52);
  });
});

describe('figures', () => {
  const FORCED = { sessionId: randomUUID() };

  beforeAll(async () => {
    await cluster.sql("SET skein.distribution = 'force'", FORCED);
    await cluster.sql("SET skein.join_distribution = 'partitioned'", FORCED);
    await cluster.sql("SET skein.partitions = '2'", FORCED);
  });

  /** The record of a statement that must succeed. */
  async function recordOf(sql: string, request: QueryRequest = {}): Promise<HistoryEntry> {
    const queryId = randomUUID();
    await cluster.sql(sql, { ...request, queryId });
    return get(`/api/query-history/${queryId}`);
  }

  /** Compressed bytes of some columns of a table, by the footers of its files; of the row groups that fulfil a condition. */
  async function bytesOf(table: string, columns: readonly string[], condition = 'true'): Promise<number> {
    const [namespace = '', name = ''] = table.split('.');
    const files = (await tableFiles(cluster, namespace, name)).map((file) => `'${file}'`).join();
    const duckdb = await (await DuckDBInstance.create()).connect();
    const names = columns.map((column) => `'${column}'`).join();
    const result = await duckdb.runAndReadAll(
      `SELECT sum(total_compressed_size) FROM parquet_metadata([${files}]) WHERE path_in_schema IN (${names}) AND ${condition}`,
    );
    duckdb.closeSync();
    return Number(result.getRows()[0]?.[0]);
  }

  test('bytesScanned: the columns of the row groups that the query reads', async () => {
    const all = await bytesOf('t.series', ['id', 'v']);
    const first = await bytesOf('t.series', ['id', 'v'], 'row_group_id = 0');
    expect(first).toBeLessThan(all);
    expect((await recordOf('SELECT max(id), max(v) FROM lake.t.series')).bytesScanned).toBe(all);
    expect((await recordOf('SELECT max(v) FROM lake.t.series WHERE id < 1000')).bytesScanned).toBe(first);
    // Each scan of a table counts.
    const twice = 'SELECT (SELECT max(id + v) FROM lake.t.series) + (SELECT min(id - v) FROM lake.t.series)';
    expect((await recordOf(twice)).bytesScanned).toBe(2 * all);
    for (const sql of [
      'SELECT 1',
      'SELECT count(*) FROM range(10)',
      'SHOW SCHEMAS FROM lake',
      'DESCRIBE lake.t.series',
    ])
      expect((await recordOf(sql)).bytesScanned, sql).toBe(0);
  });

  const JOIN = `SELECT o_orderstatus, count(*) FROM lake.tpch.orders JOIN lake.tpch.lineitem ON o_orderkey = l_orderkey
    GROUP BY o_orderstatus`;

  test('fragments and bytesScanned of a distributed query: its stages, and what all their tasks have read', async () => {
    const record = await recordOf(JOIN, FORCED);
    const { queries } = await get<{ readonly queries: readonly QueryRunProfile[] }>(
      `/api/query-history/${record.queryId}/profile`,
    );
    expect(queries).toMatchObject([{ runs: 'stages' }]);
    const stages = queries.flatMap((query) => query.stages);
    // Both tables are read, their rows meet in a join, and the groups meet in one more stage.
    expect(stages.length).toBeGreaterThanOrEqual(3);
    expect(record.fragments).toBe(stages.length);
    const orders = await bytesOf('tpch.orders', ['o_orderkey', 'o_orderstatus']);
    expect(record.bytesScanned).toBe(orders + (await bytesOf('tpch.lineitem', ['l_orderkey'])));
  });

  test('fragments: 1 of a query that runs whole, those of its source for a write, 0 of a statement without a query', async () => {
    const whole = { sessionId: randomUUID() };
    await cluster.sql("SET skein.distribution = 'single'", whole);
    expect((await recordOf(JOIN, whole)).fragments).toBe(1);
    expect((await recordOf('SHOW SCHEMAS FROM lake')).fragments).toBe(0);
    await cluster.sql('CREATE SCHEMA lake.history_record');
    const written = await recordOf(`CREATE TABLE lake.history_record.joined AS ${JOIN}`, FORCED);
    expect(written.fragments).toBeGreaterThanOrEqual(3);
    expect(written).toMatchObject({ queryType: 'ctas', status: 'completed' });
    await cluster.sql('DROP TABLE lake.history_record.joined PURGE');
    await cluster.sql('DROP SCHEMA lake.history_record');
  });
});
