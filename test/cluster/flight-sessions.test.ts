import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { status } from '@grpc/grpc-js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { decodeMessage, encodeMessage, packMessage } from '#coordinator/api/flight-sql/flight-messages.ts';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { failureOf, FlightClient, ticketOf, unpacked, valuesOf } from '#test/support/flight-client.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';

/** The actions of Flight SQL: sessions, transactions, results that are cancelled and renewed. */
let cluster: Cluster;
let client: FlightClient;
let token: string;
const SCHEMA = 'flight_sessions';

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  token = await cluster.token();
  await cluster.sql(`CREATE SCHEMA lake.${SCHEMA}`);
  await cluster.sql(`CREATE TABLE lake.${SCHEMA}.t (x INT)`);
});
beforeEach(() => {
  client?.[Symbol.dispose]();
  client = inSession();
});
afterAll(() => client[Symbol.dispose]());

function inSession(): FlightClient {
  const made = new FlightClient(must(cluster.ready.flight_sql_url, 'it serves Flight SQL'), `Bearer ${token}`);
  made.metadata.set('cookie', `other=1; skein-session=${randomUUID()}`);
  return made;
}

type Option = Parameters<typeof encodeMessage<'SessionOptionValue'>>[1];

async function setOptions(options: Record<string, Option>): Promise<object> {
  const body = encodeMessage('SetSessionOptionsRequest', { session_options: options });
  const [answer] = await client.action('SetSessionOptions', body);
  return decodeMessage('SetSessionOptionsResult', must(answer, 'a result')).errors;
}

async function options(): Promise<Record<string, string | undefined>> {
  const [answer] = await client.action('GetSessionOptions', encodeMessage('GetSessionOptionsRequest', {}));
  const { session_options: all } = decodeMessage('GetSessionOptionsResult', must(answer, 'a result'));
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [name, value.string_value]));
}

test('ListActions lists what is there; Substrait is not', async () => {
  const types: string[] = [];
  for await (const listed of client.client.ListActions({}, client.metadata)) {
    types.push((listed as { type: string }).type);
  }
  expect(types).toContain('SetSessionOptions');
  expect(types).toContain('BeginSavepoint');
  expect(types).not.toContain('BeginSubstrait');
  expect(await failureOf(client.action('BeginSubstrait'))).toMatchObject({ code: status.UNIMPLEMENTED });
});

describe('options of the session', () => {
  test('say the catalog and schema in force, and hold until it is closed', async () => {
    expect(await options()).toMatchObject({ catalog: 'lake', schema: 'default', timezone: 'UTC' });
    const wanted = { schema: { string_value: SCHEMA }, timezone: { string_value: 'Asia/Tokyo' } };
    expect(await setOptions(wanted)).toEqual({});
    expect(await options()).toMatchObject({ catalog: 'lake', schema: SCHEMA, timezone: 'Asia/Tokyo' });
    expect((await client.query('SELECT * FROM t')).schema.fields).toHaveLength(1);
    await client.action('CloseSession');
    expect(await options()).toMatchObject({ schema: 'default', timezone: 'UTC' });
  });

  test('values of every type are taken as texts; none is the default again', async () => {
    expect(await setOptions({ 'skein.partitions': { int64_value: 7 } })).toEqual({});
    expect(await options()).toMatchObject({ 'skein.partitions': '7' });
    expect(await setOptions({ 'skein.partitions': {} })).toEqual({});
    expect(await options()).toMatchObject({ 'skein.partitions': 'auto' });
  });

  test('a wrong one does not hinder the others', async () => {
    const errors = await setOptions({
      nothing: { string_value: 'x' },
      schema: { string_value: 'nowhere' },
      'skein.partitions': { string_value: 'many' },
      'skein.task_width': { string_value: 'narrow' },
    });
    expect(errors).toEqual({
      nothing: { value: 'INVALID_NAME' },
      schema: { value: 'INVALID_VALUE' },
      'skein.partitions': { value: 'INVALID_VALUE' },
    });
    expect(await options()).toMatchObject({ 'skein.task_width': 'narrow' });
  });

  test('are those of one session', async () => {
    await setOptions({ schema: { string_value: SCHEMA } });
    client[Symbol.dispose]();
    client = inSession();
    expect(await options()).toMatchObject({ schema: 'default' });
  });
});

