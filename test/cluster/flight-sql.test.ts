import { once } from 'node:events';
import { connect } from 'node:http2';
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD, type Cluster } from '#test/support/cluster.ts';
import { failureOf, FlightClient, ticketOf } from '#test/support/flight-client.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** Flight SQL as its bytes are; other people's drivers are in test/clients. */
let cluster: Cluster;
let url: string;
let token: string;
const open: FlightClient[] = [];

function client(authorization?: string): FlightClient {
  const made = new FlightClient(url, authorization ?? `Bearer ${token}`);
  open.push(made);
  return made;
}

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  url = must(cluster.ready.flight_sql_url, 'it serves Flight SQL');
  token = await cluster.token();
});
afterAll(() => open.forEach((one) => one[Symbol.dispose]()));

describe('a query', () => {
  test('gives the rows that HTTP gives', async () => {
    const sql = 'SELECT n_nationkey, n_name FROM lake.tpch.nation ORDER BY 1';
    const table = await client().query(sql);
    expect(table.schema.fields.map(({ name }) => name)).toEqual(['n_nationkey', 'n_name']);
    const rows = table.toArray().map((row) => {
      const { n_nationkey: key, n_name: name } = row as unknown as { n_nationkey: number | bigint; n_name: string };
      return [Number(key), name];
    });
    expect(rows).toEqual((await cluster.sql(sql)).map(([key, name]) => [Number(key), name]));
  });

  test('of many batches comes whole', async () => {
    const table = await client().query('SELECT l_orderkey FROM lake.tpch.lineitem');
    expect(table.numRows).toBe(Number((await cluster.sql('SELECT count(*) FROM lake.tpch.lineitem'))[0]?.[0]));
  });

  test('the schema of its info is that of its rows; timestamps with time zone are in UTC', async () => {
    const { schema } = await client().info('CommandStatementQuery', { query: 'SELECT now() AS t' });
    expect(schema.subarray(0, 4).toString('hex')).toBe('ffffffff');
    const table = await client().query("SELECT TIMESTAMPTZ '2020-01-01 00:00:00+01' AS t");
    expect(String(table.schema.fields[0]?.type)).toBe('Timestamp<MICROSECOND, UTC>');
  });
});

