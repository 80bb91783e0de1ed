import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RecordBatchReader, Table, tableToIPC, vectorFromArray, Dictionary, Int32, Utf8 } from 'apache-arrow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ByteBudget } from '#shared/byte-budget.ts';
import { must } from '#shared/must.ts';
import { decodeFlightData } from '#shared/flight/flight-data.ts';
import { ArrivedRows } from './arrived-rows.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skein-arrived-'));
});
afterAll(() => rm(folder, { recursive: true }));

const ROWS = 300_000;
const table = new Table({
  x: vectorFromArray(
    Array.from({ length: ROWS }, (_, i) => i),
    new Int32(),
  ),
  s: vectorFromArray(
    Array.from({ length: ROWS }, (_, i) => `a text of some length, the ${i}th`),
    new Utf8(),
  ),
});
const batches = [...RecordBatchReader.from(tableToIPC(table, 'stream'))];

test('rows lie on disk in parts that a task can carry, in a file without a name, and give their budget back', async () => {
  const budget = new ByteBudget(2 ** 30);
  const rows = new ArrivedRows(table.schema, { folder, budget, owner: 'main' }, 'nanoseconds');
  for (const batch of batches) await rows.add(batch);
  const { parts = [], rowCount, bytes, messages } = rows.table('rows');
  expect({ rowCount, messages }).toEqual({ rowCount: ROWS, messages: [] });
  expect(parts.length).toBeGreaterThan(1);
  expect(parts.reduce((sum, part) => sum + part.rowCount, 0)).toBe(ROWS);
  expect(budget.bytes).toBe(bytes);
  for (const part of parts) {
    const [schema, ...read] = await part.read();
    expect(decodeFlightData(schema ?? new Uint8Array()).body).toHaveLength(0);
    expect(read.reduce((sum, one) => sum + one.length, 0)).toBe(part.bytes);
    expect(part.bytes).toBeLessThanOrEqual(8 * 2 ** 20);
  }
  expect(await readdir(folder)).toEqual([]);
  rows[Symbol.dispose]();
  expect(budget.bytes).toBe(0);
});

test('rows beyond the budget are refused', async () => {
  const budget = new ByteBudget(2 ** 20);
  using rows = new ArrivedRows(table.schema, { folder, budget, owner: 'main' }, 'nanoseconds');
  await expect(
    (async () => {
      for (const batch of batches) await rows.add(batch);
    })(),
  ).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
});

test('a part is no longer for rows whose texts a dictionary has once', async () => {
  const text = 'x'.repeat(100_000);
  const vector = vectorFromArray(
    Array.from({ length: 300 }, () => text),
    new Dictionary(new Utf8(), new Int32()),
  );
  const [batch] = [...RecordBatchReader.from(tableToIPC(new Table({ x: vector }), 'stream'))];
  const budget = new ByteBudget(2 ** 30);
  using rows = new ArrivedRows(must(batch, 'a batch').schema, { folder, budget, owner: 'main' }, 'nanoseconds');
  await rows.add(must(batch, 'a batch'));
  const { parts = [], bytes } = rows.table('rows');
  expect(bytes).toBeGreaterThan(300 * text.length);
  expect(parts.reduce((sum, part) => sum + part.rowCount, 0)).toBe(300);
  expect(Math.max(...parts.map((part) => part.bytes))).toBeLessThan(9 * 2 ** 20);
});
