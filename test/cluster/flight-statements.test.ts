import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  FixedSizeBinary,
  Field,
  Int32,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableFromIPC,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { decodeMessage, packMessage, type SqlMessages } from '#coordinator/api/flight-sql/flight-messages.ts';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { failureOf, FlightClient, ticketOf, unpacked, valuesOf } from '#test/support/flight-client.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** Statements over Flight SQL: as they are described before they run, and as they run with bound rows. */
let cluster: Cluster;
let client: FlightClient;
let token: string;
const SCHEMA = 'flight_statements';

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  token = await cluster.token();
  client = new FlightClient(must(cluster.ready.flight_sql_url, 'it serves Flight SQL'), `Bearer ${token}`);
  await cluster.sql(`CREATE SCHEMA lake.${SCHEMA}`);
  await cluster.sql(`CREATE TABLE lake.${SCHEMA}.t (x INT, s VARCHAR)`);
});
afterAll(() => client?.[Symbol.dispose]());

type Prepared = SqlMessages['ActionCreatePreparedStatementResult'][1];

async function prepare(query: string): Promise<Prepared> {
  const body = packMessage('ActionCreatePreparedStatementRequest', { query });
  return decodeMessage(
    'ActionCreatePreparedStatementResult',
    unpacked(await client.action('CreatePreparedStatement', body)),
  );
}

/** Columns with their types, of a schema as replies have it. */
function columnsOf(schema: Uint8Array): readonly string[] {
  return tableFromIPC(schema).schema.fields.map(({ name, type }) => `${name} ${String(type)}`);
}

async function schemaOf(query: string): Promise<readonly string[]> {
  const cmd = packMessage('CommandStatementQuery', { query });
  const { schema } = await new Promise<{ schema: Buffer }>((resolve, reject) => {
    client.client.GetSchema({ type: 'CMD', cmd }, client.metadata, (error, answer) => {
      if (error === null) resolve(must(answer, 'an answer'));
      else reject(error);
    });
  });
  return columnsOf(schema);
}

describe('without running it, each kind of statement tells its columns, or that it has none', () => {
  test.each([
    ['SELECT 1 AS x'],
    ['VALUES (1)'],
    [`FROM lake.${SCHEMA}.t`],
    ['SHOW CATALOGS'],
    ['SHOW SCHEMAS FROM lake'],
    [`SHOW TABLES FROM lake.${SCHEMA}`],
    ['SHOW QUERIES'],
    ['SHOW skein.ddl_in_transaction'],
    [`DESCRIBE lake.${SCHEMA}.t`],
    [`SHOW CREATE TABLE lake.${SCHEMA}.t`],
    ['EXPLAIN SELECT 1'],
    ['EXPLAIN ANALYZE SELECT 1'],
    [`INSERT INTO lake.${SCHEMA}.t VALUES (1, 'a') RETURNING x`],
  ])('%s', async (sql) => {
    const { dataset_schema: dataset, is_update: isUpdate } = await prepare(sql);
    const columns = columnsOf(dataset);
    expect({ isUpdate, isEmpty: columns.length === 0 }).toEqual({ isUpdate: false, isEmpty: false });
    expect(await schemaOf(sql)).toEqual(columns);
    const info = await client.info('CommandStatementQuery', { query: sql });
    expect(columnsOf(info.schema)).toEqual(columns);
    const { schema } = await client.get(ticketOf(info));
    expect(schema.fields.map(({ name, type }) => `${name} ${String(type)}`)).toEqual(columns);
  });

  test.each([
    [`CREATE TABLE lake.${SCHEMA}.made (x INT)`],
    [`CREATE VIEW lake.${SCHEMA}.made AS SELECT 1 AS x`],
    [`CREATE SCHEMA lake.${SCHEMA}_made`],
    [`ALTER TABLE lake.${SCHEMA}.t ADD COLUMN made INT`],
    [`DROP TABLE lake.${SCHEMA}.t`],
    [`INSERT INTO lake.${SCHEMA}.t VALUES (7, 'a')`],
    [`UPDATE lake.${SCHEMA}.t SET x = 7`],
    [`DELETE FROM lake.${SCHEMA}.t`],
    [`SET skein.query_timeout = '7s'`],
    ['BEGIN'],
  ])('%s', async (sql) => {
    const before = await state();
    const { dataset_schema: dataset, is_update: isUpdate } = await prepare(sql);
    expect({ isUpdate, columns: columnsOf(dataset) }).toEqual({ isUpdate: true, columns: [] });
    expect(await schemaOf(sql)).toEqual([]);
    expect(await state()).toEqual(before);
  });

  const state = async (): Promise<readonly unknown[]> => [
    await cluster.sql(`SHOW TABLES FROM lake.${SCHEMA}`),
    await cluster.sql(`SHOW SCHEMAS FROM lake LIKE '${SCHEMA}%'`),
    await cluster.sql(`DESCRIBE lake.${SCHEMA}.t`),
    await cluster.sql(`SELECT count(*), sum(x) FROM lake.${SCHEMA}.t`),
  ];

  test('a parameter whose type nothing decides is a text', async () => {
    const { parameter_schema: parameters } = await prepare(
      `SELECT ?, x FROM lake.${SCHEMA}.t WHERE x = ? AND s LIKE ?`,
    );
    expect(columnsOf(parameters).map((column) => column.split(' ')[1])).toEqual(['Utf8', 'Int32', 'Utf8']);
  });
});

