import { DuckDBInstance } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { mayMatch } from '#shared/iceberg/may-match.ts';
import type { Literal, Predicate } from '#shared/iceberg/predicate.ts';
import { printJson } from '#shared/json.ts';
import { icebergScan, icebergScans, SCRIPTED_ASKER, scriptedTables } from '#test/support/scripted/tables.ts';
import type { Planner } from '../binding/planner.ts';
import { queryPreparer } from '../prepare/prepare-query.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import { sessionPlanner } from '#test/support/session-planner.ts';

const COLUMNS =
  'i int, l long, m decimal(9,2), f float, d double, b boolean, s string, day date, ts timestamp, tz timestamptz, u uuid, x binary';
const tables = scriptedTables({ 'lake.s.t': { columns: COLUMNS }, 'lake.s.o': { columns: COLUMNS } });
const context = {
  nowMicros: '1700000000000000',
  timeZone: 'UTC',
  currentUser: 'u',
  currentCatalog: 'lake',
  currentSchema: 's',
};
const prepare = queryPreparer({ cacheEntries: 0, cacheBytes: 2 ** 26 });
let planner: Planner;
beforeAll(async () => {
  planner = await sessionPlanner();
});

const prepared = (sql: string): Promise<PreparedQuery> =>
  prepare({ sql, offset: 0, context, asker: SCRIPTED_ASKER, tables, planner, signal: AbortSignal.timeout(10_000) });
const predicateOf = async (filter: string): Promise<Predicate | undefined> =>
  icebergScan(await prepared(`SELECT * FROM t WHERE ${filter}`)).predicate;

const TRUE = { kind: 'true' };
const compare = (op: string, fieldId: number, value: Literal) => ({ kind: 'compare', op, fieldId, value });

describe('conditions that prune', () => {
  test.each([
    ['i = 3', compare('eq', 1, 3n)],
    ['3 < i', compare('gt', 1, 3n)],
    ['i <> 3', compare('ne', 1, 3n)],
    ['l >= 9007199254740993', compare('ge', 2, 9007199254740993n)],
    ['i > 3.5', compare('gt', 1, 3n)],
    ['i < 3.5', compare('lt', 1, 4n)],
    ['i >= 3.0', compare('ge', 1, 3n)],
    ['i > -3.5::DECIMAL(5,1)', compare('gt', 1, -4n)],
    ['i < -3.5::DECIMAL(5,1)', compare('lt', 1, -3n)],
    ['i::BIGINT = 3', compare('eq', 1, 3n)],
    ['m = 1.5', compare('eq', 3, 150n)],
    ['m > 1.234', compare('gt', 3, 123n)],
    ['m < 7', compare('lt', 3, 700n)],
    ['f = 0.1::FLOAT', compare('eq', 4, Math.fround(0.1))],
    ['d < 1.5', compare('lt', 5, 1.5)],
    ['b', compare('eq', 6, true)],
    ['NOT b', compare('eq', 6, false)],
    ["s = 'a'", compare('eq', 7, 'a')],
    ["s LIKE 'ab%'", { kind: 'startsWith', fieldId: 7, prefix: 'ab' }],
    ["s LIKE 'ab%c'", { kind: 'startsWith', fieldId: 7, prefix: 'ab' }],
    ["s LIKE 'a_b'", { kind: 'startsWith', fieldId: 7, prefix: 'a' }],
    ["starts_with(s, 'ab')", { kind: 'startsWith', fieldId: 7, prefix: 'ab' }],
    ["day < '2024-01-01'", compare('lt', 8, 19723n)],
    ["day <= DATE '1998-12-01' - INTERVAL 90 DAY", compare('le', 8, 10471n)],
    ["day::TIMESTAMP > '2024-01-01 12:00:00'", compare('gt', 8, 19723n)],
    ["ts >= '2024-01-01'", compare('ge', 9, 1704067200000000n)],
    ["tz >= '2024-01-01 00:00:00+00'", compare('ge', 10, 1704067200000000n)],
    ['tz < now()', compare('lt', 10, 1700000000000000n)],
    ["u = '00000000-0000-0000-0000-0000000000ff'", compare('eq', 11, Uint8Array.from([...Array(15).fill(0), 255]))],
    ["x = '\\xFF\\x01a'::BLOB", compare('eq', 12, Uint8Array.from([255, 1, 97]))],
    ['i IS NULL', { kind: 'isNull', fieldId: 1 }],
    ['s IS NOT NULL', { kind: 'notNull', fieldId: 7 }],
    ['i IN (1, 2, NULL)', { kind: 'in', fieldId: 1, values: [1n, 2n] }],
    ['i IN (1, 2, 3, 4, 5, 6, 7, 8, 9)', { kind: 'in', fieldId: 1, values: [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n] }],
    ['i BETWEEN 1 AND 3', { kind: 'and', children: [compare('ge', 1, 1n), compare('le', 1, 3n)] }],
    ["i = 1 OR s = 'a'", { kind: 'or', children: [compare('eq', 1, 1n), compare('eq', 7, 'a')] }],
    ['i = 1 AND length(s) = 2', compare('eq', 1, 1n)],
    ['i IS NOT DISTINCT FROM 4', compare('eq', 1, 4n)],
  ])('%s', async (filter, expected) => {
    expect(await predicateOf(filter)).toEqual(expected);
  });
});

