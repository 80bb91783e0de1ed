/**
 * Types that an Iceberg table can store, with the SQL of two columns of each; `$n` is the row's number. The first argument of a type is the
 * first column, the second argument the second. `TYPES` makes values of every other type from them.
 */
export const STORED_TYPES = {
  INTEGER: 'CASE WHEN $n % 7 = 3 THEN NULL ELSE [0, 1, 2, 3, 5, 12, 31, -4, 100][1 + ($n + 1) % 9] END',
  BIGINT: 'CASE WHEN $n % 9 = 4 THEN NULL ELSE [0, 1, 2, 4, 7, -3, 1000000, 4294967297, 20][1 + ($n + 1) % 9] END',
  'DECIMAL(9,2)': 'CASE WHEN $n % 8 = 5 THEN NULL ELSE [0, 0.25, 1.5, -2.75, 12.34, 1000.01][1 + $n % 6] END',
  FLOAT: 'CASE WHEN $n % 10 = 6 THEN NULL ELSE [0, 0.5, 1.25, -1.5, 3, 100][1 + $n % 6] END',
  DOUBLE: 'CASE WHEN $n % 11 = 7 THEN NULL ELSE [0, 0.5, 0.1, -0.75, 2.5, 1e10, 3][1 + $n % 7] END',
  BOOLEAN: 'CASE WHEN $n % 5 = 2 THEN NULL ELSE $n % 2 = 0 END',
  VARCHAR: `CASE WHEN $n % 12 = 8 THEN NULL ELSE ['', 'apple', 'Banana', '12', '-3.5', 'a%b_c', 'Ünï çödé 日本', 'it''s "x"', '2021-03-04',
    'a rather long text, longer than twelve bytes', 'aa', 'apple pie'][1 + $n % 12] END`,
  BLOB: "CASE WHEN $n % 6 = 1 THEN NULL ELSE ['', 'a', 'xyz', 'ab'][1 + $n % 4]::BLOB || unhex(['', 'FF', '00', 'C3'][1 + ($n * 3) % 4]) END",
  DATE: "CASE WHEN $n % 9 = 5 THEN NULL ELSE DATE '2020-02-27' + (($n * 37) % 800)::INTEGER END",
  TIME: "CASE WHEN $n % 7 = 5 THEN NULL ELSE TIME '01:02:03.456789' + to_minutes(($n * 97) % 1200) END",
  TIMESTAMP: "CASE WHEN $n % 8 = 6 THEN NULL ELSE TIMESTAMP '2020-02-28 22:33:44.123456' + to_minutes($n * 1237) END",
  'TIMESTAMP WITH TIME ZONE':
    "CASE WHEN $n % 10 = 3 THEN NULL ELSE TIMESTAMPTZ '2021-03-27 22:33:44.123456+00' + to_minutes($n * 977) END",
  UUID: 'CASE WHEN $n % 6 = 4 THEN NULL ELSE md5($n::VARCHAR)::UUID END',
  'INTEGER[]': 'CASE $n % 6 WHEN 3 THEN NULL WHEN 4 THEN [] ELSE [$n, NULL, $n % 3, 2, $n % 3][:1 + $n % 5] END',
  'VARCHAR[]': "CASE $n % 6 WHEN 2 THEN NULL WHEN 5 THEN [] ELSE ['b', NULL, 'a', 'it''s', ''][:1 + $n % 5] END",
  'DOUBLE[]': 'CASE $n % 6 WHEN 1 THEN NULL ELSE [$n + 0.5, 2, 0.25] END',
  'STRUCT(a INTEGER, b VARCHAR)':
    "CASE $n % 7 WHEN 3 THEN NULL ELSE {'a': $n % 4, 'b': CASE WHEN $n % 3 > 0 THEN 'v' || $n % 5 END} END",
  'MAP(VARCHAR, INTEGER)':
    "CASE $n % 7 WHEN 2 THEN NULL WHEN 4 THEN MAP {} ELSE MAP {'k': $n, 'a' || $n % 3: NULL} END",
  'STRUCT(a INTEGER, b VARCHAR)[]': `CASE $n % 6 WHEN 1 THEN NULL WHEN 2 THEN [NULL] WHEN 4 THEN []
    ELSE [{'a': $n % 4, 'b': CASE WHEN $n % 5 > 0 THEN 'v' || $n % 3 END}, NULL][:1 + $n % 2] END`,
} as const;
export type StoredType = keyof typeof STORED_TYPES;
export const STORED_TYPE_NAMES = Object.keys(STORED_TYPES) as readonly StoredType[];

const isStored = (type: string): type is StoredType => Object.hasOwn(STORED_TYPES, type);

/** Parts of nested columns, by the type of the part: the type of the column, and what stands behind it. */
export const NESTED_PARTS: Readonly<Partial<Record<StoredType, readonly (readonly [StoredType, string])[]>>> = {
  INTEGER: [
    ['STRUCT(a INTEGER, b VARCHAR)', '.a'],
    ['STRUCT(a INTEGER, b VARCHAR)[]', '[1].a'],
    ['MAP(VARCHAR, INTEGER)', "['k']"],
    ['INTEGER[]', '[1]'],
  ],
  VARCHAR: [
    ['STRUCT(a INTEGER, b VARCHAR)', '.b'],
    ['STRUCT(a INTEGER, b VARCHAR)[]', '[1].b'],
    ['VARCHAR[]', '[2]'],
  ],
  DOUBLE: [['DOUBLE[]', '[1]']],
};