test('the user-agent of a call is the source of its statement', async () => {
  const query = 'SELECT count(*) FROM range(100000000000) source_of_flight';
  const ticket = ticketOf(await client.info('CommandStatementQuery', { query }));
  const call = client.client.DoGet({ ticket }, client.metadata).on('error', () => undefined);
  await once(call, 'data');
  const response = await fetch(`${cluster.queryUrl}/api/query`, { headers: { authorization: `Bearer ${token}` } });
  const listed = JSON.stringify(await response.json());
  call.cancel();
  expect(listed).toMatch(/"source":"grpc-node-js\/[^"]*"/);
});

describe('rows that are bound to a statement', () => {
  const ids = (count: number): Table =>
    new Table({
      id: vectorFromArray(
        Array.from({ length: count }, (_, i) => i),
        new Int32(),
      ),
    });

  test('read one snapshot, whatever is committed between them', async () => {
    await cluster.sql(`CREATE TABLE lake.${SCHEMA}.read (x INT)`);
    await cluster.sql(`INSERT INTO lake.${SCHEMA}.read VALUES (1)`);
    const rows = 10;
    // Each execution has three MB, and the door keeps eight that nobody takes: the later ones have not begun when others commit.
    const sql = `SELECT ?::INT AS id, (SELECT count(*) FROM lake.${SCHEMA}.read) AS n, repeat('x', 500000) AS s FROM range(6)`;
    const { prepared_statement_handle: handle } = await prepare(sql);
    const command = { prepared_statement_handle: handle };
    await client.put(packMessage('CommandPreparedStatementQuery', command), ids(rows));
    const ticket = ticketOf(await client.info('CommandPreparedStatementQuery', command));
    for (let i = 0; i < 2; i += 1) await cluster.sql(`INSERT INTO lake.${SCHEMA}.read VALUES (2), (3)`);
    const read = valuesOf((await client.get(ticket)).select(['id', 'n']));
    expect(read).toEqual(Array.from({ length: 6 * rows }, (_, i) => [Math.floor(i / 6), '1']));
    expect(await cluster.sql(`SELECT count(*)::INT FROM lake.${SCHEMA}.read`)).toEqual([[5]]);
  });

  test('that are no batches as they say are refused, and nothing is allocated for what they claim', async () => {
    const { prepared_statement_handle: handle } = await prepare('SELECT ?');
    const command = packMessage('CommandPreparedStatementQuery', { prepared_statement_handle: handle });
    const data = makeData({
      type: new Utf8(),
      length: 1,
      valueOffsets: Int32Array.of(0, 2_000_000),
      data: Buffer.from('ab'),
    });
    const schema = new Schema([new Field('x', data.type, true)]);
    const batch = new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length: 1, children: [data] }));
    expect(await failureOf(client.put(command, new Table([batch])))).toMatchObject({ reason: 'INVALID_REQUEST' });
  });

  test('have UUIDs', async () => {
    const type = new FixedSizeBinary(16);
    const data = new Uint8Array(Buffer.from('0123456789ab4cde8f0123456789abcd', 'hex'));
    const schema = new Schema([new Field('u', type, true, new Map([['ARROW:extension:name', 'arrow.uuid']]))]);
    const column = makeData({ type, length: 1, data, nullBitmap: Uint8Array.of(255) });
    const batch = new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length: 1, children: [column] }));
    const { prepared_statement_handle: handle } = await prepare(
      'SELECT typeof(u) AS t, u::VARCHAR AS s FROM (SELECT ? AS u) q',
    );
    const command = { prepared_statement_handle: handle };
    await client.put(packMessage('CommandPreparedStatementQuery', command), new Table([batch]));
    const table = await client.get(ticketOf(await client.info('CommandPreparedStatementQuery', command)));
    expect(valuesOf(table)).toEqual([['UUID', '01234567-89ab-4cde-8f01-23456789abcd']]);
  });

  test.each([
    ['typed, beside literals and casts', `(?::BIGINT, 1, 'it''s', NULL, CAST(? AS DATE))`],
    ['as texts, in an expression', `(? + 0, 1, lower('IT''S'), NULL, ?)`],
  ])('insert %s: all of them by one write, or none', async (what, row) => {
    const count = 1_500;
    const name = `lake.${SCHEMA}.inserted_${what.includes('typed') ? 'typed' : 'texts'}`;
    await cluster.sql(`CREATE TABLE ${name} (x INT, one INT, s VARCHAR, nothing INT, d DATE)`);
    const { prepared_statement_handle: handle } = await prepare(`INSERT INTO ${name} VALUES ${row}`);
    const insert = (last: string): Promise<Buffer> =>
      client.put(
        packMessage('CommandPreparedStatementUpdate', { prepared_statement_handle: handle }),
        new Table({
          x: vectorFromArray(
            Array.from({ length: count }, (_, i) => i),
            new Int32(),
          ),
          d: vectorFromArray(
            Array.from({ length: count }, (_, i) => (i === count - 1 ? last : '2020-02-28')),
            new Utf8(),
          ),
        }),
      );
    expect(await failureOf(insert('2020-02-30'))).toMatchObject({
      info: { sql_state: expect.stringMatching(/^22/) as string },
    });
    expect(await cluster.sql(`SELECT count(*)::INT FROM ${name}`)).toEqual([[0]]);
    expect(decodeMessage('DoPutUpdateResult', await insert('2020-02-29')).record_count).toBe(String(count));
    expect(
      await cluster.sql(
        `SELECT count(DISTINCT x)::INT, sum(one)::INT, min(s), count(nothing)::INT, max(d)::VARCHAR FROM ${name}`,
      ),
    ).toEqual([[count, count, "it's", 0, '2020-02-29']]);
    expect(
      await cluster.sql(`SELECT count(*)::INT FROM lake.${SCHEMA}."${name.split('.')[2] ?? ''}$snapshots"`),
    ).toEqual([[1]]);
  });
});
