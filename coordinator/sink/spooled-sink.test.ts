import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ByteBudget } from '#shared/byte-budget.ts';
import { SkeinError } from '#shared/error.ts';
import type { ResultBatch, DoorSink } from './result-sink.ts';
import { SpooledSink } from './spooled-sink.ts';

const WAIT_MS = 30;
const TTL_MS = 100;
const BUDGET = 10_000;

let folder: string;
let budget: ByteBudget;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skein-spooled-sink-'));
  budget = new ByteBudget(2 * BUDGET);
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A door whose client takes a batch when the test says so. */
class Door implements DoorSink {
  readonly encoding = 'arrow';
  readonly committed = false;
  readonly got: string[] = [];
  progress = 0;
  isOpen = false;
  readonly #waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];

  planned(): void {}
  start(): void {
    this.got.length = 0;
  }
  batch({ header, body }: ResultBatch): Promise<void> | undefined {
    this.got.push(`${String(header)}:${body.toString()}`);
    if (this.isOpen) {
      this.progress += body.length;
      return undefined;
    }
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }
  changed(): void {}
  finish(): void {
    this.got.push('finish');
  }

  take(): void {
    this.progress += 1;
    this.#waiting.shift()?.resolve();
  }
  leave(): void {
    this.#waiting.shift()?.reject(new SkeinError('QUERY_CANCELLED', 'gone'));
  }
  open(): void {
    this.isOpen = true;
    this.take();
  }
}

const sinkOf = (door: Door): SpooledSink =>
  new SpooledSink(door, { waitMs: WAIT_MS, ttlMs: TTL_MS, budget, owner: 't', folder });
const batch = (text: string): ResultBatch => ({ rows: 1, header: Buffer.from(`h${text}`), body: Buffer.from(text) });

test('rows of a client that stops reading go to disk, and come in their order when it reads again', async () => {
  const door = new Door();
  using sink = sinkOf(door);
  sink.start();
  for (const text of ['a', 'b', 'c']) await sink.batch(batch(text));
  expect(door.got).toEqual(['ha:a']);
  expect(budget.bytes).toBe(6);
  door.open();
  await sink.drained();
  expect(door.got).toEqual(['ha:a', 'hb:b', 'hc:c']);
  expect(budget.bytes).toBe(0);
  // Rows go to the door directly again.
  expect(sink.batch(batch('d'))).toBeUndefined();
  sink.finish({ rowCount: 4, elapsedMs: 1 });
  expect(door.got.slice(3)).toEqual(['hd:d', 'finish']);
});

test('a client that takes some bytes is waited for', async () => {
  const door = new Door();
  using sink = sinkOf(door);
  sink.start();
  let isTaken = false;
  const taken = Promise.resolve(sink.batch(batch('a'))).then(() => (isTaken = true));
  for (let i = 0; i < 6; i += 1) {
    await sleep(WAIT_MS / 2);
    door.progress += 1;
  }
  expect(isTaken).toBe(false);
  door.take();
  await taken;
  expect(budget.bytes).toBe(0);
});

test('more than the budget ends the statement, and gives back what it held', async () => {
  const door = new Door();
  {
    using sink = sinkOf(door);
    sink.start();
    await sink.batch(batch('a'));
    await expect(sink.batch(batch('x'.repeat(BUDGET)))).rejects.toMatchObject({
      code: 'QUERY_CANCELLED',
      message: expect.stringContaining('coordinator.result_spool_bytes'),
    });
    await sink.batch(batch('b'));
    expect(budget.bytes).toBe(3);
  }
  expect(budget.bytes).toBe(0);
});

test('a result that nobody reads is dropped after its time; one that is read slowly is not', async () => {
  const door = new Door();
  using sink = sinkOf(door);
  sink.start();
  await sink.batch(batch('a'));
  await sink.batch(batch('b'));
  const drained = sink.drained();
  const reading = setInterval(() => (door.progress += 1), TTL_MS / 4);
  await sleep(3 * TTL_MS);
  clearInterval(reading);
  await expect(Promise.race([drained, Promise.resolve('still there')])).resolves.toBe('still there');
  await expect(drained).rejects.toMatchObject({ code: 'QUERY_CANCELLED' });
});

test('a client that leaves ends the wait', async () => {
  const door = new Door();
  using sink = sinkOf(door);
  sink.start();
  await sink.batch(batch('a'));
  door.leave();
  await expect(sink.drained()).rejects.toThrow('gone');
  expect(() => sink.batch(batch('b'))).toThrow('gone');
});

test('a statement that starts again forgets the rows that wait', async () => {
  const door = new Door();
  using sink = sinkOf(door);
  sink.start();
  await sink.batch(batch('a'));
  await sink.batch(batch('b'));
  sink.start();
  expect([door.got, budget.bytes]).toEqual([[], 0]);
  door.open();
  await sink.batch(batch('c'));
  await vi.waitFor(() => expect(door.got).toEqual(['hc:c']));
});
