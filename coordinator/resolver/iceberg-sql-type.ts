import { SkeinError } from '#shared/error.ts';
import type { Field, IcebergType } from '#shared/iceberg/type.ts';
import { unreachable } from '#shared/must.ts';
import type { SqlField, SqlType } from '../planner/sql-type.ts';

/**
 * The DuckDB type of an Iceberg type, as data; `shared/iceberg/duckdb-type.ts` prints the same types for the worker.
 * @throws NOT_SUPPORTED for a type that DuckDB cannot hold.
 */
export function icebergSqlType(type: IcebergType): SqlType {
  switch (type.kind) {
    case 'decimal':
      return { kind: 'decimal', width: type.precision, scale: type.scale };
    case 'struct':
      return { kind: 'struct', fields: type.fields.map(fieldType) };
    case 'list':
      return { kind: 'list', element: icebergSqlType(type.element.type) };
    case 'map':
      return { kind: 'map', key: icebergSqlType(type.key.type), value: icebergSqlType(type.value.type) };
    case 'fixed':
      return scalar('BLOB');
    case 'boolean':
      return scalar('BOOLEAN');
    case 'int':
      return scalar('INTEGER');
    case 'long':
      return scalar('BIGINT');
    case 'float':
      return scalar('FLOAT');
    case 'double':
      return scalar('DOUBLE');
    case 'date':
      return scalar('DATE');
    case 'time':
      return scalar('TIME');
    case 'timestamp':
      return scalar('TIMESTAMP');
    case 'timestamp_ns':
      return scalar('TIMESTAMP_NS');
    case 'timestamptz':
    case 'timestamptz_ns':
      return scalar('TIMESTAMP WITH TIME ZONE');
    case 'string':
      return scalar('VARCHAR');
    case 'uuid':
      return scalar('UUID');
    case 'binary':
      return scalar('BLOB');
    case 'unknown':
      return scalar('"NULL"');
    case 'variant':
    case 'geometry':
    case 'geography':
      throw new SkeinError('NOT_SUPPORTED', `columns of the type ${type.kind} cannot be read`);
    default:
      return unreachable(type);
  }
}

export const fieldType = (field: Field): SqlField => ({ name: field.name, type: icebergSqlType(field.type) });

const scalar = (name: string): SqlType => ({ kind: 'scalar', name });
