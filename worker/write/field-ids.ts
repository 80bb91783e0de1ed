import type { Field } from '#shared/iceberg/type.ts';
import { quoteLiteral } from '#shared/sql/quote.ts';

/** DuckDB's `FIELD_IDS` option: the ids of all fields, nested ones too. */
export const printFieldIds = (fields: readonly Field[]): string =>
  `{${fields.map((field) => `${quoteLiteral(field.name)}: ${printFieldId(field)}`).join(', ')}}`;

function printFieldId({ type, id }: Field): string {
  const parts =
    type.kind === 'struct'
      ? type.fields
      : type.kind === 'list'
        ? [type.element]
        : type.kind === 'map'
          ? [type.key, type.value]
          : [];
  if (parts.length === 0) return String(id);
  return `{__duckdb_field_id: ${id}, ${parts.map((part) => `${quoteLiteral(part.name)}: ${printFieldId(part)}`).join(', ')}}`;
}
