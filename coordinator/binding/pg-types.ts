/** The scalar types of DuckDB as the Postgres door gives their values and `pg_attribute` names them; the others are `text`. */
export const POSTGRES_SCALARS = {
  BOOLEAN: 'bool',
  TINYINT: 'int2',
  UTINYINT: 'int2',
  SMALLINT: 'int2',
  USMALLINT: 'int4',
  INTEGER: 'int4',
  UINTEGER: 'int8',
  BIGINT: 'int8',
  UBIGINT: 'numeric',
  HUGEINT: 'numeric',
  UHUGEINT: 'numeric',
  FLOAT: 'float4',
  DOUBLE: 'float8',
  BLOB: 'bytea',
  DATE: 'date',
  TIME: 'time',
  TIMESTAMP: 'timestamp',
  TIMESTAMP_S: 'timestamp',
  TIMESTAMP_MS: 'timestamp',
  TIMESTAMP_NS: 'timestamp',
  'TIMESTAMP WITH TIME ZONE': 'timestamptz',
  INTERVAL: 'interval',
  UUID: 'uuid',
  JSON: 'jsonb',
} as const;

/** Postgres adds 4 to the typmod of a numeric, and puts its width above its scale. */
export const numericTypmod = (width: number, scale: number): number => ((width << 16) | scale) + 4;

/** Types of Postgres as values of DuckDB. A `reg` type is the number of what it names; its text is made where it is shown. */
const SPELLED: Readonly<Record<string, string>> = {
  bool: 'BOOLEAN',
  int2: 'SMALLINT',
  int4: 'INTEGER',
  int8: 'BIGINT',
  oid: 'BIGINT',
  xid: 'BIGINT',
  xid8: 'BIGINT',
  cid: 'BIGINT',
  float4: 'FLOAT',
  float8: 'DOUBLE',
  text: 'VARCHAR',
  varchar: 'VARCHAR',
  bpchar: 'VARCHAR',
  name: 'VARCHAR',
  char: 'VARCHAR',
  cstring: 'VARCHAR',
  unknown: 'VARCHAR',
  pg_node_tree: 'VARCHAR',
  aclitem: 'VARCHAR',
  anyarray: 'VARCHAR',
  inet: 'VARCHAR',
  pg_lsn: 'VARCHAR',
  refcursor: 'VARCHAR',
  date: 'DATE',
  time: 'TIME',
  timestamp: 'TIMESTAMP',
  timestamptz: 'TIMESTAMP WITH TIME ZONE',
  interval: 'INTERVAL',
  uuid: 'UUID',
  json: 'JSON',
  jsonb: 'JSON',
  bytea: 'BLOB',
  int2vector: 'SMALLINT[]',
  oidvector: 'BIGINT[]',
  sql_identifier: 'VARCHAR',
  character_data: 'VARCHAR',
  yes_or_no: 'VARCHAR',
  cardinal_number: 'INTEGER',
  time_stamp: 'TIMESTAMP WITH TIME ZONE',
  numeric: 'DECIMAL(38, 10)',
};
const NUMBERS: ReadonlySet<string> = new Set([
  'regclass',
  'regtype',
  'regproc',
  'regprocedure',
  'regnamespace',
  'regrole',
  'regoper',
  'regoperator',
  'regcollation',
  'regconfig',
  'regdictionary',
]);

export const isNumbered = (type: string): boolean => NUMBERS.has(type);

/** The type of DuckDB that holds values of a type; undefined for one that is not known. */
export function duckDbType(type: string): string | undefined {
  if (type.startsWith('_')) {
    const element = duckDbType(type.slice(1));
    return element === undefined ? undefined : `${element}[]`;
  }
  if (NUMBERS.has(type)) return 'BIGINT';
  return Object.hasOwn(SPELLED, type) ? SPELLED[type] : undefined;
}

const NUMERIC_ORDER = ['int2', 'int4', 'int8', 'numeric', 'float4', 'float8'];

/** The type of an arithmetic expression. */
export function widerType(left: string | null, right: string | null): string | null {
  if (left === null || right === null) return left ?? right;
  const [a, b] = [NUMERIC_ORDER.indexOf(left), NUMERIC_ORDER.indexOf(right)];
  return a < 0 || b < 0 ? null : (NUMERIC_ORDER[Math.max(a, b)] ?? null);
}

/** Numbers of types that columns of results may have, as Postgres gives them (`pg_type.oid`), and the bytes of their values. */
const RESULT_TYPES: Readonly<Record<string, { readonly oid: number; readonly size: number }>> = {
  bool: { oid: 16, size: 1 },
  char: { oid: 18, size: 1 },
  name: { oid: 19, size: 64 },
  int8: { oid: 20, size: 8 },
  int2: { oid: 21, size: 2 },
  int2vector: { oid: 22, size: -1 },
  int4: { oid: 23, size: 4 },
  regproc: { oid: 24, size: 4 },
  text: { oid: 25, size: -1 },
  oid: { oid: 26, size: 4 },
  xid: { oid: 28, size: 4 },
  oidvector: { oid: 30, size: -1 },
  pg_node_tree: { oid: 194, size: -1 },
  float4: { oid: 700, size: 4 },
  float8: { oid: 701, size: 8 },
  _char: { oid: 1002, size: -1 },
  _name: { oid: 1003, size: -1 },
  _int2: { oid: 1005, size: -1 },
  _text: { oid: 1009, size: -1 },
  _oid: { oid: 1028, size: -1 },
  _aclitem: { oid: 1034, size: -1 },
  bpchar: { oid: 1042, size: -1 },
  varchar: { oid: 1043, size: -1 },
  _varchar: { oid: 1015, size: -1 },
  timestamptz: { oid: 1184, size: 8 },
  regclass: { oid: 2205, size: 4 },
  regtype: { oid: 2206, size: 4 },
  anyarray: { oid: 2277, size: -1 },
  regnamespace: { oid: 4089, size: 4 },
  regrole: { oid: 4096, size: 4 },
};

/** Domains of INFORMATION_SCHEMA, of which Postgres tells the types below them. */
const DOMAINS: Readonly<Record<string, string>> = {
  sql_identifier: 'name',
  character_data: 'varchar',
  yes_or_no: 'varchar',
  time_stamp: 'timestamptz',
};

/** The type of a column of a result in Postgres, beside that which DuckDB gives it. */
export type PostgresType = { readonly name: string; readonly oid: number; readonly size: number };

export function postgresType(of: string | null): PostgresType | undefined {
  const name = of !== null && Object.hasOwn(DOMAINS, of) ? (DOMAINS[of] ?? null) : of;
  const known = name === null || !Object.hasOwn(RESULT_TYPES, name) ? undefined : RESULT_TYPES[name];
  return name === null || known === undefined ? undefined : { name, ...known };
}