async function begin(): Promise<Buffer> {
  const body = packMessage('ActionBeginTransactionRequest', {});
  return decodeMessage('ActionBeginTransactionResult', unpacked(await client.action('BeginTransaction', body)))
    .transaction_id;
}

const end = (id: Buffer, action: 'END_TRANSACTION_COMMIT' | 'END_TRANSACTION_ROLLBACK'): Promise<unknown> =>
  client.action('EndTransaction', packMessage('ActionEndTransactionRequest', { transaction_id: id, action }));

const count = async (transaction?: Buffer): Promise<number> =>
  Number(valuesOf(await client.query(`SELECT count(*) FROM lake.${SCHEMA}.t`, transaction))[0]?.[0]);

test('cursors give a part of their rows, forwards and backwards, with nested values and NULL', async () => {
  const rows =
    "SELECT i, CASE WHEN i % 2 = 0 THEN 'v' || i END AS v, [i, NULL] AS l, {'a': i} AS s FROM range(5000) AS t(i)";
  await client.run(`DECLARE c CURSOR WITH HOLD FOR ${rows} ORDER BY i`);
  const fetched = async (direction: string): Promise<unknown> => {
    const table = await client.query(`FETCH ${direction} FROM c`);
    return JSON.parse(
      JSON.stringify(table.toArray(), (_key, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)),
    );
  };
  const row = (i: number): object => ({ i, v: i % 2 === 0 ? `v${i}` : null, l: [i, null], s: { a: i } });
  expect(await fetched('2')).toEqual([row(0), row(1)]);
  expect(await fetched('ABSOLUTE 4998')).toEqual([row(4_997)]);
  expect(await fetched('5')).toEqual([row(4_998), row(4_999)]);
  expect(await fetched('BACKWARD 2')).toEqual([row(4_999), row(4_998)]);
  expect(await failureOf(client.query('FETCH FROM nothing'))).toMatchObject({ reason: 'CURSOR_NOT_FOUND' });
});

