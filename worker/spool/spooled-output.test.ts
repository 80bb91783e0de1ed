import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { queryId } from '#shared/id.ts';
import { arrowBuffer } from '../duckdb/arrow-buffer.ts';
import type { ArrowMessage } from '../duckdb/arrow-out.ts';
import { Instance } from '../duckdb/instance.ts';
import { eachMessage } from '#test/support/duckdb-ipc.ts';
import { storeMessages } from '../exchange/peer-clients.ts';
import {
  encodeArrowMessage,
  encodeNative,
  LentMessage,
  messageBytes,
  type NativeMessage,
} from '../batch/arrow-message.ts';
import { Spool } from './spool.ts';
import { SpoolStore, type SpooledOutput } from './spooled-output.ts';

const QUERY = queryId('q');
const LEASE = { isOpen: true };
let folder: string;
let memory: Spool;
let store: SpoolStore;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skein-spool-'));
  memory = new Spool(4_000, () => undefined);
  store = new SpoolStore({ folder, memory, diskBytesMax: 5_000 });
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A batch of 1,024 bytes of `value`, and some for its header. */
function batch(value: number): NativeMessage {
  const body = new Uint8Array(1_024).fill(value);
  const message: ArrowMessage = {
    kind: 'batch',
    rows: 1,
    header: new Uint8Array(9),
    buffers: [arrowBuffer(body)],
    bodyBytes: 1_024,
  };
  return encodeNative(message);
}

async function values(output: SpooledOutput, partition: number): Promise<(number | undefined)[]> {
  const batches = output.select(partition, { start: 0, end: Number.POSITIVE_INFINITY });
  return Promise.all(
    batches.map(async (one) => {
      const message = await output.read(one, LEASE);
      return (message instanceof LentMessage ? message.bytes() : message).at(-1);
    }),
  );
}

const files = (): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((e) => (e.isFile() ? [e.name] : []));

test('batches stay in order, in memory and then in a file, and all of it goes at the end', async () => {
  const output = store.open(QUERY, 2);
  for (let i = 0; i < 6; i++) await output.append(i % 2, batch(i), 1);
  expect(memory.bytes).toBeGreaterThan(1_024);
  expect(memory.bytes).toBeLessThanOrEqual(3_000);
  expect(store.diskBytes).toBeGreaterThan(3 * 1_024);
  expect(files()).toHaveLength(1);
  expect(await values(output, 0)).toEqual([0, 2, 4]);
  expect(await values(output, 1)).toEqual([1, 3, 5]);
  expect(output.reports().map(({ rows, batches }) => [rows, batches])).toEqual([
    [3, 3],
    [3, 3],
  ]);
  expect(output.select(0, { start: 1, end: 2 })).toHaveLength(1);
  await output.release();
  expect([memory.bytes, store.diskBytes, readdirSync(folder)]).toEqual([0, 0, []]);
});

test('it stays as long as somebody holds it', async () => {
  const output = store.open(QUERY, 1);
  await output.append(0, batch(7), 1);
  output.retain();
  output.close();
  await output.release();
  expect(output.closed.aborted).toBe(true);
  expect(await values(output, 0)).toEqual([7]);
  await output.release();
  expect(memory.bytes).toBe(0);
  expect(() => output.retain()).toThrow('released');
  // A batch that arrives after the release is freed at once.
  await output.append(0, batch(1), 1);
  expect(output.select(0, { start: 0, end: 9 })).toEqual([]);
});

test('the disk of a query is limited, over all its outputs; another query has its own', async () => {
  const [one, two] = [store.open(QUERY, 1), store.open(QUERY, 1)];
  const other = store.open(queryId('r'), 1);
  for (let i = 0; i < 4; i++) await one.append(0, batch(i), 1);
  for (let i = 0; i < 2; i++) await two.append(0, batch(i), 1);
  await expect(two.append(0, batch(9), 1)).rejects.toMatchObject({ code: 'SPILL_LIMIT' });
  await other.append(0, batch(5), 1);
  expect(await values(other, 0)).toEqual([5]);
  for (const output of [one, two, other]) await output.release();
  expect([memory.bytes, store.diskBytes, readdirSync(folder)]).toEqual([0, 0, []]);
});

test('a spool that cannot be written says so', async () => {
  const broken = new SpoolStore({ folder: '/dev/null/no', memory: new Spool(0, () => undefined), diskBytesMax: 1e9 });
  const output = broken.open(QUERY, 1);
  await expect(output.append(0, batch(1), 1)).rejects.toMatchObject({ code: 'STORAGE_ERROR' });
  await output.release();
  expect(broken.diskBytes).toBe(0);
});

test('a lent message is copied while its reader is there, and not after', () => {
  const message = batch(3);
  const lease = { isOpen: true };
  const lent = new LentMessage(message, lease);
  const target = Buffer.alloc(lent.length + 5);
  expect(lent.copy(target, 5)).toBe(lent.byteLength);
  expect(target.subarray(5).equals(Buffer.from(messageBytes(message)))).toBe(true);
  expect(() => lent.copy(Buffer.alloc(10), 5)).toThrow('room');
  lease.isOpen = false;
  expect(() => lent.copy(target, 5)).toThrow('gone');
});

/** Runs a query and spools its rows as a task does. */
async function spooled(sql: string): Promise<SpooledOutput> {
  const output = new SpoolStore({ folder, memory: new Spool(2 ** 24, () => undefined), diskBytesMax: 0 }).open(
    QUERY,
    2,
  );
  using instance = Instance.open({ threads: '1' });
  using connection = instance.connect();
  const made: Promise<void>[] = [];
  eachMessage(connection, sql, (message) => {
    if (message.kind === 'batch') made.push(output.append(1, encodeNative(message), message.rows));
    else output.addPrologue(encodeArrowMessage(message));
  });
  await Promise.all(made);
  return output;
}

const bytesOf = async (output: SpooledOutput, partition: number): Promise<readonly string[]> => {
  const batches = output.select(partition, { start: 0, end: Number.POSITIVE_INFINITY });
  const messages = await Promise.all(batches.map((one) => output.read(one, LEASE)));
  return messages.map((one) => Buffer.from(one instanceof LentMessage ? one.bytes() : one).toString('hex'));
};

test('a small output goes with its report, and is the same where it arrives', async () => {
  const output = await spooled(
    "SELECT i, 'text ' || i AS s, ['a', 'b'][1 + i % 2]::ENUM('a', 'b') AS e FROM range(100) t(i)",
  );
  const [empty, filled] = output.reports();
  expect(empty?.messages).toBeUndefined();
  expect(filled?.messages?.length).toBeGreaterThan(2);
  const arrived = new SpoolStore({ folder, memory, diskBytesMax: 0 }).open(QUERY, 1);
  await storeMessages(filled?.messages ?? [], arrived);
  expect(arrived.prologue.map((one) => Buffer.from(one).toString('hex'))).toEqual(
    output.prologue.map((one) => Buffer.from(one).toString('hex')),
  );
  expect(await bytesOf(arrived, 0)).toEqual(await bytesOf(output, 1));
  expect(arrived.reports()[0]).toMatchObject({ rows: 100, batches: 1 });
  await output.release();
  await arrived.release();
});

test('a bigger one stays where it is', async () => {
  const output = await spooled('SELECT i FROM range(10000) t(i)');
  expect(output.reports().some(({ messages }) => messages !== undefined)).toBe(false);
  await output.release();
});
