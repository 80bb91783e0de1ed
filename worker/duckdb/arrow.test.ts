import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ArrowInput } from './arrow-in.ts';
import { InputCallbacks, InputFunctions, inputName } from './input-functions.ts';
import { Instance, type Connection } from './instance.ts';
import { queryArrow, type ArrowResult } from './test-ipc.ts';

/** Each type with its edges; VARIANT has no Arrow form. */
const TYPES: readonly (readonly [type: string, values: readonly string[]])[] = [
  ['BOOLEAN', ['true', 'false']],
  ['TINYINT', ['-128', '127']],
  ['SMALLINT', ['-32768', '32767']],
  ['INTEGER', ['-2147483648', '2147483647']],
  ['BIGINT', ['-9223372036854775808', '9223372036854775807']],
  ['HUGEINT', ["'-170141183460469231731687303715884105728'", "'170141183460469231731687303715884105727'"]],
  ['UTINYINT', ['0', '255']],
  ['USMALLINT', ['0', '65535']],
  ['UINTEGER', ['0', '4294967295']],
  ['UBIGINT', ['0', '18446744073709551615']],
  ['UHUGEINT', ['0', "'340282366920938463463374607431768211455'"]],
  ['BIGNUM', ["'-1234567890123456789012345678901234567890123456789'", "'7'"]],
  ['FLOAT', ["'NaN'", "'-0'", "'Infinity'", '1.5']],
  ['DOUBLE', ["'NaN'", "'-0'", "'-Infinity'", '1e-300']],
  ['DECIMAL(4, 1)', ['-999.9', '0']],
  ['DECIMAL(9, 4)', ['-12345.6789', '1']],
  ['DECIMAL(18, 6)', ['123456789012.345678', '-1']],
  ['DECIMAL(38, 10)', ["'-1234567890123456789012345678.0123456789'", '5']],
  ['VARCHAR', ["''", "'short'", "'a text that is longer than twelve bytes'", "'\u00fcn\u00ef\u{1f986}'"]],
  ['BLOB', ["''", "'\\x00\\xFF'", "'a blob that is longer than twelve bytes'"]],
  ['BIT', ["'0'", "'101011'", "'0000000011111111000'"]],
  ['UUID', ["'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"]],
  ['DATE', ["'0001-01-01'", "'9999-12-31'", "'infinity'"]],
  ['TIME', ["'00:00:00'", "'23:59:59.999999'"]],
  ['TIME_NS', ["'00:00:00'", "'23:59:59.999999999'"]],
  ['TIMETZ', ["'00:00:00+15:59'", "'23:59:59.999999-15:59'"]],
  ['TIMESTAMP', ["'0001-01-01 00:00:00'", "'9999-12-31 23:59:59.999999'"]],
  ['TIMESTAMP_S', ["'1970-01-01 00:00:01'", "'2100-01-01 00:00:00'"]],
  ['TIMESTAMP_MS', ["'1970-01-01 00:00:00.001'", "'2100-01-01 00:00:00'"]],
  ['TIMESTAMP_NS', ["'1970-01-01 00:00:00.000000001'", "'2100-01-01 00:00:00'"]],
  ['TIMESTAMPTZ', ["'0001-01-01 00:00:00+00'", "'2024-02-29 12:00:00.123456+00'"]],
  ['INTERVAL', ["INTERVAL '-1 month 2 days 3 microseconds'", "INTERVAL '0 days'"]],
  ["ENUM('a', 'b', 'a longer name')", ["'b'", "'a longer name'", "'a'"]],
  ['INTEGER[]', ['[]', '[1, NULL, 3]', '[NULL]']],
  ['VARCHAR[][]', ['[[]]', "[['a', NULL], NULL, ['b']]"]],
  ['INTEGER[3]', ['[1, 2, 3]', '[NULL, 5, 6]']],
  ['STRUCT(a INTEGER, b VARCHAR)', ["{'a': 1, 'b': 'x'}", "{'a': NULL, 'b': NULL}"]],
  ['STRUCT(a STRUCT(b INTEGER[], c BOOLEAN))', ["{'a': {'b': [1, 2], 'c': true}}", "{'a': NULL}"]],
  ['STRUCT(a UNION(n INTEGER, s VARCHAR), b VARCHAR[2])', ["{'a': union_value(n := 1), 'b': ['x', NULL]}"]],
  ['MAP(VARCHAR, INTEGER)', ["MAP {'k': 1, 'l': NULL}", 'MAP {}']],
  ['MAP(INTEGER, STRUCT(x DOUBLE))[]', ["[MAP {1: {'x': 0.5}}]", '[]']],
  ['UNION(n INTEGER, s VARCHAR)', ['union_value(n := 1)', "union_value(s := 'x')"]],
  ['JSON', [`'{"a": [1, 2]}'`, "'null'"]],
];

let functions: InputFunctions;
let instance: Instance;
let connection: Connection;
let target: Instance;
let other: Connection;

