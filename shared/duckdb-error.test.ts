import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { Random } from '#test/fuzz/random.ts';
import { fixedSeed } from '#test/support/seed.ts';
import { threadCpuMs } from '#test/support/thread-cpu.ts';
import { DUCKDB_TEXT_BYTES_MAX, duckDbError } from './duckdb-error.ts';
import { boundSql, unboundSql } from './sql/bounded-functions.ts';
import { ERROR_MESSAGE_BYTES_MAX, SkeinError, type ErrorCode } from './error.ts';

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

/** Statements whose errors quote the client's text: `unit`, repeated so often that no such text may be passed on whole. */
const LONG: readonly (readonly [what: string, sql: (text: string) => string, code: ErrorCode, position?: number])[] = [
  ['an error of the statement', (text) => `select error('begin ${text} end')`, 'INVALID_ARGUMENT'],
  ['a value that is no number', (text) => `select '${text}'::int`, 'INVALID_CAST'],
  ['an unknown column', (text) => `select "${text}" from t`, 'COLUMN_NOT_FOUND', 7],
  ['an unknown table', (text) => `select * from "${text}"`, 'TABLE_NOT_FOUND', 14],
  ['an unknown function', (text) => `select "${text}"(1)`, 'FUNCTION_NOT_FOUND', 7],
  ['an unknown type', (text) => `select 1::"${text}"`, 'NOT_SUPPORTED', 10],
];
const UNITS = [
  'x',
  'é',
  '\n',
  '\n\n',
  '%',
  '\\',
  '\\\\',
  '\u0001',
  '/a',
  '/',
  ' Error: ',
  'column ',
  '\\u00',
  '{"position":"3","',
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

  const LONG_CASES = LONG.flatMap(([what, sql, code, position]) =>
    UNITS.map((unit) => ({
      what,
      unit: JSON.stringify(unit),
      sql: sql(unit.repeat(Math.ceil(5_000 / unit.length)).replaceAll('"', '""')),
      code,
      position,
    })),
  );
  test.each(LONG_CASES)('$what, long, of $unit', async ({ sql, code, position }) => {
    for (const asJson of [true, false]) {
      await connection.run(`set errors_as_json = ${asJson}`);
      const text = await errorOf(sql);
      expect(text.length).toBeGreaterThanOrEqual(5_000);
      const error = duckDbError(text);
      expect(error.code).toBe(code);
      expect(Buffer.byteLength(error.message)).toBeLessThanOrEqual(DUCKDB_TEXT_BYTES_MAX);
      expect(error.message).not.toMatch(/exception_type|Error: [A-Z]/);
      if (asJson && error.position !== undefined && position !== undefined) expect(error.position).toBe(position);
      if (code === 'INVALID_ARGUMENT') expect(error.message).toMatch(/^begin [^]* bytes left out/);
      // An error that passes through a worker is not cut a second time.
      expect(SkeinError.fromData(error.toData()).message).toBe(error.message);
    }
  });

  /** Texts that DuckDB writes about other errors: as a client's own they change no code. */
  const BORROWED = [
    'Failed to read the file',
    'No magic bytes found at end of file',
    'Parquet file is',
    'report.parquet',
    'thrift',
    'division by zero',
    'overflow',
    'value out of range',
    'is out of range for',
    'cannot cast',
    'cannot compare',
    'Unimplemented type for cast',
    'More than one row returned by a subquery',
    'Max expression depth limit',
    'ambiguous',
    'not yet supported',
    'nesting depth',
    'does not exist because schema "s" does not exist.',
    'type mismatch',
    'No space left on device',
    'CSV Error on Line: 1\n',
  ];
  const LATE = `FROM (SELECT 'x' || v AS v, v AS plain FROM (VALUES ($v)) t(v))`;
  const FORMS: readonly (readonly [sql: string, code: ErrorCode])[] = [
    [`SELECT error(plain) ${LATE}`, 'INVALID_ARGUMENT'],
    [`SELECT plain::INT ${LATE}`, 'INVALID_CAST'],
    [`SELECT plain::DATE ${LATE}`, 'INVALID_CAST'],
    [`SELECT plain::DECIMAL(9, 2) ${LATE}`, 'INVALID_CAST'],
    [`SELECT plain::INT[] ${LATE}`, 'INVALID_CAST'],
    [`SELECT plain::STRUCT("overflow" INT) ${LATE}`, 'INVALID_CAST'],
    [`SELECT strptime(plain, '%Y') ${LATE}`, 'INVALID_ARGUMENT'],
    [`SELECT strptime('2020', plain) ${LATE}`, 'INVALID_ARGUMENT'],
    [`SELECT json(plain) ${LATE}`, 'INVALID_ARGUMENT'],
    [`SELECT regexp_matches(v, '(' || plain) ${LATE}`, 'INVALID_ARGUMENT'],
    [`SELECT * FROM "$n x"`, 'TABLE_NOT_FOUND'],
    [`SELECT "$n" FROM t`, 'COLUMN_NOT_FOUND'],
    [`SELECT t."$n" FROM t`, 'COLUMN_NOT_FOUND'],
    [`SELECT "$n"(1)`, 'FUNCTION_NOT_FOUND'],
    [`SELECT 1::"$n"`, 'NOT_SUPPORTED'],
  ];

  test.each(FORMS.map(([sql, code]) => ({ sql, code })))(
    'the text of a client does not change the code of $sql',
    async ({ sql, code }) => {
      await connection.run('set errors_as_json = true');
      for (const macro of boundSql('raise')) await connection.run(macro);
      try {
        for (const borrowed of BORROWED) {
          for (const text of [borrowed, `'${borrowed}`, `" ${borrowed} "`]) {
            const whole = sql
              .replace('$v', () => `'${text.replaceAll("'", "''")}'`)
              .replace('$n', () => text.replaceAll('"', '""'));
            const error = await errorOf(whole);
            // Some of these texts are JSON.
            if (error !== '') expect(duckDbError(error).code, whole).toBe(code);
          }
        }
      } finally {
        for (const macro of unboundSql('raise')) await connection.run(macro);
      }
    },
  );

  test.each([
    ["SELECT strptime('report.parquet', '%Y')", 'INVALID_ARGUMENT'],
    ["SELECT json('x.parquet')", 'INVALID_ARGUMENT'],
    ["SELECT 'overflow'::INT", 'INVALID_CAST'],
    ["SELECT 'cannot cast'::INT", 'INVALID_CAST'],
    ["SELECT 'skein refuses: x'::INT", 'INVALID_CAST'],
  ] as const)('%s', async (sql, code) => {
    await connection.run('set errors_as_json = true');
    expect(duckDbError(await errorOf(sql)).code).toBe(code);
  });

  test.each([
    'Invalid Error: Page size mismatch',
    'Invalid Error: Decode bit width too large',
    'Invalid Error: Prefetch registered requested for bytes outside file',
    'Invalid Error: Struct child row count mismatch',
    'Invalid Input Error: Incorrect stats size for type BIGINT',
    "Invalid Input Error: Required column 'value' not found in Variant group",
    'IO Error: Data corruption detected, read of length_in_bytes (9) would exceed buffer capacity',
    "IO Error: Corrupted VARIANT 'metadata' buffer",
    'IO Error: TIME_MICROS converted type can only be set for value of Type::INT64',
  ])('%s: bad table data', (text) => {
    expect(duckDbError(text).code).toBe('INVALID_TABLE_DATA');
  });

  test('bad pages of Parquet files are bad table data', async () => {
    const random = new Random(fixedSeed());
    const folder = mkdtempSync(join(tmpdir(), 'skein-pages-'));
    const reader = await (await DuckDBInstance.create(':memory:')).connect();
    const path = join(folder, 'bad.parquet');
    const codes: ErrorCode[] = [];
    for (const codec of ['uncompressed', 'gzip', 'zstd', 'snappy']) {
      for (const version of ['V1', 'V2']) {
        await reader.run(`copy (select md5(i::varchar)::uuid u, i::decimal(38, 0) d, i::varchar s, [i] l, i % 2 = 0 f, i::double x, i n
          from range(60) t(i)) to '${path}' (format parquet, compression ${codec}, parquet_version ${version})`);
        const honest = readFileSync(path);
        const pagesEnd = honest.length - 8 - honest.readUInt32LE(honest.length - 8);
        for (let i = 0; i < 20; i++) {
          const bad = Buffer.from(honest);
          for (let left = 4; left > 0; left--) bad[4 + random.below(pagesEnd - 4)] = random.below(256);
          writeFileSync(path, bad);
          await reader.run(`from read_parquet('${path}')`).catch((error: Error) => {
            codes.push(duckDbError(error.message).code);
          });
        }
      }
    }
    rmSync(folder, { recursive: true });
    expect(codes.length).toBeGreaterThan(30);
    expect(new Set(codes)).toEqual(new Set(['INVALID_TABLE_DATA']));
  });

  test.each([
    'IO Error: DELTA_BYTE_ARRAY on FIXED_LEN_BYTE_ARRAY: decoded length does not match type length',
    'IO Error: FIXED_LEN_BYTE_ARRAY requires length to be set',
    'Invalid Input Error: Mismatch in parquet read for column 4, expected 300 rows, got 276',
  ])('%s', (text) => {
    expect(duckDbError(text).code).toBe('INVALID_TABLE_DATA');
  });

  test('no text takes more time than its length is worth', () => {
    const parts = fc.constantFrom(
      ...UNITS,
      '\nLINE 1',
      '\nLINE 1: ',
      '"',
      "'",
      '"/',
      '":"',
      '","',
      ' in ',
      'type with name ',
    );
    const more = fc.constantFrom(
      'a ',
      'of ',
      'function with name ',
      'requires a ',
      'could not cast value ',
      'Table with name ',
    );
    const begin = fc.constantFrom(
      '',
      '{"exception_type":"',
      '{"exception_type":"Binder","exception_message":"',
      'Binder Error: ',
    );
    const types = fc.constantFrom(undefined, 'binder', 'conversion', 'invalid input', 'io', 'out of memory', 'catalog');
    const unit = fc.array(fc.oneof(parts, more), { minLength: 1, maxLength: 4 }).map((list) => list.join(''));
    fc.assert(
      fc.property(begin, unit, parts, types, (head, repeated, tail, type) => {
        const text = (length: number): string => head + repeated.repeat(length / repeated.length) + tail;
        // A quadratic pattern takes 8 ms and more for what is left of a text when it has been cut.
        expect(threadCpuMs(() => void duckDbError(text(DUCKDB_TEXT_BYTES_MAX - 100), type))).toBeLessThan(4);
        expect(threadCpuMs(() => void duckDbError(text(1_000_000), type))).toBeLessThan(50);
      }),
      { numRuns: 150 },
    );
  });

  test('no error of ours has a longer message than is sent', () => {
    const { message } = new SkeinError('TABLE_NOT_FOUND', `table ${'é'.repeat(100_000)} does not exist`);
    expect(message).toMatch(/^table é+ .* bytes left out .* é+ does not exist$/);
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(ERROR_MESSAGE_BYTES_MAX);
  });

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
    [
      'INTERNAL Error: Attempted to dereference at /build/x.cpp',
      'ENGINE_FAULT',
      'DuckDB cannot run the statement: it ends with an internal error of DuckDB, which is a fault of DuckDB',
    ],
    [
      'IO Error: Cannot open file "/data/a/b.parquet": No such file or directory',
      'STORAGE_ERROR',
      'Cannot open file "b.parquet": No such file or directory',
    ],
    [
      'IO Error: Could not write file "/data/a/b.parquet": No space left on device',
      'STORAGE_FULL',
      'Could not write file "b.parquet": No space left on device',
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
