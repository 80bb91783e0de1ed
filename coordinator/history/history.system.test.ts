import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql, type Kysely } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defaultConfig } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import { principalId, queryId, tenantId } from '#shared/id.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { must } from '#shared/must.ts';
import { recordedOf } from '#test/support/api-fixtures.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/resources.ts';
import {
  failOrphans,
  migrateHistory,
  nextEpoch,
  openHistoryDatabase,
  type HistoryDatabase,
  type StoredRow,
} from './history-database.ts';
import { historyRow, type HistoryRow, type QueryFacts, type Recorded } from './history-record.ts';
import { beginEnding, EarlierTerms, endTerm } from './ending-terms.ts';
import { LeadLease } from './lead-lease.ts';
import { HistoryWriter } from './history-writer.ts';
import { HistoryJournal } from './history-journal.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import { WriteIntents } from '../write/write-intents.ts';
import type { TokenClaims } from '#shared/authorization/token-claims.ts';
import type { Caller } from '../auth/authenticate.ts';
import { ALL_RECORDS, type HistoryRequest } from './history-request.ts';
import { HistoryReader } from './read-history.ts';
import { HistoryPartitions } from './history-partitions.ts';
import { openHistory, type History } from './open-history.ts';
import { profileIn } from './profile-batch.ts';
import { ProfileSegments } from './profile-segments.ts';
import { printRecord, type PrintedRecord } from './record-line.ts';
import { storeRecords } from './store-records.ts';
import { patience } from '#test/support/run/slowness.ts';

let database: TestDatabase;
let db: Kysely<HistoryDatabase>;
let folder: string;
let journal: HistoryJournal;

beforeAll(async () => {
  database = await createTestDatabase();
  db = openHistoryDatabase({ url: database.url, poolMax: 2, log: silentLogger });
  folder = mkdtempSync(join(tmpdir(), 'skein-history-'));
  journal = new HistoryJournal({ folder, bytesMax: 2 ** 30, log: silentLogger });
});
afterAll(async () => {
  journal[Symbol.dispose]();
  rmSync(folder, { recursive: true });
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
  priority: 2,
  classification: null,
});
const newWriter = (): HistoryWriter =>
  new HistoryWriter({
    store: storeRecords(db, silentLogger),
    journal,
    bufferMax: 100,
    flushIntervalMs: 100,
    log: silentLogger,
  });
const printed = (row: HistoryRow, profile: string | null = null): PrintedRecord => ({
  recordId: row.record_id,
  row: printRecord(row).row,
  profile,
});
const by = (epoch: number) => ({ epoch, cuRate: 2 });
const profileOf = async (id: string): Promise<string | undefined> => {
  const profile = await db
    .selectFrom('query_profiles as p')
    .innerJoin('query_history as h', 'h.profile_batch', 'p.record_id')
    .where('h.record_id', '=', id)
    .select('p.batch')
    .executeTakeFirst();
  return profile?.batch == null ? undefined : (profileIn(profile.batch, id) ?? undefined);
};
const stored = async (id: string): Promise<StoredRow | undefined> =>
  db.selectFrom('query_history').selectAll().where('record_id', '=', id).executeTakeFirst();

test('every start has a greater epoch, and migrating twice changes nothing', async () => {
  await migrateHistory(db);
  await migrateHistory(db);
  expect((await nextEpoch(db)) < (await nextEpoch(db))).toBe(true);
});

