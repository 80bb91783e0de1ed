import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import Cursor from 'pg-cursor';
import postgres from 'postgres';
import { beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD } from '#test/support/cluster.ts';
import { documentedOutcomes, EVERY_TYPE, type PostgresClientName } from '#test/support/feature-matrix.ts';
import { copyIn, copyOut } from '#test/support/postgres-copy.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** The Postgres wire by the drivers of Node: `pg` with pg-cursor and pg-copy-streams, and postgres.js. */
let url: URL;
let wrong: string;

beforeAll(async () => {
  const { cluster } = await sharedCluster();
  url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  [url.username, url.password, url.pathname] = [cluster.ready.user, ADMIN_PASSWORD, '/lake'];
  const other = new URL(url);
  other.password = 'wrong';
  wrong = other.href;
  await withPg((client) => client.query('CREATE SCHEMA IF NOT EXISTS lake.drivers'));
});

const COUNT = 1_000;
const SERIES = `SELECT i::INTEGER AS i FROM range(${COUNT}) r(i) ORDER BY i`;
const NATION = 'SELECT n_name FROM lake.tpch.nation WHERE n_nationkey = $1 AND n_name = $2';
const SLOW = 'SELECT count(*) FROM range(3000000000) a(i), range(1000) b(j) WHERE hash(i + j) = 1';
const numbers = Array.from({ length: COUNT }, (_, i) => i);
/** Values of each type as both drivers take and give them. */
const VALUES: readonly (readonly [type: string, first: unknown, second: unknown])[] = [
  ['BOOLEAN', true, false],
  ['SMALLINT', -(2 ** 15), 2 ** 15 - 1],
  ['INTEGER', -(2 ** 31), 2 ** 31 - 1],
  ['BIGINT', '-9223372036854775808', '9223372036854775807'],
  ['REAL', 0.5, -1.5],
  ['DOUBLE PRECISION', 0.1, 5e-324],
  ['NUMERIC(18,4)', '-99999999999999.9999', '0.0001'],
  ['TEXT', '', 'ä€😀\tx\'y"\\'],
  ['BYTEA', Buffer.of(), Buffer.from("\0ÿ'\\")],
  ['TIME', '00:00:00', '23:59:59.999999'],
  ['TIMESTAMPTZ', new Date('1969-07-20T20:17:40.123Z'), new Date('2024-02-29T00:00:00Z')],
  ['UUID', '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
  ['INTEGER[]', [1, null, -3], []],
  ['TEXT[]', ['a', 'b,c', '', 'x"\\'], [null]],
];
const COLUMNS = `k INTEGER, ${VALUES.map(([type], i) => `c${i} ${type}`).join(', ')}`;
const MARKS = VALUES.map((_, i) => `$${i + 2}`).join(', ');
const ROWS = [
  [0, ...VALUES.map(([, first]) => first)],
  [1, ...VALUES.map(([, , second]) => second)],
  [2, ...VALUES.map(() => null)],
];
/** postgres.js takes NULL in an array for the text "NULL". */
const withoutNulls = (value: unknown): unknown => (Array.isArray(value) ? value.filter((one) => one !== null) : value);
const ROWS_OF_POSTGRES_JS = ROWS.map((row) => row.map(withoutNulls));
/** Decimals of 38 digits, and maps and structs, which are jsonb. */
const WIDE = `SELECT 12345678901234567890.0123456789::DECIMAL(38,10) AS n, MAP {'k': 0.5::DOUBLE} AS m, {'x': 0.5::DOUBLE, 'y': ['a', NULL]} AS s`;
const WIDE_ROW = { n: '12345678901234567890.0123456789', m: { k: 0.5 }, s: { x: 0.5, y: ['a', null] } };
const WRONG_COLUMN = { code: '42703', position: '12' };
const BROKEN = 'SELECT 1,\n nothing_here';

type Outcomes = Record<string, string>;
type Feature = readonly [name: string, work: (table: string) => Promise<void>];

/** Tries each feature, with the name of a table that is its own. */
async function outcomesOf(features: readonly Feature[]): Promise<Outcomes> {
  const outcomes: Outcomes = {};
  for (const [i, [name, work]] of features.entries()) {
    outcomes[name] = await work(`lake.drivers.node_${process.pid}_${Date.now()}_${i}`).then(
      () => 'ok',
      (error: unknown) => String(error).slice(0, 600),
    );
  }
  return outcomes;
}

async function withPg<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const PG: readonly Feature[] = [
  [
    'sign in',
    async () => {
      const client = new pg.Client({ connectionString: wrong });
      await expect(client.connect()).rejects.toMatchObject({ code: '28P01' });
    },
  ],
  ['queries', () => withPg(async (client) => expect((await client.query(SERIES)).rows).toHaveLength(COUNT))],
  [
    'parameters',
    () =>
      withPg(async (client) =>
        expect((await client.query(NATION, [7, 'GERMANY'])).rows[0]).toEqual({ n_name: 'GERMANY' }),
      ),
  ],
  [
    EVERY_TYPE,
    (table) =>
      withPg(async (client) => {
        await client.query(`CREATE TABLE ${table} (${COLUMNS})`);
        for (const row of ROWS) await client.query(`INSERT INTO ${table} VALUES ($1, ${MARKS})`, row);
        const { rows } = await client.query({ text: `SELECT * FROM ${table} ORDER BY k`, rowMode: 'array' });
        expect(rows).toEqual(ROWS);
        expect((await client.query(WIDE)).rows).toEqual([WIDE_ROW]);
      }),
  ],
  [
    'COPY TO STDOUT',
    () =>
      withPg(async (client) =>
        expect((await copyOut(client, `COPY (${SERIES}) TO STDOUT`)).toString()).toBe(
          numbers.map((i) => `${i}\n`).join(''),
        ),
      ),
  ],
  [
    'COPY FROM STDIN',
    (table) =>
      withPg(async (client) => {
        await client.query(`CREATE TABLE ${table} (i INTEGER)`);
        expect(await copyIn(client, `COPY ${table} FROM STDIN`, numbers.map((i) => `${i}\n`).join(''))).toBe(COUNT);
      }),
  ],
  [
    'transactions and savepoints',
    (table) =>
      withPg(async (client) => {
        await client.query(`CREATE TABLE ${table} (i INTEGER)`);
        await client.query(`BEGIN; INSERT INTO ${table} VALUES (1); SAVEPOINT s`);
        await expect(client.query('SELECT nothing_here')).rejects.toMatchObject({ code: '42703' });
        await client.query(`ROLLBACK TO s; INSERT INTO ${table} VALUES (2); COMMIT`);
        expect((await client.query(`SELECT sum(i)::INTEGER AS s FROM ${table}`)).rows).toEqual([{ s: 3 }]);
      }),
  ],
  [
    'cursors',
    () =>
      withPg(async (client) => {
        const cursor = client.query(new Cursor<{ i: number }>(SERIES));
        const found: number[] = [];
        for (let rows = await cursor.read(300); rows.length > 0; rows = await cursor.read(300)) {
          found.push(...rows.map(({ i }) => i));
        }
        expect(found).toEqual(numbers);
        const closed = client.query(new Cursor<{ i: number }>(SERIES));
        expect(await closed.read(2)).toEqual([{ i: 0 }, { i: 1 }]);
        await closed.close();
        expect((await client.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
      }),
  ],
  [
    'errors with SQLSTATE and place',
    () => withPg((client) => expect(client.query(BROKEN)).rejects.toMatchObject(WRONG_COLUMN)),
  ],
];

async function withPostgresJs(work: (sql: postgres.Sql) => Promise<void>): Promise<void> {
  const sql = postgres(url.href, { max: 1 });
  try {
    await work(sql);
  } finally {
    await sql.end();
  }
}

const POSTGRES_JS: readonly Feature[] = [
  [
    'sign in',
    async () => {
      const sql = postgres(wrong, { max: 1 });
      await expect(sql`SELECT 1`).rejects.toMatchObject({ code: '28P01' });
      await sql.end();
    },
  ],
  ['queries', () => withPostgresJs(async (sql) => expect(await sql.unsafe(SERIES)).toHaveLength(COUNT))],
  [
    'parameters',
    () =>
      withPostgresJs(async (sql) => {
        const [row] = await sql`SELECT n_name FROM lake.tpch.nation WHERE n_nationkey = ${7} AND n_name = ${'GERMANY'}`;
        expect(row).toEqual({ n_name: 'GERMANY' });
      }),
  ],
  [
    EVERY_TYPE,
    (table) =>
      withPostgresJs(async (sql) => {
        await sql.unsafe(`CREATE TABLE ${table} (${COLUMNS})`);
        for (const row of ROWS_OF_POSTGRES_JS)
          await sql.unsafe(`INSERT INTO ${table} VALUES ($1, ${MARKS})`, row as never[]);
        expect([...(await sql.unsafe(`SELECT * FROM ${table} ORDER BY k`).values())]).toEqual(ROWS_OF_POSTGRES_JS);
        expect([...(await sql.unsafe(WIDE))]).toEqual([WIDE_ROW]);
      }),
  ],
  [
    'many bound rows',
    (table) =>
      withPostgresJs(async (sql) => {
        await sql.unsafe(`CREATE TABLE ${table} (i INTEGER, t TEXT)`);
        await sql`INSERT INTO ${sql(table)} ${sql(numbers.map((i) => ({ i, t: `v${i}` })))}`;
        expect([...(await sql`SELECT count(DISTINCT t)::INTEGER AS n FROM ${sql(table)}`)]).toEqual([{ n: COUNT }]);
      }),
  ],
  [
    'COPY TO STDOUT',
    () =>
      withPostgresJs(async (sql) => {
        let text = '';
        for await (const chunk of await sql.unsafe(`COPY (${SERIES}) TO STDOUT`).readable()) text += String(chunk);
        expect(text).toBe(numbers.map((i) => `${i}\n`).join(''));
      }),
  ],
  [
    'COPY FROM STDIN',
    (table) =>
      withPostgresJs(async (sql) => {
        await sql.unsafe(`CREATE TABLE ${table} (i INTEGER)`);
        const stream = await sql.unsafe(`COPY ${table} FROM STDIN`).writable();
        await new Promise<void>((resolve, reject) => {
          stream.once('error', reject).once('finish', () => resolve());
          stream.end(numbers.map((i) => `${i}\n`).join(''));
        });
        expect([...(await sql`SELECT count(*)::INTEGER AS n FROM ${sql(table)}`)]).toEqual([{ n: COUNT }]);
      }),
  ],
  [
    'transactions and savepoints',
    (table) =>
      withPostgresJs(async (sql) => {
        await sql.unsafe(`CREATE TABLE ${table} (i INTEGER)`);
        await sql.begin(async (inner) => {
          await inner`INSERT INTO ${inner(table)} VALUES (1)`;
          await expect(inner.savepoint((point) => point`SELECT nothing_here`)).rejects.toMatchObject({ code: '42703' });
          await inner`INSERT INTO ${inner(table)} VALUES (2)`;
        });
        expect([...(await sql`SELECT sum(i)::INTEGER AS s FROM ${sql(table)}`)]).toEqual([{ s: 3 }]);
      }),
  ],
  [
    'cursors',
    () =>
      withPostgresJs(async (sql) => {
        const found: number[] = [];
        for await (const rows of sql.unsafe<{ i: number }[]>(SERIES).cursor(300)) found.push(...rows.map(({ i }) => i));
        expect(found).toEqual(numbers);
      }),
  ],
  [
    'pipelines',
    () =>
      withPostgresJs(async (sql) => {
        const all = await Promise.all(numbers.slice(0, 20).map((n) => sql`SELECT ${n}::INTEGER + 1 AS n`));
        expect(all.map(([row]) => row?.['n'] as number)).toEqual(numbers.slice(1, 21));
      }),
  ],
  [
    'errors with SQLSTATE and place',
    () => withPostgresJs((sql) => expect(sql.unsafe(BROKEN)).rejects.toMatchObject(WRONG_COLUMN)),
  ],
  [
    'cancel',
    () =>
      withPostgresJs(async (sql) => {
        const running = sql.unsafe(SLOW);
        const ended = running.execute().catch((error: unknown) => error);
        await sleep(1_000);
        running.cancel();
        expect(await ended).toMatchObject({ code: '57014' });
        expect([...(await sql`SELECT 1 AS one`)]).toEqual([{ one: 1 }]);
      }),
  ],
];

test.each([
  ['pg', PG],
  ['postgres.js', POSTGRES_JS],
] satisfies readonly (readonly [PostgresClientName, readonly Feature[]])[])(
  'every feature of %s',
  async (client, features) => {
    const outcomes = await outcomesOf(features);
    expect(outcomes).toEqual(documentedOutcomes(client, outcomes));
  },
  120_000,
);
