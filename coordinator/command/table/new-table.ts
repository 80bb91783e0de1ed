import { SkeinError } from '#shared/error.ts';
import { FieldIds, withFreshIds } from '#shared/iceberg/field-ids.ts';
import { printSortFields, type SortField } from '#shared/iceberg/sort-order.ts';
import { printTransform } from '#shared/iceberg/transform.ts';
import { formatOf } from '#shared/iceberg/type-names.ts';
import { DEFAULT_CODEC } from '#shared/iceberg/write/default-codec.ts';
import { printField, walkFields, type Field } from '#shared/iceberg/type.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { JsonObject } from '#shared/json.ts';
import { sqlTypeName } from '../../session/sql-type-name.ts';
import type { ColumnsClause } from '../clause/columns.ts';
import type { TableClauses } from '../clause/table-clauses.ts';
import { bindPartitions, bindSortOrder, type NewPartitionField } from './bind-transforms.ts';
import { defaultValue } from '../clause/default-value.ts';
import { columnExists, findColumn, requireOwnName } from '../../operation/find-column.ts';

/** A table as a statement describes it. Field ids count from 1. */
export type NewTable = {
  readonly fields: readonly Field[];
  readonly identifierFieldIds: readonly number[];
  readonly partitions: readonly NewPartitionField[];
  readonly sortOrder: readonly SortField[];
  readonly location: string | undefined;
  /** With `format-version` and `comment`. */
  readonly properties: Readonly<Record<string, string>>;
};

/** The columns of a new table, which CREATE TABLE declares, LIKE copies and AS takes from a query. */
export type NewColumns = { readonly fields: readonly Field[]; readonly identifierFieldIds: readonly number[] };

export type FormatVersion = 2 | 3;
/** The format version of a new table, unless its properties say another. */
export const FORMAT_VERSION_DEFAULT = 2;

/** The format version that the clauses ask for. @param fallback for none @throws NOT_SUPPORTED */
export function formatVersionOf({ properties = [] }: TableClauses, fallback: FormatVersion): FormatVersion {
  const text = new Map(properties).get('format-version');
  if (text === undefined) return fallback;
  if (text === '2' || text === '3') return text === '2' ? 2 : 3;
  throw new SkeinError('NOT_SUPPORTED', `tables of format version ${text.slice(0, 20)} are not written: 2 and 3 are`);
}

/** Binds the clauses to the columns. @throws COLUMN_NOT_FOUND, TYPE_MISMATCH, NOT_SUPPORTED */
export function newTable(columns: NewColumns, clauses: TableClauses, formatVersion: FormatVersion): NewTable {
  const { location, ...properties } = Object.fromEntries(clauses.properties ?? []);
  for (const field of columns.fields) requireFormat(field, formatVersion);
  return {
    ...columns,
    partitions: bindPartitions(columns.fields, clauses.partitionedBy ?? []),
    sortOrder: bindSortOrder(columns.fields, clauses.sortedBy ?? []),
    location,
    properties: {
      ...properties,
      ...(clauses.comment === undefined ? {} : { comment: clauses.comment }),
      'format-version': String(formatVersion),
    },
  };
}

/** The declared columns as fields. @throws COLUMN_EXISTS, COLUMN_NOT_FOUND, INVALID_CAST, NOT_SUPPORTED */
export function declaredColumns({ columns, key }: ColumnsClause, formatVersion: FormatVersion): NewColumns {
  const declared: Field[] = [];
  const names = new Set<string>();
  for (const column of columns) {
    const { name, position, type, notNull, isKey, comment } = column;
    if (names.has(foldIdentifier(name))) throw columnExists(name, position);
    names.add(foldIdentifier(name));
    requireOwnName(name, position);
    const value = column.default === null ? null : defaultValue(type, column.default, name);
    if (column.default !== null && value !== null) requireDefaults(name, formatVersion, column.default.position);
    declared.push({
      id: 0,
      name,
      required: notNull || isKey,
      type,
      ...(comment === null ? {} : { doc: comment }),
      ...(value === null ? {} : { initialDefault: value, writeDefault: value }),
    });
  }
  const fields = withFreshIds(declared, new FieldIds());
  const keys = columns.filter(({ isKey }) => isKey).map(({ name, position }) => ({ parts: [name], position }));
  return withKey({ fields, identifierFieldIds: [] }, [...keys, ...key]);
}

