import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyFile } from './copy-file.ts';

const BYTES_MAX = 2 ** 26;

let dir: string;
let duckdb: DuckDBConnection;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'skein-copy-'));
  duckdb = await (await DuckDBInstance.create()).connect();
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function write(name: string, query: string, options = ''): Promise<string> {
  const path = join(dir, `${name}.parquet`);
  await duckdb.run(`COPY (${query}) TO '${path}' (FORMAT parquet${options})`);
  return path;
}

async function rowsOf(path: string): Promise<readonly unknown[]> {
  const reader = await duckdb.runAndReadAll(
    `SELECT file_row_number, * FROM read_parquet('${path}', file_row_number = true) ORDER BY ALL`,
  );
  return reader.getRowsJson();
}

const VALUES = [
  'i % 2 = 0 AS bool',
  '(i % 100)::TINYINT AS i8',
  'i::SMALLINT AS i16',
  '-i::INTEGER AS i32',
  '(i * 1e15)::BIGINT AS i64',
  'i::UTINYINT AS u8',
  'i::USMALLINT AS u16',
  'i::UINTEGER AS u32',
  '(9223372036854775808 + i)::UBIGINT AS u64',
  "[0.1, -0.0, 'NaN', 'inf', 1e-45][i % 5 + 1]::FLOAT AS f32",
  "[0.1, -0.0, 'NaN', '-inf', 5e-324][i % 5 + 1]::DOUBLE AS f64",
  'CASE WHEN i % 3 > 0 THEN (i / 7)::DECIMAL(4, 2) END AS d4',
  '(i / 7)::DECIMAL(18, 9) AS d18',
  '(i * 1e20 + 0.5)::DECIMAL(38, 5) AS d38',
  "DATE '0001-01-01' + i::INTEGER AS day",
  "TIME '23:59:59.999999' AS clock",
  "TIMESTAMP '1969-12-31 23:59:59.999999' + to_days(i::INTEGER) AS stamp",
  "TIMESTAMPTZ '2024-02-29 12:00:00.000001+13' AS zoned",
  'make_timestamp_ns(1700000000123456789 + i) AS nanos',
  "CASE i % 4 WHEN 0 THEN '' WHEN 1 THEN NULL ELSE repeat('ä', i::INTEGER) END AS text",
  "'\\x00\\xFF'::BLOB AS bytes",
  "'00000000-0000-0000-0000-00000000000f'::UUID AS id",
  '1 AS "Strange ""name"", ü"',
];

test('a copy has the values, the order and the columns of its file, without compression', async () => {
  const rows = `SELECT ${VALUES.join(', ')} FROM range(200) t(i)`;
  for (const codec of ['snappy', 'zstd', 'gzip', 'lz4_raw']) {
    const source = await write(`all-${codec}`, rows, `, COMPRESSION ${codec}, ROW_GROUP_SIZE 2048`);
    const target = join(dir, `copy-${codec}.parquet`);
    expect(await copyFile({ source, real: source, target, bytesMax: BYTES_MAX })).toEqual({
      bytes: statSync(target).size,
    });
    expect(await rowsOf(target)).toEqual(await rowsOf(source));
    const codecs = await duckdb.runAndReadAll(`SELECT DISTINCT compression FROM parquet_metadata('${target}')`);
    expect(codecs.getRows()).toEqual([['UNCOMPRESSED']]);
  }
});

test('rows keep their numbers over many row groups', async () => {
  const source = await write('many', 'SELECT i, hash(i) AS h FROM range(400_000) t(i)', ', ROW_GROUP_SIZE 30_000');
  const target = join(dir, 'many-copy.parquet');
  expect(await copyFile({ source, real: source, target, bytesMax: BYTES_MAX })).toHaveProperty('bytes');
  const moved = await duckdb.runAndReadAll(
    `SELECT count(*) FILTER (file_row_number <> i), count(*) FROM read_parquet('${target}', file_row_number = true)`,
  );
  expect(moved.getRows()).toEqual([[0n, 400_000n]]);
});

test('a file of types that would change on the way is not copied', async () => {
  for (const value of ['[1]', '{a: 1}', 'MAP {1: 2}', "INTERVAL '1' DAY", "'{}'::JSON"]) {
    const source = await write('other', `SELECT ${value} AS x`);
    const reply = await copyFile({ source, real: source, target: join(dir, 'no.parquet'), bytesMax: BYTES_MAX });
    expect(reply, value).toEqual({ refused: expect.stringMatching(/^a column is /) });
  }
});

test('a few bytes that unpack to many are given up, and nothing stays of them', async () => {
  const source = await write(
    'bomb',
    "SELECT repeat('x', 500) || i AS x FROM range(1_000_000) t(i)",
    ', COMPRESSION zstd, DICTIONARY_SIZE_LIMIT 0, STRING_DICTIONARY_PAGE_SIZE_LIMIT 1',
  );
  expect(statSync(source).size).toBeLessThan(BYTES_MAX);
  const target = join(dir, 'bomb-copy.parquet');
  expect(await copyFile({ source, real: source, target, bytesMax: BYTES_MAX })).toEqual({ refused: 'it is too large' });
  expect(readdirSync(dir).filter((name) => name.startsWith('bomb-copy'))).toEqual([]);
});

test('a file that is none is refused', async () => {
  const source = join(dir, 'none.parquet');
  writeFileSync(source, 'PAR1 nothing PAR1');
  const target = join(dir, 'none-copy.parquet');
  expect(await copyFile({ source, real: source, target, bytesMax: BYTES_MAX })).toHaveProperty('refused');
  expect(existsSync(target)).toBe(false);
});
