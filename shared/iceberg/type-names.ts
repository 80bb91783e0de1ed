import { foldKeyword } from '../sql/fold-identifier.ts';
import type { IcebergType, PrimitiveName } from './type.ts';

/** The kinds of types without parts and arguments. */
type Name = PrimitiveName;

/**
 * The names of Iceberg's primitive types (specification, Primitive Types): `duckdb` as DuckDB 1.5 names the type of the values, null where
 * it has none; `sql` as DESCRIBE, SHOW CREATE TABLE and the metadata API name it; `spelled`, as statements may name it beside these two;
 * `format`: the first format version that has it. `docs/sql.md` prints this table.
 */
export const TYPE_NAMES = {
  boolean: { duckdb: 'BOOLEAN', sql: 'BOOLEAN', spelled: ['BOOL', 'LOGICAL'], format: 1 },
  int: {
    duckdb: 'INTEGER',
    sql: 'INT',
    spelled: ['INT4', 'INT32', 'SIGNED', 'INTEGRAL', 'SMALLINT', 'INT2', 'INT16', 'SHORT', 'TINYINT', 'INT1'].concat([
      'USMALLINT',
      'UINT16',
      'UTINYINT',
      'UINT8',
    ]),
    format: 1,
  },
  long: { duckdb: 'BIGINT', sql: 'BIGINT', spelled: ['INT8', 'INT64', 'LONG', 'UINTEGER', 'UINT32'], format: 1 },
  float: { duckdb: 'FLOAT', sql: 'FLOAT', spelled: ['REAL', 'FLOAT4'], format: 1 },
  double: { duckdb: 'DOUBLE', sql: 'DOUBLE', spelled: ['FLOAT8', 'DOUBLE PRECISION'], format: 1 },
  date: { duckdb: 'DATE', sql: 'DATE', spelled: [], format: 1 },
  time: { duckdb: 'TIME', sql: 'TIME', spelled: ['TIME WITHOUT TIME ZONE'], format: 1 },
  timestamp: {
    duckdb: 'TIMESTAMP',
    sql: 'TIMESTAMP',
    spelled: ['DATETIME', 'TIMESTAMP_US', 'TIMESTAMP_MS', 'TIMESTAMP_S', 'TIMESTAMP WITHOUT TIME ZONE'],
    format: 1,
  },
  timestamptz: {
    duckdb: 'TIMESTAMP WITH TIME ZONE',
    sql: 'TIMESTAMP WITH TIME ZONE',
    spelled: ['TIMESTAMPTZ'],
    format: 1,
  },
  timestamp_ns: { duckdb: 'TIMESTAMP_NS', sql: 'TIMESTAMP_NS', spelled: [], format: 3 },
  // DuckDB has no nanosecond timestamp with a time zone: the values keep microseconds.
  timestamptz_ns: {
    duckdb: 'TIMESTAMP WITH TIME ZONE',
    sql: 'TIMESTAMP_NS WITH TIME ZONE',
    spelled: ['TIMESTAMPTZ_NS'],
    format: 3,
  },
  string: { duckdb: 'VARCHAR', sql: 'VARCHAR', spelled: ['STRING', 'TEXT', 'CHAR', 'BPCHAR', 'NVARCHAR'], format: 1 },
  uuid: { duckdb: 'UUID', sql: 'UUID', spelled: ['GUID'], format: 1 },
  binary: { duckdb: 'BLOB', sql: 'BINARY', spelled: ['VARBINARY', 'BYTEA'], format: 1 },
  unknown: { duckdb: '"NULL"', sql: 'NULL', spelled: [], format: 3 },
  variant: { duckdb: null, sql: 'VARIANT', spelled: [], format: 3 },
} as const satisfies Readonly<Record<Name, TypeNames>>;

type TypeNames = {
  readonly duckdb: string | null;
  readonly sql: string;
  readonly spelled: readonly string[];
  readonly format: 1 | 3;
};

/** Types whose values cannot be written: DuckDB does not have them, or does not write them to Parquet as Iceberg stores them. */
export const UNWRITABLE: ReadonlySet<IcebergType['kind']> = new Set([
  'fixed',
  'timestamptz_ns',
  'unknown',
  'variant',
  'geometry',
  'geography',
]);

const entries = Object.entries(TYPE_NAMES) as readonly (readonly [Name, TypeNames])[];

/** The kinds by every name of a type that statements may use; `timestamptz` goes before `timestamptz_ns`, which DuckDB names alike. */
const BY_NAME: ReadonlyMap<string, Name> = new Map(
  entries
    .toReversed()
    .flatMap(([kind, { duckdb, sql, spelled }]) =>
      [...spelled, sql, ...(duckdb === null ? [] : [duckdb])].map((name) => [name, kind] as const),
    ),
);

/** The primitive type of a name in SQL, words separated by one space; undefined when it has none. */
function primitiveOfSql(name: string): { readonly kind: PrimitiveName } | undefined {
  const kind = BY_NAME.get(foldKeyword(name));
  return kind === undefined ? undefined : { kind };
}

const INT128 = { kind: 'decimal', precision: 38, scale: 0 } as const;
const UINT64 = { kind: 'decimal', precision: 20, scale: 0 } as const;

/**
 * Types of DuckDB that Iceberg does not have, by all of their names: the type that a column of a table gets instead. Its values are converted;
 * one that does not fit is NUMERIC_OVERFLOW.
 */
const STAND_INS: Readonly<Record<string, IcebergType>> = {
  HUGEINT: INT128,
  INT128: INT128,
  UBIGINT: UINT64,
  UINT64: UINT64,
  JSON: { kind: 'string' },
  JSONB: { kind: 'string' },
};

/** Types of DuckDB whose values no column of a table can hold: what may be used instead. */
const REFUSED: Readonly<Record<string, string>> = {
  UHUGEINT: 'use DECIMAL(38, 0)',
  UINT128: 'use DECIMAL(38, 0)',
  BIGNUM: 'use DECIMAL(38, 0)',
  INTERVAL: 'use BIGINT for its microseconds',
  'TIME WITH TIME ZONE': 'use TIME or TIMESTAMP WITH TIME ZONE',
  TIMETZ: 'use TIME or TIMESTAMP WITH TIME ZONE',
  TIME_NS: 'use TIME',
  ENUM: 'use VARCHAR',
  BIT: 'use VARCHAR or BLOB',
  BITSTRING: 'use VARCHAR or BLOB',
  UNION: 'use STRUCT',
};

/** The type of a table's column, or the reason why no column can have it. */
type TableType = { readonly type: IcebergType } | { readonly hint: string };

/**
 * The type that a column gets of a name in SQL, be it declared or that of a query's column: the one table of such types.
 * @returns undefined for a name of no type
 */
export function tableTypeOfSql(name: string): TableType | undefined {
  const key = foldKeyword(name);
  if (Object.hasOwn(REFUSED, key)) return { hint: REFUSED[key] ?? '' };
  const type = Object.hasOwn(STAND_INS, key) ? STAND_INS[key] : primitiveOfSql(key);
  return type === undefined ? undefined : { type };
}

/** The first format version that has the type itself, without its parts. */
export const formatOf = (type: IcebergType): number =>
  type.kind === 'geometry' || type.kind === 'geography'
    ? 3
    : Object.hasOwn(TYPE_NAMES, type.kind)
      ? TYPE_NAMES[type.kind as Name].format
      : 1;
