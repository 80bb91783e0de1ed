import { printJson } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { writeAvroFile } from '../avro/write-container.ts';
import { bytesOfInteger } from '../big-endian.ts';
import { compareLiterals } from '../compare-literals.ts';
import { decimalBytes, MANIFEST_LIST_SCHEMA, manifestSchema } from './manifest-schema.ts';
import type { ManifestFile, PartitionSummary } from '../manifest.ts';
import { printPartitionFields, type PartitionSpec } from '../partition-spec.ts';
import type { Literal } from '../predicate.ts';
import { printSchema, type Schema } from '../schema.ts';
import { encodeBound } from '../single-value.ts';
import { resultType } from '../transform.ts';
import { invalid, walkFields, type IcebergType } from '../type.ts';

/** A data file that a writer made; maps are by field id. */
export type NewDataFile = {
  readonly path: string;
  readonly recordCount: number;
  readonly sizeBytes: number;
  /** One per field of the spec. */
  readonly partition: readonly (Literal | null)[];
  readonly columnSizes: ReadonlyMap<number, number>;
  readonly valueCounts: ReadonlyMap<number, number>;
  readonly nullCounts: ReadonlyMap<number, number>;
  readonly nanCounts: ReadonlyMap<number, number>;
  readonly lower: ReadonlyMap<number, Uint8Array>;
  readonly upper: ReadonlyMap<number, Uint8Array>;
  /** Offsets of the row groups, ascending. */
  readonly splitOffsets: readonly number[];
};

/**
 * A manifest, format version 2, of files that one snapshot adds. Sequence numbers are left to be inherited, so that it stays right
 * when the commit has to be tried again after another.
 */
export function writeManifest(
  schema: Schema,
  spec: PartitionSpec,
  snapshotId: bigint,
  files: readonly NewDataFile[],
): Uint8Array {
  const types = partitionTypes(schema, spec);
  const columns = spec.fields.map((field, index) => ({
    fieldId: field.fieldId,
    name: field.name,
    type: must(types[index], 'one type per field'),
  }));
  const avroSchema = manifestSchema(columns);
  const rows = files.map((file) => ({
    status: 1,
    snapshot_id: snapshotId,
    sequence_number: null,
    file_sequence_number: null,
    data_file: toRow(file, partitionRow(avroSchema, types, file.partition)),
  }));
  const metadata = {
    schema: printJson(printSchema(schema)),
    'schema-id': String(schema.schemaId),
    'partition-spec': printJson(printPartitionFields(spec.fields)),
    'partition-spec-id': String(spec.specId),
    'format-version': '2',
    content: 'data',
  };
  return writeAvroFile(avroSchema, metadata, rows);
}

/** The entry of a manifest list for a manifest that `writeManifest` made. */
export function newManifestFile(
  schema: Schema,
  spec: PartitionSpec,
  snapshotId: bigint,
  manifest: { readonly path: string; readonly lengthBytes: number; readonly files: readonly NewDataFile[] },
): ManifestFile {
  const types = partitionTypes(schema, spec);
  return {
    path: manifest.path,
    lengthBytes: manifest.lengthBytes,
    specId: spec.specId,
    content: 'data',
    sequenceNumber: 0n,
    minSequenceNumber: 0n,
    addedSnapshotId: snapshotId,
    addedFiles: manifest.files.length,
    existingFiles: 0,
    deletedFiles: 0,
    addedRows: manifest.files.reduce((sum, file) => sum + file.recordCount, 0),
    existingRows: 0,
    deletedRows: 0,
    partitions: types.map((type, index) =>
      summarize(
        type,
        manifest.files.map((file) => file.partition[index] ?? null),
      ),
    ),
    firstRowId: undefined,
  };
}

/** A manifest list, format version 2; manifests that this snapshot added get its sequence number. */
export function writeManifestList(
  snapshot: { readonly snapshotId: bigint; readonly parentSnapshotId: bigint | null; readonly sequenceNumber: bigint },
  manifests: readonly ManifestFile[],
): Uint8Array {
  const rows = manifests.map((one) => {
    const isNew = one.addedSnapshotId === snapshot.snapshotId;
    return {
      manifest_path: one.path,
      manifest_length: one.lengthBytes,
      partition_spec_id: one.specId,
      content: one.content === 'data' ? 0 : 1,
      sequence_number: isNew ? snapshot.sequenceNumber : one.sequenceNumber,
      min_sequence_number: isNew ? snapshot.sequenceNumber : one.minSequenceNumber,
      added_snapshot_id: one.addedSnapshotId,
      added_files_count: known(one.addedFiles),
      existing_files_count: known(one.existingFiles),
      deleted_files_count: known(one.deletedFiles),
      added_rows_count: known(one.addedRows),
      existing_rows_count: known(one.existingRows),
      deleted_rows_count: known(one.deletedRows),
      partitions: one.partitions?.map(summaryRow) ?? null,
      key_metadata: null,
    };
  });
  const metadata = {
    'snapshot-id': String(snapshot.snapshotId),
    'parent-snapshot-id': String(snapshot.parentSnapshotId),
    'sequence-number': String(snapshot.sequenceNumber),
    'format-version': '2',
  };
  return writeAvroFile(MANIFEST_LIST_SCHEMA, metadata, rows);
}

