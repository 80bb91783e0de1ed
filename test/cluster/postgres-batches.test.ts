import type { EventEmitter } from 'node:events';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** Executes of one prepared INSERT that lie ready are one write (drivers' batches and executemany). */
let client: pg.Client;
let url: URL;
const TABLE = `batch${process.pid}`;

beforeAll(async () => {
  const { cluster } = await sharedCluster();
  url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  [url.username, url.password] = [cluster.ready.user, ADMIN_PASSWORD];
  client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query('CREATE SCHEMA IF NOT EXISTS lake.pgcopy; USE lake.pgcopy');
  await client.query(`CREATE TABLE ${TABLE} (i INTEGER, t VARCHAR, n DECIMAL(9,2), raw BLOB, l INTEGER[])`);
});
afterAll(async () => {
  await client.query(`DROP TABLE IF EXISTS ${TABLE}`);
  await client.end();
});
beforeEach(() => client.query(`DELETE FROM ${TABLE}`));

/** The messages that `pg` sends by itself, each when it is told to. */
type Messages = EventEmitter &
  Record<'parse' | 'bind' | 'execute' | 'describe' | 'close', (given: object) => void> & {
    sync(): void;
    flush(): void;
  };

type Step = readonly (string | null)[] | 'flush' | ((connection: Messages) => void);

/** Sends a prepared INSERT once, and an execution for each row. @returns the tags in their order, and the code of the error */
async function batch(sql: string, steps: readonly Step[]): Promise<readonly string[]> {
  const other = new pg.Client({ connectionString: url.href });
  await other.connect();
  await other.query('USE lake.pgcopy');
  other.on('error', () => undefined);
  const { connection } = other as unknown as { readonly connection: Messages };
  connection
    .removeAllListeners('commandComplete')
    .removeAllListeners('errorMessage')
    .removeAllListeners('readyForQuery');
  const answers: string[] = [];
  connection.on('commandComplete', ({ text }: { readonly text: string }) => void answers.push(text));
  connection.on('errorMessage', ({ code }: { readonly code: string }) => void answers.push(code));
  connection.parse({ name: 's', text: sql });
  for (const step of steps) {
    if (typeof step === 'function') step(connection);
    else if (step === 'flush') connection.flush();
    else {
      connection.bind({ statement: 's', values: step });
      connection.describe({ type: 'P', name: '' });
      connection.execute({});
    }
  }
  const ready = new Promise((resolve) => connection.once('readyForQuery', resolve));
  connection.sync();
  await ready;
  await other.end();
  return answers;
}

const INSERT = `INSERT INTO ${TABLE} VALUES ($1, $2, $3, $4, $5)`;
const row = (i: number): readonly (string | null)[] => [
  String(i),
  i % 3 === 0 ? null : `v${i}`,
  '1.5',
  '\\x00ff',
  '{1,NULL}',
];
const rows = (count: number): readonly (readonly (string | null)[])[] =>
  Array.from({ length: count }, (_, i) => row(i));
const tags = (count: number): readonly string[] => Array.from({ length: count }, () => 'INSERT 0 1');
const facts = async (): Promise<readonly unknown[]> => {
  const { rows: found } = await client.query({
    text: `SELECT count(*)::INTEGER, count(t)::INTEGER, sum(n)::VARCHAR, min(hex(raw)), min(l::VARCHAR) FROM ${TABLE}`,
    rowMode: 'array',
  });
  return found[0] as unknown[];
};
const files = async (): Promise<number> =>
  Number((await client.query<{ n: string }>(`SELECT count(*) AS n FROM "${TABLE}$files"`)).rows[0]?.n);

test.each([3, 400, 1_000])('%d rows are one data file, and each has its tag', async (count) => {
  const before = await files();
  expect(await batch(INSERT, rows(count))).toEqual(tags(count));
  expect(await facts()).toEqual([count, count - Math.ceil(count / 3), (count * 1.5).toFixed(2), '00FF', '[1, NULL]']);
  expect((await files()) - before).toBe(1);
});

test('a Flush answers those before it; another statement between runs in its place; all are one transaction', async () => {
  const other = (connection: Messages): void => {
    connection.parse({ name: 'd', text: `DELETE FROM ${TABLE} WHERE i = 1` });
    connection.bind({ statement: 'd' });
    connection.execute({});
  };
  expect(await batch(INSERT, [...rows(3), 'flush', ...rows(3), other, row(1)])).toEqual([
    ...tags(6),
    'DELETE 2',
    'INSERT 0 1',
  ]);
  expect((await facts())[0]).toBe(5);
});

test('a value that is none ends the batch, and nothing of it stays', async () => {
  expect(await batch(INSERT, [...rows(3), ['x', null, null, null, null], ...rows(2)])).toEqual([...tags(3), '22P02']);
  expect((await facts())[0]).toBe(0);
  // DuckDB finds this one when the rows are written: then the error stands in the place of the first.
  expect(await batch(INSERT, [...rows(2), ['1', null, '12345678901', null, null]])).toEqual([
    expect.stringMatching(/^22/),
  ]);
  expect((await facts())[0]).toBe(0);
});

test('an INSERT of a query, and one that gives rows, are each run alone', async () => {
  const query = `INSERT INTO ${TABLE} (i) SELECT x FROM range(CAST($1 AS INTEGER)) r(x)`;
  expect(await batch(query, [['2'], ['3']])).toEqual(['INSERT 0 2', 'INSERT 0 3']);
  expect(await batch(`INSERT INTO ${TABLE} (i) VALUES ($1) RETURNING i`, [['7'], ['8']])).toEqual(tags(2));
  expect((await facts())[0]).toBe(7);
});

/** The goal for a thousand rows, in times of one row. */
const TIMES_MAX = 20;

test('a thousand rows take at most twenty times as long as one', async () => {
  const best = async (count: number): Promise<number> => {
    let bestMs = Infinity;
    for (let take = 0; take < 3; take += 1) {
      const startMs = performance.now();
      expect(await batch(INSERT, rows(count))).toEqual(tags(count));
      bestMs = Math.min(bestMs, performance.now() - startMs);
    }
    return bestMs;
  };
  const [oneMs, manyMs] = [await best(1), await best(1_000)];
  process.stdout.write(`an INSERT of one row: ${oneMs.toFixed(0)} ms, of a thousand: ${manyMs.toFixed(0)} ms\n`);
  expect(manyMs / oneMs).toBeLessThan(TIMES_MAX);
});
