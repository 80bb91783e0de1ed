import type { Json } from '#shared/json.ts';
import { TYPE_NAMES } from '#shared/iceberg/type-names.ts';
import type { IcebergType } from '#shared/iceberg/type.ts';

/**
 * A column's type as DESCRIBE, `information_schema.columns` and the table metadata API name it (service specification,
 * INFORMATION_SCHEMA views): `INT`, `VARCHAR`, `DECIMAL(10, 2)`, `ARRAY<BIGINT>`, `MAP<VARCHAR, INT>`, `STRUCT<a: INT>`.
 */
export function sqlTypeName(type: IcebergType): string {
  if (type.kind === 'decimal') return `DECIMAL(${type.precision}, ${type.scale})`;
  if (type.kind === 'fixed') return `BINARY(${type.length})`;
  if (type.kind === 'geometry' || type.kind === 'geography') return type.kind.toUpperCase();
  if (type.kind === 'list') return `ARRAY<${sqlTypeName(type.element.type)}>`;
  if (type.kind === 'map') return `MAP<${sqlTypeName(type.key.type)}, ${sqlTypeName(type.value.type)}>`;
  if (type.kind === 'struct') {
    return `STRUCT<${type.fields.map((field) => `${field.name}: ${sqlTypeName(field.type)}`).join(', ')}>`;
  }
  return TYPE_NAMES[type.kind].sql;
}

/** A column's default as DESCRIBE and `information_schema.columns` name it: Iceberg's JSON form of the value. */
export const columnDefault = (value: Json | undefined): string | null => {
  if (value === undefined || value === null) return null;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};
