import { execFile } from 'node:child_process';
import { once, type EventEmitter } from 'node:events';
import { promisify } from 'node:util';
import pg from 'pg';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD, type Cluster } from '#test/support/cluster.ts';
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

test('a connection ends at its next statement when the rights of its user have changed', async () => {
  const user = `pgwire_${process.pid}`;
  await client.query(`CREATE USER ${user} EMAIL '${user}@example.com' PASSWORD 'a long enough Password 1'`);
  const own = new URL(url);
  [own.username, own.password] = [user, 'a long enough Password 1'];
  const other = new pg.Client({ connectionString: own.href });
  other.on('error', () => undefined);
  await other.connect();
  expect((await other.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  await client.query(`DROP USER ${user}`);
  await expect.poll(() => codeOf(other.query('SELECT 1'))).toBe('57P01');
});
