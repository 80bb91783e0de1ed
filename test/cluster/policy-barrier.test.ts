import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '#shared/json.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** Rows and values that policies hide, asked for through every kind of statement. */
const T = 'policy_barrier';
const S = `${T}.s`;
let cluster: Cluster;
type Session = { readonly token: string; readonly sessionId: string };
const sessions = new Map<string, Promise<Session>>();

async function openSession(user: string, distribution: string): Promise<Session> {
  const session = { token: await cluster.token({ tenant: T, user }), sessionId: randomUUID() };
  await cluster.sql(`SET skein.distribution = '${distribution}'`, session);
  return session;
}

type Answer = { readonly rows: readonly (readonly Json[])[]; readonly failure: string; readonly message: string };

/** `force` has the query divided. */
async function run(sql: string, user = 'ann', distribution = 'auto'): Promise<Answer> {
  const key = `${user}-${distribution}`;
  const known = sessions.get(key) ?? openSession(user, distribution);
  sessions.set(key, known);
  const { body } = await cluster.query(sql, await known);
  const failure = body.error === undefined ? 'done' : `${body.sql_state} ${body.error}`;
  return { rows: body.rows ?? [], failure, message: body.message ?? '' };
}
async function done(...statements: readonly string[]): Promise<void> {
  for (const sql of statements) {
    const { failure, message } = await run(sql, 'root');
    expect([sql, failure, message]).toEqual([sql, 'done', message]);
  }
}
/** The rows, which are the same whether the query runs whole or divided. */
async function rows(sql: string, user = 'ann'): Promise<Answer['rows']> {
  const whole = await run(sql, user, 'single');
  const divided = await run(sql, user, 'force');
  expect([sql, whole.failure, whole.message]).toEqual([sql, 'done', '']);
  expect([sql, divided.failure, divided.message]).toEqual([sql, 'done', '']);
  expect(sorted(divided.rows)).toEqual(sorted(whole.rows));
  return whole.rows;
}
const sorted = (all: Answer['rows']): readonly string[] => all.map((row) => JSON.stringify(row)).toSorted();

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.cliOk(['admin', 'tenant', 'create', T, '--user', 'root']);
  await cluster.cliOk(['admin', 'catalog', 'create', T, '--tenant', T]);
  await done(
    `CREATE SCHEMA ${S}`,
    `CREATE USER ann EMAIL 'ann@example.org' PASSWORD 'Battery-Staple-7'`,
    `CREATE USER max EMAIL 'max@example.org' PASSWORD 'Battery-Staple-7'`,
    `CREATE TABLE ${S}.m (who VARCHAR, region VARCHAR)`,
    `INSERT INTO ${S}.m VALUES ('ann', 'eu'), ('ann', 'us'), ('max', 'us'), ('root', 'eu')`,
    `CREATE TABLE ${S}.t (id INT, region VARCHAR, card VARCHAR, amount BIGINT)`,
    `INSERT INTO ${S}.t VALUES (1, 'eu', '1111', 10), (2, 'us', '2222', 20), (3, 'asia', 'x', 0), (4, NULL, 'y', 0)`,
    `INSERT INTO ${S}.t SELECT i, 'eu', CAST(i AS VARCHAR), i FROM range(5, 9) r(i)`,
    `CREATE ROW ACCESS POLICY ${S}.own AS (r VARCHAR) RETURNS BOOLEAN -> EXISTS (SELECT 1 FROM ${S}.m WHERE who = current_user() AND region = r)`,
    `CREATE MASKING POLICY ${S}.cards AS (val VARCHAR, a BIGINT) RETURNS VARCHAR -> CASE WHEN a > 15 THEN val ELSE 'hidden' END`,
    `ALTER TABLE ${S}.t ADD ROW ACCESS POLICY ${S}.own ON (region)`,
    `ALTER TABLE ${S}.t ALTER COLUMN card SET MASKING POLICY ${S}.cards USING (card, amount)`,
  );
});

describe('a reader', () => {
  test('sees visible rows and masked values, whoever asks', async () => {
    expect(await rows(`SELECT id, card FROM ${S}.t WHERE id < 5 ORDER BY id`)).toEqual([
      [1, 'hidden'],
      [2, '2222'],
    ]);
    expect(await rows(`SELECT id, card FROM ${S}.t ORDER BY id`, 'max')).toEqual([[2, '2222']]);
    expect(await rows(`SELECT count(*) FROM ${S}.t`, 'max')).toEqual([[1]]);
    expect(await rows(`SELECT count(*), sum(amount) FROM ${S}.t`, 'root')).toEqual([[5, '36']]);
    expect(await rows(`SELECT * FROM ${S}.t WHERE card = '1111'`)).toEqual([]);
  });

  test('evaluates nothing over a hidden row or a raw value', async () => {
    const attacks = [
      `SELECT count(*) FROM ${S}.t WHERE 1 / amount > 0`,
      `SELECT id FROM ${S}.t WHERE card <> 'hidden' AND CAST(card AS INTEGER) > 0`,
      `SELECT a.id FROM ${S}.t a JOIN ${S}.t b ON 10 / a.amount = 10 / b.amount`,
      `SELECT id FROM (SELECT * FROM ${S}.t LIMIT 100) WHERE 1 / amount >= 0`,
      `SELECT id, row_number() OVER (ORDER BY 1 / amount) FROM ${S}.t`,
      `SELECT x FROM ${S}.t, LATERAL (SELECT 1 / amount AS x)`,
      `SELECT 1 / amount FROM ${S}.t UNION ALL SELECT 1 / amount FROM ${S}.t`,
      `WITH c AS MATERIALIZED (FROM ${S}.t) SELECT 1 / c.amount FROM c`,
    ];
    for (const sql of attacks) await rows(sql);
  });
});
