import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import type { SqlText } from '#shared/task/sql-text.ts';
import { unsoundOptimizers } from '#shared/sql/unsound-optimizers.ts';
import { TYPES } from '#test/support/duckdb-types.ts';
import { fromDuckDbType } from '../planner/duckdb-type-of.ts';
import { arrowRows } from './arrow-rows.ts';
import { jsonRows } from './json-rows.ts';

let connection: DuckDBConnection;
beforeAll(async () => {
  connection = await (await DuckDBInstance.create(':memory:', { threads: '2' })).connect();
  await connection.run(`SET TimeZone = 'Asia/Tokyo'`);
});

test.each(TYPES)('the text that prints %s switches no optimizer off', async (type, [value]) => {
  const sql = `SELECT CAST(${value} AS ${type}) AS v, [CAST(${value} AS ${type})] AS l`;
  const prepared = await connection.prepare(sql);
  const types = [0, 1].map((i) => fromDuckDbType(prepared.columnType(i)));
  const columns = types.map((of) => ({ type: of }));
  const offFor = (text: SqlText) =>
    unsoundOptimizers({
      sql: text.filter((part) => typeof part === 'string').join(''),
      process: 'worker',
      mentions: 1,
    });
  for (const printed of [jsonRows([], columns, 'few'), jsonRows([], columns, 'many'), arrowRows([], types)]) {
    expect(offFor(printed)).toEqual(offFor(['SELECT v, l']));
  }
});

/** The rows as both texts print them. */
async function rowTexts(sql: string): Promise<string[]> {
  const [few, many] = [await printedRows(sql, 'few'), await printedRows(sql, 'many')];
  expect(few).toEqual(many);
  return few;
}

async function printedRows(sql: string, expected: 'few' | 'many'): Promise<string[]> {
  const prepared = await connection.prepare(sql);
  const columns = Array.from({ length: prepared.columnCount }, (_, i) => ({
    type: fromDuckDbType(prepared.columnType(i)),
  }));
  const wrapped = jsonRows([sql], columns, expected)
    .map((part) => (typeof part === 'string' ? part : ''))
    .join('');
  const reader = await connection.runAndReadAll(wrapped);
  expect(reader.columnCount).toBe(1);
  expect(reader.columnType(0).toString()).toBe('VARCHAR');
  return reader.getRows().map(([text]) => String(text));
}

const only = async (expression: string): Promise<string> => {
  const [text = ''] = await rowTexts(`SELECT ${expression} -- the end`);
  expect(text.slice(0, 2)).toBe(',[');
  JSON.parse(text.slice(1));
  return text.slice(2, -1);
};

