import { expect, test } from 'vitest';
import { koffi } from '#shared/native/koffi.ts';
import { Instance, type Connection } from '../duckdb/instance.ts';
import { duckdb, libraryPath } from '../duckdb/library.ts';
import { destroyChunk, PreparedStatement, Statement } from '../duckdb/statement.ts';
import { ColumnCopies } from './column-copies.ts';
import type { CachedColumn } from './cached-column.ts';

const control = koffi
  .load(libraryPath())
  .func('int duckdb_je_mallctl(str name, void *old, void *oldLength, void *value, size_t valueLength)');

/** Bytes of the pages that DuckDB's allocator has handed out. */
function activeBytes(): number {
  const epoch = BigUint64Array.of(1n);
  control('epoch', null, null, epoch, 8);
  const value = new BigUint64Array(1);
  control('stats.active', value, BigUint64Array.of(8n), null, 0);
  return Number(value[0]);
}

/** Copies the only column of a statement that gives this many rows. */
function copy(connection: Connection, sql: string, rows: number): CachedColumn {
  using prepared = new PreparedStatement(connection, sql);
  using statement = new Statement(prepared);
  while (statement.step() !== 'ready');
  using copies = new ColumnCopies(statement.result, 1);
  copies.begin(rows);
  for (let chunk = statement.fetch(); chunk !== undefined; chunk = statement.fetch()) {
    copies.append(chunk, Number(duckdb.data_chunk_get_size(chunk)));
    destroyChunk(chunk);
  }
  const [column] = copies.take();
  if (column === undefined) throw new Error('no column');
  return column;
}

test.each([
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
  const before = activeBytes();
  const column = copy(connection, text, rows);
  const grown = activeBytes() - before;
  expect(column.slices.reduce((sum, slice) => sum + slice.rows, 0)).toBe(rows);
  expect(column.bytes).toBeGreaterThan(grown);
  expect(column.bytes).toBeLessThan(2 * grown);
  column.release();
  expect(activeBytes() - before).toBeLessThan(grown / 10);
  first.release();
});

test('a column of a type whose memory is not known takes more than any limit', () => {
  using instance = Instance.open({ threads: '1' });
  using connection = instance.connect();
  const column = copy(connection, "SELECT 'a'::ENUM('a', 'b') AS c", 1);
  expect(column.bytes).toBe(Number.POSITIVE_INFINITY);
  column.release();
});
