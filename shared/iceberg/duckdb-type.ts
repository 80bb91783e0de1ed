import { SkeinError } from '#shared/error.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { TYPE_NAMES } from './type-names.ts';
import { primitiveOf, type IcebergType, type PrimitiveName } from './type.ts';

/**
 * Returns the DuckDB type of an Iceberg type in its JSON form (`"long"`, `{"type":"list","element":...}`).
 * @throws NOT_SUPPORTED for a type that DuckDB cannot hold (variant, geometry, geography), INVALID_TABLE_DATA for anything that is not a
 * type
 */
export function duckDbType(type: Json): string {
  if (typeof type === 'string') return primitive(type);
  const object = type as JsonObject | null;
  const kind = object?.['type'];
  if (kind === 'struct') return `STRUCT(${fieldsOf(object).join(', ')})`;
  if (kind === 'list') return `${duckDbType(object?.['element'] ?? null)}[]`;
  if (kind === 'map') return `MAP(${duckDbType(object?.['key'] ?? null)}, ${duckDbType(object?.['value'] ?? null)})`;
  throw new SkeinError('INVALID_TABLE_DATA', 'the table’s schema holds something that is no Iceberg type');
}

function fieldsOf(struct: JsonObject | null): string[] {
  const fields = struct?.['fields'];
  if (!Array.isArray(fields))
    throw new SkeinError('INVALID_TABLE_DATA', 'a struct of the table’s schema has no fields');
  return (fields as readonly JsonObject[]).map(
    (field) => `${quoteIdentifier(field['name'] as string)} ${duckDbType(field['type'] ?? null)}`,
  );
}

function primitive(name: string): string {
  const type = primitiveOf(name);
  const known = type === undefined ? null : duckDbName(type);
  if (known !== null) return known;
  if (type?.kind === 'decimal') return `DECIMAL(${type.precision},${type.scale})`;
  if (type?.kind === 'fixed') return 'BLOB';
  throw new SkeinError('NOT_SUPPORTED', `columns of the type ${name} cannot be read`);
}

/** DuckDB's name of a type without arguments and parts; null when it has none. */
export const duckDbName = ({ kind }: IcebergType): string | null =>
  Object.hasOwn(TYPE_NAMES, kind) ? TYPE_NAMES[kind as PrimitiveName].duckdb : null;