describe('transactions', () => {
  test('several are open at once; what names none runs outside', async () => {
    const before = await count();
    const [first, second] = [await begin(), await begin()];
    await client.run(`INSERT INTO lake.${SCHEMA}.t VALUES (1)`, first);
    await client.run(`INSERT INTO lake.${SCHEMA}.t VALUES (2), (3)`, second);
    expect([await count(first), await count(second), await count()]).toEqual([before + 1, before + 2, before]);
    await end(first, 'END_TRANSACTION_COMMIT');
    await end(second, 'END_TRANSACTION_ROLLBACK');
    expect(await count()).toBe(before + 1);
    expect(await failureOf(end(first, 'END_TRANSACTION_COMMIT'))).toMatchObject({ reason: 'NO_TRANSACTION' });
    expect(await failureOf(client.query('SELECT 1', second))).toMatchObject({ reason: 'NO_TRANSACTION' });
    expect(await failureOf(client.query('SELECT 1', Buffer.from('x')))).toMatchObject({ reason: 'NO_TRANSACTION' });
  });

  test('have savepoints, which bring them back after an error', async () => {
    const before = await count();
    const id = await begin();
    await client.run(`INSERT INTO lake.${SCHEMA}.t VALUES (11)`, id);
    const named = packMessage('ActionBeginSavepointRequest', { transaction_id: id, name: 'a "b"' });
    const { savepoint_id: point } = decodeMessage(
      'ActionBeginSavepointResult',
      unpacked(await client.action('BeginSavepoint', named)),
    );
    await client.run(`INSERT INTO lake.${SCHEMA}.t VALUES (12)`, id);
    expect(await failureOf(client.query('SELECT nothing_here', id))).toMatchObject({ reason: 'COLUMN_NOT_FOUND' });
    const endPoint = (action: 'END_SAVEPOINT_ROLLBACK' | 'END_SAVEPOINT_RELEASE'): Promise<unknown> =>
      client.action('EndSavepoint', packMessage('ActionEndSavepointRequest', { savepoint_id: point, action }));
    await endPoint('END_SAVEPOINT_ROLLBACK');
    await endPoint('END_SAVEPOINT_RELEASE');
    expect(await failureOf(endPoint('END_SAVEPOINT_RELEASE'))).toMatchObject({ reason: 'SAVEPOINT_NOT_FOUND' });
    await end(id, 'END_TRANSACTION_ROLLBACK');
    expect(await count()).toBe(before);
  });

  test('see the settings of their session', async () => {
    await setOptions({ schema: { string_value: SCHEMA } });
    const id = await begin();
    expect((await client.query('SELECT * FROM t', id)).schema.fields).toHaveLength(1);
    await end(id, 'END_TRANSACTION_ROLLBACK');
  });

  test('one of somebody else is not there', async () => {
    const id = await begin();
    const [tenant, user] = ['flight_rival_2', 'flight_rival_admin_2'];
    await cluster.cliOk(['admin', 'tenant', 'create', tenant, '--user', user]);
    const foreign = `Bearer ${await cluster.token({ tenant, user })}`;
    using other = new FlightClient(must(cluster.ready.flight_sql_url, 'it serves'), foreign);
    expect(await failureOf(other.query('SELECT 1', id))).toMatchObject({ reason: 'NO_TRANSACTION' });
    await end(id, 'END_TRANSACTION_ROLLBACK');
  });

  test('CloseSession rolls back', async () => {
    const id = await begin();
    await client.run(`INSERT INTO lake.${SCHEMA}.t VALUES (1)`, id);
    await client.action('CloseSession');
    expect(await failureOf(end(id, 'END_TRANSACTION_COMMIT'))).toMatchObject({ reason: 'NO_TRANSACTION' });
  });

  describe('a statement that one cannot hold', () => {
    test('runs and is committed at once while nothing is changed, and the transaction sees it', async () => {
      const id = await begin();
      await client.query('SELECT 1 FROM lake.tpch.region', id);
      await client.run(`CREATE SCHEMA lake.${SCHEMA}_in`, id);
      await client.run(`CREATE TABLE lake.${SCHEMA}_in.u (x INT)`, id);
      await client.run(`INSERT INTO lake.${SCHEMA}_in.u VALUES (1)`, id);
      expect(await failureOf(client.run(`DROP SCHEMA lake.${SCHEMA}_in`, id))).toMatchObject({
        reason: 'IN_TRANSACTION',
        info: { sql_state: '25001' },
      });
      await end(id, 'END_TRANSACTION_ROLLBACK');
      await client.run(`DROP SCHEMA lake.${SCHEMA}_in`);
    });

    test('is refused when the session says so, as HTTP refuses it', async () => {
      await setOptions({ 'skein.ddl_in_transaction': { string_value: 'refuse' } });
      const id = await begin();
      expect(await failureOf(client.run(`CREATE SCHEMA lake.${SCHEMA}_no`, id))).toMatchObject({
        reason: 'IN_TRANSACTION',
      });
      await end(id, 'END_TRANSACTION_ROLLBACK');
      const sessionId = randomUUID();
      await cluster.sql('BEGIN', { sessionId });
      expect((await cluster.query(`CREATE SCHEMA lake.${SCHEMA}_no`, { sessionId })).body.sql_state).toBe('25001');
      await cluster.sql('ROLLBACK', { sessionId });
      await cluster.sql("SET skein.ddl_in_transaction = 'commit'", { sessionId });
      await cluster.sql('BEGIN', { sessionId });
      await cluster.sql(`CREATE SCHEMA lake.${SCHEMA}_yes`, { sessionId });
      await cluster.sql('COMMIT', { sessionId });
    });
  });
});