beforeAll(() => {
  instance = Instance.open({ threads: '1' });
  connection = instance.connect();
  target = Instance.open({ threads: '1' });
  other = target.connect();
  functions = new InputFunctions(other, new InputCallbacks());
  for (const each of [connection, other]) {
    each.run("SET arrow_lossless_conversion = true; SET errors_as_json = true; SET TimeZone = 'UTC'");
  }
});

afterAll(() => {
  connection[Symbol.dispose]();
  instance[Symbol.dispose]();
  other[Symbol.dispose]();
  target[Symbol.dispose]();
});

/** Some rows as DuckDB prints them, with their type, and a digest of all: what must survive. */
const printed = (from: Connection, table: string): unknown[] =>
  tableFromIPC(
    queryArrow(
      from,
      `SELECT i, typeof(v) AS t, v::VARCHAR AS v FROM ${table} WHERE i % 97 = 0 UNION ALL
       SELECT -1, '', md5(string_agg(coalesce(v::VARCHAR, '~'), '|' ORDER BY i)) FROM ${table} ORDER BY i`,
    ).stream,
  )
    .toArray()
    .map((row: { toJSON(): unknown }) => row.toJSON());

const load = (result: ArrowResult): ArrowInput => new ArrowInput(other, result);

describe('every type, out as Arrow and back into another instance', () => {
  test.each(TYPES)('%s', (type, values) => {
    // More rows than a chunk, in an order that lets NULLs and values begin anywhere in a byte of the validity bits.
    const list = [...values.map((value) => `CAST(${value} AS ${type})`), 'NULL'].join(', ');
    const index = `CASE WHEN i % 5 = 3 OR i < 2 THEN ${values.length + 1} ELSE 1 + i % ${values.length} END`;
    connection.run(
      `CREATE OR REPLACE TABLE source AS SELECT i::BIGINT AS i, [${list}][${index}] AS v FROM range(5000) t(i) WHERE i % 7 <> 6`,
    );
    const result = queryArrow(connection, 'SELECT * FROM source');
    using input = load(result);
    input.createTable('copied', ['BIGINT', type]);
    expect(printed(other, 'copied')).toEqual(printed(connection, 'source'));
    functions.set(0, input);
    const name = inputName(0);
    // A dictionary comes back as its values: only a column says that it is an ENUM.
    const typed = type.startsWith('ENUM') ? `(SELECT i, CAST(v AS ${type}) AS v FROM ${name}())` : `${name}()`;
    expect(printed(other, typed)).toEqual(printed(connection, 'source'));
  });

  test('an ENUM inside of another value goes out and is refused on the way in', () => {
    const result = queryArrow(connection, "SELECT ['q', NULL]::ENUM('p', 'q')[] AS v");
    expect(tableFromIPC(result.stream).get(0)?.['v']?.toJSON()).toEqual(['q', null]);
    expect(() => load(result)).toThrow(expect.objectContaining({ code: 'NOT_SUPPORTED' }));
  });

  test('a result without rows', () => {
    using none = load(queryArrow(connection, "SELECT 1::BIGINT AS i, {'a': [1]} AS v WHERE false"));
    functions.set(0, none);
    expect(tableFromIPC(queryArrow(other, 'SELECT * FROM skein_input_0()').stream).numRows).toBe(0);
  });

  test('columns that a statement does not name are not touched, and the optimiser knows the rows', () => {
    using input = load(queryArrow(connection, "SELECT i, 'x' || i AS s, i * 2 AS d FROM range(70000) t(i)"));
    functions.set(1, input);
    const sums = tableFromIPC(queryArrow(other, 'SELECT sum(d)::BIGINT AS s FROM skein_input_1()').stream);
    expect(sums.get(0)?.['s']).toBe(BigInt(70_000 * 69_999));
    const plan = tableFromIPC(queryArrow(other, 'EXPLAIN SELECT s FROM skein_input_1()').stream);
    expect(String(plan.get(0)?.['explain_value'])).toContain('70,000 rows');
  });
});

describe('batches', () => {
  test('are what the Arrow library reads', () => {
    const { stream, batches } = queryArrow(
      connection,
      `SELECT i::INTEGER AS i, CASE WHEN i % 3 = 0 THEN NULL ELSE 'text ' || i END AS s, [i, NULL] AS l FROM range(200000) t(i) WHERE i % 7 < 5`,
    );
    const table = tableFromIPC(stream);
    expect(batches.length).toBeGreaterThan(2);
    const wanted = Array.from({ length: 200_000 }, (_, i) => i).filter((i) => i % 7 < 5);
    expect(table.numRows).toBe(wanted.length);
    const numbers = table.getChild('i');
    const texts = table.getChild('s');
    for (let row = 0; row < wanted.length; row += 97) {
      const i = wanted[row] ?? 0;
      expect(numbers?.get(row)).toBe(i);
      expect(texts?.get(row)).toBe(i % 3 === 0 ? null : `text ${i}`);
    }
  });

  test('are closed by bytes when rows are wide', () => {
    const { batches } = queryArrow(connection, "SELECT repeat('x', 10000) AS s FROM range(10000)");
    expect(batches.length).toBeGreaterThan(4);
    for (const batch of batches) expect(batch.rows).toBeLessThanOrEqual(2048);
  });
});
