import { isDeepStrictEqual } from 'node:util';
import { SkeinError } from '#shared/error.ts';
import { printPartitionFields, type PartitionSpec } from '#shared/iceberg/partition-spec.ts';
import { printSchema, type Schema } from '#shared/iceberg/schema.ts';
import { currentSchema, specById, type TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { isNested, type Field } from '#shared/iceberg/type.ts';
import { writtenVersion } from '#shared/iceberg/write/commit-writes.ts';
import { FieldIds } from '#shared/iceberg/field-ids.ts';
import { DEFAULT_CODEC } from '#shared/iceberg/write/default-codec.ts';
import { replacedShape } from '#shared/iceberg/write/replaced-shape.ts';
import { fieldsOf } from './column-type.ts';
import type { TableName, TableWrite } from '#shared/iceberg/write/table-write.ts';
import type { LoadMode } from './load-arguments.ts';
import { printTableName } from './load-arguments.ts';
import type { InputColumn } from './parquet-input.ts';
import { partitionFields, type PartitionExpression } from './partition-by.ts';
import type { LoadCatalog } from './load-catalog.ts';

/** The table that a load writes to: existing, to be created, or to be replaced. */
export type TargetTable = {
  readonly shape: TableWrite['shape'];
  readonly base: TableMetadata;
  readonly schema: Schema;
  readonly spec: PartitionSpec;
  /** Namespaces that this load created, outermost first. */
  readonly namespacesMade: readonly (readonly string[])[];
};

export type TargetRequest = {
  readonly name: TableName;
  readonly mode: LoadMode;
  readonly partitionBy: readonly PartitionExpression[];
  readonly columns: readonly InputColumn[];
};

/** @throws TABLE_EXISTS, TABLE_NOT_FOUND, NOT_SUPPORTED, COLUMN_NOT_FOUND, INVALID_REQUEST */
export async function prepareTarget(catalog: LoadCatalog, request: TargetRequest): Promise<TargetTable> {
  const { name, mode } = request;
  if (mode === 'append') return appendTo(await catalog.loadTable(name));
  const exists = await catalog.tableExists(name);
  if (exists && mode === 'create') throw new SkeinError('TABLE_EXISTS', `table ${printTableName(name)} exists already`);
  return exists ? replaceShape(await catalog.loadTable(name), request) : createTable(catalog, request);
}

function appendTo(base: TableMetadata): TargetTable {
  writtenVersion(base);
  const spec = specById(base, base.defaultSpecId);
  const unknown = spec.fields.find(({ transform }) => transform.kind === 'unknown');
  if (unknown !== undefined) throw new SkeinError('NOT_SUPPORTED', `the partition field ${unknown.name} is not known`);
  return { shape: 'keep', base, schema: currentSchema(base), spec, namespacesMade: [] };
}

async function createTable(catalog: LoadCatalog, request: TargetRequest): Promise<TargetTable> {
  const { name, columns, partitionBy } = request;
  const schema: Schema = { schemaId: 0, fields: fieldsOf(columns, new FieldIds()), identifierFieldIds: [] };
  const fields = partitionFields(partitionBy, schema);
  const namespacesMade = await catalog.createNamespaces(name);
  const base = await catalog.stageTable(name, {
    schema: printSchema(schema),
    'partition-spec': { 'spec-id': 0, fields: printPartitionFields(fields) },
    properties: { 'format-version': '2', 'write.parquet.compression-codec': DEFAULT_CODEC },
  });
  writtenVersion(base);
  const spec = specById(base, base.defaultSpecId);
  return { shape: 'create', base, schema: currentSchema(base), spec, namespacesMade };
}

/**
 * Gives a table a new schema and spec under the same name, uuid and history. Columns that keep name and type keep their id, all others get
 * ids that the table never used; a schema or spec that the table already has keeps its id, as catalogs do.
 */
function replaceShape(base: TableMetadata, { columns, partitionBy }: TargetRequest): TargetTable {
  writtenVersion(base);
  const old = currentSchema(base).fields;
  const fields = fieldsOf(columns, new FieldIds(base.lastColumnId)).map((field) => keepId(field, old));
  const wanted: Schema = { schemaId: 0, fields, identifierFieldIds: [] };
  const { schema, spec } = replacedShape(base, wanted, partitionFields(partitionBy, wanted));
  return { shape: 'replace', base, schema, spec, namespacesMade: [] };
}

function keepId(field: Field, old: readonly Field[]): Field {
  const before = old.find(({ name }) => name === field.name);
  const isSame = before !== undefined && !isNested(field.type) && isDeepStrictEqual(before.type, field.type);
  return isSame ? { ...field, id: before.id } : field;
}
