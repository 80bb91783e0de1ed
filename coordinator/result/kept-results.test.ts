import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { principalId, tenantId } from '#shared/id.ts';
import type { ResultBatch } from '../sink/result-sink.ts';
import type { KeptResult } from './kept-result.ts';
import type { Keeper } from './keeper.ts';
import { KeptResults } from './kept-results.ts';

const folder = mkdtempSync(join(tmpdir(), 'kept-'));
afterAll(() => rmSync(folder, { recursive: true }));

const keeper = (sub: string, scope = '', tenant = 't', epoch = 0): Keeper => ({
  tenant: tenantId(tenant),
  sub: principalId(sub),
  scope,
  sess_epoch: epoch,
});
const ANN = keeper('ann');
const STATEMENT = { print: 'p', sql: 'x' };
const SHAPE = { kind: 'rows', tag: 'SELECT', columns: [], timeZone: 'UTC' } as const;
const NEVER = new AbortController().signal;

const results = (options: Partial<ConstructorParameters<typeof KeptResults>[0]> = {}): KeptResults =>
  new KeptResults({
    ttlMs: 60_000,
    bytesMax: 1_000,
    bytesInAllMax: 2_000,
    memoryBytesMax: 100,
    perPrincipalMax: 3,
    folder,
    ...options,
  });

const batch = (rows: number, bytes: number, fill: number): ResultBatch => ({
  rows,
  header: Buffer.from([fill]),
  body: Buffer.alloc(bytes - 1, fill),
});

/** A result of batches of two rows and 20 bytes: the first two have room in memory. */
async function filled(result: KeptResult, count: number): Promise<void> {
  result.planned(SHAPE);
  result.start();
  for (let i = 0; i < count; i += 1) await result.batch(batch(2, 20, i));
  result.finish({ rowCount: 2 * count, elapsedMs: 0 });
}

async function fills(result: KeptResult, from: number): Promise<readonly (number | undefined)[]> {
  const found: (number | undefined)[] = [];
  for await (const { header, body } of result.read({ from, holdbackBytes: 0, signal: NEVER })) {
    expect([...new Set(body)]).toEqual([header?.[0]]);
    found.push(header?.[0]);
  }
  return found;
}

test('rows are read from any row on, forwards and backwards, from memory and from disk, by several at once', async () => {
  using kept = results();
  const result = kept.open(ANN, 'A', STATEMENT);
  await filled(result, 6);
  expect(await Promise.all([fills(result, 0), fills(result, 5), fills(result, 11), fills(result, 12)])).toEqual([
    [0, 1, 2, 3, 4, 5],
    [2, 3, 4, 5],
    [5],
    [],
  ]);
  for (const row of [11, 6, 5, 0]) {
    expect(await result.batchAt(row)).toMatchObject({ firstRow: row - (row % 2), rows: 2 });
  }
  expect(await result.batchAt(12)).toBeUndefined();
  expect(kept.find(ANN, 'a')).toBe(result);
});

test('a result that begins again has the rows of its last begin, and a reader waits for its end or its holdback', async () => {
  using kept = results();
  const result = kept.open(ANN, 'a', STATEMENT);
  result.planned(SHAPE);
  result.start();
  await result.batch(batch(2, 20, 9));
  const read = result.read({ holdbackBytes: 30, signal: NEVER });
  const first = read.next();
  expect(result.committed).toBe(false);
  result.start();
  await result.batch(batch(2, 20, 1));
  await result.batch(batch(2, 20, 2));
  expect((await first).value).toMatchObject({ firstRow: 0, header: Buffer.from([1]) });
  expect(result.committed).toBe(true);
  result.fail(new SkeinError('WORKER_LOST', 'gone'));
  await expect(read.next()).rejects.toThrow('gone');
});

test('is found by its owner alone, by a token that has all scopes of the one that asked', () => {
  using kept = results();
  kept.open(keeper('ann', 'table:read catalog:read'), 'a', STATEMENT);
  const found = (who: Keeper): boolean => kept.find(who, 'a') !== undefined;
  expect(['table:read', 'catalog:read audit:read table:read', ''].map((scope) => found(keeper('ann', scope)))).toEqual([
    false,
    true,
    false,
  ]);
  expect([found(keeper('bob')), found(keeper('ann', '', 'other'))]).toEqual([false, false]);
  expect(() => kept.open(keeper('ann', 'table:read'), 'a', STATEMENT)).toThrow('another statement');
  expect(() => kept.find(keeper('ann', 'table:read catalog:read'), 'a', 'q')).toThrow('another statement');
});

