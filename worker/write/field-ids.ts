import { SkeinError } from '#shared/error.ts';
import { walkFields, type Field, type IcebergType } from '#shared/iceberg/type.ts';
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

/** Types that DuckDB does not write to Parquet as Iceberg stores them; `timestamptz_ns` would lose its nanoseconds. */
const UNWRITABLE: ReadonlySet<IcebergType['kind']> = new Set([
  'fixed',
  'timestamptz_ns',
  'unknown',
  'variant',
  'geometry',
  'geography',
]);

/** @throws NOT_SUPPORTED naming the first column that cannot be written */
export function requireWritable(fields: readonly Field[]): void {
  for (const field of fields) {
    for (const { type } of walkFields([field])) {
      if (!UNWRITABLE.has(type.kind)) continue;
      throw new SkeinError('NOT_SUPPORTED', `column ${field.name} has the type ${type.kind}, which cannot be written`);
    }
  }
}
