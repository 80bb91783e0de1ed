import { SkeinError } from '#shared/error.ts';
import { duckDbType } from '#shared/iceberg/duckdb-type.ts';
import { printType, type Field, type IcebergType } from '#shared/iceberg/type.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { must, unreachable } from '#shared/must.ts';
import type { FileField } from './footer.ts';
import { annotationOf } from './parquet-schema.ts';
import { printValue } from '#shared/iceberg/print-value.ts';

/**
 * Prints the SQL expression that converts a column of a file into one of the table (Iceberg spec, Column Projection). Columns are matched
 * by field id: a renamed one is found, a dropped one is not, and a promoted one is cast. DuckDB drops a cast to the type that a column
 * already has when it binds, so the common case costs nothing.
 *
 * Nested columns whose fields have changed are taken apart and put together again: DuckDB's own casts match fields by name.
 */
export function printColumn(source: string, file: FileField, type: IcebergType): string {
  return print(source, file, type, 0);
}

/** Longest DECIMAL of DuckDB. It reads the bytes of a longer one as another number, of type DOUBLE. */
const DECIMAL_DIGITS_MAX = 38;

/** @throws INVALID_TABLE_DATA for a column that is, or holds, a DECIMAL of more digits than DuckDB has */
export function requireDecimals(field: FileField): void {
  for (const part of field.children) requireDecimals(part);
  const { element, name } = field;
  if (annotationOf(element) !== 'DECIMAL' || element.precision <= DECIMAL_DIGITS_MAX) return;
  throw new SkeinError(
    'INVALID_TABLE_DATA',
    `the column ${JSON.stringify(name)} of a file is a DECIMAL of ${element.precision} digits; there can be ${DECIMAL_DIGITS_MAX}`,
  );
}

function print(source: string, file: FileField, type: IcebergType, depth: number): string {
  if (isPlain(file, type)) return `CAST(${source} AS ${duckDbType(printType(type))})`;
  if (type.kind === 'struct') return printStruct(source, file, type.fields, depth);
  const [first, second] = file.children;
  const item = `x${depth}`;
  if (type.kind === 'list') {
    const element = print(item, part(file, first, 'list'), type.element.type, depth + 1);
    return `list_transform(${source}, lambda ${item}: ${element})`;
  }
  if (type.kind === 'map') {
    const key = print(`${item}.key`, part(file, first, 'map'), type.key.type, depth + 1);
    const value = print(`${item}.value`, part(file, second, 'map'), type.value.type, depth + 1);
    const pack = `struct_pack(key := ${key}, value := ${value})`;
    return `map_from_entries(list_transform(map_entries(${source}), lambda ${item}: ${pack}))`;
  }
  return printPrimitive(source, file, type);
}

/** Returns a part of a list or map. @throws INVALID_TABLE_DATA when the file's column is not of this kind */
function part(file: FileField, found: FileField | undefined, kind: 'list' | 'map'): FileField {
  if (file.kind === kind && found !== undefined) return found;
  throw new SkeinError('INVALID_TABLE_DATA', `the column ${JSON.stringify(file.name)} of a file is no ${kind}`);
}

function printStruct(source: string, file: FileField, fields: readonly Field[], depth: number): string {
  if (file.kind !== 'struct') {
    throw new SkeinError('INVALID_TABLE_DATA', `the column ${JSON.stringify(file.name)} of a file is no struct`);
  }
  const byId = new Map(file.children.toReversed().map((child) => [child.id, child]));
  const parts = fields.map((field) => {
    const found = byId.get(field.id);
    const value =
      found === undefined
        ? printValue(field.type, field.initialDefault ?? null)
        : print(`struct_extract(${source}, ${quoteText(found.name)})`, found, field.type, depth + 1);
    return `${quoteIdentifier(field.name)} := ${value}`;
  });
  return `CASE WHEN ${source} IS NULL THEN NULL ELSE struct_pack(${parts.join(', ')}) END`;
}

const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Whether a plain cast is enough: equal fields with equal names in equal order, and no value that DuckDB reads as another type. */
function isPlain(file: FileField, type: IcebergType): boolean {
  const [first, second] = file.children;
  if (type.kind === 'list') return file.kind === 'list' && first !== undefined && isPlain(first, type.element.type);
  if (type.kind === 'map') {
    if (file.kind !== 'map' || first === undefined || second === undefined) return false;
    return isPlain(first, type.key.type) && isPlain(second, type.value.type);
  }
  if (type.kind !== 'struct') return specialRead(file, type) === undefined;
  return (
    file.kind === 'struct' &&
    file.children.length === type.fields.length &&
    type.fields.every((field, i) => {
      const child = file.children[i];
      return child !== undefined && child.id === field.id && child.name === field.name && isPlain(child, field.type);
    })
  );
}

type SpecialRead = 'uuidBytes' | 'toUtc' | 'fromUtc' | 'text';

/** Columns that DuckDB reads as another type than Iceberg means, because the writer left out an annotation. */
function specialRead({ element }: FileField, type: IcebergType): SpecialRead | undefined {
  const logical = element.logical;
  if (type.kind === 'uuid' && element.type === 'FIXED_LEN_BYTE_ARRAY' && logical?.kind !== 'UUID') return 'uuidBytes';
  if (
    type.kind === 'string' &&
    element.type === 'BYTE_ARRAY' &&
    logical === undefined &&
    element.converted === undefined
  ) {
    return 'text';
  }
  const zoned = type.kind === 'timestamptz' || type.kind === 'timestamptz_ns';
  const unzoned = type.kind === 'timestamp' || type.kind === 'timestamp_ns';
  if (zoned || unzoned) {
    const adjusted =
      logical?.kind === 'TIMESTAMP' ? logical.isAdjustedToUtc : element.converted?.startsWith('TIMESTAMP') === true;
    const instant = element.type === 'INT64' && (logical?.kind === 'TIMESTAMP' || element.converted !== undefined);
    if (zoned && (element.type === 'INT96' || (instant && !adjusted))) return 'toUtc';
    if (unzoned && instant && adjusted) return 'fromUtc';
  }
  return undefined;
}

function printPrimitive(source: string, file: FileField, type: IcebergType): string {
  const special = must(specialRead(file, type), 'a column that is not plain is special');
  switch (special) {
    case 'uuidBytes':
      return `CAST(hex(${source}) AS UUID)`;
    case 'text':
      return `decode(${source})`;
    case 'toUtc':
    case 'fromUtc':
      // timezone() converts a zone's local time to an instant, and an instant to local time.
      return `CAST(timezone('UTC', ${source}) AS ${duckDbType(printType(type))})`;
    default:
      return unreachable(special);
  }
}