describe('conditions that do not prune', () => {
  test.each([
    'abs(i) = 3',
    'i = 1 OR length(s) = 2',
    'l = 1.5::DOUBLE',
    's::INTEGER = 3',
    'TRY_CAST(s AS INTEGER) IS NULL',
    "s ILIKE 'a%'",
    "s LIKE '%a'",
    "s COLLATE NOCASE = 'a'",
    'i NOT IN (1, NULL)',
    'i IS DISTINCT FROM 1',
    'i = (SELECT max(i) FROM o)',
    'i = l',
    "day = 'infinity'",
    'random() < 0.5',
  ])('%s', async (filter) => {
    expect(await predicateOf(filter)).toEqual(TRUE);
  });

  test.each([
    'SELECT * FROM (SELECT * FROM t LIMIT 3) WHERE i = 1',
    'SELECT * FROM (SELECT *, row_number() OVER (ORDER BY l) AS n FROM t) WHERE i = 1',
    'SELECT * FROM t LEFT JOIN o ON t.i = o.i AND t.l = 3',
  ])('%s', async (sql) => {
    expect(icebergScan(await prepared(sql)).predicate).toEqual(TRUE);
  });

  test('a scan that is read twice is pruned by either use', async () => {
    const scan = icebergScan(
      await prepared('WITH c AS (SELECT * FROM t) SELECT i FROM c WHERE i = 1 UNION ALL SELECT l FROM c WHERE i = 2'),
    );
    expect(scan.predicate).toEqual({ kind: 'or', children: [compare('eq', 1, 1n), compare('eq', 1, 2n)] });
  });

  test.each([
    ['SELECT i, s FROM t LIMIT 10', 10],
    ['SELECT * FROM t LIMIT 10 OFFSET 5', 15],
    ['SELECT i FROM (SELECT * FROM t LIMIT 10) LIMIT 3', 3],
    ['SELECT i FROM t WHERE i > 3 LIMIT 10', undefined],
    ['SELECT i FROM t ORDER BY i LIMIT 10', undefined],
    ['SELECT count(*) FROM t LIMIT 10', undefined],
    ['SELECT i FROM t', undefined],
    ['WITH c AS (SELECT * FROM t) (SELECT i FROM c LIMIT 3) UNION ALL SELECT l FROM c', undefined],
    ['SELECT unnest([i, i]) FROM t LIMIT 10', undefined],
  ])('%s: any %s rows will do', async (sql, rows) => {
    expect(icebergScan(await prepared(sql)).rowsMax).toBe(rows);
  });

  test('the columns that are read, of both sides', async () => {
    const { scans } = await prepared('SELECT t.s FROM t JOIN o USING (i) WHERE o.day IS NULL');
    expect(icebergScans(scans).map((scan) => scan.readFieldIds.toSorted((a, b) => a - b))).toEqual([
      [1, 7],
      [1, 8],
    ]);
  });
});

/** Values of each column, as SQL and as the literal that a file's statistics hold. */
const VALUES: Readonly<Record<string, readonly (readonly [string, Literal | null])[]>> = {
  i: [
    ['-5', -5n],
    ['0', 0n],
    ['3', 3n],
    ['4', 4n],
    ['NULL', null],
  ],
  l: [
    ['-9007199254740993', -9007199254740993n],
    ['3', 3n],
    ['9007199254740993', 9007199254740993n],
    ['NULL', null],
  ],
  m: [
    ['-1.50', -150n],
    ['0.00', 0n],
    ['3.00', 300n],
    ['3.01', 301n],
    ['NULL', null],
  ],
  f: [
    ['0.1', Math.fround(0.1)],
    ['-3.5', -3.5],
    ["'nan'", Number.NaN],
    ["'inf'", Infinity],
    ['NULL', null],
  ],
  d: [
    ['0.1', 0.1],
    ['3', 3],
    ["'nan'", Number.NaN],
    ["'-inf'", -Infinity],
    ['NULL', null],
  ],
  b: [
    ['true', true],
    ['false', false],
    ['NULL', null],
  ],
  s: [
    ["''", ''],
    ["'a'", 'a'],
    ["'ab'", 'ab'],
    ["'b%'", 'b%'],
    ["'ü'", 'ü'],
    ['NULL', null],
  ],
  day: [
    ["'1969-12-31'", -1n],
    ["'2024-01-01'", 19723n],
    ["'2024-01-02'", 19724n],
    ['NULL', null],
  ],
  ts: [
    ["'1969-12-31 23:59:59.999999'", -1n],
    ["'2024-01-01 00:00:00'", 1704067200000000n],
    ['NULL', null],
  ],
};
const ids: Readonly<Record<string, number>> = { i: 1, l: 2, m: 3, f: 4, d: 5, b: 6, s: 7, day: 8, ts: 9 };
const CONSTANTS = [
  '3',
  '3.5',
  '-3.5',
  '0',
  '3::HUGEINT',
  '3.01::DECIMAL(9,2)',
  '0.1::FLOAT',
  '0.1::DOUBLE',
  "'nan'::DOUBLE",
  'NULL',
];
const OPERATORS = ['=', '<>', '<', '<=', '>', '>=', 'IS DISTINCT FROM', 'IS NOT DISTINCT FROM'];

