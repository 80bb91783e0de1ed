import { execFile } from 'node:child_process';
import { once, type EventEmitter } from 'node:events';
import { promisify } from 'node:util';
import pg from 'pg';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD, type Cluster } from '#test/support/cluster.ts';
import { OF_TYPES } from '#test/support/postgres-values.ts';
import { binaryRows } from '#test/support/postgres-rows.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** The Postgres wire through three clients: `pg`, postgres.js and psql. */
let cluster: Cluster;
let url: URL;
let client: pg.Client;

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  url.username = cluster.ready.user;
  url.password = ADMIN_PASSWORD;
  client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query('CREATE SCHEMA IF NOT EXISTS lake.pgwire; USE lake.pgwire');
});
afterAll(async () => {
  await client.query(`DROP TABLE IF EXISTS ${TABLE}`);
  await client.end();
});

const TABLE = `lake.pgwire.t${process.pid}`;
/** An option of `pg` that its types do not have. */
const BINARY: object = { binary: true };
const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'none',
    (error: unknown) => (error as { readonly code?: string }).code,
  );

/** The messages that `pg` sends by itself, each when it is told to. */
type Messages = EventEmitter & Record<'parse' | 'bind' | 'execute', (given: object) => void> & { sync(): void };

/** Sends statements of the extended protocol without waiting for answers, then Sync. @returns the SQLSTATE of the error; `none` */
async function pipeline(statements: readonly string[]): Promise<string> {
  const other = new pg.Client({ connectionString: url.href });
  await other.connect();
  let code = 'none';
  // It knows of no statement that these answers could belong to.
  other.on('error', () => undefined);
  const { connection } = other as unknown as { readonly connection: Messages };
  connection.on('errorMessage', (error: { readonly code: string }) => (code = error.code));
  for (const text of statements) {
    connection.parse({ text });
    connection.bind({});
    connection.execute({});
  }
  const ready = once(connection, 'readyForQuery');
  connection.sync();
  const [{ status }] = (await ready) as [{ readonly status: string }];
  expect(status).toBe('I');
  await other.end();
  return code;
}

async function psql(...commands: readonly string[]): Promise<{ readonly out: string; readonly err: string }> {
  const args = commands.flatMap((command) => ['-c', command]);
  const done = promisify(execFile)('psql', ['-X', '-q', '-A', '-t', url.href, ...args]);
  const { stdout, stderr } = await done.catch((error: unknown) => error as { stdout: string; stderr: string });
  return { out: stdout, err: stderr };
}

test('values of all types come as Postgres writes them', async () => {
  const { rows, fields } = await client.query({
    text: `SELECT true b, 7::SMALLINT i2, 7::INTEGER i4, 9007199254740993 i8, 1.50::DECIMAL(9,2) n, 0.1::DOUBLE f, 'ä'' "x' t,
      '\\xAA\\x00'::BLOB raw, DATE '2024-02-29' d, TIMESTAMP '2024-02-29 12:34:56.123456' ts, NULL::INTEGER z,
      [1, NULL, 3] l, ['a', 'b c', ''] tl, {'a': 1} s, uuid '00000000-0000-0000-0000-00000000000a' u`,
    rowMode: 'array',
    types: { getTypeParser: () => String },
  });
  expect(rows[0]).toEqual([
    't',
    '7',
    '7',
    '9007199254740993',
    '1.50',
    '0.1',
    `ä' "x`,
    '\\xaa00',
    '2024-02-29',
    '2024-02-29 12:34:56.123456',
    null,
    '{1,NULL,3}',
    '{a,"b c",""}',
    '{"a":1}',
    '00000000-0000-0000-0000-00000000000a',
  ]);
  expect(fields.map(({ dataTypeID }) => dataTypeID)).toEqual([
    16, 21, 23, 20, 1700, 701, 25, 17, 1082, 1114, 23, 1007, 1009, 3802, 2950,
  ]);
  expect(fields[4]?.dataTypeModifier).toBe(((9 << 16) | 2) + 4);
});

