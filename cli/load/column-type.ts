import {
  DuckDBArrayType,
  DuckDBDecimalType,
  DuckDBListType,
  DuckDBMapType,
  DuckDBStructType,
  DuckDBTypeId,
  type DuckDBType,
} from '@duckdb/node-api';
import { SkeinError } from '#shared/error.ts';
import type { FieldIds } from '#shared/iceberg/field-ids.ts';
import { tableTypeOfSql } from '#shared/iceberg/type-names.ts';
import type { Field, IcebergType } from '#shared/iceberg/type.ts';

/**
 * The Iceberg type (format version 2) of what DuckDB sees in a Parquet file; `type-names.ts` has the names of types. Nanosecond timestamps
 * become microseconds (`select-columns.ts` refuses values that would lose digits; nested ones are refused), ENUM text.
 */
function primitiveOf({ typeId }: DuckDBType): IcebergType | undefined {
  if (typeId === DuckDBTypeId.ENUM) return { kind: 'string' };
  if (typeId === DuckDBTypeId.TIMESTAMP_NS) return { kind: 'timestamp' };
  const found = tableTypeOfSql(typeId === DuckDBTypeId.TIMESTAMP_TZ ? 'TIMESTAMPTZ' : DuckDBTypeId[typeId]);
  return found !== undefined && 'type' in found ? found.type : undefined;
}

/** @throws NOT_SUPPORTED naming the column when its type has no form in Iceberg. */
export function fieldsOf(
  columns: readonly { readonly name: string; readonly type: DuckDBType }[],
  ids: FieldIds,
  path = '',
): readonly Field[] {
  const numbered = columns.map((column) => ({ ...column, id: ids.next() }));
  return numbered.map(({ id, name, type }) => ({
    id,
    name,
    required: false,
    type: icebergType(type, ids, path === '' ? name : `${path}.${name}`, path !== ''),
  }));
}

function icebergType(type: DuckDBType, ids: FieldIds, path: string, isNested: boolean): IcebergType {
  if (type instanceof DuckDBStructType) {
    const columns = type.entryNames.map((name, index) => ({ name, type: entryAt(type.entryTypes, index) }));
    return { kind: 'struct', fields: fieldsOf(columns, ids, path) };
  }
  if (type instanceof DuckDBListType || type instanceof DuckDBArrayType) {
    const [element] = fieldsOf([{ name: 'element', type: type.valueType }], ids, path);
    if (element !== undefined) return { kind: 'list', element };
  }
  if (type instanceof DuckDBMapType) {
    const columns = [
      { name: 'key', type: type.keyType },
      { name: 'value', type: type.valueType },
    ];
    const [key, value] = fieldsOf(columns, ids, path);
    if (key !== undefined && value !== undefined) return { kind: 'map', key: { ...key, required: true }, value };
  }
  if (type instanceof DuckDBDecimalType) return { kind: 'decimal', precision: type.width, scale: type.scale };
  const primitive = primitiveOf(type);
  if (type.typeId === DuckDBTypeId.TIMESTAMP_NS && isNested) throw refuse(type, path);
  if (primitive !== undefined) return primitive;
  throw refuse(type, path);
}

const refuse = (type: DuckDBType, path: string): SkeinError =>
  new SkeinError('NOT_SUPPORTED', `column ${path} has the type ${type.toString()}, which Iceberg tables cannot hold`);

function entryAt(types: readonly DuckDBType[], index: number): DuckDBType {
  const type = types[index];
  if (type === undefined) throw new Error('invariant: a struct has as many names as types');
  return type;
}