/** Makes columns the identifier fields, which are NOT NULL. @throws COLUMN_NOT_FOUND, TYPE_MISMATCH */
export function withKey({ fields }: NewColumns, key: ColumnsClause['key']): NewColumns {
  const ids = new Set<number>();
  for (const name of key) {
    const { field, path, inCollection } = findColumn(fields, name);
    const isUnfit = inCollection || UNFIT_FOR_KEYS.has(field.type.kind);
    if (isUnfit) {
      const message = `column ${path} of the type ${sqlTypeName(field.type)} cannot be part of a PRIMARY KEY`;
      throw new SkeinError('TYPE_MISMATCH', message, { position: name.position });
    }
    ids.add(field.id);
  }
  const required = (field: Field): Field => {
    const type = field.type.kind === 'struct' ? { ...field.type, fields: field.type.fields.map(required) } : field.type;
    const holdsKey = type.kind === 'struct' && [...walkFields(type.fields)].some(({ id }) => ids.has(id));
    return { ...field, type, required: field.required || ids.has(field.id) || holdsKey };
  };
  return { fields: ids.size === 0 ? fields : fields.map(required), identifierFieldIds: [...ids] };
}

/** Iceberg: an identifier field is neither nested nor a floating-point number. */
const UNFIT_FOR_KEYS: ReadonlySet<string> = new Set(['struct', 'list', 'map', 'float', 'double']);

/** @throws NOT_SUPPORTED naming the column when the format version does not have its type */
export function requireFormat(column: Field, formatVersion: number): void {
  for (const { type, initialDefault } of walkFields([column])) {
    if (initialDefault !== undefined) requireDefaults(column.name, formatVersion, undefined);
    if (formatOf(type) <= formatVersion) continue;
    throw new SkeinError(
      'NOT_SUPPORTED',
      `column ${column.name}: the type ${sqlTypeName(type)} needs ${formatHint(formatOf(type))}`,
    );
  }
}

/** @throws NOT_SUPPORTED when the format version has no defaults */
export function requireDefaults(column: string, formatVersion: number, position: number | undefined): void {
  if (formatVersion >= DEFAULTS_FORMAT) return;
  throw new SkeinError('NOT_SUPPORTED', `column ${column}: DEFAULT needs ${formatHint(DEFAULTS_FORMAT)}`, { position });
}
const DEFAULTS_FORMAT = 3;

const formatHint = (version: number): string =>
  `a table of format version ${version}: WITH ('format-version' = '${version}')`;

/** The body of the REST operation createTable. */
export const createTableBody = (name: string, table: NewTable): JsonObject => ({
  name,
  ...(table.location === undefined ? {} : { location: table.location }),
  schema: schemaJson(table),
  'partition-spec': { 'spec-id': 0, fields: partitionsJson(table.partitions) },
  ...(table.sortOrder.length === 0 ? {} : { 'write-order': sortOrderJson(table.sortOrder) }),
  properties: { 'write.parquet.compression-codec': DEFAULT_CODEC, ...table.properties },
});

/** A schema for the update `add-schema`; the catalog gives it its id. */
export const schemaJson = ({ fields, identifierFieldIds }: NewColumns): JsonObject => ({
  type: 'struct',
  'schema-id': 0,
  ...(identifierFieldIds.length === 0 ? {} : { 'identifier-field-ids': identifierFieldIds }),
  fields: fields.map(printField),
});

/** The fields of a spec; the catalog gives an id to those that have none. */
export const partitionsJson = (
  fields: readonly (NewPartitionField & { readonly fieldId?: number })[],
): readonly JsonObject[] =>
  fields.map(({ name, sourceId, transform, fieldId }) => ({
    name,
    'source-id': sourceId,
    transform: printTransform(transform),
    ...(fieldId === undefined ? {} : { 'field-id': fieldId }),
  }));

export const sortOrderJson = (fields: readonly SortField[]): JsonObject => ({
  'order-id': fields.length === 0 ? 0 : 1,
  fields: printSortFields(fields),
});