test('values of all types in text are as DuckDB prints them, or as Postgres does where it differs; in binary they mean the same', async () => {
  const list = OF_TYPES.map(([sql], i) => `${sql} AS c${i}`).join(', ');
  const own = OF_TYPES.map((_, i) => `CAST(c${i} AS VARCHAR)`).join(', ');
  const raw = { rowMode: 'array', types: { getTypeParser: () => (value: unknown) => value } } as const;
  const { rows: printed } = await client.query({ text: `SELECT ${own} FROM (SELECT ${list})`, ...raw });
  const { rows } = await client.query({ text: `SELECT ${list} UNION ALL SELECT ${list} WHERE false`, ...raw });
  const [texts, expected] = [rows, printed].map(([row]) => row as (string | null)[]);
  expect(texts).toEqual(OF_TYPES.map(([, text], i) => text ?? expected?.[i]));
  const [values] = await binaryRows(url, `SELECT ${list}`);
  const read = (i: number): Buffer => must(values?.[i], `value ${i}`);
  expect(values?.at(-1)).toBeNull();
  expect([read(0)[0], read(1).readInt16BE(), read(4).readInt32BE(), read(7).readBigInt64BE()]).toEqual([
    1,
    -7,
    65_535,
    -(2n ** 63n),
  ]);
  expect([read(12).readFloatBE(), read(13).readDoubleBE()]).toEqual([Math.fround(0.1), -Infinity]);
  expect([read(19), read(26), read(28), read(17)].map((one) => one.toString('hex'))).toEqual([
    '7fffffff',
    '8000000000000000',
    '0000000000000000000000000000000a',
    'aa00',
  ]);
  expect(read(20).readBigInt64BE()).toBe(86_399_999_999n);
  expect([read(27).readBigInt64BE(), read(27).readInt32BE(8), read(27).readInt32BE(12)]).toEqual([4_000_000n, -3, 14]);
  const epoch = Date.UTC(2000, 0, 1);
  expect(Number(read(22).readBigInt64BE())).toBe((Date.UTC(2024, 1, 29, 12, 34, 56) - epoch) * 1_000 + 123_456);
  expect(read(31).toString('hex')).toBe(
    '00000001' +
      '00000001' +
      '00000017' +
      '00000003' +
      '00000001' +
      '0000000400000001' +
      'ffffffff' +
      '0000000400000003',
  );
  expect(read(39).toString('latin1')).toBe('\u0001{"a": [1]}');
});

test('many rows of several batches, with values missing, keep their order in both forms', async () => {
  const text = `SELECT i, CASE WHEN i % 3 = 0 THEN NULL ELSE 'v' || i END v, (i / 4)::DECIMAL(12,2) n
    FROM range(50000) t(i) ORDER BY i`;
  const { rows } = await client.query({ text, rowMode: 'array' });
  const isRight = (i: number, v: unknown, n: number, at: number): boolean =>
    i === at && v === (at % 3 === 0 ? null : `v${at}`) && n === Math.round(at * 25) / 100;
  expect(rows).toHaveLength(50_000);
  expect(rows.every(([i, v, n]: unknown[], at) => isRight(Number(i), v, Number(n), at))).toBe(true);
  const binary = await binaryRows(url, text.replace('::DECIMAL(12,2)', '::DOUBLE'));
  expect(binary).toHaveLength(50_000);
  expect(
    binary.every(([i, v, n], at) =>
      isRight(Number(i?.readBigInt64BE()), v?.toString() ?? null, n?.readDoubleBE() ?? -1, at),
    ),
  ).toBe(true);
});

test('tags have the counts; parameters are taken in text, and rows come in binary, too', async () => {
  await client.query(`CREATE TABLE ${TABLE} (k INTEGER, name VARCHAR, price DECIMAL(9,2), moment TIMESTAMP, raw BLOB)`);
  const inserted = await client.query(
    `INSERT INTO ${TABLE} VALUES ($1, $2, $3, $4, $5), (2, NULL, -0.05, NULL, NULL)`,
    [1, "it's", '1234567.8', '2024-01-01 00:00:00', Buffer.from([0, 255])],
  );
  expect([inserted.command, inserted.rowCount]).toEqual(['INSERT', 2]);
  const text = await client.query(`SELECT * FROM ${TABLE} WHERE k = $1`, ['1']);
  expect(text.rows[0]).toMatchObject({ k: 1, name: "it's", price: '1234567.80', raw: Buffer.from([0, 255]) });
  const binary = await client.query({
    text: `SELECT k, name, price, moment, raw FROM ${TABLE} ORDER BY k`,
    rowMode: 'array',
    ...BINARY,
  });
  expect(binary.rows.map((row: unknown[]) => [row[0], row[1], Number(row[2])])).toEqual([
    [1, "it's", 1_234_567.8],
    [2, null, -0.05],
  ]);
  const updated = await client.query(`UPDATE ${TABLE} SET name = 'x' WHERE k = 2`);
  expect([updated.command, updated.rowCount]).toEqual(['UPDATE', 1]);
});