/** Gives an expression of a stored type: a column, or something random. */
export type Stored = (type: StoredType) => string;

const small = (type: string) => (of: Stored) => `(abs(${of('INTEGER')}) % 100)::${type}`;
const cast = (type: string, from: StoredType) => (of: Stored) => `${of(from)}::${type}`;

/** Values of every type that DuckDB's functions take, made of stored ones. */
export const storedValue = (type: StoredType, row: string): string =>
  `(${STORED_TYPES[type].replaceAll('$n', row)})::${type}`;

const TYPES: Readonly<Record<string, (of: Stored) => string>> = {
  TINYINT: small('TINYINT'),
  SMALLINT: small('SMALLINT'),
  UTINYINT: small('UTINYINT'),
  USMALLINT: small('USMALLINT'),
  UINTEGER: small('UINTEGER'),
  UBIGINT: small('UBIGINT'),
  UHUGEINT: small('UHUGEINT'),
  HUGEINT: cast('HUGEINT', 'BIGINT'),
  BIGNUM: cast('BIGNUM', 'BIGINT'),
  DECIMAL: (of) => of('DECIMAL(9,2)'),
  'DECIMAL(38,4)': cast('DECIMAL(38,4)', 'DECIMAL(9,2)'),
  BIT: cast('BIT', 'INTEGER'),
  INTERVAL: (of) => `to_days((abs(${of('INTEGER')}) % 50 + 1)::INTEGER)`,
  TIME_NS: cast('TIME_NS', 'TIME'),
  'TIME WITH TIME ZONE': cast('TIMETZ', 'TIME'),
  TIMESTAMP_NS: cast('TIMESTAMP_NS', 'TIMESTAMP'),
  TIMESTAMP_MS: cast('TIMESTAMP_MS', 'TIMESTAMP'),
  TIMESTAMP_S: cast('TIMESTAMP_S', 'TIMESTAMP'),
  JSON: (of) => `json_object('a', ${of('INTEGER')}, 'b', ${of('VARCHAR[]')}, 'c', NULL)`,
  'BIGINT[]': cast('BIGINT[]', 'INTEGER[]'),
  'BOOLEAN[]': (of) => `list_transform(${of('INTEGER[]')}, lambda e: e % 2 = 0)`,
  'FLOAT[]': cast('FLOAT[]', 'DOUBLE[]'),
  'DOUBLE[3]': cast('DOUBLE[3]', 'DOUBLE[]'),
  'FLOAT[3]': cast('FLOAT[3]', 'DOUBLE[]'),
  'INTEGER[2]': (of) => `array_value(${of('INTEGER')}, 3)`,
  'INTEGER[][]': (of) => `[${of('INTEGER[]')}, NULL, [1]]`,
  'STRUCT[]': (of) => `[${of('STRUCT(a INTEGER, b VARCHAR)')}, {'a': 1, 'b': 'x'}]`,
  ROW: (of) => `row(${of('INTEGER')}, ${of('VARCHAR')})`,
  NESTED: (of) => `{'p': ${of('INTEGER[]')}, 'q': {'r': ${of('DATE')}, 's': ${of('MAP(VARCHAR, INTEGER)')}}}`,
  'MAP(INTEGER, ROW)': (of) => `MAP {coalesce(${of('INTEGER')}, 1): row(${of('VARCHAR')}, 1)}`,
  ENUM: (of) => `(CASE WHEN ${of('BOOLEAN')} THEN 'low' ELSE 'high' END)::ENUM('low', 'mid', 'high')`,
  UNION: (of) => `${of('INTEGER')}::UNION(n INTEGER, t VARCHAR)`,
  GEOMETRY: (of) => `('POINT(' || ${of('INTEGER')} || ' 2.5)')::GEOMETRY`,
  VARIANT: cast('VARIANT', 'STRUCT(a INTEGER, b VARCHAR)'),
  NULL: () => 'NULL',
};

/** An expression of a type; undefined for one that is not known. */
export const valueOf = (type: string, of: Stored): string | undefined =>
  isStored(type) ? of(type) : TYPES[type]?.(of);

/** Types that stand for ANY in turn: some of each family. */
export const ANY_TYPES: readonly string[] = [
  'INTEGER',
  'VARCHAR',
  'DOUBLE',
  'DATE',
  'INTEGER[]',
  'STRUCT(a INTEGER, b VARCHAR)',
  'ROW',
  'DECIMAL(9,2)',
  'MAP(VARCHAR, INTEGER)',
  'BIGINT',
  'BLOB',
  'TIMESTAMP',
  'TIMESTAMP WITH TIME ZONE',
  'TIME',
  'INTERVAL',
  'UUID',
  'BOOLEAN',
  'HUGEINT',
  'BIT',
  'FLOAT',
  'TINYINT',
  'UBIGINT',
  'JSON',
  'VARCHAR[]',
  'INTEGER[2]',
  'INTEGER[][]',
  'STRUCT[]',
  'NESTED',
  'MAP(INTEGER, ROW)',
  'ENUM',
  'UNION',
  'TIMESTAMP_NS',
  'TIME WITH TIME ZONE',
  'BIGNUM',
  'DECIMAL(38,4)',
  'GEOMETRY',
  'VARIANT',
  'NULL',
];
export const ANY_ELEMENTS: readonly string[] = [
  'INTEGER[]',
  'VARCHAR[]',
  'DOUBLE[]',
  'STRUCT[]',
  'INTEGER[][]',
  'BOOLEAN[]',
  'INTEGER[2]',
];
