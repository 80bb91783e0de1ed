import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HeldSink } from './held-sink.ts';
import type { DoorSink, ResultBatch, ResultShape } from './result-sink.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skein-held-sink-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A door that writes down what it is told. */
class Door implements DoorSink {
  readonly encoding = 'arrow';
  readonly committed = false;
  readonly progress = 0;
  readonly told: string[] = [];

  planned(shape: ResultShape): void {
    this.told.push(`planned ${shape.tag}`);
  }
  start(): void {
    this.told.push('start');
  }
  batch({ header, body }: ResultBatch): Promise<void> {
    this.told.push(`${String(header)}:${body.length}`);
    return Promise.resolve();
  }
  changed(count: number): void {
    this.told.push(`changed ${count}`);
  }
  finish(): void {
    this.told.push('finish');
  }
}

const batch = (name: string, bytes: number): ResultBatch => ({
  rows: 1,
  header: Buffer.from(name),
  body: Buffer.alloc(bytes),
});
const SHAPE: ResultShape = { kind: 'rows', tag: 'INSERT', columns: [], timeZone: 'UTC' };
const sinkOf = (door: Door, bytesMax = 1_000_000): HeldSink =>
  new HeldSink(door, { memoryBytesMax: 1_000, bytesMax, folder });

test('everything goes to the door as it comes, as long as nothing is held', async () => {
  const door = new Door();
  using sink = sinkOf(door);
  sink.planned(SHAPE);
  sink.start();
  await sink.batch(batch('a', 10));
  expect(door.told).toEqual(['planned INSERT', 'start', 'a:10']);
});

test('held rows are told in their order when they are released: those in memory, those on disk, and what follows', async () => {
  const door = new Door();
  using sink = sinkOf(door);
  sink.hold();
  sink.planned(SHAPE);
  sink.start();
  const names = ['a', 'b', 'c', 'd'];
  for (const [i, name] of names.entries()) await sink.batch(batch(name, [400, 900, 10, 5_000][i] ?? 0));
  expect(door.told).toEqual([]);
  await sink.release();
  await sink.batch(batch('e', 1));
  sink.changed(4);
  expect(door.told).toEqual(['planned INSERT', 'start', 'a:400', 'b:900', 'c:10', 'd:5000', 'e:1', 'changed 4']);
  expect(readdirSync(folder)).toEqual([]);
});

test('a statement that starts again forgets the rows that it held, those on disk, too', async () => {
  const door = new Door();
  using sink = sinkOf(door);
  sink.hold();
  sink.planned(SHAPE);
  for (const round of ['a', 'b']) {
    sink.start();
    await sink.batch(batch(round, 900));
    await sink.batch(batch(`${round}2`, 900));
  }
  await sink.release();
  expect(door.told).toEqual(['planned INSERT', 'start', 'b:900', 'b2:900']);
});

test('more than a result may have is refused before anything is released', async () => {
  const door = new Door();
  using sink = sinkOf(door, 2_000);
  sink.hold();
  sink.planned(SHAPE);
  sink.start();
  await sink.batch(batch('a', 1_500));
  expect(() => sink.batch(batch('b', 1_500))).toThrow(expect.objectContaining({ code: 'RESULT_TOO_LARGE' }) as Error);
  sink.start();
  await sink.batch(batch('c', 1_500));
  expect(door.told).toEqual([]);
});