describe('a result', () => {
  test('that is cancelled ends its statement', async () => {
    const info = await client.info('CommandStatementQuery', { query: 'SELECT l_orderkey FROM lake.tpch.lineitem' });
    const cancel = (): Promise<readonly Buffer[]> =>
      client.action('CancelFlightInfo', encodeMessage('CancelFlightInfoRequest', { info }));
    const [answer] = await cancel();
    expect(decodeMessage('CancelFlightInfoResult', must(answer, 'a result'))).toEqual({
      status: 'CANCEL_STATUS_CANCELLED',
    });
    expect(await failureOf(client.get(ticketOf(info)))).toMatchObject({ code: status.NOT_FOUND });
    expect(await failureOf(cancel())).toMatchObject({ code: status.NOT_FOUND });
  });

  test('has more time when its endpoint is renewed', async () => {
    const info = await client.info('CommandStatementQuery', { query: 'SELECT 1' });
    const endpoint = must(info.endpoint[0], 'an endpoint');
    const body = encodeMessage('RenewFlightEndpointRequest', { endpoint });
    const [answer] = await client.action('RenewFlightEndpoint', body);
    const renewed = decodeMessage('FlightEndpoint', must(answer, 'an endpoint'));
    expect(Number(renewed.expiration_time?.seconds)).toBeGreaterThan(Date.now() / 1_000 + 30);
    expect((await client.get(must(renewed.ticket, 'a ticket').ticket)).numRows).toBe(1);
  });

  test('is polled for, at once at first', async () => {
    const first = await client.poll(packMessage('CommandStatementQuery', { query: 'SELECT 42 AS x' }));
    expect(first.info?.endpoint).toEqual([]);
    let next = first;
    while (next.flight_descriptor !== null) next = await client.poll(next.flight_descriptor.cmd);
    expect(valuesOf(await client.get(ticketOf(must(next.info, 'an info'))))).toEqual([[42]]);
    const failed = await client.poll(packMessage('CommandStatementQuery', { query: 'SELECT nothing' }));
    expect(await failureOf(client.poll(must(failed.flight_descriptor, 'it goes on').cmd))).toMatchObject({
      reason: 'COLUMN_NOT_FOUND',
    });
  });

  test('that is still planned is cancelled by its info, which has no endpoint yet', async () => {
    const query = 'SELECT count(*) FROM range(100000000000) AS waits_for_its_end';
    const { info } = await client.poll(packMessage('CommandStatementQuery', { query }));
    expect(info?.endpoint).toEqual([]);
    const cancel = (): Promise<readonly Buffer[]> =>
      client.action('CancelFlightInfo', encodeMessage('CancelFlightInfoRequest', { info: must(info, 'an info') }));
    const [answer] = await cancel();
    expect(decodeMessage('CancelFlightInfoResult', must(answer, 'a result')).status).toBe('CANCEL_STATUS_CANCELLED');
    const running = async (): Promise<number> =>
      (await cluster.sql('SHOW QUERIES')).filter((row) => row.includes(query)).length;
    await expect.poll(running, { timeout: patience(5_000) }).toBe(0);
    expect(await failureOf(cancel())).toMatchObject({ code: status.NOT_FOUND });
  });

  test('whose reader leaves ends its statement', async () => {
    const query = 'SELECT count(*) FROM range(100000000000)';
    const running = async (): Promise<number> =>
      (await cluster.sql('SHOW QUERIES')).filter((row) => row.includes(query)).length;
    const ticket = ticketOf(await client.info('CommandStatementQuery', { query }));
    const call = client.client.DoGet({ ticket }, client.metadata).on('error', () => undefined);
    await once(call, 'data');
    expect(await running()).toBe(1);
    call.cancel();
    await expect.poll(running, { timeout: patience(5_000) }).toBe(0);
  });
});
