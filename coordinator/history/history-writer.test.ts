import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { silentLogger } from '#shared/log/logger.ts';
import { principalId, queryId, tenantId } from '#shared/id.ts';
import { recordedOf } from '#test/support/api-fixtures.ts';
import { HistoryJournal } from './history-journal.ts';
import { historyRow, type HistoryRow, type QueryFacts } from './history-record.ts';
import { HistoryWriter, storeLines } from './history-writer.ts';
import type { PrintedRecord } from './record-line.ts';
import type { StoreRecords } from './store-records.ts';

let folder: string;
let journal: HistoryJournal;

beforeEach(() => {
  vi.useFakeTimers();
  folder = mkdtempSync(join(tmpdir(), 'skein-history-'));
  journal = openJournal();
});
afterEach(() => {
  vi.useRealTimers();
  journal[Symbol.dispose]();
  rmSync(folder, { recursive: true });
});

const openJournal = (bytesMax = 2 ** 30): HistoryJournal => new HistoryJournal({ folder, bytesMax, log: silentLogger });
const newWriter = (store: StoreRecords, bufferMax = 10): HistoryWriter =>
  new HistoryWriter({ store, journal, bufferMax, flushIntervalMs: 100, log: silentLogger });

const facts = (id: string): QueryFacts => ({
  recordId: id,
  queryId: queryId(id),
  sql: 'select 1',
  principal: principalId('p'),
  username: 'u',
  tenant: tenantId('t'),
  queryType: 'select',
  source: null,
  resourceGroup: '/root',
  priority: 2,
  classification: null,
});
const BY = { epoch: 1, cuRate: 1 };
const row = (id: string, kind: 'queued' | 'running' = 'queued'): HistoryRow =>
  historyRow(facts(id), kind === 'queued' ? { kind, queuedAtMs: 0 } : { kind, queuedAtMs: 0, startedAtMs: 1 }, BY);
const ended = (id: string): HistoryRow => {
  const done = { rowsProduced: 1, bytesScanned: 0, fragments: 1, endedAtMs: 2 };
  return historyRow(facts(id), { kind: 'completed', queuedAtMs: 0, startedAtMs: 1, ...done }, BY);
};
const nameOf = ({ query_id: id, status }: HistoryRow): string => `${id}:${status}`;
const named = ({ row: printed }: PrintedRecord): string => nameOf(JSON.parse(printed.toString()) as HistoryRow);
const namedLine = (line: string): string => nameOf((JSON.parse(line) as { record: HistoryRow }).record);
const journalLines = (file: string): string[] => readFileSync(join(folder, file), 'utf8').split('\n').filter(Boolean);
const written = (batches: (readonly PrintedRecord[])[]): string[][] => batches.map((batch) => batch.map(named));

test('rows of one statement replace each other while they wait', async () => {
  const batches: (readonly PrintedRecord[])[] = [];
  const writer = newWriter((r) => Promise.resolve(void batches.push(r)), 10);
  for (const one of [row('a'), row('b'), row('a', 'running')]) {
    writer.record(recordedOf({ ...one, query_type: 'insert' }));
  }
  await vi.advanceTimersByTimeAsync(100);
  expect(written(batches)).toEqual([['a:running', 'b:queued']]);
  expect(writer.waiting).toBe(0);
});

test('a statement is sent once when it ends soon, while it goes on when it does not, and at once when somebody reads', async () => {
  const batches: (readonly PrintedRecord[])[] = [];
  const writer = newWriter((r) => Promise.resolve(void batches.push(r)), 10);
  writer.record(recordedOf(row('short', 'running')));
  writer.record(recordedOf(row('long', 'running')));
  writer.record(recordedOf(ended('other')));
  await vi.advanceTimersByTimeAsync(40);
  writer.record(recordedOf(ended('short')));
  await vi.advanceTimersByTimeAsync(100);
  expect(written(batches).flat().toSorted()).toEqual(['long:running', 'other:completed', 'short:completed']);
  writer.record(recordedOf(row('read')));
  await writer.stored(1_000);
  expect(written(batches).at(-1)).toEqual(['read:queued']);
  expect([writer.waiting, journal.bytes]).toEqual([0, 0]);
});

