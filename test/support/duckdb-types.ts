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
  ['BIGNUM', ["'-1234567890123456789012345678901234567890123456789'", "'0'", "'-7'", "repeat('9', 400)"]],
  ['FLOAT', ["'NaN'", "'-0'", "'Infinity'", "'-Infinity'", '1.5', "'1e-45'", "'-3.4028235e38'"]],
  ['DOUBLE', ["'NaN'", "'-0'", "'Infinity'", "'-Infinity'", "'5e-324'", "'-1.7976931348623157e308'"]],
  ['DECIMAL(1, 1)', ['-0.9', '0.9']],
  ['DECIMAL(4, 1)', ['-999.9', '999.9', '0']],
  ['DECIMAL(9, 4)', ['-12345.6789', '1']],
  ['DECIMAL(18, 6)', ['123456789012.345678', "'-999999999999.999999'"]],
  ['DECIMAL(38, 10)', ["'-1234567890123456789012345678.0123456789'", '5']],
  ['DECIMAL(38, 0)', ["'-99999999999999999999999999999999999999'", "'99999999999999999999999999999999999999'"]],
  ['DECIMAL(38, 38)', ["'-0.99999999999999999999999999999999999999'", "'0.00000000000000000000000000000000000001'"]],
  [
    'VARCHAR',
    [
      "'a' || chr(0) || 'b'",
      'chr(0)',
      "repeat('long \u{1f986}', 500)",
      'chr(1114111)',
      "''",
      "'short'",
      "'a text that is longer than twelve bytes'",
      "'\u00fcn\u00ef\u{1f986}'",
    ],
  ],
  ['BLOB', ["''", "'\\x00'", "repeat('\\x00\\xFF', 500)", "'\\x00\\xFF'", "'a blob that is longer than twelve bytes'"]],
  ['BIT', ["'0'", "'1'", "repeat('10', 500)", "'101011'", "'0000000011111111000'"]],
  ['UUID', ["'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"]],
  ['DATE', ["'0001-01-01'", "'9999-12-31'", "'infinity'", "'-infinity'", "'5877642-06-25 (BC)'", "'5881580-07-10'"]],
  ['TIME', ["'00:00:00'", "'23:59:59.999999'", "'24:00:00'"]],
  ['TIME_NS', ["'00:00:00'", "'23:59:59.999999999'", "'24:00:00'"]],
  ['TIMETZ', ["'00:00:00+15:59:59'", "'23:59:59.999999-15:59'", "'24:00:00-15:59:59'"]],
  [
    'TIMESTAMP',
    [
      "'0001-01-01 00:00:00'",
      "'9999-12-31 23:59:59.999999'",
      "'294247-01-10 04:00:54.775806'",
      "'290309-12-22 (BC) 00:00:00'",
      "'infinity'",
      "'-infinity'",
    ],
  ],
  [
    'TIMESTAMP_S',
    [
      "'1970-01-01 00:00:01'",
      "'2100-01-01 00:00:00'",
      "'294247-01-10 04:00:54'",
      "'290309-12-22 (BC) 00:00:00'",
      "'infinity'",
      "'-infinity'",
    ],
  ],
  [
    'TIMESTAMP_MS',
    [
      "'1970-01-01 00:00:00.001'",
      "'2100-01-01 00:00:00'",
      "'294247-01-10 04:00:54.775'",
      "'290309-12-22 (BC) 00:00:00'",
      "'infinity'",
      "'-infinity'",
    ],
  ],
  [
    'TIMESTAMP_NS',
    [
      "'1970-01-01 00:00:00.000000001'",
      "'2100-01-01 00:00:00'",
      "'2262-04-11 23:47:16.854775806'",
      "'1677-09-22 00:00:00'",
      "'infinity'",
      "'-infinity'",
    ],
  ],
  [
    'TIMESTAMPTZ',
    [
      "'0001-01-01 00:00:00+00'",
      "'2024-02-29 12:00:00.123456+00'",
      "'294247-01-10 04:00:00+00'",
      "'290309-12-22 (BC) 00:00:00+00'",
      "'infinity'",
      "'-infinity'",
    ],
  ],
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
  [`ENUM(${Array.from({ length: 300 }, (_, i) => `'e${i || ''}'`).join(', ')}, '')`, ["''", "'e'", "'e299'"]],
  ['INTEGER[]', ['[]', '[1, NULL, 3]', '[NULL]']],
  ['BIGINT[]', ['range(3000)', '[]']],
  ['VARCHAR[][]', ["[[''], []]", '[[]]', "[['a', NULL], NULL, ['b']]"]],
  ['INTEGER[3]', ['[1, 2, 3]', '[NULL, 5, 6]']],
  ['STRUCT(a INTEGER, b VARCHAR)', ["{'a': 1, 'b': 'x'}", "{'a': NULL, 'b': NULL}"]],
  ['STRUCT(a STRUCT(b INTEGER[], c BOOLEAN))', ["{'a': {'b': [1, 2], 'c': true}}", "{'a': NULL}"]],
  ['STRUCT(a UNION(n INTEGER, s VARCHAR), b VARCHAR[2])', ["{'a': union_value(n := 1), 'b': ['x', NULL]}"]],
  ['STRUCT(a INTEGER)[]', ['[]', '[NULL]', "[{'a': NULL}]"]],
  ['MAP(VARCHAR, INTEGER)', ["MAP {'': NULL}", "MAP {'k': 1, 'l': NULL}", 'MAP {}']],
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
