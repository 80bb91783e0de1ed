import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import { applyEdits, bindParameters, PARAMETER_PLACES_MAX } from './bind-parameters.ts';
import { printParameter, sizeOf, type Constant, type Parameters } from './parameters.ts';

let duckdb: DuckDBConnection;
beforeAll(async () => {
  duckdb = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
});

const plain = (value: Constant) => ({ type: null, value });
const list = (...values: Constant[]): Parameters => ({ kind: 'positional', values: values.map(plain) });
const named = (values: Readonly<Record<string, Constant>>): Parameters => ({
  kind: 'named',
  values: Object.entries(values).map(([name, value]) => [name, plain(value)]),
});
const BYTES_MAX = 10_000;
const bound = (sql: string, parameters: Parameters): string =>
  applyEdits(sql, bindParameters(sql, parameters, BYTES_MAX))
    .text.replaceAll(/ +/g, ' ')
    .trim();

describe('parameters', () => {
  test.each([
    ['SELECT ?, ?', list('a', true), "SELECT ('a') , true"],
    ['SELECT $2, $1, $2', list({ digits: '1' }, null), 'SELECT NULL , 1 , NULL'],
    ['SELECT $2, ?', list({ digits: '1' }, { digits: '2' }, { digits: '-3' }), null],
    ['SELECT $1, $2, $1, ?', list(true, false, null), 'SELECT true , false , true , NULL'],
    ['SELECT $1, ?', list({ digits: '1' }, { digits: '-3.50' }), 'SELECT 1 , (-3.50)'],
    ['SELECT $Name, $"näme"', named({ name: 'x', näme: [true, []] }), "SELECT ('x') , [true, []]"],
    ['SELECT a FROM t WHERE b=?AND c', list(false), 'SELECT a FROM t WHERE b= false AND c'],
  ])('%s', (sql, parameters, text) => {
    if (text === null) expect(() => bound(sql, parameters)).toThrow('no parameter $1');
    else expect(bound(sql, parameters)).toBe(text);
  });

  test.each([
    [`SELECT '?' AS "?", $$?$$, $t$ $1 ? $t$, E'\\'?', x'00' /* ? /* $1 */ ? */ -- ?\n, ?`, 1],
    ["SELECT 'a'\n'?', ? AS \"$1\"", 1],
    ['SELECT a$1, ? FROM (SELECT 1 AS a$1)', 1],
    ['SELECT [?, $2][?]', 3],
    ["SELECT '''?', ''?''' || ?", null],
    ['SELECT ?::INTEGER, -?, ?IS NULL, CASE WHEN ? THEN ?END', 5],
    ['SELECT $a, $ a, $b, $"C"', 3],
    ["SELECT e'?\\\\', ?", 1],
    ['SELECT 1 AS "a""?", ?', 1],
  ])('where DuckDB finds them: %s', async (sql, count) => {
    if (count === null) {
      await expect(duckdb.prepare(sql)).rejects.toThrow();
      return;
    }
    const prepared = await duckdb.prepare(sql);
    expect(prepared.parameterCount).toBe(count);
    const values = Array.from({ length: count }, (_, i): Constant => ({ digits: String(i) }));
    const isNamed = sql.includes('$a,');
    const given = isNamed ? named({ a: true, b: true, c: true }) : list(...values);
    const after = await duckdb.prepare(bound(sql, given));
    expect(after.parameterCount).toBe(0);
  });

  test('positions behind them are those of the statement', () => {
    const sql = 'SELECT ?, x, ?';
    const derived = applyEdits(sql, bindParameters(sql, list('long '.repeat(10), 'y'), BYTES_MAX));
    expect(derived.toSource(derived.text.indexOf(', x') + 2)).toBe(sql.indexOf('x'));
    expect(derived.toSource(derived.text.indexOf("'y'"))).toBe(sql.lastIndexOf('?'));
  });

  test('one without a value, and a value without one, are refused', () => {
    expect(() => bound('SELECT 1, $2', list('a'))).toThrow(
      expect.objectContaining({ code: 'UNDEFINED_PARAMETER', position: 10 }),
    );
    expect(() => bound('SELECT $x', list('a'))).toThrow(expect.objectContaining({ code: 'UNDEFINED_PARAMETER' }));
    expect(() => bound('SELECT ?, ?', list('a'))).toThrow(expect.objectContaining({ code: 'UNDEFINED_PARAMETER' }));
    expect(() => bound('SELECT ?', list('a', 'b'))).toThrow(expect.objectContaining({ code: 'WRONG_PARAMETER_COUNT' }));
    expect(() => bound("SELECT '$1'", list('a'))).toThrow(expect.objectContaining({ code: 'WRONG_PARAMETER_COUNT' }));
    expect(() => bound('SELECT $a', named({ a: true, A: true }))).toThrow('has two values');
  });
});

