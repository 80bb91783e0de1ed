import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DUCKDB_TEXT_BYTES_MAX } from '#shared/duckdb-error.ts';
import { Instance, type Connection } from './instance.ts';
import { destroyChunk, LATE_FALSE, PreparedStatement, Statement } from './statement.ts';
import { queryArrow } from '#test/support/duckdb-ipc.ts';

let instance: Instance;
let connection: Connection;

beforeEach(() => {
  instance = Instance.open({ threads: '1' });
  connection = instance.connect();
  connection.run('SET errors_as_json = true');
});

afterEach(() => {
  connection[Symbol.dispose]();
  instance[Symbol.dispose]();
});

/** Runs a statement to its end and says how many rows and pieces it had, and how long the longest took. */
function runAll(sql: string): { rows: number; pieces: number; longestMs: number } {
  using prepared = new PreparedStatement(connection, sql);
  using statement = new Statement(prepared);
  let pieces = 0;
  let longestMs = 0;
  const timed = <T>(work: () => T): T => {
    const startMs = performance.now();
    const result = work();
    longestMs = Math.max(longestMs, performance.now() - startMs);
    pieces++;
    return result;
  };
  while (timed(() => statement.step()) !== 'ready');
  let rows = 0;
  for (let chunk = timed(() => statement.fetch()); chunk !== undefined; chunk = timed(() => statement.fetch())) {
    rows += 1;
    destroyChunk(chunk);
  }
  return { rows, pieces, longestMs };
}

const chain = (length: number, link: (index: number) => string): string =>
  Array.from({ length }, (_, index) => link(index)).join('');

describe('a statement', () => {
  test('runs by pieces', () => {
    const { pieces } = runAll('SELECT h FROM (SELECT hash(i) AS h FROM range(3000000) t(i)) ORDER BY h LIMIT 10');
    expect(pieces).toBeGreaterThan(5);
  });

  test('over files is bound when it runs, and not before', () => {
    const read = (no: string): string => `FROM read_parquet('/nowhere.parquet', hive_partitioning = ${no})`;
    const lacksFile = expect.objectContaining({ code: 'INVALID_TABLE_DATA' });
    expect(() => new PreparedStatement(connection, read('false'))).toThrow(lacksFile);
    const text = `SELECT max(x) FROM (${read(LATE_FALSE)}) UNION ${read(LATE_FALSE)}`;
    using prepared = new PreparedStatement(connection, text);
    expect(() => new Statement(prepared)).toThrow(lacksFile);
  });

  test.each([
    ['SELECT', 'SYNTAX_ERROR'],
    ['SELECT x', 'COLUMN_NOT_FOUND'],
    ["SELECT CAST('a' || i AS INT) FROM range(3) t(i)", 'INVALID_CAST'],
    ['SELECT * FROM nowhere', 'TABLE_NOT_FOUND'],
    ['SELECT 1\0', 'INVALID_REQUEST'],
  ])('%j fails with %s, and the connection lives on', (sql, code) => {
    expect(() => runAll(sql)).toThrow(expect.objectContaining({ code }));
    expect(runAll('SELECT 1').rows).toBe(1);
  });

  test.each([
    ['its step', "SELECT error(repeat('é', 500000 + i::INT)) FROM range(1) t(i)"],
    ['its rows', "SELECT CASE WHEN i > 900000 THEN error(repeat('é', 500000)) END FROM range(1000000) t(i)"],
    ['its plan', "SELECT error(repeat('é', 500000))"],
    ['a setting', "SET threads = error(repeat('é', 500000))"],
  ])('of a text of a megabyte that %s fails with, two ends are kept', (_where, sql) => {
    let thrown: unknown;
    try {
      if (sql.startsWith('SET')) connection.run(sql);
      else runAll(sql);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'INVALID_ARGUMENT' });
    const { message } = thrown as Error;
    expect(message).toMatch(/^é+ \[\.\.\. 99\d{4} bytes left out \.\.\.\] é+$/);
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(DUCKDB_TEXT_BYTES_MAX);
  });

  test.each([
    'SET threads = 2',
    'SET VARIABLE x = 1',
    'CREATE TEMP TABLE x (a INT)',
    "COPY (SELECT 1) TO '/dev/null'",
    "ATTACH ':memory:' AS x",
    'PRAGMA enable_profiling',
    'EXPLAIN SELECT 1',
    'BEGIN',
  ])('%s is no query, and is not run', (sql) => {
    expect(() => runAll(sql)).toThrow(expect.objectContaining({ code: 'NOT_SUPPORTED' }));
    const left = connection.readNumbers("SELECT current_setting('threads')::INT, count(*) FROM duckdb_tables()");
    expect(left).toEqual([1, 0]);
  });

  test('two statements are none', () => {
    expect(() => runAll('SELECT 1; SELECT 2')).toThrow(/multiple/i);
  });

  test.each<[string, (depth: number) => string]>([
    [
      'a chain of WITH',
      (n) => `WITH c0 AS (SELECT 1 AS x)${chain(n, (i) => `, c${i + 1} AS (FROM c${i})`)} FROM c${n}`,
    ],
    ['WITH inside of WITH', (n) => `${'WITH a AS ('.repeat(n)}SELECT 1${') FROM a'.repeat(n)}`],
    [
      'WITH MATERIALIZED',
      (n) => `WITH c0 AS (SELECT 1 AS x)${chain(n, (i) => `, c${i + 1} AS MATERIALIZED (FROM c${i})`)} FROM c${n}`,
    ],
    ['CASE', (n) => `SELECT ${'CASE WHEN true THEN 1 ELSE '.repeat(n)}1${' END'.repeat(n)}`],
    ['NOT', (n) => `SELECT ${'NOT '.repeat(n)}true`],
    ['UNION', (n) => `SELECT 1${' UNION ALL SELECT 1'.repeat(n)}`],
  ])('%s as deep as DuckDB allows fits the stack', (_name, sql) => {
    expect(runAll(sql(950)).rows).toBeGreaterThan(0);
  });

  test('an error in the middle of the rows comes with the fetch', () => {
    const sql = "SELECT CASE WHEN i = 900000 THEN CAST('x' || i AS INT) ELSE 1 END FROM range(1000000) t(i)";
    using prepared = new PreparedStatement(connection, sql);
    using statement = new Statement(prepared);
    while (statement.step() !== 'ready');
    expect(() => {
      for (let chunk = statement.fetch(); chunk !== undefined; chunk = statement.fetch()) destroyChunk(chunk);
    }).toThrow(expect.objectContaining({ code: 'INVALID_CAST' }));
  });

  test('ten thousand statements leak nothing', () => {
    const run = (count: number): void => {
      for (let i = 0; i < count; i++)
        queryArrow(connection, "SELECT 42 AS a, 'longer than twelve bytes' AS b, [1, 2] AS c");
    };
    run(1_000);
    const before = process.memoryUsage().rss;
    run(10_000);
    // A leaked chunk has 50 kB and more, a result several; the garbage of JavaScript comes and goes.
    expect(process.memoryUsage().rss - before).toBeLessThan(120e6);
  }, 60_000);
});

test('settings that DuckDB does not have are refused', () => {
  expect(() => Instance.open({ no_such_setting: '1' })).toThrow('not recognized: no_such_setting');
});