describe('statements up to a Sync, or of one Query, are one transaction', () => {
  const rows = async (where: string): Promise<number> =>
    Number(
      (await client.query<{ n: string }>(`SELECT count(*) AS n FROM ${TABLE} WHERE name = '${where}'`)).rows[0]?.n,
    );
  const insert = (name: string): string => `INSERT INTO ${TABLE} (k, name) VALUES (1, '${name}')`;

  test('an error rolls back those before it, and the connection is in no transaction', async () => {
    expect(await codeOf(client.query(`${insert('one')}; ${insert('one')}; SELECT nothing`))).toBe('42703');
    expect(await rows('one')).toBe(0);
    await client.query(`${insert('one')}; SELECT 1; ${insert('one')}`);
    expect(await rows('one')).toBe(2);
  });

  test('COMMIT and ROLLBACK do what they say, and BEGIN takes what came before into its transaction', async () => {
    expect(await codeOf(client.query(`${insert('two')}; COMMIT; ${insert('three')}; SELECT nothing`))).toBe('42703');
    expect([await rows('two'), await rows('three')]).toEqual([1, 0]);
    await client.query(`${insert('four')}; ROLLBACK; ${insert('five')}; SELECT 1`);
    expect([await rows('four'), await rows('five')]).toEqual([0, 1]);
    await client.query(`${insert('six')}; BEGIN; ${insert('six')}`);
    expect(await rows('six')).toBe(2);
    await client.query('ROLLBACK');
    expect(await rows('six')).toBe(0);
  });

  test('a pipeline is one up to its Sync', async () => {
    expect(await pipeline([insert('seven'), 'SELECT nothing', insert('seven')])).toBe('42703');
    expect(await rows('seven')).toBe(0);
    expect(await pipeline([insert('seven'), 'SELECT 1', insert('seven')])).toBe('none');
    expect(await rows('seven')).toBe(2);
  });
});

test('errors have their SQLSTATE and their place, and the connection goes on', async () => {
  const failure = await client.query('SELECT 1;\nSELECT nothing_here').catch((error: unknown) => error);
  expect(failure).toMatchObject({ severity: 'ERROR', code: '42703', position: '18' });
  expect(await codeOf(client.query('SELEC 1'))).toBe('42601');
  expect(await codeOf(client.query('SELECT * FROM lake.pgwire.missing WHERE a = $1', [1]))).toBe('42P01');
  expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
});

test('transactions: what fails waits for ROLLBACK, COMMIT of it answers ROLLBACK, and warnings are no errors', async () => {
  const warnings: string[] = [];
  client.on('notice', ({ code }) => void warnings.push(code ?? ''));
  await client.query('COMMIT');
  await client.query('BEGIN');
  await client.query('BEGIN');
  await client.query(`INSERT INTO ${TABLE} (k) VALUES (3)`);
  expect(await codeOf(client.query('SELECT nothing_here'))).toBe('42703');
  expect(await codeOf(client.query('SELECT 1'))).toBe('25P02');
  expect((await client.query('COMMIT')).command).toBe('ROLLBACK');
  expect(warnings).toEqual(['25P01', '25001']);
  await client.query('BEGIN');
  await client.query(`INSERT INTO ${TABLE} (k) VALUES (4)`);
  await client.query('COMMIT');
  const { rows } = await client.query(`SELECT k FROM ${TABLE} WHERE k > 2`);
  expect(rows).toEqual([{ k: 4 }]);
});

test('ROLLBACK TO a savepoint brings a failed transaction back', async () => {
  await client.query(`BEGIN; INSERT INTO ${TABLE} (k) VALUES (5); SAVEPOINT before`);
  expect(await codeOf(client.query('SELECT nothing_here'))).toBe('42703');
  expect(await codeOf(client.query('RELEASE before'))).toBe('25P02');
  expect((await client.query('ROLLBACK WORK TO SAVEPOINT before')).command).toBe('ROLLBACK');
  expect((await client.query('RELEASE before')).command).toBe('RELEASE');
  await client.query('COMMIT');
  expect((await client.query(`SELECT k FROM ${TABLE} WHERE k > 4`)).rows).toEqual([{ k: 5 }]);
});