describe('size', () => {
  test('a long value that a text names again and again is refused before the text is made', () => {
    const sql = `SELECT ${'$1,'.repeat(1_000)}1`;
    const value = list('x'.repeat(100));
    expect(bindParameters(sql, value, 200_000)).toHaveLength(1_000);
    expect(() => bindParameters(sql, value, 100_000)).toThrow(expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE' }));
  });

  test('a text may not have places without end', () => {
    const sql = (places: number): string => `SELECT ${'$1,'.repeat(places)}1`;
    const one = list(true);
    expect(bindParameters(sql(PARAMETER_PLACES_MAX), one, 2 ** 20)).toHaveLength(PARAMETER_PLACES_MAX);
    expect(() => bindParameters(sql(PARAMETER_PLACES_MAX + 1), one, 2 ** 20)).toThrow(
      expect.objectContaining({ code: 'STATEMENT_TOO_COMPLEX' }),
    );
  });

  test('values count as they take bytes', () => {
    expect(sizeOf(list('ü'.repeat(10), { digits: '12' }, [null, ['abc', true]]))).toBe(20 + 2 + 1 + 3 + 1);
    expect(sizeOf(named({ a: 'abc' }))).toBe(3);
  });
});

describe('values', () => {
  test.each([
    ["it's \\' -- /* $$ \u2003 'x", null],
    ["');DROP TABLE t;--", null],
    ['ünï🦆\n\r\t', null],
    [{ digits: '170141183460469231731687303715884105727' }, null],
    [{ digits: `${'9'.repeat(300)}.5` }, null],
    [{ digits: '-0.000000000000000000000000000000000001' }, null],
    [{ digits: '1e-300' }, null],
    ['NaN', 'DOUBLE'],
    ['2024-02-29', 'DATE'],
    ['{"a": 1, "b": [x, y]}', 'STRUCT(a INTEGER, "b" VARCHAR[])'],
    [['1.25', null], 'DECIMAL(38, 10)[]'],
    ['ok', "ENUM('sad--', 'ok')"],
    [null, 'MAP(VARCHAR, TIMESTAMP WITH TIME ZONE)'],
  ] as [Constant, string | null][])('%j as %s is one value in DuckDB', async (value, type) => {
    const printed = printParameter({ type, value });
    const [row] = (await duckdb.runAndReadAll(`SELECT ${printed} AS v, typeof(${printed}) AS t`)).getRows();
    if (typeof value === 'string' && type === null) expect(row).toEqual([value, 'VARCHAR']);
    if (type !== null) {
      const [same] = (await duckdb.runAndReadAll(`SELECT typeof(NULL::${type})`)).getRows();
      expect(row?.[1]).toBe(same?.[0]);
    }
  });

  test.each([
    'INTEGER) FROM (SELECT 1',
    'INTEGER) AS x, (1',
    'INTEGER --',
    'INTEGER /* x',
    "DATE'",
    '',
    ' ',
    'INTEGER; SELECT',
    '$1',
    'a.b',
    `${'STRUCT(a '.repeat(3)}INTEGER`,
    'x'.repeat(10_001),
  ])('%s is no type', (type) => {
    expect(() => printParameter({ type, value: '1' })).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
  });

  test.each([{ digits: '1; SELECT 1' }, { digits: '0x1' }, { digits: '' }, { digits: '--1' }, 'a\0b', [['a\0']]])(
    '%j is no value',
    (value) => {
      expect(() => printParameter(plain(value))).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
    },
  );
});