test('a record follows its statement to the end', async () => {
  const epoch = await nextEpoch(db);
  const writer = newWriter();
  const [one, same] = [facts(), facts()];
  writer.record(recordedOf(historyRow(one, { kind: 'running', queuedAtMs: 1_000, startedAtMs: 2_000 }, by(epoch))));
  await expect.poll(() => stored(one.recordId)).toMatchObject({ status: 'running', ended_at: null });
  const done = { rowsProduced: 2 ** 40, bytesScanned: 5, fragments: 1, endedAtMs: 5_000 };
  const completed = historyRow(one, { kind: 'completed', queuedAtMs: 1_000, startedAtMs: 2_000, ...done }, by(epoch));
  writer.record(recordedOf(completed, '{"queries":[]}'));
  // Another statement under the same query id has a record of its own.
  const error = new SkeinError('SYNTAX_ERROR', 'no');
  const work = { rowsProduced: 7, bytesScanned: 8, fragments: 2 };
  const failed = { kind: 'failed', queuedAtMs: 1, startedAtMs: null, endedAtMs: 2, error, ...work } as const;
  writer.record(recordedOf(historyRow({ ...same, queryId: one.queryId }, failed, by(epoch))));
  await writer.close();
  expect(await stored(one.recordId)).toMatchObject({
    status: 'completed',
    sql: "select 'a\uFFFDb'",
    started_at: new Date(2_000),
    duration_ms: '3000',
    // Two units an hour, for 3 s.
    cu_consumed: 2 / 1_200,
    rows_produced: String(2 ** 40),
    source: 'etl',
  });
  expect(await profileOf(one.recordId)).toBe('{"queries":[]}');
  expect(await profileOf(same.recordId)).toBeUndefined();
  expect(await stored(same.recordId)).toMatchObject({
    status: 'failed',
    started_at: null,
    duration_ms: '0',
    error_code: 'SYNTAX_ERROR',
    error_message: 'no',
    rows_produced: '7',
    bytes_scanned: '8',
    fragments: 2,
    cu_consumed: 0,
  });
});

test('statements that ran when their coordinator died are failed at the next start', async () => {
  const epoch = await nextEpoch(db);
  const writer = newWriter();
  const [queued, running] = [facts(), facts()];
  writer.record(recordedOf(historyRow(queued, { kind: 'queued', queuedAtMs: 1 }, by(epoch))));
  writer.record(recordedOf(historyRow(running, { kind: 'running', queuedAtMs: 1, startedAtMs: 2 }, by(epoch))));
  await writer.close();
  expect(await failOrphans(db, await nextEpoch(db))).toBe(2);
  expect(await stored(running.recordId)).toMatchObject({
    status: 'failed',
    error_message: expect.stringContaining('ended'),
  });
});

test('while Postgres is away records are kept, and written when it is back', async () => {
  const epoch = await nextEpoch(db);
  const writer = newWriter();
  const one = facts();
  const state = { kind: 'queued', queuedAtMs: 1 } as const;
  await db.schema.alterTable('query_history').renameTo('query_history_away').execute();
  writer.record(recordedOf(historyRow(one, state, by(epoch))));
  await sleep(300);
  expect(writer.waiting).toBe(1);
  await db.schema.alterTable('query_history_away').renameTo('query_history').execute();
  await expect.poll(() => stored(one.recordId), { timeout: patience(5_000) }).toMatchObject({ status: 'queued' });
  await writer.close();
});

describe('the lead', () => {
  const lease = (holder: string): LeadLease =>
    new LeadLease({ url: database.url, candidate: { id: holder, url: `http://${holder}` }, ttlMs: 500 });

  test('one holds it until its time is over or it gives it up, each time with a greater epoch', async () => {
    const [one, other] = [lease('one'), lease('other')];
    expect([await one.take(false), await other.take(false)]).toEqual([true, false]);
    await sleep(300);
    expect(await one.renew()).toBe(true);
    await sleep(300);
    expect(await other.take(false)).toBe(false);
    await sleep(300);
    expect([await other.take(false), await one.renew(), await other.renew()]).toEqual([true, false, true]);
    expect(other.epoch).toBeGreaterThan(one.epoch);
    await other.release();
    expect(await one.take(false)).toBe(true);
    const forced = lease('forced');
    expect([await forced.take(true), await one.renew()]).toEqual([true, false]);
    await Promise.all([forced.release(), one.release()]);
  });

  test('who has lost it begins no write, unless it was handed over', async () => {
    const [one, other] = [lease('one'), lease('other')];
    const write = (epoch: number): Promise<void> =>
      new WriteIntents(db, epoch).add({
        writeId: randomUUID(),
        recordId: randomUUID(),
        principal: { sub: principalId('p'), tenant: tenantId('t'), sess_epoch: 0 } as Principal,
        key: randomUUID(),
        places: { data: 'file:/d', metadata: 'file:/m' },
      });
    await one.take(true);
    await write(one.epoch);
    await other.take(true);
    await expect(write(one.epoch)).rejects.toMatchObject({ code: 'NOT_ACTIVE' });
    await beginEnding(db, one.epoch, 60_000);
    await write(one.epoch);
    expect(await new WriteIntents(db, other.epoch).takeOver([one.epoch])).toEqual([]);
    await endTerm(db, one.epoch);
    await expect(write(one.epoch)).rejects.toMatchObject({ code: 'NOT_ACTIVE' });
    expect(await new WriteIntents(db, other.epoch).takeOver([])).toHaveLength(2);
    await write(other.epoch);
    await Promise.all([one.release(), other.release()]);
  });

  test('what a term that goes on has left is taken over when it has ended', async () => {
    const [before, now] = [await nextEpoch(db), await nextEpoch(db)];
    await beginEnding(db, before, 60_000);
    const taken: (readonly number[])[] = [];
    const takeOver = async (ending: readonly number[]): Promise<void> => void taken.push(ending);
    using earlier = new EarlierTerms({ db, epoch: now, takeOver, log: silentLogger });
    await earlier.start();
    expect([taken, earlier.ending]).toEqual([[[before]], [before]]);
    await sleep(1_200);
    expect(taken).toHaveLength(1);
    await endTerm(db, before);
    await expect.poll(() => taken, { timeout: patience(5_000) }).toEqual([[before], []]);
    expect(earlier.ending).toEqual([]);
  });
});

