import { SkeinError } from '#shared/error.ts';
import { duckDbType } from './duckdb-type.ts';
import { printType, type Field, type IcebergType } from './type.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';

/** An Iceberg value in its JSON single-value form (spec, appendix D) as a SQL expression of the column's DuckDB type. */
export function printValue(type: IcebergType, value: Json): string {
  const sqlType = duckDbType(printType(type));
  if (value === null) return `CAST(NULL AS ${sqlType})`;
  if (type.kind === 'struct') {
    const object = asObject(value);
    return `struct_pack(${type.fields.map((f) => `${quoteIdentifier(f.name)} := ${printFieldValue(f, object)}`).join(', ')})`;
  }
  if (type.kind === 'list') return `CAST([${printAll(type.element, value)}] AS ${sqlType})`;
  if (type.kind === 'map') {
    const { keys = [], values = [] } = asObject(value);
    return `CAST(map([${printAll(type.key, keys)}], [${printAll(type.value, values)}]) AS ${sqlType})`;
  }
  if (type.kind === 'binary' || type.kind === 'fixed') return `from_hex(${quoteLiteral(asText(value))})`;
  return `CAST(${quoteLiteral(asText(value))} AS ${sqlType})`;
}

const printFieldValue = (field: Field, struct: JsonObject): string =>
  printValue(field.type, struct[String(field.id)] ?? field.initialDefault ?? null);

const printAll = (part: Field, values: Json): string => {
  if (!Array.isArray(values)) throw invalid();
  return (values as readonly Json[]).map((value) => printValue(part.type, value)).join(', ');
};

function asText(value: Json): string {
  if (typeof value === 'object') throw invalid();
  return String(value);
}

function asObject(value: Json): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid();
  return value as JsonObject;
}

const invalid = (): SkeinError =>
  new SkeinError('INVALID_TABLE_DATA', 'a default or partition value of the table has another form than its type');
