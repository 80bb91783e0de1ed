import { expect, test, vi } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { queryId } from '#shared/id.ts';
import type { ResultBatch } from '../../sink/result-sink.ts';
import { FlightResult } from './flight-result.ts';
import { FlightResults } from './flight-results.ts';

const MIB = 2 ** 20;
const batch = (bytes: number): ResultBatch => ({ rows: 1, header: Buffer.alloc(8), body: Buffer.alloc(bytes) });

function open(): FlightResult {
  const id = queryId('00000000-0000-0000-0000-000000000001');
  const result = new FlightResult({ queryId: id, sql: 'SELECT 1' });
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
