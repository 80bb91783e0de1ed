import type { SortField } from '#shared/iceberg/sort-order.ts';
import { currentSchema, specById, type TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { printTransform, type Transform } from '#shared/iceberg/transform.ts';
import type { Field, IcebergType } from '#shared/iceberg/type.ts';
import { printJson, type Json } from '#shared/json.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { schemaName } from '../../catalog-client/catalog-browser.ts';
import type { TableName } from '../../binding/table-source.ts';
import { sqlTypeName } from '../../session/sql-type-name.ts';
import { partitionName } from './bind-transforms.ts';
import { innerFields } from '../../operation/find-column.ts';
import { OWN_PROPERTIES } from './like-table.ts';

/** The CREATE TABLE statement that makes a table of the same shape: columns, key, partitions, order, comment and properties. */
export function printCreateTable({ catalog, namespace, table }: TableName, metadata: TableMetadata): string {
  const { fields, identifierFieldIds } = currentSchema(metadata);
  const paths = pathsOf(fields);
  const pathOf = (id: number): readonly string[] => paths.get(id) ?? [];
  const columns = fields.map((field) => `${quoteIdentifier(field.name)} ${printDeclaration(field)}`);
  const key = identifierFieldIds.map((id) => printPath(pathOf(id))).join(', ');
  const { comment, ...others } = metadata.properties;
  const properties = Object.entries(others).filter(([name]) => !OWN_PROPERTIES.has(name));
  const partitions = printPartitions(metadata, fields, pathOf);
  const order = metadata.sortOrder.map((field) => printSortField(field, pathOf(field.sourceId))).join(', ');
  const pairs = [['format-version', String(metadata.formatVersion)] as const, ...properties].map(
    ([name, value]) => `${quoteLiteral(name)} = ${quoteLiteral(value)}`,
  );
  return [
    `CREATE TABLE ${printPath([catalog, schemaName(namespace), table])} (`,
    `  ${[...columns, ...(key === '' ? [] : [`PRIMARY KEY (${key})`])].join(',\n  ')}`,
    ')',
    ...(partitions === '' ? [] : [`PARTITIONED BY (${partitions})`]),
    ...(order === '' ? [] : [`SORTED BY (${order})`]),
    ...(comment === undefined ? [] : [`COMMENT ${quoteLiteral(comment)}`]),
    `WITH (${pairs.join(', ')})`,
  ].join('\n');
}

/** The names that lead to each field. */
function pathsOf(fields: readonly Field[]): ReadonlyMap<number, readonly string[]> {
  const paths = new Map<number, readonly string[]>();
  const walk = (inner: readonly Field[], above: readonly string[]): void => {
    for (const field of inner) {
      const path = [...above, field.name];
      paths.set(field.id, path);
      walk(innerFields(field), path);
    }
  };
  walk(fields, []);
  return paths;
}

type PathOf = (id: number) => readonly string[];

const printPath = (parts: readonly string[]): string => parts.map(quoteIdentifier).join('.');

function printPartitions(metadata: TableMetadata, columns: readonly Field[], pathOf: PathOf): string {
  const taken = new Set(columns.map(({ name }) => name));
  return specById(metadata, metadata.defaultSpecId)
    .fields.filter(({ transform }) => transform.kind !== 'void')
    .map(({ name, sourceId, transform }) => {
      const usual = partitionName(transform, pathOf(sourceId).join('.'), taken);
      const printed = printTransformOf(transform, pathOf(sourceId));
      // A column that was renamed may have left its name to another: CREATE takes no partition field of that name.
      const isTaken = columns.some((column) => column.name === name && (name !== usual || column.id !== sourceId));
      taken.add(isTaken ? usual : name);
      return isTaken || name === usual ? printed : `${printed} AS ${quoteIdentifier(name)}`;
    })
    .join(', ');
}

function printTransformOf(transform: Transform, path: readonly string[]): string {
  const column = printPath(path);
  if (transform.kind === 'identity') return column;
  if (transform.kind === 'bucket') return `bucket(${transform.count}, ${column})`;
  if (transform.kind === 'truncate') return `truncate(${transform.width}, ${column})`;
  return `${printTransform(transform)}(${column})`;
}

function printSortField({ transform, direction, nullOrder }: SortField, path: readonly string[]): string {
  const nulls = nullOrder === 'nulls-first' ? 'FIRST' : 'LAST';
  return `${printTransformOf(transform, path)} ${direction === 'asc' ? 'ASC' : 'DESC'} NULLS ${nulls}`;
}

/** A field's type and what stands behind it. */
function printDeclaration(field: Field): string {
  const { required, type, doc, writeDefault } = field;
  return [
    printType(type),
    ...(required ? ['NOT NULL'] : []),
    ...(writeDefault === undefined || writeDefault === null ? [] : [`DEFAULT ${printDefault(type, writeDefault)}`]),
    ...(doc === undefined ? [] : [`COMMENT ${quoteLiteral(doc)}`]),
  ].join(' ');
}

/** As DESCRIBE names the type, with names in quotes, and NOT NULL where it stands inside. */
function printType(type: IcebergType): string {
  const part = (field: Field): string => `${printType(field.type)}${field.required ? ' NOT NULL' : ''}`;
  if (type.kind === 'list') return `ARRAY<${part(type.element)}>`;
  if (type.kind === 'map') return `MAP<${printType(type.key.type)}, ${part(type.value)}>`;
  if (type.kind !== 'struct') return sqlTypeName(type);
  return `STRUCT<${type.fields.map((field) => `${quoteIdentifier(field.name)} ${printDeclaration(field)}`).join(', ')}>`;
}

function printDefault(type: IcebergType, value: Json): string {
  if (typeof value !== 'string') return printJson(value);
  if (type.kind === 'decimal') return value;
  if (type.kind === 'binary') return quoteLiteral(value.replaceAll(/../g, (byte) => `\\x${byte}`));
  return quoteLiteral(value);
}
