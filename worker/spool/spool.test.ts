import { expect, test } from 'vitest';
import { taskId } from '#shared/id.ts';
import type { TaskReport } from '#shared/task/task.ts';
import { Spool } from './spool.ts';

const report: TaskReport = {
  taskId: taskId('t'),
  rows: 0,
  batches: 0,
  outputBytes: 0,
  scheduledMs: 0,
  waits: { inputsMs: 0, queuedMs: 0, preparingMs: 0, blockedMs: 0 },
  quanta: 0,
  spilledBytes: 0,
  peakMemoryBytes: 0,
  bytesScanned: 0,
  scans: [],
  partitions: [],
  files: [],
  receivedBytes: 0,
  profile: null,
};

test('messages come in order, then the end, again and again', async () => {
  const spool = new Spool(1_000, () => undefined);
  const task = spool.open(() => undefined);
  task.push(Uint8Array.of(1));
  const later = Promise.all([task.next(), Promise.resolve()]).then(async () => task.next());
  task.push(Uint8Array.of(2));
  task.end({ kind: 'finished', report });
  expect(await later).toEqual({ kind: 'data', data: Uint8Array.of(2) });
  expect(await task.next()).toEqual({ kind: 'finished', report });
  expect(await task.next()).toEqual({ kind: 'finished', report });
});

test('a reader that is early waits', async () => {
  const task = new Spool(1_000, () => undefined).open(() => undefined);
  const next = task.next();
  task.push(Uint8Array.of(9));
  expect(await next).toEqual({ kind: 'data', data: Uint8Array.of(9) });
});

test('a failure drops what is there, and what comes after it', async () => {
  const spool = new Spool(1_000, () => undefined);
  const task = spool.open(() => undefined);
  task.push(new Uint8Array(10));
  const error = { code: 'QUERY_CANCELLED', message: 'enough' } as const;
  task.end({ kind: 'failed', error });
  task.push(new Uint8Array(10));
  task.end({ kind: 'finished', report });
  expect(await task.next()).toEqual({ kind: 'failed', error });
  expect(spool.bytes).toBe(0);
});

test('a failure replaces a report whose rows the reader has not had, and no other', async () => {
  const error = { code: 'WORKER_LOST', message: 'the worker is shutting down' } as const;
  const task = new Spool(1_000, () => undefined).open(() => undefined);
  task.push(new Uint8Array(10));
  task.end({ kind: 'finished', report });
  task.end({ kind: 'failed', error });
  expect(await task.next()).toEqual({ kind: 'failed', error });
  const read = new Spool(1_000, () => undefined).open(() => undefined);
  read.end({ kind: 'finished', report });
  await read.next();
  read.end({ kind: 'failed', error });
  expect(await read.next()).toEqual({ kind: 'finished', report });
});

test('bytes count until they are taken, and the limit is said once each way', async () => {
  const said: boolean[] = [];
  const taken: number[] = [];
  const spool = new Spool(100, (full) => said.push(full));
  const task = spool.open((bytes) => taken.push(bytes));
  task.push(new Uint8Array(60));
  task.push(new Uint8Array(60));
  await task.next();
  expect(spool.bytes).toBe(120);
  expect(said).toEqual([true]);
  task.taken(60);
  expect(spool.bytes).toBe(60);
  expect(said).toEqual([true, false]);
  task.clear();
  task.taken(60);
  expect(spool.bytes).toBe(0);
  expect(taken).toEqual([60, 60]);
});

test('a small output is taken whole when it ends, and its memory is free', async () => {
  const spool = new Spool(1_000, () => undefined);
  const taken: number[] = [];
  const task = spool.open((bytes) => taken.push(bytes));
  const whole = task.whole(100, 10_000);
  task.push(Uint8Array.of(1));
  await Promise.resolve();
  task.push(Uint8Array.of(2));
  task.end({ kind: 'finished', report });
  expect(await whole).toEqual({ messages: [Uint8Array.of(1), Uint8Array.of(2)], end: { kind: 'finished', report } });
  expect([spool.bytes, taken]).toEqual([0, [2]]);
  // Its end has been read.
  task.end({ kind: 'failed', error: { code: 'WORKER_LOST', message: 'too late' } });
  expect(await task.next()).toEqual({ kind: 'finished', report });
});

test('an output that failed is whole without its rows', async () => {
  const task = new Spool(1_000, () => undefined).open(() => undefined);
  const error = { code: 'QUERY_CANCELLED', message: 'enough' } as const;
  task.push(Uint8Array.of(1));
  task.end({ kind: 'failed', error });
  expect(await task.whole(0, 0)).toEqual({ messages: [], end: { kind: 'failed', error } });
});

test.each([
  ['has too many bytes', 10, [new Uint8Array(6), new Uint8Array(6)], 10_000],
  ['goes on after its first row for too long', 10, [new Uint8Array(6)], 20],
])('an output that %s is left to be read', async (_name, bytesMax, messages, waitMs) => {
  const spool = new Spool(1_000, () => undefined);
  const task = spool.open(() => undefined);
  const whole = task.whole(bytesMax, waitMs);
  for (const message of messages) task.push(message);
  expect(await whole).toBeNull();
  task.end({ kind: 'finished', report });
  for (const data of messages) expect(await task.next()).toEqual({ kind: 'data', data });
  expect(await task.next()).toEqual({ kind: 'finished', report });
  expect(spool.bytes).toBe(6 * messages.length);
});

test('an output of no rows yet is waited for', async () => {
  const task = new Spool(1_000, () => undefined).open(() => undefined);
  const whole = task.whole(10, 5);
  await new Promise((resolve) => setTimeout(resolve, 50));
  task.end({ kind: 'finished', report });
  expect(await whole).toEqual({ messages: [], end: { kind: 'finished', report } });
});

test('an output whose report has a long profile is left to be read', async () => {
  const task = new Spool(1_000, () => undefined).open(() => undefined);
  const long = { ...report, profile: { extra_info: 'x'.repeat(100) } };
  task.push(Uint8Array.of(1));
  task.end({ kind: 'finished', report: long });
  expect(await task.whole(100, 10_000)).toBeNull();
  expect(await task.next()).toEqual({ kind: 'data', data: Uint8Array.of(1) });
  expect(await task.next()).toEqual({ kind: 'finished', report: long });
});
