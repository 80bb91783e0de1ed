import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import { duckDbError } from './duckdb-error.ts';
import type { ErrorCode } from './error.ts';

const CASES: readonly (readonly [sql: string, code: ErrorCode, position?: number])[] = [
  ['selec 1', 'SYNTAX_ERROR', 0],
  ['select 1 +', 'SYNTAX_ERROR', 10],
  ['values (1),(1,2)', 'SYNTAX_ERROR'],
  ['select x from t', 'COLUMN_NOT_FOUND', 7],
  ['select t.x from t', 'COLUMN_NOT_FOUND', 7],
  ['select * exclude (zz) from t', 'COLUMN_NOT_FOUND'],
  ['select * from t t1 join t t2 using (zz)', 'COLUMN_NOT_FOUND'],
  ["select {'a': 1}.b", 'COLUMN_NOT_FOUND'],
  ['select a from t, u', 'AMBIGUOUS_COLUMN', 7],
  ['select * from nope', 'TABLE_NOT_FOUND', 14],
  ['select nope.a from t', 'TABLE_NOT_FOUND', 7],
  ['select * from nope.t', 'SCHEMA_NOT_FOUND', 14],
  ['select * from a.b.c', 'CATALOG_NOT_FOUND'],
  ['select foo(1)', 'FUNCTION_NOT_FOUND', 7],
  ['select substr(1, 2, 3, 4, 5)', 'FUNCTION_NOT_FOUND', 7],
  ["select sum('a'::blob)", 'FUNCTION_NOT_FOUND', 7],
  ["select 'abc'::int", 'INVALID_CAST', 12],
  ['select b::int from t', 'INVALID_CAST', 8],
  ["select date 'abc'", 'INVALID_CAST'],
  ['select 300::tinyint', 'NUMERIC_OVERFLOW', 10],
  ['select cast(1e30 as decimal(18,2))', 'NUMERIC_OVERFLOW', 7],
  ['select 9223372036854775807 + 1', 'NUMERIC_OVERFLOW'],
  ['select sqrt(-1)', 'NUMERIC_OVERFLOW'],
  ["select 1 = date '2020-01-01'", 'TYPE_MISMATCH', 7],
  ['select [1, 2]::int', 'TYPE_MISMATCH', 13],
  ['select unnest(1)', 'TYPE_MISMATCH', 7],
  ['select (select a from t)', 'CARDINALITY_VIOLATION'],
  ["select error('boom')", 'INVALID_ARGUMENT'],
  ["select regexp_matches('a', '(')", 'INVALID_ARGUMENT'],
  ['select 1::nope', 'NOT_SUPPORTED', 10],
  ["select 'a' collate nope", 'NOT_SUPPORTED'],
  ["select * from read_csv('/etc/passwd')", 'NOT_SUPPORTED', 14],
  ['select a from t group by b', 'SYNTAX_ERROR', 7],
  ['select ?', 'INVALID_REQUEST'],
];

describe('duckDbError', () => {
  let connection: DuckDBConnection;
  beforeAll(async () => {
    connection = await (await DuckDBInstance.create(':memory:')).connect();
    await connection.run(`create table t(a int, b varchar); create table u(a int, c date);
      insert into t values (1, 'x'), (2, 'y'); set enable_external_access = false`);
  });
  const errorOf = async (sql: string): Promise<string> => {
    try {
      await connection.runAndReadAll(sql);
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };

  test.each(CASES.map(([sql, code, position]) => ({ sql, code, position })))(
    '$sql is $code',
    async ({ sql, code, position }) => {
      await connection.run('set errors_as_json = false');
      const fromText = duckDbError(await errorOf(sql));
      expect(fromText.code).toBe(code);
      await connection.run('set errors_as_json = true');
      const fromJson = duckDbError(await errorOf(sql));
      expect(fromJson).toMatchObject({ code, message: fromText.message, position });
      expect(fromText.message).not.toMatch(/LINE 1|Error:|\/etc\/|^\s*$/);
    },
  );

  test('type and position of a caller that knows them', () => {
    const error = duckDbError('Referenced column "x" not found in FROM clause!', 'binder', 7);
    expect(error.toData()).toEqual({
      code: 'COLUMN_NOT_FOUND',
      message: 'Referenced column "x" not found in FROM clause!',
      position: 7,
    });
  });

  test.each([
    ['INTERRUPT Error: Interrupted!', 'QUERY_CANCELLED', 'the query was cancelled'],
    ['INTERNAL Error: Attempted to dereference at /build/x.cpp', 'INTERNAL_ERROR', 'internal error'],
    [
      'IO Error: Cannot open file "/data/a/b.parquet": No such file or directory',
      'STORAGE_ERROR',
      'Cannot open file "b.parquet": No such file or directory',
    ],
    [
      "Invalid Input Error: No magic bytes found at end of file '/data/a/b.parquet'",
      'INVALID_TABLE_DATA',
      "No magic bytes found at end of file 'b.parquet'",
    ],
    [
      'Out of Memory Error: failed to allocate data of size 4.0 MiB (8.3 MiB/9.5 MiB used)\n\nPossible solutions:\n* x',
      'OUT_OF_MEMORY',
      'the query needs more memory than its limit: failed to allocate data of size 4.0 MiB (8.3 MiB/9.5 MiB used)',
    ],
    [
      'Out of Memory Error: Failed to allocate block of 67108864 bytes (bad allocation)',
      'MEMORY_EXHAUSTED',
      'the worker has no more memory for the query: Failed to allocate block of 67108864 bytes (bad allocation)',
    ],
    [
      "Out of Memory Error: failed to offload data block of size 256.0 KiB (9.8 MiB/9.5 MiB used).\nThis limit was set by the 'max_temp_directory_size' setting.",
      'SPILL_LIMIT',
      "the query needs more disk than its spill limit: failed to offload data block of size 256.0 KiB (9.8 MiB/9.5 MiB used).\nThis limit was set by the 'max_temp_directory_size' setting.",
    ],
    ['something without a form', 'INTERNAL_ERROR', 'internal error'],
  ])('%s', (text, code, message) => {
    expect(duckDbError(text)).toMatchObject({ code, message });
  });
});
