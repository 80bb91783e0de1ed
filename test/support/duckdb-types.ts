/** For tests: each type with its edges; VARIANT has no Arrow form. */
export const TYPES: readonly (readonly [type: string, values: readonly string[]])[] = [
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
  [
    'INTERVAL',
    [
      "INTERVAL '-1 month 2 days 3 microseconds'",
      "INTERVAL '0 days'",
      'to_microseconds(9223372036854775)',
      'to_months((-2147483648)::INTEGER) + to_days(2147483647) + to_microseconds(-9223372036854775)',
    ],
  ],
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

/** INTERVALs whose time Arrow cannot hold: DuckDB makes other ones of them without an error. */
export const LONG_INTERVALS = [
  "INTERVAL '2777777:46:40'",
  'to_microseconds(9223372036854775807)',
  'to_microseconds((-9223372036854775808)::BIGINT)',
  'to_microseconds(9223372036854776)',
  'to_months(2147483647) + to_days((-2147483648)::INTEGER) + to_microseconds(-9223372036854776)',
];

/**
 * Columns `i` and `v`: more rows than a chunk, in an order that lets NULLs and values begin anywhere in a byte of the validity bits.
 */
export function sourceSql(type: string, values: readonly string[]): string {
  const list = [...values.map((value) => `CAST(${value} AS ${type})`), 'NULL'].join(', ');
  const index = `CASE WHEN i % 5 = 3 OR i < 2 THEN ${values.length + 1} ELSE 1 + i % ${values.length} END`;
  return `SELECT i::BIGINT AS i, [${list}][${index}] AS v FROM range(5000) t(i) WHERE i % 7 <> 6`;
}
