import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLogger } from '#shared/log/logger.ts';
import { principalId, queryId, tenantId } from '#shared/id.ts';
import { historyRow, type HistoryRow, type QueryFacts } from './history-record.ts';
import { HistoryWriter } from './history-writer.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

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
  priority: 5,
});
const row = (id: string, kind: 'queued' | 'running' = 'queued'): HistoryRow =>
  historyRow(facts(id), kind === 'queued' ? { kind, queuedAtMs: 0 } : { kind, queuedAtMs: 0, startedAtMs: 1 }, 1);
const written = (batches: (readonly HistoryRow[])[]): string[][] =>
  batches.map((batch) => batch.map((r) => `${r.query_id}:${r.status}`));

test('rows of one statement replace each other while they wait', async () => {
  const batches: (readonly HistoryRow[])[] = [];
  const writer = new HistoryWriter({
    store: (r) => Promise.resolve(void batches.push(r)),
    bufferMax: 10,
    log: silentLogger,
  });
  writer.record(row('a'));
  writer.record(row('b'));
  writer.record(row('a', 'running'));
  await vi.advanceTimersByTimeAsync(100);
  expect(written(batches)).toEqual([['a:running', 'b:queued']]);
  expect(writer.waiting).toBe(0);
});

test('rows are kept while the database is away, the oldest lost over the limit, the rest written when it is back', async () => {
  const batches: (readonly HistoryRow[])[] = [];
  let away = true;
  const store = (r: readonly HistoryRow[]): Promise<void> =>
    away ? Promise.reject(new Error('away')) : Promise.resolve(void batches.push(r));
  const writer = new HistoryWriter({ store, bufferMax: 2, log: silentLogger });
  for (const id of ['a', 'b', 'c']) writer.record(row(id));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(writer.waiting).toBe(2);
  away = false;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(written(batches)).toEqual([['b:queued', 'c:queued']]);
});

test('long statements are written a few at a time, and those that wait are bounded in all', async () => {
  const batches: (readonly HistoryRow[])[] = [];
  let away = true;
  const store = (r: readonly HistoryRow[]): Promise<void> =>
    away ? Promise.reject(new Error('away')) : Promise.resolve(void batches.push(r));
  const writer = new HistoryWriter({ store, bufferMax: 10_000, log: silentLogger });
  const sql = 'x'.repeat(100_000);
  const rows = Array.from({ length: 1_000 }, (_, i) => ({ ...row(String(i)), sql }));
  for (const one of rows) writer.record(one);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(writer.waiting).toBe(671);
  away = false;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(writer.waiting).toBe(0);
  expect(Math.max(...batches.map((batch) => batch.length))).toBe(10);
});

test('a row that changed while it was written is written again', async () => {
  const batches: (readonly HistoryRow[])[] = [];
  let finish: () => void = () => undefined;
  const store = (r: readonly HistoryRow[]): Promise<void> => {
    batches.push(r);
    return new Promise((resolve) => {
      finish = resolve;
    });
  };
  const writer = new HistoryWriter({ store, bufferMax: 10, log: silentLogger });
  writer.record(row('a'));
  await vi.advanceTimersByTimeAsync(100);
  writer.record(row('a', 'running'));
  finish();
  await vi.advanceTimersByTimeAsync(200);
  expect(written(batches)).toEqual([['a:queued'], ['a:running']]);
});

test('close writes what waits, and does not hang on a database that is away', async () => {
  const batches: (readonly HistoryRow[])[] = [];
  const good = new HistoryWriter({
    store: (r) => Promise.resolve(void batches.push(r)),
    bufferMax: 1_000,
    log: silentLogger,
  });
  for (let i = 0; i < 150; i += 1) good.record(row(String(i)));
  await good.close();
  expect(batches.flat()).toHaveLength(150);
  const bad = new HistoryWriter({ store: () => new Promise(() => undefined), bufferMax: 10, log: silentLogger });
  bad.record(row('a'));
  const closed = bad.close();
  await vi.advanceTimersByTimeAsync(3_100);
  await closed;
  expect(bad.waiting).toBe(1);
});

test('text that Postgres cannot store is replaced', () => {
  const stored = historyRow({ ...facts('a'), sql: 'a\0b\uD800' }, { kind: 'queued', queuedAtMs: 0 }, 1).sql;
  expect(stored).toBe('a\uFFFDb\uFFFD');
});
