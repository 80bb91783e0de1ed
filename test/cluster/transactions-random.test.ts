import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '#shared/json.ts';
import { Random } from '#test/fuzz/random.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { fixedSeed } from '#test/support/seed.ts';

/**
 * Money goes between accounts in three tables, in transactions of several sessions at once, which fail, conflict and are rolled back.
 * Whoever reads the tables one after the other in a transaction finds the same sum, whenever it looks. `TEST_SEED` gives other ones.
 */
const SCHEMA = 'lake.transactions_random';
const TABLES = ['x', 'y', 'z'] as const;
const ACCOUNTS = 6;
const START = 1_000;
const TOTAL = TABLES.length * ACCOUNTS * START;
const WRITERS = 3;
const READERS = 2;
const TRANSFERS = 12;

let cluster: Cluster;
beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.sql(`CREATE SCHEMA ${SCHEMA}`);
  for (const [i, table] of TABLES.entries()) {
    await cluster.sql(
      `CREATE TABLE ${SCHEMA}.${table} (id INTEGER, amount BIGINT) WITH ('format-version' = '${i === 0 ? 2 : 3}')`,
    );
    await cluster.sql(`INSERT INTO ${SCHEMA}.${table} SELECT i, ${START} FROM range(${ACCOUNTS}) r(i)`);
  }
  await cluster.sql(`CREATE TABLE ${SCHEMA}.ledger (id VARCHAR, amount BIGINT)`);
});
afterAll(async () => {
  for (const table of [...TABLES, 'ledger']) await cluster.sql(`DROP TABLE ${SCHEMA}.${table} PURGE`);
  await cluster.sql(`DROP SCHEMA ${SCHEMA}`);
});

type Session = (sql: string) => Promise<readonly (readonly Json[])[] | string>;

/** A session, whose statements answer with rows or with an SQLSTATE. */
function session(): Session {
  const sessionId = randomUUID();
  return async (sql) => {
    const { status, body } = await cluster.query(sql.replaceAll('@', SCHEMA), { sessionId });
    return status === 200 ? (body.rows ?? []) : String(body.sql_state);
  };
}

type Ended = 'committed' | 'rolled back' | 'conflict';

/** Moves an amount between two accounts, and notes it; sometimes it thinks better of it. */
async function transfer(run: Session, random: Random, id: string): Promise<Ended> {
  const [from, to] = [random.pick(TABLES), random.pick(TABLES)];
  const amount = 1 + random.below(50);
  const steps = [
    `UPDATE @.${from} SET amount = amount - ${amount} WHERE id = ${random.below(ACCOUNTS)}`,
    random.chance(0.5)
      ? `UPDATE @.${to} SET amount = amount + ${amount} WHERE id = ${random.below(ACCOUNTS)}`
      : `INSERT INTO @.${to} VALUES (${ACCOUNTS + random.below(100)}, ${amount})`,
    `INSERT INTO @.ledger VALUES ('${id}', ${amount})`,
  ];
  await run('BEGIN');
  for (const sql of random.chance(0.5) ? steps : steps.toReversed()) {
    const answer = await run(sql);
    if (typeof answer === 'string') throw new Error(`${answer}: ${sql}`);
  }
  if (random.chance(0.2)) {
    if (random.chance(0.5)) expect(await run('SELECT * FROM @.nothing')).toBe('42P01');
    await run('ROLLBACK');
    return 'rolled back';
  }
  const answer = await run('COMMIT');
  if (typeof answer !== 'string') return 'committed';
  expect(answer).toBe('40001');
  return 'conflict';
}

/** The rows that one transaction reads of every table, one after the other. */
async function totals(run: Session, random: Random): Promise<readonly Json[]> {
  await run('BEGIN READ ONLY');
  const found: Json[] = [];
  for (const table of [...TABLES, 'ledger']) {
    const rows = await run(`SELECT sum(amount)::BIGINT FROM @.${table}`);
    if (typeof rows === 'string') throw new Error(rows);
    found.push(rows[0]?.[0] ?? 0);
    await sleep(random.below(60));
  }
  await run('COMMIT');
  return found;
}

test('the sum of all tables is the same in every transaction, and what is acknowledged is there once', async () => {
  const seed = fixedSeed();
  const committed = new Map<string, Ended>();
  const over = new AbortController();
  const write = async (i: number): Promise<void> => {
    const random = new Random(seed + i);
    const run = session();
    for (let n = 0; n < TRANSFERS; n += 1) {
      const id = `${i}/${n}`;
      committed.set(id, await transfer(run, random, id));
    }
  };
  const sums: number[] = [];
  const read = async (i: number): Promise<void> => {
    const random = new Random(seed + 100 + i);
    const run = session();
    while (!over.signal.aborted) {
      const [x, y, z] = (await totals(run, random)).map(Number);
      sums.push((x ?? NaN) + (y ?? NaN) + (z ?? NaN));
    }
  };
  const reading = Array.from({ length: READERS }, (_, i) => read(i));
  await Promise.all(Array.from({ length: WRITERS }, (_, i) => write(i))).finally(() => over.abort());
  await Promise.all(reading);
  expect([seed, [...new Set(sums)]]).toEqual([seed, [TOTAL]]);
  const noted = (await cluster.sql(`SELECT id FROM ${SCHEMA}.ledger ORDER BY id`)).flat();
  const wanted = [...committed].flatMap(([id, ended]) => (ended === 'committed' ? [id] : []));
  expect([seed, noted]).toEqual([seed, wanted.sort()]);
  expect([...new Set(committed.values())].sort()).toEqual(['committed', 'conflict', 'rolled back']);
});
