import { must } from '#shared/must.ts';
import { foldKeyword } from '#shared/sql/fold-identifier.ts';
import type { AvroSpan } from '../avro/compile-avro.ts';
import { toBuffer } from '../avro/write-container.ts';
import { bytesOfInteger } from '../big-endian.ts';
import { FILE_PATH_ID } from '../delete-index.ts';
import type { DataFile } from '../manifest.ts';
import type { PartitionSpec } from '../partition-spec.ts';
import type { Literal } from '../predicate.ts';
import type { Schema } from '../schema.ts';
import { resultType } from '../transform.ts';
import { invalid, walkFields, type IcebergType } from '../type.ts';
import type { NewDataFile, NewDeleteFile } from './data-file.ts';
import { decimalBytes, manifestSchema } from '../manifest-schema.ts';

/** The rows of manifests: what each file is, as Avro's writer takes it. */

/** Returns the types of a spec's partition values. @throws INVALID_TABLE_DATA when one is unknown */
export function partitionTypes(schema: Pick<Schema, 'fields'>, spec: PartitionSpec): readonly IcebergType[] {
  const byId = new Map([...walkFields(schema.fields)].map((field) => [field.id, field.type]));
  return spec.fields.map((field) => {
    const source = byId.get(field.sourceId);
    const type = source === undefined ? undefined : resultType(field.transform, source);
    if (type === undefined) throw invalid(`partition field ${field.name} has an unknown transform or column`);
    return type;
  });
}

export function partitionNames(schema: ReturnType<typeof manifestSchema>): readonly string[] {
  type Named = { readonly name: string; readonly type: { readonly fields?: readonly Named[] } };
  const entry = schema['fields'] as unknown as readonly Named[];
  const file = entry.find(({ name }) => name === 'data_file')?.type.fields;
  const partition = file?.find(({ name }) => name === 'partition')?.type.fields;
  return must(partition, 'a manifest has a partition').map(({ name }) => name);
}

export function partitionValue(type: IcebergType, value: Literal | null): unknown {
  if (value === null) return null;
  if (type.kind === 'decimal') return Buffer.from(bytesOfInteger(value as bigint, decimalBytes(type.precision)));
  if (value instanceof Uint8Array) return Buffer.from(value);
  return (type.kind === 'int' || type.kind === 'date') && typeof value === 'bigint' ? Number(value) : value;
}

export const toRow = (file: NewDataFile, partition: Readonly<Record<string, unknown>>): object => ({
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
  referenced_data_file: null,
  content_offset: null,
  content_size_in_bytes: null,
});

export const deleteRow = (file: NewDeleteFile, partition: Readonly<Record<string, unknown>>): object => ({
  content: CONTENTS.indexOf('position-deletes'),
  file_path: file.path,
  file_format: foldKeyword(file.format),
  partition,
  record_count: file.recordCount,
  file_size_in_bytes: file.sizeBytes,
  ...NO_STATISTICS,
  ...(file.format === 'puffin' ? {} : pathBounds(file.dataFile)),
  sort_order_id: null,
  first_row_id: null,
  referenced_data_file: file.dataFile,
  content_offset: file.content?.offset ?? null,
  content_size_in_bytes: file.content?.lengthBytes ?? null,
});

/** Both bounds of `file_path` are the path of the only data file: readers of format 2 find it by them. */
function pathBounds(dataFile: string): object {
  const bound = [{ key: FILE_PATH_ID, value: Buffer.from(dataFile) }];
  return { lower_bounds: bound, upper_bounds: bound };
}

export const CONTENTS: readonly DataFile['content'][] = ['data', 'position-deletes', 'equality-deletes'];

export const NO_STATISTICS = {
  column_sizes: null,
  value_counts: null,
  null_value_counts: null,
  nan_value_counts: null,
  lower_bounds: null,
  upper_bounds: null,
  key_metadata: null,
  split_offsets: null,
  equality_ids: null,
};

export const statisticsOf = ({ stats, splitOffsets }: DataFile): object => ({
  ...NO_STATISTICS,
  column_sizes: copied(stats.columnSizes),
  value_counts: copied(stats.valueCounts),
  null_value_counts: copied(stats.nullCounts),
  nan_value_counts: copied(stats.nanCounts),
  lower_bounds: copied(stats.lower),
  upper_bounds: copied(stats.upper),
  split_offsets: splitOffsets.length === 0 ? null : splitOffsets,
});

const copied = (span: AvroSpan | undefined): readonly object[] | null =>
  span === undefined
    ? null
    : [...span.pairs()].map(([key, value]) => ({ key, value: value instanceof Uint8Array ? toBuffer(value) : value }));

const pairs = <T>(map: ReadonlyMap<number, T>, change: (value: T) => unknown = (value) => value): readonly object[] =>
  [...map].map(([key, value]) => ({ key, value: change(value) }));
