import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Instance, type Connection } from './duckdb/instance.ts';
import { destroyChunk, Statement } from './duckdb/statement.ts';

/** Many rows at first, so that the result is ready, and then hardly any. */
const SELECTIVE = 'SELECT i FROM range(60000000) t(i) WHERE i < 400000 OR hash(i) % 20000000 = 3';
const PIECE_MS_MAX = 100;

let dir: string;
let instance: Instance;
let connection: Connection;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'skein-pieces-'));
  instance = Instance.open({ threads: '1', temp_directory: dir });
  connection = instance.connect();
});

afterAll(async () => {
  connection[Symbol.dispose]();
  instance[Symbol.dispose]();
  await rm(dir, { recursive: true, force: true });
});

/** The pieces of a statement, in milliseconds of this thread's time on a core. */
function pieces(sql: string, collected: boolean): readonly number[] {
  const times: number[] = [];
  const timed = <T>(piece: () => T): T => {
    const before = process.threadCpuUsage();
    const result = piece();
    const { user, system } = process.threadCpuUsage(before);
    times.push((user + system) / 1_000);
    return result;
  };
  using statement = new Statement(connection, sql, { collected });
  while (timed(() => statement.step()) !== 'ready');
  for (let chunk = timed(() => statement.fetch()); chunk !== undefined; chunk = timed(() => statement.fetch())) {
    destroyChunk(chunk);
  }
  return times;
}

test('a selective filter under a result that is collected runs in pieces of less than 100 ms', () => {
  const times = pieces(SELECTIVE, true);
  expect(Math.max(...times)).toBeLessThan(PIECE_MS_MAX);
  expect(times.length).toBeGreaterThan(20);
});

test('streamed, it is one long piece: that is why the coordinator has such results collected', () => {
  expect(Math.max(...pieces(SELECTIVE, false))).toBeGreaterThan(PIECE_MS_MAX);
});