test('a statement that has just begun is not sent with one that has gone on for a while', async () => {
  const batches: (readonly PrintedRecord[])[] = [];
  const writer = newWriter((r) => Promise.resolve(void batches.push(r)), 10);
  for (let i = 0; i < 20; i += 1) {
    writer.record(recordedOf(row(String(i))));
    await vi.advanceTimersByTimeAsync(40);
    // Each ends soon; the first does not.
    if (i > 0) writer.record(recordedOf(ended(String(i))));
    if (i === 3) expect(written(batches)).toEqual([['0:queued', '1:completed']]);
  }
  await vi.advanceTimersByTimeAsync(100);
  const all = Array.from({ length: 20 }, (_, i) => (i === 0 ? '0:queued' : `${i}:completed`));
  expect(written(batches).flat()).toEqual(all);
  expect(batches.length).toBeLessThanOrEqual(9);
});

test('a profile that cannot be made keeps no record from Postgres', async () => {
  const batches: (readonly PrintedRecord[])[] = [];
  const writer = newWriter((r) => Promise.resolve(void batches.push(r)), 10);
  const profileLater = () => () => {
    throw new Error('a plan that cannot be printed');
  };
  writer.record({ ...recordedOf(ended('a')), profileLater });
  writer.record(recordedOf(ended('b'), '{"of":"b"}'));
  await vi.advanceTimersByTimeAsync(200);
  expect(batches.flat().map(({ recordId, profile }) => [recordId, profile])).toEqual([
    ['a', null],
    ['b', '{"of":"b"}'],
  ]);
});

test('a statement that goes on is recorded as it is when it is written, not when it began', async () => {
  const batches: (readonly PrintedRecord[])[] = [];
  const writer = newWriter((r) => Promise.resolve(void batches.push(r)), 10);
  let now = row('a');
  const statement = { ...recordedOf(now), row: () => now };
  writer.record(statement);
  now = row('a', 'running');
  writer.record(statement);
  now = { ...now, resource_group: '/root/etl' };
  await vi.advanceTimersByTimeAsync(200);
  expect(batches.flat().map(({ row: printed }) => JSON.parse(printed.toString()) as HistoryRow)).toMatchObject([
    { status: 'running', resource_group: '/root/etl' },
  ]);
});

test('a statement that may change something is in the journal from the start, also when it is sent once', async () => {
  const batches: (readonly PrintedRecord[])[] = [];
  const writer = newWriter((r) => Promise.resolve(void batches.push(r)), 10);
  const inJournal = (): string[] => readdirSync(folder).flatMap((file) => journalLines(file).map(namedLine));
  writer.record(recordedOf(row('read', 'running')));
  writer.record(recordedOf({ ...row('commit', 'running'), query_type: 'transaction' }));
  expect(inJournal()).toEqual(['commit:running']);
  writer.record(recordedOf({ ...ended('commit'), query_type: 'transaction' }));
  writer.record(recordedOf(ended('read')));
  await vi.advanceTimersByTimeAsync(200);
  expect(written(batches).flat().toSorted()).toEqual(['commit:completed', 'read:completed']);
  expect(journal.bytes).toBe(0);
});

/** A store that is away until it is told to be back. */
function absentStore(batches: (readonly PrintedRecord[])[]): { away: boolean; readonly store: StoreRecords } {
  const state = {
    away: true,
    store: (lines: readonly PrintedRecord[]): Promise<void> => {
      if (state.away) return Promise.reject(new Error('away'));
      if (lines.length > 0) batches.push(lines);
      return Promise.resolve();
    },
  };
  return state;
}

test('while the database is away the oldest records wait in the journal alone; none is lost when it is back', async () => {
  const batches: (readonly PrintedRecord[])[] = [];
  const database = absentStore(batches);
  const writer = newWriter(database.store, 2);
  for (const id of ['a', 'b', 'c', 'd']) writer.record(recordedOf(ended(id)));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(writer.waiting).toBe(2);
  database.away = false;
  await vi.advanceTimersByTimeAsync(2_000);
  expect([...new Set(written(batches).flat())].toSorted()).toEqual(['a', 'b', 'c', 'd'].map((id) => `${id}:completed`));
  expect(journal.bytes).toBe(0);
});

