import { expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { Instance, type Connection } from '../duckdb/instance.ts';
import { allocatedBytes, duckdb } from '../duckdb/library.ts';
import { readTexts } from '../duckdb/read-values.ts';
import { destroyChunk, PreparedStatement, Statement } from '../duckdb/statement.ts';
import { readWholeNumbers } from '../duckdb/vector-memory.ts';
import { ColumnCopies } from './column-copies.ts';
import type { CachedColumn } from './cached-column.ts';

/** Copies the only column of a statement that gives this many rows; undefined when it takes more memory than it may. */
function copyUpTo(bytesMax: number, connection: Connection, sql: string, rows: number): CachedColumn | undefined {
  using prepared = new PreparedStatement(connection, sql);
  using statement = new Statement(prepared);
  while (statement.step() !== 'ready');
  using copies = new ColumnCopies(statement.result, 1, bytesMax);
  copies.begin(rows);
  for (let chunk = statement.fetch(); chunk !== undefined; chunk = statement.fetch()) {
    const isSmall = copies.append(chunk, Number(duckdb.data_chunk_get_size(chunk)));
    destroyChunk(chunk);
    if (!isSmall) return undefined;
  }
  return copies.take()[0];
}

const copy = (connection: Connection, sql: string, rows: number): CachedColumn =>
  must(copyUpTo(2 ** 30, connection, sql, rows), 'the column is small');

test.skipIf(allocatedBytes() === undefined).each([
  ['BIGINT', 'i', 4_000_000],
  ['short texts', 'i::VARCHAR', 2_000_000],
  ['texts', "repeat('x', 40 + (i % 60)::INT)", 400_000],
  ['long texts', "repeat('x', 20000)", 2_500],
  ['lists', 'range(i % 20)', 300_000],
  ['lists of texts', "[repeat('x', 30), NULL, repeat('y', (i % 50)::INT)]", 200_000],
  ['structs', "{'a': i, 'b': repeat('x', 40)}", 300_000],
  ['maps', "MAP {i: 'a text of some length', i + 1: NULL}", 150_000],
  ['DECIMAL(38)', 'i::DECIMAL(38, 2)', 2_000_000],
  ['NULL', 'NULL::VARCHAR', 2_000_000],
])('a column takes no more memory than it says, and gives it back: %s', (_name, sql, rows) => {
  using instance = Instance.open({ threads: '1' });
  using connection = instance.connect();
  const text = `SELECT ${sql} AS c FROM range(${rows}) AS r(i)`;
  const first = copy(connection, text, rows);
  const before = allocatedBytes() ?? 0;
  const column = copy(connection, text, rows);
  const grown = (allocatedBytes() ?? 0) - before;
  expect(column.slices.reduce((sum, slice) => sum + slice.rows, 0)).toBe(rows);
  expect(column.bytes).toBeGreaterThan(grown);
  expect(column.bytes).toBeLessThan(2 * grown);
  column.release();
  expect((allocatedBytes() ?? 0) - before).toBeLessThan(grown / 10);
  first.release();
});

test('chunks of any length become slices of 2,048 rows, with their values', () => {
  using instance = Instance.open({ threads: '1' });
  using connection = instance.connect();
  // Each chunk of the range has 682 or 683 of these rows.
  const rows = 10_000;
  const from = `FROM range(${3 * rows}) AS r(i) WHERE i % 3 = 0`;
  const numbers = copy(connection, `SELECT i // 3 ${from}`, rows);
  const texts = copy(connection, `SELECT 'a text of row ' || i // 3 ${from}`, rows);
  expect(numbers.slices.map((slice) => slice.rows)).toEqual([2_048, 2_048, 2_048, 2_048, 1_808]);
  const read = numbers.slices.flatMap((slice) => Array.from(readWholeNumbers(slice.vector, slice.rows) ?? [], Number));
  expect(read).toEqual(Array.from({ length: rows }, (_, i) => i));
  expect(texts.slices.flatMap((slice) => readTexts(slice.vector, slice.rows))).toEqual(
    read.map((i) => `a text of row ${i}`),
  );
  expect(numbers.stats(1)).toEqual({ lower: 2_048n, upper: 4_095n, nullCount: 0 });
  expect(texts.stats(1)).toEqual({});
  numbers.release();
  texts.release();
});

test.each([
  ['DECIMAL(4, 2)', '((i - 50) / 4)::DECIMAL(4, 2)', { lower: -1_250n, upper: 1_225n, nullCount: 0 }],
  ['with NULLs', 'CASE WHEN i > 0 THEN i::SMALLINT END', { lower: expect.any(BigInt) as bigint, upper: 99n }],
  ['DOUBLE', 'i::DOUBLE', {}],
  ['UINTEGER', 'i::UINTEGER', {}],
])('bounds of a slice: %s', (_name, sql, stats) => {
  using instance = Instance.open({ threads: '1' });
  using connection = instance.connect();
  const column = copy(connection, `SELECT ${sql} AS c FROM range(100) AS r(i)`, 100);
  expect(column.stats(0)).toEqual(stats);
  column.release();
});

test('a column is not copied when it would take more than it may, or its type is not known', () => {
  using instance = Instance.open({ threads: '1' });
  using connection = instance.connect();
  const text = "SELECT repeat('x', 100000) FROM range(1000)";
  const before = allocatedBytes() ?? 0;
  expect(copyUpTo(50_000_000, connection, text, 1_000)).toBeUndefined();
  expect((allocatedBytes() ?? 0) - before).toBeLessThan(10_000_000);
  expect(copyUpTo(1e12, connection, "SELECT 'a'::ENUM('a', 'b') AS c", 1)).toBeUndefined();
});