test('is forgotten when the rights of its principal have changed, also by its statement', () => {
  using kept = results();
  const result = kept.open(keeper('ann', 'table:read', 't', 1), 'a', STATEMENT);
  expect(kept.find(keeper('ann', 'table:read', 't', 0), 'a')).toBeUndefined();
  expect(kept.find(keeper('ann', 'table:read', 't', 1), 'a')).toBe(result);
  expect(kept.find(keeper('ann', 'table:read', 't', 2), 'a')).toBeUndefined();
  expect([result.gone.aborted, kept.size]).toEqual([true, 0]);
});

test('one result has its limit, a tenant half of all, and the oldest that have ended make room', async () => {
  using kept = results({ perPrincipalMax: 100 });
  const first = kept.open(ANN, 'first', STATEMENT);
  await filled(first, 30);
  const second = kept.open(keeper('bob'), 'second', STATEMENT);
  second.planned(SHAPE);
  second.start();
  for (let i = 0; i < 25; i += 1) await second.batch(batch(2, 20, i));
  expect(kept.find(ANN, 'first')).toBeUndefined();
  await expect(first.read({ holdbackBytes: 0, signal: NEVER }).next()).rejects.toThrow('no longer kept');
  const other = kept.open(keeper('eve', '', 'other'), 'a', STATEMENT);
  await filled(other, 40);
  const third = kept.open(ANN, 'third', STATEMENT);
  await expect(filled(third, 30)).rejects.toThrow('kept_results_bytes');
  using alone = results({ bytesInAllMax: 10_000 });
  const cut = alone.open(ANN, 'a', STATEMENT);
  await filled(cut, 60);
  // A thousand bytes are fifty batches; the rest is left out, and the result says so.
  expect([cut.rows, cut.isCut, (await fills(cut, 0)).length]).toEqual([100, true, 50]);
  expect(await cut.summary(NEVER)).toMatchObject({ rowCount: 100, isCut: true });
});

test('a result that is cut is whole again when its statement begins again with fewer rows', async () => {
  using kept = results({ bytesInAllMax: 10_000 });
  const result = kept.open(ANN, 'a', STATEMENT);
  result.planned(SHAPE);
  for (const count of [60, 2]) {
    result.start();
    for (let i = 0; i < count; i += 1) await result.batch(batch(2, 20, i));
  }
  result.finish({ rowCount: 4, elapsedMs: 0 });
  expect([result.rows, result.isCut]).toEqual([4, false]);
});

test('a principal has so many at most: the oldest that has ended goes, and one that runs never does', async () => {
  using kept = results();
  const open = (id: string): KeptResult => kept.open(ANN, id, STATEMENT);
  await filled(open('a'), 1);
  const running = [open('b'), open('c')];
  await filled(open('d'), 1);
  expect([kept.find(ANN, 'a'), kept.size]).toEqual([undefined, 3]);
  running.push(open('e'));
  expect(() => open('f')).toThrow('statements that run');
  expect(running.some(({ gone }) => gone.aborted)).toBe(false);
});

test('is forgotten after its time, which begins at its end and again whenever it is asked for; then its room is free', async () => {
  using kept = results({ ttlMs: 40 });
  const runs = kept.open(ANN, 'runs', STATEMENT);
  const ended = kept.open(ANN, 'ended', STATEMENT);
  await filled(ended, 6);
  await ended.ended;
  const forgotten = Promise.withResolvers<unknown>();
  ended.gone.addEventListener('abort', () => forgotten.resolve(ended.gone.reason));
  expect(await forgotten.promise).toMatchObject({ code: 'QUERY_CANCELLED' });
  expect([kept.find(ANN, 'ended'), kept.find(ANN, 'runs'), kept.bytes]).toEqual([undefined, runs, 0]);
});
