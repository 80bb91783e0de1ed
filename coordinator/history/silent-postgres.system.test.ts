import { sql } from 'kysely';
import { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endSilent } from '#shared/database/end-silent.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/resources.ts';
import { startSilentWire, type SilentWire } from '#test/support/silent-wire.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';
import { openHistoryDatabase } from './history-database.ts';

/** The connections of a pool to a real Postgres, behind a wire that falls silent. */

let database: TestDatabase;
let wire: SilentWire;
let url: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const { hostname: host, port } = new URL(database.url);
  wire = await startSilentWire({ host, port: Number(port) });
  url = database.url.replace(`:${port}`, `:${wire.port}`);
});
afterAll(async () => {
  wire?.[Symbol.dispose]();
  await database?.[Symbol.asyncDispose]();
});

test('the pool of the history: a statement that Postgres is silent on fails within seconds, and the next one takes another connection', async () => {
  const db = openHistoryDatabase({ url, poolMax: 1, log: silentLogger });
  await sql`select 1`.execute(db);
  wire.silence(true);
  const startMs = performance.now();
  const asked = sql`select 2`.execute(db);
  await expect(asked).rejects.toThrow('Connection terminated');
  expect(performance.now() - startMs).toBeLessThan(8_000 * machineSlowness());
  wire.silence(false);
  const backMs = performance.now();
  expect((await sql<{ three: number }>`select 3 as three`.execute(db)).rows).toEqual([{ three: 3 }]);
  expect(performance.now() - backMs).toBeLessThan(1_000 * machineSlowness());
  await db.destroy();
});

test('a statement that takes long goes on, up to its limit', async () => {
  const pool = new Pool({ connectionString: url, max: 2 });
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    endSilent(client, { statementMsMax: 10_000 });
  });
  const [seven, fifteen] = [pool.query('select pg_sleep(7)'), pool.query('select pg_sleep(15)')];
  fifteen.catch(() => undefined);
  expect((await seven).rowCount).toBe(1);
  const startMs = performance.now();
  await expect(fifteen).rejects.toThrow();
  expect(performance.now() - startMs).toBeLessThan(7_000 * machineSlowness());
  await pool.end();
});
