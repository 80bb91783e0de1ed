import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { InputCallbacks, inputName } from './duckdb/input-functions.ts';
import { Instance, type Connection } from './duckdb/instance.ts';
import { destroyChunk, PreparedStatement, Statement } from './duckdb/statement.ts';
import { TaskInstance } from './duckdb/instance-pool.ts';
import { TaskInputs } from './run/task-inputs.ts';

/** Gives many rows at first, so that the result is ready, and then hardly any. */
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
function pieces(sql: string, collected: boolean, on = connection): readonly number[] {
  const times: number[] = [];
  const timed = <T>(piece: () => T): T => {
    const before = process.threadCpuUsage();
    const result = piece();
    const { user, system } = process.threadCpuUsage(before);
    times.push((user + system) / 1_000);
    return result;
  };
  using prepared = new PreparedStatement(on, sql);
  using statement = new Statement(prepared, { collected });
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

/** A quarter of a second of work, and no row passes. */
const NONE_PASSES = "WHERE md5(x) = 'none'";
const ROWS = `SELECT i::VARCHAR AS x FROM range(2000000) t(i)`;

test('a filter inside a Parquet scan runs in short pieces, collected or streamed', () => {
  const path = join(dir, 'rows.parquet');
  connection.run(`COPY (${ROWS}) TO '${path}'`);
  for (const collected of [true, false]) {
    const times = pieces(`SELECT * FROM read_parquet('${path}') ${NONE_PASSES}`, collected);
    expect(Math.max(...times)).toBeLessThan(PIECE_MS_MAX);
    expect(times.length).toBeGreaterThan(15);
  }
});

test('so does a filter over an input that is a table, because it is kept out of the scan', () => {
  using task = new TaskInstance(join(dir, 'task'), new InputCallbacks());
  const column = { name: 'x', type: 'VARCHAR' };
  using inputs = new TaskInputs(task, [{ columns: [column], reads: 2, prologue: [], batches: [] }], 1);
  task.connection.run(`SET memory_limit = '1GB'; INSERT INTO temp.main.${inputName(0)} ${ROWS}`);
  const times = pieces(`SELECT * FROM ${inputs.texts[0]} AS t ${NONE_PASSES}`, true, task.connection);
  expect(Math.max(...times)).toBeLessThan(PIECE_MS_MAX);
  expect(times.length).toBeGreaterThan(15);
});