describe('the journal of a process that was killed', () => {
  /** A process that has taken two statements, and ends before its database has them. */
  async function killed(epoch: number, statements: readonly Recorded[]): Promise<void> {
    const left = new HistoryJournal({ folder, bytesMax: 2 ** 30, log: silentLogger });
    const unreachable = { store: () => new Promise<void>(() => undefined), journal: left, bufferMax: 100 };
    const writer = new HistoryWriter({ ...unreachable, flushIntervalMs: 100, log: silentLogger });
    for (const one of statements) writer.record(one);
    await sleep(300);
    left[Symbol.dispose]();
    expect(epoch).toBeGreaterThan(0);
  }
  const open = (): Promise<History> =>
    openHistory(defaultConfig({ 'coordinator.history_dir': folder }), db, silentLogger);

  test('is stored by the next one: what ended as it ended, what went on as failed', async () => {
    const epoch = await nextEpoch(db);
    const [done, going] = [facts(), facts()];
    const end = { rowsProduced: 3, bytesScanned: 5, fragments: 1, endedAtMs: 5_000 };
    const completed = historyRow(done, { kind: 'completed', queuedAtMs: 1_000, startedAtMs: 2_000, ...end }, by(epoch));
    await killed(epoch, [
      recordedOf(completed, '{"isCut":false}'),
      recordedOf(historyRow(going, { kind: 'running', queuedAtMs: 1_000, startedAtMs: 2_000 }, by(epoch))),
    ]);
    await (await open()).close();
    expect(await stored(done.recordId)).toMatchObject({ status: 'completed', rows_produced: '3' });
    expect(await profileOf(done.recordId)).toBe('{"isCut":false}');
    expect(await stored(going.recordId)).toMatchObject({
      status: 'failed',
      error_message: expect.stringContaining('ended'),
    });
  });

  test('is read as an earlier release wrote it: the row alone, with its profile as a text', async () => {
    const epoch = await nextEpoch(db);
    const one = facts();
    const end = { rowsProduced: 3, bytesScanned: 5, fragments: 1, endedAtMs: 5_000 };
    const row = historyRow(one, { kind: 'completed', queuedAtMs: 1_000, startedAtMs: 2_000, ...end }, by(epoch));
    const left = new HistoryJournal({ folder, bytesMax: 2 ** 30, log: silentLogger });
    left.append(Buffer.from(`${JSON.stringify({ ...row, profile: '{"isCut":false}' })}\n`));
    left[Symbol.dispose]();
    await (await open()).close();
    expect(await stored(one.recordId)).toMatchObject({ status: 'completed', started_at: new Date(2_000) });
    expect(await profileOf(one.recordId)).toBe('{"isCut":false}');
  });

  test('replaces nothing by something earlier, and one record that Postgres refuses costs no other', async () => {
    const epoch = await nextEpoch(db);
    const [one, bad] = [facts(), { ...facts(), recordId: 'no uuid' }];
    const end = { rowsProduced: 3, bytesScanned: 5, fragments: 1, endedAtMs: 5_000 };
    const store = storeRecords(db, silentLogger);
    const running = historyRow(one, { kind: 'running', queuedAtMs: 1_000, startedAtMs: 2_000 }, by(epoch));
    const ended = historyRow(one, { kind: 'completed', queuedAtMs: 1_000, startedAtMs: 2_000, ...end }, by(epoch));
    await store([printed({ ...running, record_id: bad.recordId }), printed(ended, '{"queries":[]}')]);
    await store([printed(running)]);
    // As the journal has it before its profile is made.
    await store([printed(ended)]);
    expect(await stored(one.recordId)).toMatchObject({ status: 'completed', rows_produced: '3' });
    expect(await profileOf(one.recordId)).toBe('{"queries":[]}');
  });
});

