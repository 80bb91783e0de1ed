import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defaultConfig } from '#shared/config/config-schema.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { createTestDatabase } from '#test/support/resources.ts';
import { connectStore, type Store } from './connect.ts';
import { onBehalfOf } from './on-behalf-of.ts';
import { transact } from './transact.ts';

const POOL_MAX = 2;
const ASKED = 40;
const loud = { tenant: 'loud', principal: 'p' };
const quiet = { tenant: 'quiet', principal: 'p' };

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let store: Store;
beforeAll(async () => {
  database = await createTestDatabase();
  store = await connectStore(
    defaultConfig({ 'database.url': database.url, 'database.pool_max': POOL_MAX }),
    silentLogger,
  );
});
afterAll(async () => {
  await store.close();
  await database[Symbol.asyncDispose]();
});

const sleep = (): Promise<unknown> => sql`select pg_sleep(0.03)`.execute(store.db);

/** Many slow statements of one tenant, and how many of them were answered. */
function flood(): { readonly answered: () => number; readonly all: Promise<unknown> } {
  let answered = 0;
  const statements = onBehalfOf(loud, () =>
    Array.from({ length: ASKED }, async () => {
      await sleep();
      answered += 1;
    }),
  );
  return { answered: () => answered, all: Promise.all(statements) };
}

test.each([
  ['kysely', () => sql`select 1`.execute(store.db)],
  ['the pool', () => store.pool.query('select 1')],
])('by %s the statement of another tenant is the next of those that wait', async (_by, ask) => {
  const { answered, all } = flood();
  await onBehalfOf(quiet, ask);
  expect(answered()).toBeLessThanOrEqual(POOL_MAX);
  // Neither does work that is done for no tenant wait for all of one.
  await ask();
  expect(answered()).toBeLessThanOrEqual(2 * POOL_MAX);
  await all;
});

test('a transaction that asks for a second connection is not kept waiting by those that have none', async () => {
  const answered = await transact(store.db, async (tx) => {
    await sql`select 1`.execute(tx);
    const begun = flood();
    await sql`select 1`.execute(store.db);
    const byThen = begun.answered();
    return { byThen, all: begun.all };
  });
  expect(answered.byThen).toBeLessThanOrEqual(POOL_MAX);
  await answered.all;
});

test('a statement that fails, and a connection that breaks, give their places back', async () => {
  for (let i = 0; i <= POOL_MAX; i += 1) {
    await expect(onBehalfOf(loud, () => store.pool.query('select no_such_column'))).rejects.toThrow('no_such_column');
    await expect(
      onBehalfOf(loud, () => store.pool.query('select pg_terminate_backend(pg_backend_pid())')),
    ).rejects.toThrow();
  }
  await onBehalfOf(loud, sleep);
});