/** Format version 2 requires the counts that version 1 may leave out. */
function known(count: number | undefined): number {
  if (count === undefined) throw invalid('a manifest list has no counts of files');
  return count;
}

/** The types of a spec's partition values. @throws INVALID_TABLE_DATA when one is not known. */
export function partitionTypes(schema: Schema, spec: PartitionSpec): readonly IcebergType[] {
  const byId = new Map([...walkFields(schema.fields)].map((field) => [field.id, field.type]));
  return spec.fields.map((field) => {
    const source = byId.get(field.sourceId);
    const type = source === undefined ? undefined : resultType(field.transform, source);
    if (type === undefined) throw invalid(`partition field ${field.name} has an unknown transform or column`);
    return type;
  });
}

type Schemas = ReturnType<typeof manifestSchema>;

/** Values under the names that the Avro schema gave them. */
function partitionRow(
  schema: Schemas,
  types: readonly IcebergType[],
  values: readonly (Literal | null)[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    partitionNames(schema).map((name, index) => {
      const type = must(types[index], 'one type per field');
      return [name, partitionValue(type, values[index] ?? null)];
    }),
  );
}

function partitionNames(schema: Schemas): readonly string[] {
  type Named = { readonly name: string; readonly type: { readonly fields?: readonly Named[] } };
  const entry = schema['fields'] as unknown as readonly Named[];
  const file = entry.find(({ name }) => name === 'data_file')?.type.fields;
  const partition = file?.find(({ name }) => name === 'partition')?.type.fields;
  return must(partition, 'a manifest has a partition').map(({ name }) => name);
}

function partitionValue(type: IcebergType, value: Literal | null): unknown {
  if (value === null) return null;
  if (type.kind === 'decimal') return Buffer.from(bytesOfInteger(value as bigint, decimalBytes(type.precision)));
  if (value instanceof Uint8Array) return Buffer.from(value);
  return (type.kind === 'int' || type.kind === 'date') && typeof value === 'bigint' ? Number(value) : value;
}

const toRow = (file: NewDataFile, partition: Readonly<Record<string, unknown>>): object => ({
  content: 0,
  file_path: file.path,
  file_format: 'PARQUET',
  partition,
  record_count: file.recordCount,
  file_size_in_bytes: file.sizeBytes,
  column_sizes: pairs(file.columnSizes),
  value_counts: pairs(file.valueCounts),
  null_value_counts: pairs(file.nullCounts),
  nan_value_counts: pairs(file.nanCounts),
  lower_bounds: pairs(file.lower, toBuffer),
  upper_bounds: pairs(file.upper, toBuffer),
  key_metadata: null,
  split_offsets: file.splitOffsets,
  equality_ids: null,
  sort_order_id: 0,
});

const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const pairs = <T>(map: ReadonlyMap<number, T>, change: (value: T) => unknown = (value) => value): readonly object[] =>
  [...map].map(([key, value]) => ({ key, value: change(value) }));

function summarize(type: IcebergType, values: readonly (Literal | null)[]): PartitionSummary {
  const present = values.filter((value): value is Literal => value !== null && !Number.isNaN(value));
  let [lower, upper] = [present[0], present[0]];
  for (const value of present) {
    if (lower !== undefined && (compareLiterals(value, lower) ?? 0) < 0) lower = value;
    if (upper !== undefined && (compareLiterals(value, upper) ?? 0) > 0) upper = value;
  }
  return {
    containsNull: values.includes(null),
    containsNan: values.some((value) => Number.isNaN(value)),
    lower: lower === undefined ? undefined : encodeBound(type, lower),
    upper: upper === undefined ? undefined : encodeBound(type, upper),
  };
}

const summaryRow = (summary: PartitionSummary): object => ({
  contains_null: summary.containsNull,
  contains_nan: summary.containsNan ?? null,
  lower_bound: summary.lower === undefined ? null : toBuffer(summary.lower),
  upper_bound: summary.upper === undefined ? null : toBuffer(summary.upper),
});