test('a month has a partition before it begins, and none when all of it is older than the retention', async () => {
  const months = async (): Promise<readonly string[]> => {
    const { rows } = await sql<{ name: string }>`
      select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'coordinator.query_history'::regclass order by 1`.execute(db);
    return rows.map(({ name }) => name).filter((name) => name !== 'query_history_other');
  };
  const at = async (time: string): Promise<void> => {
    const options = { db, retentionMs: 90 * 86_400_000, nowMs: () => Date.parse(time), log: silentLogger };
    using partitions = new HistoryPartitions(options);
    await partitions.start();
  };
  await at('2031-01-15T00:00:00Z');
  expect(await months()).toEqual(['query_history_2031_01', 'query_history_2031_02', 'query_history_2031_03']);
  await at('2031-04-30T23:00:00Z');
  expect((await months())[0]).toBe('query_history_2031_01');
  await at('2031-05-02T00:00:00Z');
  expect((await months())[0]).toBe('query_history_2031_02');
});

test('profiles stay within their room and their retention: the oldest segment is dropped, and nothing of the others', async () => {
  const DAY_MS = 86_400_000;
  const segments = async (): Promise<readonly number[]> => {
    const { rows } = await sql<{ segment: number }>`
      select segment from coordinator.profile_segments order by segment`.execute(db);
    return rows.map(({ segment }) => segment);
  };
  const at = async (nowMs: number, bytesMax: number): Promise<void> => {
    const options = { db, bytesMax, retentionMs: 80 * DAY_MS, nowMs: () => nowMs, log: silentLogger };
    using keeper = new ProfileSegments(options);
    await keeper.start();
  };
  /** A record with a profile of 40 KB that cannot be compressed. */
  const keep = async (): Promise<string> => {
    const one = facts();
    const profile = JSON.stringify(randomBytes(30_000).toString('base64'));
    const end = { rowsProduced: 1, bytesScanned: 1, fragments: 1, endedAtMs: 2 };
    const row = historyRow(one, { kind: 'completed', queuedAtMs: 1, startedAtMs: 1, ...end }, by(1));
    await storeRecords(db, silentLogger)([printed(row, profile)]);
    return one.recordId;
  };
  const has = async (id: string): Promise<boolean> => (await profileOf(id)) !== undefined;
  const now = Date.now();
  // Room enough: a segment only ends at an eighth of it, or of the retention.
  await at(now, 2 ** 30);
  expect(await segments()).toEqual([1]);
  const first = await keep();
  await at(now, 8 * 40_000);
  expect(await segments()).toEqual([1, 2]);
  const second = await keep();
  await at(now + 1, 8 * 40_000);
  expect(await segments()).toEqual([1, 2, 3]);
  expect([await has(first), await has(second)]).toEqual([true, true]);
  // The first two are over this room together, and the second alone is not.
  await at(now + 2, 150_000);
  expect(await segments()).toEqual([2, 3]);
  expect([await has(first), await has(second)]).toEqual([false, true]);
  // By their age: the newest one stays, whatever it is.
  await at(now + 79 * DAY_MS, 2 ** 30);
  expect(await segments()).toEqual([2, 3, 4]);
  await at(now + 81 * DAY_MS, 2 ** 30);
  expect(await segments()).toEqual([3, 4]);
  expect(await has(second)).toBe(false);
  expect(await has(await keep())).toBe(true);
});

