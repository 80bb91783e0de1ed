import * as duckdb from '@duckdb/node-api';
import { unreachable } from '#shared/must.ts';
import type { SqlField, SqlType } from '../plan/sql-type.ts';

/** Converts between DuckDB's type objects, which exist in the planner's process only, and types as data. */

const SCALARS: Readonly<Record<string, duckdb.DuckDBType>> = {
  BOOLEAN: duckdb.BOOLEAN,
  TINYINT: duckdb.TINYINT,
  SMALLINT: duckdb.SMALLINT,
  INTEGER: duckdb.INTEGER,
  BIGINT: duckdb.BIGINT,
  HUGEINT: duckdb.HUGEINT,
  UTINYINT: duckdb.UTINYINT,
  USMALLINT: duckdb.USMALLINT,
  UINTEGER: duckdb.UINTEGER,
  UBIGINT: duckdb.UBIGINT,
  UHUGEINT: duckdb.UHUGEINT,
  FLOAT: duckdb.FLOAT,
  DOUBLE: duckdb.DOUBLE,
  DATE: duckdb.DATE,
  TIME: duckdb.TIME,
  TIMESTAMP: duckdb.TIMESTAMP,
  TIMESTAMP_S: duckdb.TIMESTAMP_S,
  TIMESTAMP_MS: duckdb.TIMESTAMP_MS,
  TIMESTAMP_NS: duckdb.TIMESTAMP_NS,
  'TIMESTAMP WITH TIME ZONE': duckdb.TIMESTAMPTZ,
  'TIME WITH TIME ZONE': duckdb.TIMETZ,
  VARCHAR: duckdb.VARCHAR,
  JSON: duckdb.DuckDBVarCharType.create('JSON'),
  BLOB: duckdb.BLOB,
  UUID: duckdb.UUID,
  INTERVAL: duckdb.INTERVAL,
  BIT: duckdb.BIT,
  '"NULL"': duckdb.SQLNULL,
};

/** @throws Error for a scalar that no column of a table has. */
export function toDuckDbType(type: SqlType): duckdb.DuckDBType {
  switch (type.kind) {
    case 'scalar': {
      const found = SCALARS[type.name];
      if (found === undefined) throw new Error(`no DuckDB type ${type.name}`);
      return found;
    }
    case 'decimal':
      return duckdb.DECIMAL(type.width, type.scale);
    case 'enum':
      return duckdb.ENUM(type.values);
    case 'list':
      return duckdb.LIST(toDuckDbType(type.element));
    case 'array':
      return duckdb.ARRAY(toDuckDbType(type.element), type.length);
    case 'struct':
      return new duckdb.DuckDBStructType(namesOf(type.fields), typesOf(type.fields));
    case 'map':
      return duckdb.MAP(toDuckDbType(type.key), toDuckDbType(type.value));
    case 'union':
      return new duckdb.DuckDBUnionType(namesOf(type.members), typesOf(type.members));
    default:
      return unreachable(type);
  }
}

const namesOf = (fields: readonly SqlField[]): string[] => fields.map((field) => field.name);
const typesOf = (fields: readonly SqlField[]): duckdb.DuckDBType[] => fields.map((field) => toDuckDbType(field.type));

/** DuckDB's names differ from SQL's where they are short. */
const PRINTED: Readonly<Record<string, string>> = {
  TIMESTAMPTZ: 'TIMESTAMP WITH TIME ZONE',
  TIMETZ: 'TIME WITH TIME ZONE',
  SQLNULL: '"NULL"',
  VARINT: 'BIGNUM',
};

export function fromDuckDbType(type: duckdb.DuckDBType): SqlType {
  if (type instanceof duckdb.DuckDBDecimalType) return { kind: 'decimal', width: type.width, scale: type.scale };
  if (type instanceof duckdb.DuckDBEnumType) return { kind: 'enum', values: type.values };
  if (type instanceof duckdb.DuckDBListType) return { kind: 'list', element: fromDuckDbType(type.valueType) };
  if (type instanceof duckdb.DuckDBArrayType) {
    return { kind: 'array', element: fromDuckDbType(type.valueType), length: type.length };
  }
  if (type instanceof duckdb.DuckDBStructType)
    return { kind: 'struct', fields: fieldsOf(type.entryNames, type.entryTypes) };
  if (type instanceof duckdb.DuckDBMapType) {
    return { kind: 'map', key: fromDuckDbType(type.keyType), value: fromDuckDbType(type.valueType) };
  }
  if (type instanceof duckdb.DuckDBUnionType) {
    return { kind: 'union', members: fieldsOf(type.memberTags, type.memberTypes) };
  }
  // JSON is a VARCHAR by another name.
  const name = type.alias === 'JSON' ? 'JSON' : duckdb.DuckDBTypeId[type.typeId].replaceAll('_TZ', 'TZ');
  return { kind: 'scalar', name: PRINTED[name] ?? name };
}

const fieldsOf = (names: readonly string[], types: readonly duckdb.DuckDBType[]): SqlField[] =>
  types.map((type, i) => ({ name: names[i] ?? '', type: fromDuckDbType(type) }));
