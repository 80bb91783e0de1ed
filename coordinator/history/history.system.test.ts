import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { principalId, queryId, tenantId } from '#shared/id.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/resources.ts';
import {
  failOrphans,
  migrateHistory,
  nextEpoch,
  openHistoryDatabase,
  type HistoryDatabase,
} from './history-database.ts';
import { historyRow, type HistoryRow, type QueryFacts } from './history-record.ts';
import { HistoryWriter } from './history-writer.ts';
import { storeRows } from './store-rows.ts';

let database: TestDatabase;
let db: Kysely<HistoryDatabase>;

beforeAll(async () => {
  database = await createTestDatabase();
  db = openHistoryDatabase({ url: database.url, poolMax: 2, log: silentLogger });
});
afterAll(async () => {
  await db.destroy();
  await database[Symbol.asyncDispose]();
});

const facts = (): QueryFacts => ({
  recordId: randomUUID(),
  queryId: queryId(randomUUID()),
  sql: "select 'a\0b'",
  principal: principalId('p'),
  username: 'u',
  tenant: tenantId('t'),
  queryType: 'select',
  source: 'etl',
  resourceGroup: '/root',
  priority: 5,
});
const stored = async (id: string): Promise<HistoryRow | undefined> =>
  db.selectFrom('query_history').selectAll().where('record_id', '=', id).executeTakeFirst();

test('every start has a greater epoch, and migrating twice changes nothing', async () => {
  await migrateHistory(db);
  await migrateHistory(db);
  expect((await nextEpoch(db)) < (await nextEpoch(db))).toBe(true);
});

test('a record follows its statement to the end', async () => {
  const epoch = await nextEpoch(db);
  const writer = new HistoryWriter({ store: storeRows(db), bufferMax: 100, log: silentLogger });
  const [one, same] = [facts(), facts()];
  writer.record(historyRow(one, { kind: 'running', queuedAtMs: 1_000, startedAtMs: 2_000 }, epoch));
  await expect.poll(() => stored(one.recordId)).toMatchObject({ status: 'running', ended_at: null });
  const done = { rowsProduced: 2 ** 40, bytesScanned: 5, fragments: 1, endedAtMs: 5_000 };
  writer.record(historyRow(one, { kind: 'completed', queuedAtMs: 1_000, startedAtMs: 2_000, ...done }, epoch));
  // Another statement under the same query id has a record of its own.
  const error = new SkeinError('SYNTAX_ERROR', 'no');
  const failed = { kind: 'failed', queuedAtMs: 1, startedAtMs: null, endedAtMs: 2, error } as const;
  writer.record(historyRow({ ...same, queryId: one.queryId }, failed, epoch));
  await writer.close();
  expect(await stored(one.recordId)).toMatchObject({
    status: 'completed',
    sql: "select 'a\uFFFDb'",
    started_at: new Date(2_000),
    duration_ms: '3000',
    rows_produced: String(2 ** 40),
    source: 'etl',
  });
  expect(await stored(same.recordId)).toMatchObject({
    status: 'failed',
    started_at: null,
    duration_ms: '0',
    error_code: 'SYNTAX_ERROR',
    error_message: 'no',
  });
});

test('statements that ran when their coordinator died are failed at the next start', async () => {
  const epoch = await nextEpoch(db);
  const writer = new HistoryWriter({ store: storeRows(db), bufferMax: 100, log: silentLogger });
  const [queued, running] = [facts(), facts()];
  writer.record(historyRow(queued, { kind: 'queued', queuedAtMs: 1 }, epoch));
  writer.record(historyRow(running, { kind: 'running', queuedAtMs: 1, startedAtMs: 2 }, epoch));
  await writer.close();
  expect(await failOrphans(db, await nextEpoch(db))).toBe(2);
  expect(await stored(running.recordId)).toMatchObject({
    status: 'failed',
    error_message: expect.stringContaining('ended'),
  });
});

test('while Postgres is away records are kept, and written when it is back', async () => {
  const epoch = await nextEpoch(db);
  const writer = new HistoryWriter({ store: storeRows(db), bufferMax: 100, log: silentLogger });
  const one = facts();
  const state = { kind: 'queued', queuedAtMs: 1 } as const;
  await db.schema.alterTable('query_history').renameTo('query_history_away').execute();
  writer.record(historyRow(one, state, epoch));
  await sleep(300);
  expect(writer.waiting).toBe(1);
  await db.schema.alterTable('query_history_away').renameTo('query_history').execute();
  await expect.poll(() => stored(one.recordId), { timeout: 5_000 }).toMatchObject({ status: 'queued' });
  await writer.close();
});