describe('who sees what', () => {
  const callerOf = (tenant: string, principal: string, isAdmin = false): Caller => ({
    claims: { tenant: tenantId(tenant), sub: principalId(principal), preferred_username: principal } as TokenClaims,
    decisions: new Map(isAdmin ? [['query.list', { allowed: true }]] : []),
  });
  const of = (tenant: string, principal: string, more: Partial<QueryFacts>, queuedAtMs: number): HistoryRow => {
    const end = { rowsProduced: 3, bytesScanned: 5, fragments: 1, endedAtMs: queuedAtMs + 100 };
    return historyRow(
      {
        ...facts(),
        tenant: tenantId(tenant),
        principal: principalId(principal),
        username: `name of ${principal}`,
        ...more,
      },
      { kind: 'completed', queuedAtMs, startedAtMs: queuedAtMs, ...end },
      by(1),
    );
  };
  const now = Date.now();
  let reader: HistoryReader;
  let live: (row: StoredRow) => string | null | undefined = () => undefined;
  beforeAll(async () => {
    const history = { stored: () => Promise.resolve() } as unknown as History;
    reader = new HistoryReader(db, history, { retentionMs: 3_600_000, live: (row) => live(row) });
    const rows = [
      ...Array.from({ length: 120 }, (_, i) => of('acme', 'ann', { sql: `SELECT ${i} -- 100%` }, now - 10_000 + i)),
      of('acme', 'bob', { sql: 'INSERT', queryType: 'insert', resourceGroup: '/root/etl' }, now - 5_000),
      of('rival', 'eve', { sql: 'SELECT secret' }, now - 4_000),
      of('acme', 'ann', { sql: 'SELECT old' }, now - 7_200_000),
    ];
    await storeRecords(db, silentLogger)(rows.map((row) => printed(row)));
  });
  const texts = async (caller: Caller, asked: Partial<HistoryRequest> = {}): Promise<readonly string[]> =>
    (await reader.list(caller, { ...ALL_RECORDS, ...asked })).map(({ sql: text }) => text);

  test('a principal its own, an administrator its tenant, and nobody what is older than the retention', async () => {
    expect(await texts(callerOf('acme', 'bob'))).toEqual(['INSERT']);
    expect(await texts(callerOf('acme', 'bob'), { user: 'ann' })).toEqual([]);
    expect(await texts(callerOf('rival', 'ann', true))).toEqual(['SELECT secret']);
    expect(await texts(callerOf('acme', 'root', true), { limit: 500 })).toHaveLength(121);
    expect(await texts(callerOf('acme', 'root', true), { user: 'name of bob' })).toEqual(['INSERT']);
  });

  test('more than a page, page by page: each record once, in order, and none that came meanwhile', async () => {
    const admin = callerOf('paged', 'root', true);
    // As many have the same time as stand on both sides of the end of a page.
    const rows = Array.from({ length: 1_200 }, (_, i) => of('paged', 'ann', {}, now - 60_000 + Math.floor(i / 300)));
    await storeRecords(db, silentLogger)(rows.map((row) => printed(row)));
    const sizes: number[] = [];
    const found: string[] = [];
    for await (const page of reader.pages(admin, { ...ALL_RECORDS, limit: 1_100 })) {
      sizes.push(page.length);
      found.push(...page.map(({ queryId }) => queryId));
      await storeRecords(db, silentLogger)([printed(of('paged', 'ann', {}, now))]);
    }
    expect(sizes).toEqual([500, 500, 100]);
    const newest = rows
      .toSorted((a, b) => b.queued_at.getTime() - a.queued_at.getTime() || (a.record_id < b.record_id ? 1 : -1))
      .map((row) => row.query_id);
    expect(found).toEqual(newest.slice(0, 1_100));
  });

  test('one record of it, under its id', async () => {
    const [own] = await reader.list(callerOf('acme', 'bob'), ALL_RECORDS);
    const id = own?.queryId ?? '';
    expect(own).toMatchObject({ queryType: 'insert', durationMs: 100, rowsProduced: 3, cuConsumed: 2 / 36_000 });
    expect(await reader.find(callerOf('acme', 'bob'), id)).toEqual(own);
    expect(await reader.find(callerOf('acme', 'ann'), id)).toBeUndefined();
    expect(await reader.find(callerOf('rival', 'bob', true), id)).toBeUndefined();
    expect(await reader.profile(callerOf('acme', 'ann'), id)).toBeUndefined();
    expect(JSON.parse((await reader.profile(callerOf('acme', 'bob'), id)) ?? '')).toMatchObject({ queryId: id });
  });

  test('a profile: of a statement that runs as it is now, else as it was stored, and of one that ended in between', async () => {
    const [bob, id] = [callerOf('acme', 'bob'), randomUUID()];
    const running = historyRow(
      { ...facts(), tenant: tenantId('acme'), principal: principalId('bob'), queryId: queryId(id) },
      { kind: 'running', queuedAtMs: now, startedAtMs: now + 1 },
      by(1),
    );
    const asked = async (): Promise<unknown> => JSON.parse((await reader.profile(bob, id)) ?? 'null') as unknown;
    const times = { queryId: id, queuedAt: new Date(now).toISOString(), startedAt: new Date(now + 1).toISOString() };
    await storeRecords(db, silentLogger)([printed(running)]);
    live = () => undefined;
    expect(await asked()).toEqual({ ...times, status: 'running', endedAt: null });
    live = ({ record_id: record }) => JSON.stringify({ isLive: record === running.record_id });
    expect(await asked()).toEqual({ ...times, status: 'running', endedAt: null, isLive: true });
    live = () => null;
    expect(await asked()).toEqual({ ...times, status: 'running', endedAt: null });
    expect(await reader.profile(callerOf('acme', 'root', true), id)).toBeDefined();
    expect(await reader.profile(callerOf('acme', 'ann'), id)).toBeUndefined();
    expect(await reader.profile(callerOf('rival', 'bob', true), id)).toBeUndefined();
    const end = { status: 'completed' as const, ended_at: new Date(now + 2) };
    const store = storeRecords(db, silentLogger)([printed({ ...running, ...end }, '{"isLive":false}')]);
    live = () => undefined;
    await store;
    const ended = { ...times, status: 'completed', endedAt: new Date(now + 2).toISOString(), isLive: false };
    expect(await asked()).toEqual(ended);
  });

  test('a profile that an earlier release has stored under its record', async () => {
    const [bob, id] = [callerOf('acme', 'bob'), randomUUID()];
    const row = of('acme', 'bob', { queryId: queryId(id) }, now - 2_000_000);
    await storeRecords(db, silentLogger)([printed(row)]);
    const old = { record_id: row.record_id, profile: '{"isOld":true}', batch: null };
    const { rows } = await sql<{ segment: number }>`
      select max(segment) as segment from coordinator.profile_segments`.execute(db);
    const { segment } = must(rows[0], 'a segment');
    await db
      .insertInto('query_profiles')
      .values({ ...old, segment })
      .execute();
    expect(JSON.parse((await reader.profile(bob, id)) ?? '')).toMatchObject({ queryId: id, isOld: true });
  });

  test('pages follow each other, the newest first', async () => {
    const ann = callerOf('acme', 'ann');
    const pages = await Promise.all([0, 50, 100].map((offset) => texts(ann, { offset })));
    expect(pages.flat()).toEqual(Array.from({ length: 120 }, (_, i) => `SELECT ${119 - i} -- 100%`));
  });

  test('filters', async () => {
    const root = callerOf('acme', 'root', true);
    expect(await texts(root, { queryType: 'insert' })).toEqual(['INSERT']);
    expect(await texts(root, { resourceGroup: '/root/etl' })).toEqual(['INSERT']);
    expect(await texts(root, { status: 'failed' })).toEqual([]);
    expect(await texts(root, { minDurationMs: 101 })).toEqual([]);
    expect(await texts(root, { text: 'select 119' })).toEqual(['SELECT 119 -- 100%']);
    expect(await texts(root, { text: '%' })).toHaveLength(50);
    expect(await texts(root, { text: '0%0' })).toEqual([]);
    expect(await texts(root, { text: 'a\0b' })).toEqual([]);
    expect(await texts(root, { like: 'SELECT 11_ %' })).toHaveLength(10);
    expect(await texts(root, { like: 'SELECT\\' })).toEqual([]);
    const half = { from: new Date(now - 10_000), to: new Date(now - 9_999) };
    expect(await texts(root, half)).toEqual(['SELECT 0 -- 100%']);
  });
});
