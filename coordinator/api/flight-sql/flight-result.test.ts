import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { queryId } from '#shared/id.ts';
import type { ResultBatch } from '../../sink/result-sink.ts';
import { FlightResult } from './flight-result.ts';
import { FlightResults } from './flight-results.ts';

const MIB = 2 ** 20;
const batch = (bytes: number): ResultBatch => ({ rows: 1, header: Buffer.alloc(8), body: Buffer.alloc(bytes) });

let spoolFolder: string;
beforeAll(async () => {
  spoolFolder = await mkdtemp(join(tmpdir(), 'skein-flight-'));
});
afterAll(() => rm(spoolFolder, { recursive: true }));

function open(bytesMax = 100 * MIB): FlightResult {
  const id = queryId('00000000-0000-0000-0000-000000000001');
  const result = new FlightResult({ queryId: id, sql: 'SELECT 1', heldBytesMax: MIB, bytesMax, spoolFolder });
  result.planned({ kind: 'rows', columns: [], timeZone: 'UTC', tag: 'SELECT' });
  result.start();
  return result;
}

const finish = (result: FlightResult): void => result.finish({ rowCount: 1, elapsedMs: 0 });

async function sizes(result: FlightResult): Promise<number[]> {
  const found: number[] = [];
  for await (const { body } of result.read()) found.push(body.length);
  return found;
}

test('a small result is read again, and by several at once, also while it comes', async () => {
  const result = open();
  void result.batch(batch(1));
  const both = Promise.all([sizes(result), sizes(result)]);
  void result.batch(batch(2));
  finish(result);
  expect(await both).toEqual([
    [1, 2],
    [1, 2],
  ]);
  expect(await sizes(result)).toEqual([1, 2]);
  expect(result.keptBytes).toBe(3);
});

test('a large one is read once, and waits for its reader', async () => {
  const result = open();
  const reading = sizes(result);
  for (let i = 0; i < 5; i += 1) await result.batch(batch(4 * MIB));
  finish(result);
  expect(await reading).toEqual(Array(5).fill(4 * MIB));
  expect(result.keptBytes).toBeUndefined();
  await expect(sizes(result)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
});

test('while one reads a large result, another gets nothing of it', async () => {
  const result = open();
  void result.batch(batch(9 * MIB));
  const reading = sizes(result);
  await Promise.resolve();
  await expect(sizes(result)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  finish(result);
  expect(await reading).toEqual([9 * MIB]);
});

test('a reader that waits learns that the result was cancelled', async () => {
  const result = open();
  void result.batch(batch(1));
  const reading = sizes(result);
  await Promise.resolve();
  result.cancel(new SkeinError('QUERY_CANCELLED', 'gone'));
  await expect(reading).rejects.toThrow('gone');
});

test('a statement that begins again before anything was read gives its rows once', async () => {
  const result = open();
  void result.batch(batch(1));
  result.start();
  void result.batch(batch(2));
  finish(result);
  expect(await sizes(result)).toEqual([2]);
});

test('results that were read make room for others, and are kept within limits', async () => {
  const results = new FlightResults({ ttlMs: 60_000, perPrincipalMax: 2 });
  const ann = { tenant: 't', sub: 'ann' } as Parameters<FlightResults['add']>[0];
  const handles: string[] = [];
  for (let i = 0; i < 4; i += 1) {
    const result = open();
    void result.batch(batch(1));
    finish(result);
    const handle = results.add(ann, result);
    handles.push(handle);
    expect(await sizes(results.find(ann, handle))).toEqual([1]);
    results.wasRead(handle);
  }
  expect(results.size).toBe(2);
  expect(await sizes(results.find(ann, handles[3] ?? ''))).toEqual([1]);
  expect(() => results.find(ann, handles[0] ?? '')).toThrow('no such result');
  results.add(ann, open());
  results.add(ann, open());
  expect(() => results.add(ann, open())).toThrow('2 results that wait');
  results[Symbol.dispose]();
  expect(results.size).toBe(0);
});

test('a result expires after the end of its statement, or after the last byte that was taken, whichever is later', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const results = new FlightResults({ ttlMs: 60_000, perPrincipalMax: 2 });
    const ann = { tenant: 't', sub: 'ann' } as Parameters<FlightResults['add']>[0];
    const result = open();
    void result.batch(batch(1));
    void result.batch(batch(2));
    const handle = results.add(ann, result);
    // More time for a statement that still runs is not less.
    results.renew(handle);
    await vi.advanceTimersByTimeAsync(200_000);
    expect(results.size).toBe(1);
    finish(result);
    await vi.advanceTimersByTimeAsync(50_000);
    await result.read().next();
    await vi.advanceTimersByTimeAsync(50_000);
    expect(results.size).toBe(1);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(results.size).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test('rows that wait for the commit lie on disk beyond the first, keep their order, and are given once', async () => {
  const result = open();
  const all = [1_000, MIB, 10, 2 * MIB, 20];
  result.hold();
  for (const bytes of all) await result.batch(batch(bytes));
  const both = Promise.allSettled([sizes(result), sizes(result)]);
  await result.release();
  result.changed(5);
  finish(result);
  const [first, second] = await both;
  expect(first).toEqual({ status: 'fulfilled', value: all });
  expect(second).toMatchObject({ status: 'rejected', reason: { code: 'INVALID_REQUEST' } });
  expect(result.keptBytes).toBeUndefined();
  result.cancel(new SkeinError('QUERY_CANCELLED', 'read'));
});

test('a result that begins again forgets them; more than a result may have is refused', async () => {
  const result = open(2 * MIB);
  result.hold();
  await result.batch(batch(1.5 * MIB));
  result.start();
  await result.batch(batch(1.5 * MIB));
  expect(() => result.batch(batch(MIB))).toThrow(expect.objectContaining({ code: 'RESULT_TOO_LARGE' }) as Error);
  result.cancel(new SkeinError('QUERY_CANCELLED', 'refused'));
});
