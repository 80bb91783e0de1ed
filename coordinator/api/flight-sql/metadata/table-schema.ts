import { Field, Schema } from 'apache-arrow';
import type { Field as IcebergField } from '#shared/iceberg/type.ts';
import { SkeinError } from '#shared/error.ts';
import { icebergSqlType } from '../../../plan/iceberg-sql-type.ts';
import type { SqlType } from '../../../plan/sql-type.ts';
import { sqlTypeName } from '../../../session/sql-type-name.ts';
import { arrowSchema } from '../../../sink/arrow-schema.ts';
import type { MetadataTableEntry } from './catalog-entries.ts';

const TEXT: SqlType = { kind: 'scalar', name: 'VARCHAR' };
const INTERVAL: SqlType = { kind: 'scalar', name: 'INTERVAL' };

/** The columns of a table as an Arrow schema, with the metadata of Flight SQL on each field; a view that cannot be read has none. */
export function tableSchema(entry: MetadataTableEntry): Schema {
  const { fields, intervals } = entry.columns();
  const columns = fields.map((field) => {
    const isInterval = intervals.has(field.name);
    const typeName = isInterval ? 'INTERVAL' : sqlTypeName(field.type);
    return { name: field.name, typeName, type: isInterval ? INTERVAL : readableType(field) };
  });
  const arrow = arrowSchema({ columns, timeZone: 'UTC' });
  return new Schema(
    arrow.fields.map((made, i) => {
      const { required = false, doc, type } = fields[i] ?? {};
      const metadata = new Map([
        ['ARROW:FLIGHT:SQL:CATALOG_NAME', entry.catalog],
        ['ARROW:FLIGHT:SQL:DB_SCHEMA_NAME', entry.schema],
        ['ARROW:FLIGHT:SQL:TABLE_NAME', entry.name],
        ['ARROW:FLIGHT:SQL:TYPE_NAME', columns[i]?.typeName ?? ''],
        ['ARROW:FLIGHT:SQL:IS_AUTO_INCREMENT', NO],
        ['ARROW:FLIGHT:SQL:IS_CASE_SENSITIVE', type?.kind === 'string' ? YES : NO],
        ['ARROW:FLIGHT:SQL:IS_READ_ONLY', entry.kind === 'TABLE' ? NO : YES],
        ['ARROW:FLIGHT:SQL:IS_SEARCHABLE', YES],
        ...precisionOf(type),
        ...(doc === undefined ? [] : ([['ARROW:FLIGHT:SQL:REMARKS', doc]] as const)),
      ]);
      return new Field(made.name, made.type, !required, metadata);
    }),
  );
}

const YES = '1';
const NO = '0';
/** Decimal digits of the types of whole numbers. */
const DIGITS: Readonly<Record<string, number>> = { int: 10, long: 19 };

function precisionOf(type: IcebergField['type'] | undefined): readonly (readonly [string, string])[] {
  if (type?.kind === 'decimal') {
    return [
      ['ARROW:FLIGHT:SQL:PRECISION', String(type.precision)],
      ['ARROW:FLIGHT:SQL:SCALE', String(type.scale)],
    ];
  }
  const digits = DIGITS[type?.kind ?? ''];
  return digits === undefined
    ? []
    : [
        ['ARROW:FLIGHT:SQL:PRECISION', String(digits)],
        ['ARROW:FLIGHT:SQL:SCALE', '0'],
      ];
}

/** A column that cannot be read is told as text, by its own name of a type. */
function readableType({ type }: IcebergField): SqlType {
  try {
    return icebergSqlType(type);
  } catch (error) {
    if (SkeinError.of(error).code === 'NOT_SUPPORTED') return TEXT;
    throw error;
  }
}