test('long statements are stored a few at a time, and those in memory are bounded in all', async () => {
  const batches: (readonly PrintedRecord[])[] = [];
  const database = absentStore(batches);
  const writer = newWriter(database.store, 10_000);
  const sql = 'x'.repeat(100_000);
  for (let i = 0; i < 1_000; i += 1) writer.record(recordedOf({ ...ended(String(i)), sql }));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(writer.waiting).toBe(668);
  database.away = false;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(writer.waiting).toBe(0);
  expect(Math.max(...batches.map((batch) => batch.length))).toBe(10);
  expect(new Set(written(batches).flat()).size).toBe(1_000);
});

describe('the journal', () => {
  const lines = (): string[] => {
    const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    return texts
      .join('')
      .split('\n')
      .filter((line) => line !== '');
  };
  const never = (): Promise<void> => new Promise(() => undefined);
  const replayed = async (): Promise<string[]> => {
    const records: string[] = [];
    using next = openJournal();
    await next.replay(async (left) => {
      await storeLines((batch) => Promise.resolve(void records.push(...batch.map(named))), left);
    });
    return records;
  };

  test('has the record of a statement that ended when record returns, and of one that goes on a moment later', async () => {
    const writer = newWriter(never);
    writer.record(recordedOf(row('a', 'running')));
    writer.record(recordedOf(ended('b')));
    expect(lines().map(namedLine)).toEqual(['b:completed']);
    await vi.advanceTimersByTimeAsync(100);
    expect(lines().map(namedLine)).toEqual(['b:completed', 'a:running']);
  });

  test('a short statement is in it once, and when it is stored the journal is empty', async () => {
    const writer = newWriter(() => Promise.resolve());
    writer.record(recordedOf(row('a')));
    writer.record(recordedOf(row('a', 'running')));
    writer.record(recordedOf(ended('a')));
    expect(lines()).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(100);
    expect(lines()).toEqual([]);
    expect(journal.bytes).toBe(0);
  });

  test('has the profile of a statement when Postgres does not take it soon, or many wait for theirs', async () => {
    let made = 0;
    const writer = newWriter(never, 1_000);
    const record = (id: string): void => {
      const profileLater = () => () => JSON.stringify({ profile: (made += 1) });
      writer.record({ ...recordedOf(ended(id)), profileLater });
    };
    const profiles = (): unknown[] =>
      lines().map((line) => [namedLine(line), (JSON.parse(line) as { profile: unknown }).profile]);
    record('a');
    expect([made, profiles()]).toEqual([0, [['a:completed', null]]]);
    await vi.advanceTimersByTimeAsync(100);
    expect([made, profiles()]).toEqual([1, [['a:completed', null]]]);
    await vi.advanceTimersByTimeAsync(100);
    expect([made, profiles().at(-1)]).toEqual([1, ['a:completed', { profile: 1 }]]);
    for (let i = 0; i < 255; i += 1) record(String(i));
    expect(made).toBe(1);
    record('255');
    expect([made, profiles().at(-1)]).toEqual([257, ['255:completed', { profile: 257 }]]);
    journal[Symbol.dispose]();
    const replayedProfiles: (string | null)[] = [];
    using next = openJournal();
    await next.replay(async (left) => {
      const store = (batch: readonly PrintedRecord[]): Promise<void> =>
        Promise.resolve(void replayedProfiles.push(...batch.map(({ profile }) => profile)));
      await storeLines(store, left);
    });
    expect(new Set(replayedProfiles)).toEqual(new Set(Array.from({ length: 257 }, (_, i) => `{"profile":${i + 1}}`)));
  });

  test('has the profile of a record that Postgres refuses, and none of one that it takes at once', async () => {
    const batches: (readonly PrintedRecord[])[] = [];
    const database = absentStore(batches);
    const writer = newWriter(database.store, 10);
    writer.record(recordedOf(ended('a'), '{"of":"a"}'));
    await vi.advanceTimersByTimeAsync(100);
    expect(lines().map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { profile: null },
      { profile: { of: 'a' } },
    ]);
    database.away = false;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(lines()).toEqual([]);
    const append = vi.spyOn(journal, 'append');
    writer.record(recordedOf(ended('b'), '{"of":"b"}'));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(batches.flat().map(({ profile }) => profile)).toEqual(['{"of":"a"}', '{"of":"b"}']);
    expect(append).toHaveBeenCalledTimes(1);
  });

  test('has the profile of a record that no longer waits in memory', async () => {
    const batches: (readonly PrintedRecord[])[] = [];
    const database = absentStore(batches);
    const writer = newWriter(database.store, 1);
    for (const id of ['a', 'b', 'c']) writer.record(recordedOf(ended(id), `{"of":"${id}"}`));
    expect(writer.waiting).toBe(1);
    database.away = false;
    await vi.advanceTimersByTimeAsync(2_000);
    const last = new Map(batches.flat().map(({ recordId, profile }) => [recordId, profile]));
    expect(last).toEqual(new Map(['a', 'b', 'c'].map((id) => [id, `{"of":"${id}"}`])));
    expect(journal.bytes).toBe(0);
  });

  test('is replayed by the next process, once, and not while its own lives', async () => {
    const writer = newWriter(never);
    writer.record(recordedOf(ended('a')));
    expect(await replayed()).toEqual([]);
    journal[Symbol.dispose]();
    expect(await replayed()).toEqual(['a:completed']);
    expect(await replayed()).toEqual([]);
  });

  test('a line that was cut is left out, and the others are not', async () => {
    const writer = newWriter(never);
    for (const id of ['a', 'b']) writer.record(recordedOf(ended(id)));
    journal[Symbol.dispose]();
    const path = join(folder, readdirSync(folder)[0] ?? '');
    truncateSync(path, statSync(path).size - 20);
    expect(await replayed()).toEqual(['a:completed']);
  });

  test('goes on in further files, which go when their records are stored, the oldest first when they are too many', async () => {
    journal[Symbol.dispose]();
    journal = openJournal(10 * 2 ** 20);
    const batches: (readonly PrintedRecord[])[] = [];
    const database = absentStore(batches);
    const writer = newWriter(database.store, 10_000);
    const sql = 'x'.repeat(2 ** 20);
    for (let i = 0; i < 20; i += 1) writer.record(recordedOf({ ...ended(String(i)), sql }));
    expect(journal.bytes).toBeGreaterThan(4 * 2 ** 20);
    expect(journal.bytes).toBeLessThan(16 * 2 ** 20);
    database.away = false;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(written(batches).flat()).toHaveLength(20);
    expect(journal.bytes).toBe(0);
    expect(readdirSync(folder)).toHaveLength(1);
  });
});