const simple = fc.oneof(
  fc
    .tuple(fc.constantFrom('i', 'l', 'm', 'f', 'd'), fc.constantFrom(...OPERATORS), fc.constantFrom(...CONSTANTS))
    .map(([column, op, constant]) => `${column} ${op} ${constant}`),
  fc
    .tuple(
      fc.constantFrom('i', 'l', 'm'),
      fc.boolean(),
      fc.array(fc.constantFrom('3', '-5', '4', '3.01', 'NULL'), { minLength: 1, maxLength: 9 }),
    )
    .map(([column, negated, list]) => `${column} ${negated ? 'NOT ' : ''}IN (${list.join(', ')})`),
  fc
    .tuple(
      fc.constantFrom('=', '<', '>=', 'LIKE', 'NOT LIKE'),
      fc.constantFrom("''", "'a'", "'a%'", "'b\\%'", "'a_'", "'ü%'", "'%b'"),
    )
    .map(([op, text]) => `s ${op} ${text}`),
  fc
    .tuple(
      fc.constantFrom('day', 'ts'),
      fc.constantFrom(...OPERATORS),
      fc.constantFrom("DATE '2024-01-01'", "TIMESTAMP '2024-01-01 12:00:00'", "TIMESTAMP '1969-12-31 23:59:59.999999'"),
    )
    .map(([column, op, constant]) => `${column} ${op} ${constant}`),
  fc.tuple(fc.constantFrom(...Object.keys(VALUES)), fc.boolean()).map(([c, not]) => `${c} IS ${not ? 'NOT ' : ''}NULL`),
  fc.constantFrom('b', 'NOT b', 'i BETWEEN -5 AND 3', 'm BETWEEN 0 AND 3.005', 'true', 'false', 'i::VARCHAR = s'),
);
const filters = fc.letrec<{ filter: string }>((tie) => ({
  filter: fc.oneof(
    { depthSize: 'small' },
    simple,
    fc.tuple(tie('filter'), tie('filter')).map(([a, b]) => `(${a} AND ${b})`),
    fc.tuple(tie('filter'), tie('filter')).map(([a, b]) => `(${a} OR ${b})`),
    tie('filter').map((a) => `NOT (${a})`),
  ),
})).filter;

test('a predicate keeps every row that the filter keeps', async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const names = Object.keys(VALUES);
  const rowCount = 60;
  await connection.run(
    'CREATE TABLE t (n INTEGER, i INTEGER, l BIGINT, m DECIMAL(9,2), f FLOAT, d DOUBLE, b BOOLEAN, s VARCHAR, day DATE, ts TIMESTAMP)',
  );
  const rows = Array.from({ length: rowCount }, (_, n) =>
    names.map(
      (name, c) =>
        VALUES[name]?.[(n * (c + 3) + Math.floor(n / 7)) % (VALUES[name]?.length ?? 1)] ?? (['NULL', null] as const),
    ),
  );
  await connection.run(
    `INSERT INTO t VALUES ${rows.map((row, n) => `(${n}, ${row.map(([sql]) => sql).join(', ')})`).join(', ')}`,
  );
  await fc.assert(
    fc.asyncProperty(filters, async (filter) => {
      const predicate = await predicateOf(filter);
      const kept = (await connection.runAndReadAll(`SELECT n FROM t WHERE ${filter}`))
        .getRows()
        .map(([n]) => Number(n));
      for (const n of kept) {
        const stats = (fieldId: number) => {
          const value = rows[n]?.[names.findIndex((name) => ids[name] === fieldId)]?.[1] ?? null;
          if (value === null) return { nullCount: 1, valueCount: 1 };
          if (Number.isNaN(value)) return { nullCount: 0, nanCount: 1, valueCount: 1 };
          return { lower: value, upper: value, nullCount: 0, nanCount: 0, valueCount: 1 };
        };
        const matches = predicate !== undefined && mayMatch(predicate, stats);
        expect(
          matches,
          `${filter}: row ${printJson(rows[n]?.map(([sql]) => sql))} against ${printJson(predicate)}`,
        ).toBe(true);
      }
    }),
    { numRuns: 300 },
  );
});
