import { expect, test } from 'vitest';
import { taskId } from '#shared/id.ts';
import type { TaskReport } from '#proto/task.ts';
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
