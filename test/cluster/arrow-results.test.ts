import { randomUUID } from 'node:crypto';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { tableFromIPC, type Table } from 'apache-arrow';
import { beforeAll, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { refusedFragments } from '#test/support/refused-fragments.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { LONG_INTERVALS, sourceSql, TYPES } from '#test/support/duckdb-types.ts';
import { printIpc } from '#test/support/ipc-rows.ts';

/** Results as Arrow: what a client reads is what plain DuckDB prints. */
let cluster: Cluster;
let duckdb: DuckDBConnection;
const sessionId = randomUUID();
const forced = randomUUID();

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.sql("SET timezone = 'Asia/Tokyo'", { sessionId });
  for (const setting of [
    "skein.distribution = 'force'",
    "skein.join_distribution = 'partitioned'",
    'skein.partitions = 3',
    "timezone = 'Asia/Tokyo'",
  ]) {
    await cluster.sql(`SET ${setting}`, { sessionId: forced });
  }
  duckdb = await (await DuckDBInstance.create(':memory:')).connect();
  await duckdb.run("SET TimeZone = 'Asia/Tokyo'");
});

const ARROW = 'application/vnd.apache.arrow.stream';

async function ask(sql: string, { session = sessionId, accept = ARROW } = {}): Promise<Response> {
  return fetch(`${cluster.queryUrl}/api/query`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${await cluster.token()}`,
      accept,
      'x-skein-session': session,
    },
    body: JSON.stringify({ sql }),
  });
}

async function arrow(sql: string, session = sessionId): Promise<Table> {
  const response = await ask(sql, { session });
  expect([response.status, response.headers.get('content-type')], sql).toEqual([200, ARROW]);
  return tableFromIPC(new Uint8Array(await response.arrayBuffer()));
}

const fieldsOf = (table: Table): readonly string[] => table.schema.fields.map(({ name, type }) => `${name} ${type}`);

/** The Arrow types of SQL types that clients get in another form than workers exchange, or that have arguments. */
const ARROW_TYPES: Readonly<Record<string, string>> = {
  HUGEINT: 'Decimal[38e0]',
  UHUGEINT: 'Utf8',
  BIGNUM: 'Utf8',
  BIT: 'Utf8',
  UUID: 'Utf8',
  TIMETZ: 'Utf8',
  JSON: 'Utf8',
  BOOLEAN: 'Bool',
  'DECIMAL(4, 1)': 'Decimal[4e+1]',
  'DECIMAL(38, 10)': 'Decimal[38e+10]',
  TIMESTAMPTZ: 'Timestamp<MICROSECOND, Asia/Tokyo>',
  INTERVAL: 'Interval<MONTH_DAY_NANO>',
  "ENUM('a', 'b', 'a longer name')": 'Utf8',
};

/** A HUGEINT is a decimal: of its values those of 38 digits. */
const WHOLE = '9'.repeat(38);
const SENT = TYPES.map((one) =>
  one[0] === 'HUGEINT' ? (['HUGEINT', [`'-${WHOLE}'`, '0', `'${WHOLE}'`]] as const) : one,
);

describe('each type', () => {
  test.each(SENT)('%s: values, NULLs, no rows', async (type, values) => {
    const sql = `SELECT v FROM (${sourceSql(type, values)})`;
    const response = await ask(sql);
    const stream = Buffer.from(await response.arrayBuffer());
    expect(response.status, stream.toString().slice(0, 300)).toBe(200);
    const expected = (await duckdb.runAndReadAll(`SELECT CAST(v AS VARCHAR) FROM (${sql})`)).getRows();
    expect(printIpc(stream, 'Asia/Tokyo')).toEqual(expected);
    const table = tableFromIPC(stream);
    const wanted = ARROW_TYPES[type];
    if (wanted !== undefined) expect(fieldsOf(table)).toEqual([`v ${wanted}`]);
    const { body } = await cluster.query(`${sql} LIMIT 0`, { sessionId });
    expect(table.schema.fields[0]?.metadata.get('skein.type')).toBe(body.types?.[0]);
    const empty = await arrow(`${sql} WHERE v IS NULL AND v IS NOT NULL`);
    expect([empty.numRows, fieldsOf(empty)]).toEqual([0, fieldsOf(table)]);
  });

  test.each([
    'v',
    '[NULL, v]',
    '[v, NULL]::INTERVAL[2]',
    "{'a': 1, 'b': [v]}",
    'MAP {v: 1}',
    "MAP {'k': v}",
    'union_value(a := v)',
    'row([{"x": v}, NULL], 5::HUGEINT)',
  ])('an INTERVAL that Arrow cannot hold is an error: %s', async (value) => {
    for (const interval of LONG_INTERVALS) {
      const response = await ask(`SELECT i, ${value} AS v FROM (SELECT ${interval} AS v), range(3) AS r(i)`);
      expect(await response.json(), interval).toMatchObject({
        error: 'NUMERIC_OVERFLOW',
        sql_state: '22003',
        message: expect.stringContaining('an INTERVAL of more than 2562047 hours') as string,
      });
    }
    const { numRows } = await arrow(
      `SELECT ${value} AS v FROM (SELECT unnest([to_days(1), NULL]) AS v) WHERE v IS NOT NULL`,
    );
    expect(numRows).toBe(1);
  });

  /** As many types as a query's columns have, so that few queries try all of them; UNION does not travel. */
  const TYPES_AT_ONCE = 18;
  const travelling = [...TYPES, ['INTERVAL', LONG_INTERVALS] as const].filter(([type]) => !type.includes('UNION'));
  const groups = Array.from({ length: Math.ceil(travelling.length / TYPES_AT_ONCE) }, (_, i) =>
    travelling.slice(i * TYPES_AT_ONCE, (i + 1) * TYPES_AT_ONCE),
  );

  test.each(groups.keys().toArray())(
    'travels between fragments, by itself and inside of others: group %d',
    async (group) => {
      const types = must(groups[group], 'a group');
      const rows = 25;
      const values = types.map(([type, all]) => {
        const list = [...all.map((value) => `CAST(${value} AS ${type})`), 'NULL'];
        return `[${list.join(', ')}][1 + k % ${list.length}]`;
      });
      const names = values.map((_, i) => `v${i}`);
      const source = (keys: string): string =>
        `SELECT k, ${values.map((value, i) => `${value} AS v${i}`).join(', ')} FROM (${keys})`;
      const texts = (from: string): string => {
        const nested = types.map(([type], i) =>
          type.startsWith('ENUM') ? `${from}.v${i}` : `[{'a': ${from}.v${i}}, NULL]`,
        );
        return [...names.map((name) => `${from}.${name}`), ...nested].map((value) => `(${value})::VARCHAR`).join(', ');
      };
      const query = (keys: string): string =>
        `WITH s AS (${source(keys)}) SELECT k, ${texts('a')}, ${texts('b')} ` +
        `FROM (SELECT DISTINCT * FROM s) AS a JOIN s AS b USING (k) ORDER BY k`;
      const refusals = await refusedFragments(cluster);
      const sql = query('SELECT n_nationkey AS k FROM lake.tpch.nation');
      const { body } = await cluster.query(sql, { sessionId: forced });
      const expected = await duckdb.runAndReadAll(query(`SELECT i::INTEGER AS k FROM range(${rows}) AS r(i)`));
      expect([body.message, body.rows]).toEqual([undefined, expected.getRows()]);
      expect(await refusedFragments(cluster)).toBe(refusals);
      const plan = JSON.stringify(await cluster.sql(`EXPLAIN (TYPE DISTRIBUTED) ${sql}`, { sessionId: forced }));
      expect(plan.match(/-> \w+/g)).toEqual(['-> result', '-> gather', '-> hash', '-> hash', '-> hash', '-> keep']);
    },
  );

  test('sums of integers are numbers; one of more digits than a decimal has is an error', async () => {
    const table = await arrow('SELECT sum(i) AS s, [sum(i)] AS l FROM range(5) AS r(i)');
    expect(fieldsOf(table)).toEqual(['s Decimal[38e0]', 'l List<Decimal[38e0]>']);
    expect(await (await ask(`SELECT 1${WHOLE}::HUGEINT AS h FROM range(1)`)).json()).toMatchObject({
      error: 'NUMERIC_OVERFLOW',
      sql_state: '22003',
    });
  });

  test('what has no name or no type gets one', async () => {
    const table = await arrow("SELECT row(1, 'x', 5::HUGEINT) AS r, NULL AS n, [NULL] AS l");
    expect(fieldsOf(table)).toEqual(['r Struct<{1:Int32, 2:Utf8, 3:Decimal[38e0]}>', 'n Int32', 'l List<Int32>']);
    expect(String(table.getChild('r')?.get(0))).toBe('{"1": 1, "2": "x", "3": 5}');
  });

  test('a union is its value, under the member’s name', async () => {
    const table = await arrow('SELECT u FROM (VALUES (union_value(a := 1)), (2)) AS t(u)');
    expect(table.toArray().map((row) => (row as { u: unknown }).u)).toEqual([1, 2]);
  });
});

describe('results', () => {
  test('of many batches and tasks, whole and in stages, are those that JSON has', async () => {
    const sql = 'SELECT o_orderkey, o_totalprice, o_orderdate, o_comment FROM lake.tpch.orders';
    const rows = await cluster.sql(`SELECT count(*), sum(o_orderkey)::BIGINT FROM (${sql})`);
    for (const session of [sessionId, forced]) {
      const table = await arrow(sql, session);
      const keys = must(table.getChild('o_orderkey'), 'a column');
      let sum = 0n;
      for (let i = 0; i < table.numRows; i += 1) sum += keys.get(i) as bigint;
      expect([table.numRows, Number(sum)]).toEqual(rows[0]);
    }
  });

  test('of commands are text', async () => {
    const table = await arrow('SHOW SCHEMAS FROM lake');
    expect(fieldsOf(table).every((field) => field.endsWith(' Utf8'))).toBe(true);
    const { body } = await cluster.query('SHOW SCHEMAS FROM lake', { sessionId });
    expect(table.toArray().map((row) => Object.values((row as { toJSON(): object }).toJSON()))).toEqual(body.rows);
    expect((await arrow('DESCRIBE lake.tpch.orders')).numRows).toBe(9);
  });

  test('names are those of the query, also where they repeat or are strange', async () => {
    const table = await arrow(`SELECT 1 AS a, 2 AS a, 3 AS "ä ""b", 4 AS "SELECT"`);
    expect(table.schema.names).toEqual(['a', 'a', 'ä "b', 'SELECT']);
  });

  test('an error is JSON with its status; what does not ask for Arrow gets JSON', async () => {
    const wrong = await ask('SELECT nothing');
    expect([wrong.status, wrong.headers.get('content-type')]).toEqual([400, 'application/json; charset=utf-8']);
    expect(await wrong.json()).toMatchObject({ error: 'COLUMN_NOT_FOUND' });
    const late = await ask("SELECT CAST(n || 'x' AS INTEGER) FROM range(3) AS r(n)");
    expect(await late.json()).toMatchObject({ error: 'INVALID_CAST', sql_state: '22P02' });
    for (const accept of ['*/*', 'application/json', `${ARROW}x`]) {
      expect((await ask('SELECT 1', { accept })).headers.get('content-type')).toContain('application/json');
    }
    const either = await ask('SELECT 1', { accept: `application/json;q=0.5, ${ARROW.toUpperCase()};q=1` });
    expect(either.headers.get('content-type')).toBe(ARROW);
  });
});
