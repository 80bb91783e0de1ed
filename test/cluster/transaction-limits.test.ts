import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StartedCluster } from '#test/support/cluster.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';

/** The limits of transactions, each set so low that a test meets it; forty statements take less than the time. */
const TIMEOUT_MS = patience(4_000);
const TABLE = 'lake.limits.t';

let cluster: StartedCluster;
beforeAll(async () => {
  cluster = await startOwnCluster({
    env: {
      SKEIN_COORDINATOR_TRANSACTION_TIMEOUT: `${TIMEOUT_MS}ms`,
      SKEIN_COORDINATOR_TRANSACTION_BYTES_MAX: '20kB',
      SKEIN_COORDINATOR_TRANSACTION_MEMORY: '80kB',
      SKEIN_COORDINATOR_TRANSACTIONS_PER_PRINCIPAL_MAX: '2',
    },
  });
  await cluster.sql('CREATE SCHEMA lake.limits');
  await cluster.sql(`CREATE TABLE ${TABLE} (i BIGINT, t VARCHAR)`);
});
afterAll(async () => {
  await cluster?.stop();
});

type Session = (sql: string) => Promise<string>;

/** A session, whose statements answer with their first value or with an SQLSTATE. */
function session(): Session {
  const sessionId = randomUUID();
  return async (sql) => {
    const { status, body } = await cluster.query(sql, { sessionId });
    return String(status === 200 ? (body.rows?.[0]?.[0] as string | number) : body.sql_state);
  };
}

const count = (run: Session): Promise<string> => run(`SELECT count(*) FROM ${TABLE}`);
const long = 'SELECT sum(x.i * y.i * z.i) FROM range(100000) x(i), range(100000) y(i), range(100) z(i)';

test('a transaction that is open for too long fails, also while a statement runs, and is there until ROLLBACK', async () => {
  const [idle, busy] = [session(), session()];
  for (const run of [idle, busy]) {
    expect([await run('BEGIN'), await run(`INSERT INTO ${TABLE} VALUES (1, 'x')`)]).toEqual(['BEGIN', '1']);
  }
  expect(await busy(long)).toBe('25P04');
  await expect.poll(() => count(idle), { timeout: 5 * TIMEOUT_MS }).toBe('25P02');
  for (const run of [idle, busy]) {
    expect(await run(`INSERT INTO ${TABLE} VALUES (2, 'x')`)).toBe('25P02');
    expect([await run('ROLLBACK'), await count(run)]).toEqual(['ROLLBACK', '0']);
  }
});

test('one that writes too much fails', async () => {
  const run = session();
  const insert = `INSERT INTO ${TABLE} SELECT i, md5(i::VARCHAR) FROM range(500) r(i)`;
  expect([await run('BEGIN'), await run(insert)]).toEqual(['BEGIN', '500']);
  expect(await run(insert)).toBe('53400');
  expect([await run('COMMIT'), await run('ROLLBACK'), await count(run)]).toEqual(['25P02', 'ROLLBACK', '0']);
});

test('open transactions take no more memory than they may, and give it back', async () => {
  const [run, other] = [session(), session()];
  for (let round = 0; round < 2; round++) {
    await run('BEGIN');
    let answer = '1';
    for (let i = 0; i < 40 && answer === '1'; i++) answer = await run(`INSERT INTO ${TABLE} VALUES (${i}, 'x')`);
    expect(answer).toBe('53400');
    expect([await other('BEGIN'), await other(`INSERT INTO ${TABLE} VALUES (1, 'x')`)]).toEqual(['BEGIN', '1']);
    expect([await run('ROLLBACK'), await other('ROLLBACK'), await count(run)]).toEqual(['ROLLBACK', 'ROLLBACK', '0']);
  }
});

test('a user has no more of them than it may', async () => {
  const [a, b, c] = [session(), session(), session()];
  expect([await a('BEGIN'), await b('BEGIN'), await c('BEGIN')]).toEqual(['BEGIN', 'BEGIN', '53300']);
  expect([await c(`INSERT INTO ${TABLE} VALUES (3, 'x')`), await a('COMMIT'), await c('BEGIN')]).toEqual([
    '1',
    'COMMIT',
    'BEGIN',
  ]);
  for (const run of [b, c]) await run('ROLLBACK');
});
