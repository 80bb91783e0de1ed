import { SkeinError } from '#shared/error.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { primitiveOf } from './type.ts';

/** Iceberg's primitive types (spec v3, Primitive Types) as DuckDB 1.5 names them; `fixed` and `decimal` carry arguments. */
const PRIMITIVES: Readonly<Record<string, string>> = {
  boolean: 'BOOLEAN',
  int: 'INTEGER',
  long: 'BIGINT',
  float: 'FLOAT',
  double: 'DOUBLE',
  date: 'DATE',
  time: 'TIME',
  timestamp: 'TIMESTAMP',
  timestamptz: 'TIMESTAMP WITH TIME ZONE',
  timestamp_ns: 'TIMESTAMP_NS',
  // DuckDB has no nanosecond timestamp with a time zone: the values keep microseconds.
  timestamptz_ns: 'TIMESTAMP WITH TIME ZONE',
  string: 'VARCHAR',
  uuid: 'UUID',
  binary: 'BLOB',
  unknown: '"NULL"',
};

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
  const known = PRIMITIVES[name];
  if (known !== undefined) return known;
  const type = primitiveOf(name);
  if (type?.kind === 'decimal') return `DECIMAL(${type.precision},${type.scale})`;
  if (type?.kind === 'fixed') return 'BLOB';
  throw new SkeinError('NOT_SUPPORTED', `columns of the type ${name} cannot be read`);
}
