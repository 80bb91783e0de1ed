import { SkeinError } from '#shared/error.ts';
import { duckDbName } from '#shared/iceberg/duckdb-type.ts';
import type { Field, IcebergType } from '#shared/iceberg/type.ts';
import type { SqlField, SqlType } from './sql-type.ts';

/**
 * The DuckDB type of an Iceberg type, as data; `shared/iceberg/duckdb-type.ts` prints the same types for the worker.
 * @throws NOT_SUPPORTED for a type that DuckDB cannot hold.
 */
export function icebergSqlType(type: IcebergType): SqlType {
  if (type.kind === 'decimal') return { kind: 'decimal', width: type.precision, scale: type.scale };
  if (type.kind === 'struct') return { kind: 'struct', fields: type.fields.map(fieldType) };
  if (type.kind === 'list') return { kind: 'list', element: icebergSqlType(type.element.type) };
  if (type.kind === 'map') {
    return { kind: 'map', key: icebergSqlType(type.key.type), value: icebergSqlType(type.value.type) };
  }
  const name = type.kind === 'fixed' ? 'BLOB' : duckDbName(type);
  if (name === null) throw new SkeinError('NOT_SUPPORTED', `columns of the type ${type.kind} cannot be read`);
  return { kind: 'scalar', name };
}

export const fieldType = (field: Field): SqlField => ({ name: field.name, type: icebergSqlType(field.type) });