describe('values', () => {
  test.each([
    ['NULL', 'null'],
    ['true', 'true'],
    ['1::TINYINT', '1'],
    ['255::UTINYINT', '255'],
    ['(-32768)::SMALLINT', '-32768'],
    ['2147483647', '2147483647'],
    ['4294967295::UINTEGER', '4294967295'],
    ['9007199254740991', '9007199254740991'],
    ['9007199254740992', '"9007199254740992"'],
    ['-9007199254740991', '-9007199254740991'],
    ['-9007199254740992', '"-9007199254740992"'],
    ['NULL::BIGINT', 'null'],
    ['18446744073709551615::UBIGINT', '"18446744073709551615"'],
    ['5::HUGEINT', '"5"'],
    ['5::UHUGEINT', '"5"'],
    ['170141183460469231731687303715884105728::BIGNUM', '"170141183460469231731687303715884105728"'],
    ['1.50::DECIMAL(10,2)', '"1.50"'],
    ['-0.05::DECIMAL(38,2)', '"-0.05"'],
    ['0.1::FLOAT', '0.1'],
    ['3.4e38::FLOAT', '3.4e38'],
    ['0.1::DOUBLE', '0.1'],
    ['1::DOUBLE', '1.0'],
    ["'nan'::DOUBLE", '"NaN"'],
    ["'inf'::DOUBLE", '"Infinity"'],
    ["'-inf'::FLOAT", '"-Infinity"'],
    ["'inf'::FLOAT", '"Infinity"'],
    ["-('nan'::DOUBLE)", '"NaN"'],
    ["-('nan'::FLOAT)", '"NaN"'],
    ["'inf'::DOUBLE - 'inf'::DOUBLE", '"NaN"'],
    ["['-inf'::DOUBLE, -('nan'::DOUBLE), NULL]", '["-Infinity","NaN",null]'],
    ["'nan'::FLOAT", '"NaN"'],
    ['NULL::DOUBLE', 'null'],
    [`'a"b\\c' || chr(10) || 'ü🦆'`, '"a\\"b\\\\c\\nü🦆"'],
    ['chr(1)', '"\\u0001"'],
    ["DATE '2024-02-29'", '"2024-02-29"'],
    ["DATE 'infinity'", '"infinity"'],
    ["TIME '10:11:12.5'", '"10:11:12.5"'],
    ["'10:11:12+02'::TIMETZ", '"10:11:12+02"'],
    ["TIMESTAMP '2024-02-29 10:00:00.123456'", '"2024-02-29 10:00:00.123456"'],
    ["'2024-02-29 10:00:00'::TIMESTAMP_S", '"2024-02-29 10:00:00"'],
    ["'2024-02-29 10:00:00.5'::TIMESTAMP_MS", '"2024-02-29 10:00:00.5"'],
    ["'2024-02-29 10:00:00.123456789'::TIMESTAMP_NS", '"2024-02-29 10:00:00.123456789"'],
    ["TIMESTAMPTZ '2024-02-29 10:00:00+00'", '"2024-02-29 19:00:00+09"'],
    ["INTERVAL '1 year 2 days 3 seconds'", '"1 year 2 days 00:00:03"'],
    ["'\\x00\\xFF'::BLOB", '"AP8="'],
    ["''::BLOB", '""'],
    ["UUID '00000000-0000-0000-0000-000000000001'", '"00000000-0000-0000-0000-000000000001"'],
    ["'101'::BIT", '"101"'],
    ["'a'::ENUM('a', 'b')", '"a"'],
    [`'{"a": 1}'::JSON`, '"{\\"a\\": 1}"'],
    ['[1, NULL, 2]', '[1,null,2]'],
    ['[]', '[]'],
    ['NULL::INTEGER[]', 'null'],
    ['[9007199254740993, 1]', '["9007199254740993",1]'],
    ['[1.5::DECIMAL(3,1), NULL]', '["1.5",null]'],
    ["[['a'], NULL, []]", '[["a"],null,[]]'],
    ["['nan'::DOUBLE, 1.5]", '["NaN",1.5]'],
    [`['{}'::JSON]`, '["{}"]'],
    ["[DATE '2024-01-01']", '["2024-01-01"]'],
    ['array_value(1, 2)', '[1,2]'],
    ['array_value(1.5, 2)', '["1.5","2.0"]'],
    [`{'a': 1, 'b "q"': 'x'}`, '{"a":1,"b \\"q\\"":"x"}'],
    ['NULL::STRUCT(a INTEGER)', 'null'],
    ["{'a': NULL, 'b': {'c': 1.5::DECIMAL(3,1)}}", '{"a":null,"b":{"c":"1.5"}}'],
    ["row(1, 'x')", '[1,"x"]'],
    ["[{'a': 1::HUGEINT}, NULL]", '[{"a":"1"},null]'],
    ["map {'k': 1, 'l': NULL}", '{"k":1,"l":null}'],
    ["map {'k': 1.5::DECIMAL(3,1), 'l': NULL}", '{"k":"1.5","l":null}'],
    ["map {1: 'a', 2: NULL}", '[{"key":1,"value":"a"},{"key":2,"value":null}]'],
    ["map {DATE '2024-01-01': [1.5]}", '[{"key":"2024-01-01","value":["1.5"]}]'],
    ['NULL::MAP(VARCHAR, DECIMAL(3,1))', 'null'],
    ['NULL::MAP(INTEGER, INTEGER)', 'null'],
    ["map {'a': map {'b': [1, NULL]}}", '{"a":{"b":[1,null]}}'],
    ['union_value(n := 1)', '1'],
    ["CAST('x' AS UNION(n INTEGER, s VARCHAR))", '"x"'],
    ['CAST(1.5::DECIMAL(3,1) AS UNION(d DECIMAL(3,1), s VARCHAR))', '"1.5"'],
    ['NULL::UNION(n INTEGER, s VARCHAR)', 'null'],
    ['[union_value(n := 1), NULL]', '[1,null]'],
  ])('%s', async (expression, expected) => {
    expect(await only(expression)).toBe(expected);
  });
});

describe('rows', () => {
  test('big and special values among common ones', async () => {
    expect(
      await rowTexts(`SELECT * FROM (VALUES (1, 1.5::DOUBLE), (9007199254740993, 'inf'), (NULL, NULL)) v`),
    ).toEqual([',[1,1.5]', ',["9007199254740993","Infinity"]', ',[null,null]']);
  });

  test('names may repeat or be strange', async () => {
    expect(await rowTexts('SELECT 1 AS a, 2 AS a, 3 AS " ", 4 AS "t", 5 AS c0')).toEqual([',[1,2,3,4,5]']);
  });

  test.each([
    'SELECT i FROM range(300000) r(i) ORDER BY hash(i)',
    'SELECT i FROM range(300000) r(i) ORDER BY i DESC LIMIT 1000',
    'FROM range(300000)',
  ])('order is kept: %s', async (sql) => {
    const plain = (await connection.runAndReadAll(sql)).getRows().map(([i]) => `,[${String(i)}]`);
    expect(await rowTexts(sql)).toEqual(plain);
  });
});
