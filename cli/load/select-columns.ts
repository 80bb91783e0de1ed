import { DuckDBTypeId } from '@duckdb/node-api';
import { SkeinError } from '#shared/error.ts';
import { duckDbType } from '#shared/iceberg/duckdb-type.ts';
import type { Schema } from '#shared/iceberg/schema.ts';
import { canPromote } from '#shared/iceberg/can-promote.ts';
import { printType, type Field } from '#shared/iceberg/type.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { FieldIds } from '#shared/iceberg/field-ids.ts';
import { fieldsOf } from './column-type.ts';
import type { InputFile } from './parquet-input.ts';

/**
 * Prints the select list that converts input rows to table rows, in table order and with exact types.
 * @throws INVALID_INPUT_FILE when the input lacks a column, has an extra one, or one of a type that cannot be promoted safely
 */
export function selectColumns(schema: Schema, input: InputFile): string {
  const found = fieldsOf(input.columns, new FieldIds());
  const extra = found.find((field) => !schema.fields.some(({ name }) => name === field.name));
  if (extra !== undefined) throw mismatch(input, `the table has no column ${extra.name}`);
  const list = schema.fields.map((field) => {
    const source = found.find(({ name }) => name === field.name);
    if (source === undefined) throw mismatch(input, `column ${field.name} is missing`);
    if (!canPromote(source.type, field.type) && !isNanos(field, input)) {
      const [is, wanted] = [source.type, field.type].map((type) => duckDbType(printType(type)));
      throw mismatch(input, `column ${field.name} is ${is}, not ${wanted}`);
    }
    return `${convert(field, input)} AS ${quoteIdentifier(field.name)}`;
  });
  return list.join(', ');
}

const mismatch = (input: InputFile, what: string): SkeinError =>
  new SkeinError('INVALID_INPUT_FILE', `${input.path} does not fit the table: ${what}`);

const isNanos = ({ name, type }: Field, { columns }: InputFile): boolean =>
  type.kind === 'timestamp_ns' &&
  columns.find((column) => column.name === name)?.type.typeId === DuckDBTypeId.TIMESTAMP_NS;

/** Converts nanoseconds to microseconds where the table has those; the load fails if digits would be lost. */
function convert(field: Field, input: InputFile): string {
  const column = quoteIdentifier(field.name);
  const source = input.columns.find(({ name }) => name === field.name)?.type;
  const checked =
    source?.typeId === DuckDBTypeId.TIMESTAMP_NS && field.type.kind !== 'timestamp_ns'
      ? `CASE WHEN epoch_ns(${column}) % 1000 <> 0 THEN error(${quoteLiteral(LOSS(field.name))}) ELSE ${column} END`
      : column;
  const nullChecked = field.required
    ? `CASE WHEN ${column} IS NULL THEN error(${quoteLiteral(MISSING(field.name))}) ELSE ${checked} END`
    : checked;
  return `CAST(${nullChecked} AS ${duckDbType(printType(field.type))})`;
}

const LOSS = (name: string): string =>
  `column ${name} has timestamps of nanoseconds; the table's column holds microseconds`;
const MISSING = (name: string): string => `column ${name} is required, and the input has a null`;