test('a row that changed while it was written is written again', async () => {
  const batches: (readonly PrintedRecord[])[] = [];
  let finish: () => void = () => undefined;
  const store = (r: readonly PrintedRecord[]): Promise<void> => {
    batches.push(r);
    return new Promise((resolve) => {
      finish = resolve;
    });
  };
  const writer = newWriter(store, 10);
  writer.record(recordedOf(row('a')));
  await vi.advanceTimersByTimeAsync(100);
  writer.record(recordedOf(row('a', 'running')));
  finish();
  await vi.advanceTimersByTimeAsync(200);
  expect(written(batches)).toEqual([['a:queued'], ['a:running']]);
});

test('close writes what waits, and does not hang on a database that is away', async () => {
  const batches: (readonly PrintedRecord[])[] = [];
  const good = newWriter((r) => Promise.resolve(void batches.push(r)), 1_000);
  for (let i = 0; i < 150; i += 1) good.record(recordedOf(row(String(i))));
  await good.close();
  expect(batches.flat()).toHaveLength(150);
  const bad = newWriter(() => new Promise(() => undefined));
  bad.record(recordedOf(row('a')));
  const closed = bad.close();
  await vi.advanceTimersByTimeAsync(3_100);
  await closed;
  expect(bad.waiting).toBe(1);
});

test('text that Postgres cannot store is replaced', () => {
  const stored = historyRow({ ...facts('a'), sql: 'a\0b\uD800' }, { kind: 'queued', queuedAtMs: 0 }, BY).sql;
  expect(stored).toBe('a\uFFFDb\uFFFD');
});