describe('an error', () => {
  test('has the status of the table, the SQLSTATE in its message, and its parts in the details', async () => {
    const failure = await failureOf(client().query('SELECT 1,\n  nothing'));
    expect(failure).toMatchObject({ code: status.INVALID_ARGUMENT, reason: 'COLUMN_NOT_FOUND' });
    expect(failure.message).toMatch(/^\[42703\] .*line 2, column 3/);
    expect(failure.info).toMatchObject({ sql_state: '42703', place: 'line 2, column 3' });
    expect(failure.info['query_id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.each([
    ['SELECT * FROM lake.tpch.nothing', status.NOT_FOUND],
    ['SELECT', status.INVALID_ARGUMENT],
    ["SELECT 1/0 FROM range(3) WHERE CAST(error('no') AS BOOLEAN)", status.INVALID_ARGUMENT],
  ])('%s', async (sql, code) => {
    expect((await failureOf(client().query(sql))).code).toBe(code);
  });

  test('bytes that are no command', async () => {
    expect(await failureOf(client().infoOf(Buffer.from('junk')))).toMatchObject({ reason: 'INVALID_REQUEST' });
    expect(await failureOf(client().infoOf(Buffer.alloc(0)))).toMatchObject({ code: status.UNIMPLEMENTED });
    expect(await failureOf(client().get(Buffer.from('junk')))).toMatchObject({ reason: 'INVALID_REQUEST' });
  });
});

describe('signing in', () => {
  test.each([
    ['nothing', '', '28000'],
    ['a token that is none', 'Bearer nonsense', '28000'],
    ['Basic without a colon', `Basic ${Buffer.from('admin').toString('base64')}`, '28000'],
    ['a wrong password', basic('admin', 'wrong'), '28P01'],
    ['an unknown user', basic('nobody', ADMIN_PASSWORD), '28P01'],
  ])('%s is refused', async (_what, authorization, state) => {
    expect(await failureOf(client(authorization).query('SELECT 1'))).toMatchObject({
      code: status.UNAUTHENTICATED,
      message: expect.stringContaining(`[${state}] `) as string,
    });
  });

  test('a call without credentials ends before its message has come', async () => {
    const connection = connect(url.replace('grpc+tcp', 'http'));
    try {
      const stream = connection.request({
        ':method': 'POST',
        ':path': '/arrow.flight.protocol.FlightService/GetFlightInfo',
        'content-type': 'application/grpc',
        te: 'trailers',
      });
      // The head of a message of 15 MiB, of which nothing follows.
      const head = Buffer.alloc(5);
      head.writeUInt32BE(15 * 2 ** 20, 1);
      stream.write(head);
      const [headers] = (await once(stream, 'response')) as [Record<string, string>];
      expect(headers['grpc-status']).toBe(String(status.UNAUTHENTICATED));
    } finally {
      connection.destroy();
    }
  });

  test('the password of the first start signs in, and so do id and secret of a client', async () => {
    expect((await client(basic('admin', ADMIN_PASSWORD)).query('SELECT 1')).numRows).toBe(1);
    const made = await cluster.cliOk(['admin', 'client', 'create', 'flight_etl']);
    const { client_id: id, client_secret: secret } = JSON.parse(made) as Record<string, string>;
    const table = await client(basic(String(id), String(secret))).query('SELECT current_user() AS u');
    expect(table.toArray().map((row) => (row as { u: string }).u)).toEqual(['flight_etl']);
  });

  test('a token of the user stands for its password, on every call', async () => {
    expect((await client(basic('admin', token)).query('SELECT 1')).numRows).toBe(1);
    expect(await failureOf(client(basic('somebody', token)).query('SELECT 1'))).toMatchObject({
      code: status.UNAUTHENTICATED,
    });
  });

  test('Handshake answers a token and a cookie', async () => {
    const { client: wire, metadata } = client(basic('admin', token));
    const call = wire.Handshake(metadata);
    const headers = new Promise<Record<string, unknown>>((resolve, reject) => {
      call
        .on('metadata', (given: { getMap(): Record<string, unknown> }) => resolve(given.getMap()))
        .on('error', reject);
    });
    call.on('data', () => undefined).end();
    expect(await headers).toMatchObject({
      authorization: expect.stringMatching(/^Bearer /) as string,
      'set-cookie': expect.stringContaining('skein-session=') as string,
    });
  });
});

describe('a ticket', () => {
  test('is good on any connection of its principal until it expires', async () => {
    const ticket = ticketOf(await client().info('CommandStatementQuery', { query: 'SELECT 1' }));
    for (let i = 0; i < 3; i += 1) expect((await client().get(ticket)).numRows).toBe(1);
    const both = await Promise.all([client().get(ticket), client().get(ticket)]);
    expect(both.map(({ numRows }) => numRows)).toEqual([1, 1]);
  });

  test('for more rows than are kept is good once', async () => {
    const query = `SELECT repeat('x', 1000) FROM range(20000)`;
    const ticket = ticketOf(await client().info('CommandStatementQuery', { query }));
    expect((await client().get(ticket)).numRows).toBe(20_000);
    expect(await failureOf(client().get(ticket))).toMatchObject({ code: status.NOT_FOUND });
  });

  test('is worth nothing without signing in, or to somebody else', async () => {
    const ticket = ticketOf(await client().info('CommandStatementQuery', { query: 'SELECT 1' }));
    expect(await failureOf(client('').get(ticket))).toMatchObject({ code: status.UNAUTHENTICATED });
    const [tenant, user] = ['flight_rival', 'flight_rival_admin'];
    await cluster.cliOk(['admin', 'tenant', 'create', tenant, '--user', user]);
    const foreign = await failureOf(client(`Bearer ${await cluster.token({ tenant, user })}`).get(ticket));
    expect(foreign).toMatchObject({ code: status.NOT_FOUND });
    expect((await client().get(ticket)).numRows).toBe(1);
  });
});