test('settings come with the start or by SET, act, and clients are told those that they watch', async () => {
  const other = new pg.Client({
    connectionString: url.href,
    application_name: 'tried',
    options: '-c TimeZone=Asia/Tokyo',
  });
  const told: string[] = [];
  const { connection } = other as unknown as { connection: NodeJS.EventEmitter };
  connection.on('parameterStatus', (status: { parameterName: string; parameterValue: string }) =>
    told.push(`${status.parameterName}=${status.parameterValue}`),
  );
  await other.connect();
  expect(told).toEqual(
    expect.arrayContaining(['server_version=18.0', 'TimeZone=Asia/Tokyo', 'application_name=tried']),
  );
  const before = told.length;
  await other.query("SET DateStyle = 'ISO'; SET extra_float_digits = 2; show transaction_isolation");
  await other.query("SET TIME ZONE 'Europe/Berlin'");
  await other.query("SET application_name = 'other'");
  expect(told.slice(before)).toEqual(['TimeZone=Europe/Berlin', 'application_name=other']);
  const { rows } = await other.query({
    text: "SELECT TIMESTAMPTZ '2024-01-01 00:00:00+00' t",
    types: { getTypeParser: () => String },
  });
  expect(rows).toEqual([{ t: '2024-01-01 01:00:00+01' }]);
  expect((await other.query('SHOW application_name')).rows).toEqual([{ application_name: 'other' }]);
  expect(await codeOf(other.query('SET no_such_thing = 1'))).toBe('42704');
  expect(await codeOf(other.query("SET client_encoding = 'LATIN1'"))).toBe('22023');
  await other.query('SET statement_timeout = 200');
  const long = 'SELECT count(*) FROM range(3000000000) a(i), range(1000) b(j) WHERE hash(i + j) = 1';
  expect(await codeOf(other.query(long))).toBe('57014');
  await other.end();
});

describe('other clients', () => {
  test('postgres.js, with several statements under way', async () => {
    await using sql = Object.assign(postgres(url.href, { fetch_types: false, max: 2 }), {
      [Symbol.asyncDispose]: () => sql.end(),
    });
    const all = await Promise.all([1, 2, 3, 4, 5].map((n) => sql`SELECT ${n}::INTEGER + 1 AS n`));
    expect(all.map(([row]) => row?.['n'] as number)).toEqual([2, 3, 4, 5, 6]);
    expect(await codeOf(sql`SELECT nothing_here`)).toBe('42703');
  });

  test('psql, which shows where an error is', async () => {
    const { out, err } = await psql(
      'SELECT 1 AS a; SELECT count(*) FROM lake.tpch.nation',
      'SELECT 1 +\n nothing_here',
    );
    expect(out).toBe('1\n25\n');
    expect(err).toMatch(/LINE 2: +nothing_here\n +\^/);
  });
});

test('who is not known, and what is no catalog, is refused; tools may name the database postgres', async () => {
  const connecting = (change: (other: URL) => void): Promise<unknown> => {
    const other = new URL(url);
    change(other);
    const made = new pg.Client({ connectionString: other.href });
    return codeOf(made.connect()).finally(() => void made.end());
  };
  expect(await connecting((other) => (other.password = 'wrong'))).toBe('28P01');
  expect(await connecting((other) => (other.pathname = '/missing'))).toBe('3D000');
  expect(await connecting((other) => (other.pathname = '/postgres'))).toBe('none');
});

test('a statement is cancelled by its key, and the connection goes on', async () => {
  const other = new pg.Client({ connectionString: url.href });
  await other.connect();
  const running = codeOf(
    other.query('SELECT count(*) FROM range(3000000000) a(i), range(1000) b(j) WHERE hash(i + j) = 1'),
  );
  const { processID, secretKey } = other as unknown as { processID: number; secretKey: number };
  const key = Buffer.alloc(16);
  [16, 80_877_102, processID, secretKey].forEach((value, i) => key.writeInt32BE(value, i * 4));
  const { connect } = await import('node:net');
  const send = (): void => void connect(Number(url.port), url.hostname).end(key);
  const again = setInterval(send, 500);
  expect(await running.finally(() => clearInterval(again))).toBe('57014');
  expect((await other.query('SELECT 2 AS two')).rows).toEqual([{ two: 2 }]);
  await other.end();
});

test('a connection that waits ends when the rights of its user have changed', async () => {
  const user = `pgwire_${process.pid}`;
  await client.query(`CREATE USER ${user} EMAIL '${user}@example.com' PASSWORD 'a long enough Password 1'`);
  const own = new URL(url);
  [own.username, own.password] = [user, 'a long enough Password 1'];
  const other = new pg.Client({ connectionString: own.href });
  // `pg` tells of the error, and then of the end.
  const ended = new Promise((resolve) => other.on('error', resolve));
  await other.connect();
  expect((await other.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  await client.query(`DROP USER ${user}`);
  expect(await ended).toMatchObject({ code: '57P01', severity: 'FATAL' });
});
