import { randomUUID } from 'node:crypto';
import { tableFromIPC } from 'apache-arrow';
import { beforeAll, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { Json } from '#shared/json.ts';
import type { Cluster, QueryBody } from '#test/support/cluster.ts';
import { TYPES } from '#test/support/duckdb-types.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** Results that are kept, and answers that are cut or put in order. */
let cluster: Cluster;
const sessionId = randomUUID();
const forced = randomUUID();

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.sql("SET timezone = 'Asia/Kolkata'", { sessionId });
  await cluster.sql("SET skein.distribution = 'force'", { sessionId: forced });
});

type Asked = { readonly id?: string; readonly accept?: string; readonly session?: string; readonly token?: string };

async function call(path: string, method: string, asked: Asked, body?: Json): Promise<Response> {
  return fetch(`${cluster.queryUrl}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${asked.token ?? (await cluster.token())}`,
      'x-skein-session': asked.session ?? sessionId,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(asked.id === undefined ? {} : { 'x-skein-query-id': asked.id }),
      ...(asked.accept === undefined ? {} : { accept: asked.accept }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

const ARROW = 'application/vnd.apache.arrow.stream';
type Answer = QueryBody & { readonly cut?: true };
const post = (body: Json, asked: Asked = {}): Promise<Response> => call('/api/query', 'POST', asked, body);
const answer = async (body: Json, asked: Asked = {}): Promise<Answer> =>
  (await post(body, asked)).json() as Promise<Answer>;

/** As many types as a query's columns have, so that few queries try all of them. A HUGEINT of 39 digits has no Arrow form. */
const TYPES_AT_ONCE = 18;
const SENT = TYPES.filter(([type]) => type !== 'HUGEINT');
const GROUPS = Array.from({ length: Math.ceil(SENT.length / TYPES_AT_ONCE) }, (_, i) =>
  SENT.slice(i * TYPES_AT_ONCE, (i + 1) * TYPES_AT_ONCE),
);

/** Rows in which each type has each of its values, by itself and within others. */
function typedRows(types: (typeof GROUPS)[number]): string {
  const columns = types.flatMap(([type, all], i) => {
    const list = [...all.map((value) => `CAST(${value} AS ${type})`), 'NULL'];
    const value = `([${list.join(', ')}][1 + i % ${list.length}])`;
    const nested = `[${value}, NULL] AS l${i}, {'a b': ${value}} AS s${i}, row([${value}]) AS r${i}, MAP {'k': ${value}} AS m${i}, MAP {i: ${value}} AS n${i}`;
    return type.length > 100 ? [`${value} AS v${i}`] : [`${value} AS v${i}`, nested];
  });
  return `SELECT i, ${columns.join(', ')} FROM range(19) AS r(i) ORDER BY i`;
}

describe('rows that are kept', () => {
  test.each(GROUPS.keys().toArray())(
    'of each type: JSON is the same as without, whole and cut: group %d',
    async (group) => {
      const sql = typedRows(must(GROUPS[group], 'a group'));
      const [streamed, kept] = [await answer({ sql }), await answer({ sql, keep: true })];
      expect(streamed.message).toBeUndefined();
      expect(kept.rows).toEqual(streamed.rows);
      expect([kept.columns, kept.types]).toEqual([streamed.columns, streamed.types]);
      for (const keep of [true, false]) {
        const cut = await answer({ sql, row_limit: 7, keep });
        expect([cut.rows, cut.row_count, cut.cut]).toEqual([streamed.rows?.slice(0, 7), 7, true]);
      }
    },
  );

  test('of SHOW: moments are the same as without, in a query of it, too', async () => {
    await answer({ sql: 'SELECT 4714 AS seen' });
    const show = "SHOW QUERY HISTORY LIMIT 1 LIKE '%4714 AS seen'";
    for (const sql of [show, `SELECT queued_at, ended_at FROM (${show})`]) {
      const [streamed, kept] = [await answer({ sql }), await answer({ sql, keep: true })];
      expect(JSON.stringify(streamed.rows)).toMatch(/"\d{4}-\d\d-\d\dT[\d:.]{12}Z"/);
      expect(kept.rows).toEqual(streamed.rows);
    }
  });

  test('are there in both forms, once they have come; another tenant and another user see nothing of them', async () => {
    const id = randomUUID();
    const sql = "SELECT i, 'x' || i AS t FROM range(20000) AS r(i) ORDER BY i";
    expect((await post({ sql, keep: true }, { id })).status).toBe(200);
    const path = `/api/query/${id}/result`;
    const json = (await (await call(path, 'GET', {})).json()) as Answer;
    expect([json.row_count, json.rows?.at(-1)]).toEqual([20_000, [19_999, 'x19999']]);
    const arrow = tableFromIPC(new Uint8Array(await (await call(path, 'GET', { accept: ARROW })).arrayBuffer()));
    expect(arrow.numRows).toBe(20_000);
    await cluster.sql(`CREATE USER kept_reader EMAIL 'kept@example.com' PASSWORD 'Correct-Horse-8'`);
    for (const token of [
      await cluster.token({ user: 'kept_reader' }),
      await cluster.token({ scope: ['catalog:read'] }),
    ]) {
      expect([404, 403]).toContain((await call(path, 'GET', { token })).status);
    }
    expect((await call(path, 'DELETE', {})).status).toBe(204);
    expect((await call(path, 'GET', {})).status).toBe(404);
    const again = await answer({ sql, keep: true }, { id });
    expect(again.message).toContain('was sent under the id');
  });

  test('a write runs once, also when its client has left', async () => {
    await cluster.sql('CREATE SCHEMA IF NOT EXISTS kept');
    await cluster.sql('CREATE OR REPLACE TABLE kept.t (a BIGINT)');
    const id = randomUUID();
    const sql = 'INSERT INTO kept.t SELECT * FROM range(10)';
    const both = await Promise.all([answer({ sql, keep: true }, { id }), answer({ sql, keep: true }, { id })]);
    expect(both.map(({ rows }) => rows)).toEqual([[[10]], [[10]]]);
    expect(await cluster.sql('SELECT count(*) FROM kept.t')).toEqual([[10]]);
  });
});

describe('an answer that is cut or ordered', () => {
  const QUERIES = [
    'SELECT i % 7 AS k, i AS v, [i] AS l FROM range(5000) AS r(i)',
    '(SELECT i % 7 AS k, i AS v, [i] AS l FROM range(5000) AS r(i) ORDER BY i DESC LIMIT 3000); -- end',
    'SELECT CASE WHEN i % 3 = 0 THEN NULL ELSE i % 7 END AS k, i AS v, [i] AS l FROM range(5000) AS r(i)',
    'SELECT o_custkey % 7 AS k, o_orderkey AS v, [o_orderkey] AS l FROM lake.tpch.orders WHERE o_orderkey < 20000',
  ];

  test.each(QUERIES)('has the first rows of all in their order: %s', async (sql) => {
    const whole = must((await answer({ sql })).rows, 'rows') as [number | null, number, number[]][];
    const orderBy = [{ column: 'K', descending: true }, { column: 'v' }];
    const last = Number.NEGATIVE_INFINITY;
    const expected = whole.toSorted(([k, v], [l, w]) => (l ?? last) - (k ?? last) || v - w);
    for (const [more, session] of [
      [{}, sessionId],
      [{ keep: true }, sessionId],
      [{}, forced],
    ] as const) {
      const found = await answer({ sql, row_limit: 100, order_by: orderBy, ...more }, { session });
      expect([found.row_count, found.cut]).toEqual([100, true]);
      expect(found.rows).toEqual(expected.slice(0, 100));
    }
    const all = await answer({ sql, row_limit: whole.length, order_by: orderBy });
    expect([all.row_count, all.cut, all.rows]).toEqual([whole.length, undefined, expected]);
    const cut = await post({ sql, row_limit: 2_049, order_by: orderBy }, { accept: ARROW });
    expect(cut.headers.get('x-skein-cut')).toBe('true');
    const table = tableFromIPC(new Uint8Array(await cut.arrayBuffer()));
    expect(table.toArray().map((row) => Number((row as { v: bigint }).v))).toEqual(
      expected.slice(0, 2_049).map(([, v]) => v),
    );
  });

  test('SHOW and its like are cut and ordered as well; what changes rows is not ordered', async () => {
    const sql = 'SHOW ALL';
    const whole = must((await answer({ sql })).rows, 'rows');
    const name = must((await answer({ sql })).columns?.[0], 'a column');
    const found = await answer({ sql, row_limit: 3, order_by: [{ column: name, descending: true }] });
    const names = whole
      .map(([one]) => one as string)
      .toSorted((a, b) => Buffer.compare(Buffer.from(b), Buffer.from(a)));
    expect([found.rows?.map(([one]) => one), found.cut]).toEqual([names.slice(0, 3), true]);
    expect((await answer({ sql, order_by: [{ column: 'nope' }] })).error).toBe('COLUMN_NOT_FOUND');
    expect((await answer({ sql: 'SELECT 1 AS a, 2 AS a', order_by: [{ column: 'a' }] })).error).toBe(
      'AMBIGUOUS_COLUMN',
    );
    await cluster.sql('CREATE SCHEMA IF NOT EXISTS kept');
    await cluster.sql('CREATE OR REPLACE TABLE kept.r (a BIGINT)');
    const insert = 'INSERT INTO kept.r SELECT * FROM range(10) RETURNING a';
    expect((await answer({ sql: insert, order_by: [{ column: 'a' }] })).error).toBe('NOT_SUPPORTED');
    expect(await cluster.sql('SELECT count(*) FROM kept.r')).toEqual([[0]]);
    const cut = await answer({ sql: insert, row_limit: 4 });
    expect([cut.row_count, cut.cut]).toEqual([4, true]);
    expect(await cluster.sql('SELECT count(*) FROM kept.r')).toEqual([[10]]);
  });

  test('says where an error is', async () => {
    const failed = await post({ sql: "SELECT '🦆', nope" });
    expect([failed.status, failed.headers.get('x-skein-position')]).toEqual([400, '13']);
  });
});

describe('a statement that only is described', () => {
  const describeIt = async (sql: string, asked: Asked = {}): Promise<Json> =>
    (await call('/api/describe', 'POST', asked, { sql })).json() as Promise<Json>;

  test('tells its columns and the types of its parameters, changes nothing, and leaves no record', async () => {
    expect(
      await describeIt('SELECT o_orderkey + 1 AS k, ?::DATE AS d FROM lake.tpch.orders WHERE o_custkey = ?'),
    ).toEqual({
      kind: 'rows',
      tag: 'SELECT',
      columns: [
        { name: 'k', type: 'BIGINT' },
        { name: 'd', type: 'DATE' },
      ],
      parameters: [
        { name: '1', type: 'DATE' },
        { name: '2', type: expect.stringMatching(/INT/) as string },
      ],
    });
    await cluster.sql('CREATE SCHEMA IF NOT EXISTS kept');
    expect(await describeIt('CREATE TABLE kept.described (a INT)')).toMatchObject({ kind: 'nothing', columns: null });
    expect((await cluster.query('SELECT * FROM kept.described')).body.error).toBe('TABLE_NOT_FOUND');
    const failed = await call('/api/describe', 'POST', {}, { sql: 'SELECT nope' });
    expect([failed.status, failed.headers.get('x-skein-position')]).toEqual([400, '8']);
  });

  test('tells a reader nothing of what it may not read', async () => {
    const token = await cluster.token({ scope: ['catalog:read'] });
    expect(await describeIt('SELECT * FROM lake.tpch.orders', { token })).toMatchObject({ error: 'FORBIDDEN' });
  });
});

test('a session tells its catalog, schema, settings and transaction to its owner alone', async () => {
  const session = randomUUID();
  const told = async (asked: Asked): Promise<{ readonly settings: { name: string }[] }> =>
    (await call('/api/session', 'GET', asked)).json() as Promise<{ readonly settings: { name: string }[] }>;
  const zone = async (asked: Asked): Promise<unknown> =>
    (await told(asked)).settings.find(({ name }) => name.toLowerCase() === 'timezone');
  for (const sql of ['USE lake.tpch', "SET timezone = 'Asia/Tokyo'", 'BEGIN'])
    await cluster.sql(sql, { sessionId: session });
  expect(await told({ session })).toMatchObject({
    catalog: 'lake',
    schema: 'tpch',
    role: null,
    transaction: { state: 'open', read_only: false },
  });
  expect(await zone({ session })).toMatchObject({ value: 'Asia/Tokyo', is_set: true });
  await cluster.query('SELECT nope', { sessionId: session });
  expect(await told({ session })).toMatchObject({ transaction: { state: 'failed' } });
  const token = await cluster.token({ user: 'kept_reader' });
  expect(JSON.stringify(await told({ session, token }))).not.toMatch(/Asia.Tokyo|failed/);
  await cluster.sql('ROLLBACK', { sessionId: session });
  expect(await told({ session })).toMatchObject({ transaction: null });
});

test('the history is sorted, told with all members, and summed by a property and by time', async () => {
  const mark = `mark_${randomUUID().replaceAll('-', '')}`;
  for (const [rows, source] of [
    [3, 'etl'],
    [9, 'etl'],
    [5, 'page'],
  ] as const) {
    await cluster.sql(`SELECT i AS ${mark} FROM range(${rows}) AS r(i)`, { source });
  }
  await cluster.query(`SELECT nope AS ${mark}`, { source: 'page' });
  const get = async <T>(path: string, token?: string): Promise<T> =>
    (await call(`/api/query-history${path}`, 'GET', token === undefined ? {} : { token })).json() as Promise<T>;
  type Entry = { readonly rowsProduced: number; readonly source?: string; readonly errorCode?: string | null };
  const sorted = async (sort: string): Promise<readonly number[]> =>
    (await get<Entry[]>(`?text=${mark}&status=completed&sort=${sort}`)).map(({ rowsProduced }) => rowsProduced);
  expect([await sorted('rows_produced'), await sorted('-rows_produced'), await sorted('queued_at')]).toEqual([
    [3, 5, 9],
    [9, 5, 3],
    [3, 9, 5],
  ]);
  const [last] = await get<Entry[]>(`?text=${mark}&fields=all`);
  expect(last).toMatchObject({ source: 'page', errorCode: 'COLUMN_NOT_FOUND', username: expect.any(String) as string });
  expect((await get<Entry[]>(`?text=${mark}`))[0]?.source).toBeUndefined();
  type Summary = { readonly lines: readonly { value: string; bucket: string; count: number; rowsProduced: number }[] };
  const bySource = await get<Summary>(`/summary?text=${mark}&by=source`);
  expect(
    bySource.lines.map(({ value, count, rowsProduced }) => `${value} ${count} ${rowsProduced}`).toSorted(),
  ).toEqual(['etl 2 12', 'page 2 5']);
  const byTime = await get<Summary>(`/summary?text=${mark}&bucket_s=3600&from=2020-01-01T00:00:00Z`);
  expect(byTime.lines.reduce((sum, { count }) => sum + count, 0)).toBe(4);
  expect(byTime.lines.every(({ bucket }) => bucket.endsWith(':00:00.000Z'))).toBe(true);
  const reader = await cluster.token({ user: 'kept_reader' });
  expect(JSON.stringify(await get(`/summary?text=${mark}&by=status`, reader))).not.toContain('completed');
});
