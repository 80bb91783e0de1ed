import type { Json, JsonObject } from '#shared/json.ts';
import { invalid, type IcebergType } from './type.ts';

/** Avro schemas of manifest lists and manifests, format versions 2 and 3, under the names that Iceberg's Java library gives them. */

type FieldOf = (name: string, id: number, type: Json) => JsonObject;

const required: FieldOf = (name, id, type) => ({ name, type, 'field-id': id });
const optional: FieldOf = (name, id, type) => ({ name, type: ['null', type], default: null, 'field-id': id });

/** Returns the schema of a map with integer keys in Iceberg's Avro form. */
const integerMap = (keyId: number, valueId: number, value: string): JsonObject => ({
  type: 'array',
  logicalType: 'map',
  items: {
    type: 'record',
    name: `k${keyId}_v${valueId}`,
    fields: [required('key', keyId, 'int'), required('value', valueId, value)],
  },
});

const list = (elementId: number, items: Json): JsonObject => ({ type: 'array', items, 'element-id': elementId });

export type PartitionColumn = { readonly fieldId: number; readonly name: string; readonly type: IcebergType };

/** Format versions that can be written. */
export type WrittenVersion = 2 | 3;

export const manifestSchema = (partition: readonly PartitionColumn[], formatVersion: WrittenVersion): JsonObject => ({
  type: 'record',
  name: 'manifest_entry',
  fields: [
    required('status', 0, 'int'),
    optional('snapshot_id', 1, 'long'),
    optional('sequence_number', 3, 'long'),
    optional('file_sequence_number', 4, 'long'),
    required('data_file', 2, {
      type: 'record',
      name: 'r2',
      fields: [
        required('content', 134, 'int'),
        required('file_path', 100, 'string'),
        required('file_format', 101, 'string'),
        required('partition', 102, {
          type: 'record',
          name: 'r102',
          fields: partition.map((column) =>
            optional(avroName(column.name), column.fieldId, avroType(column.type, column.fieldId)),
          ),
        }),
        required('record_count', 103, 'long'),
        required('file_size_in_bytes', 104, 'long'),
        optional('column_sizes', 108, integerMap(117, 118, 'long')),
        optional('value_counts', 109, integerMap(119, 120, 'long')),
        optional('null_value_counts', 110, integerMap(121, 122, 'long')),
        optional('nan_value_counts', 137, integerMap(138, 139, 'long')),
        optional('lower_bounds', 125, integerMap(126, 127, 'bytes')),
        optional('upper_bounds', 128, integerMap(129, 130, 'bytes')),
        optional('key_metadata', 131, 'bytes'),
        optional('split_offsets', 132, list(133, 'long')),
        optional('equality_ids', 135, list(136, 'int')),
        optional('sort_order_id', 140, 'int'),
        ...(formatVersion === 2 ? [] : [optional('first_row_id', 142, 'long')]),
        optional('referenced_data_file', 143, 'string'),
        ...(formatVersion === 2
          ? []
          : [optional('content_offset', 144, 'long'), optional('content_size_in_bytes', 145, 'long')]),
      ],
    }),
  ],
});

export const manifestListSchema = (formatVersion: WrittenVersion): JsonObject => ({
  type: 'record',
  name: 'manifest_file',
  fields: [
    required('manifest_path', 500, 'string'),
    required('manifest_length', 501, 'long'),
    required('partition_spec_id', 502, 'int'),
    required('content', 517, 'int'),
    required('sequence_number', 515, 'long'),
    required('min_sequence_number', 516, 'long'),
    required('added_snapshot_id', 503, 'long'),
    required('added_files_count', 504, 'int'),
    required('existing_files_count', 505, 'int'),
    required('deleted_files_count', 506, 'int'),
    required('added_rows_count', 512, 'long'),
    required('existing_rows_count', 513, 'long'),
    required('deleted_rows_count', 514, 'long'),
    optional(
      'partitions',
      507,
      list(508, {
        type: 'record',
        name: 'r508',
        fields: [
          required('contains_null', 509, 'boolean'),
          optional('contains_nan', 518, 'boolean'),
          optional('lower_bound', 510, 'bytes'),
          optional('upper_bound', 511, 'bytes'),
        ],
      }),
    ),
    optional('key_metadata', 519, 'bytes'),
    ...(formatVersion === 2 ? [] : [optional('first_row_id', 520, 'long')]),
  ],
});

const AVRO_TYPES: Readonly<Record<string, Json>> = {
  boolean: 'boolean',
  int: 'int',
  long: 'long',
  float: 'float',
  double: 'double',
  date: { type: 'int', logicalType: 'date' },
  time: { type: 'long', logicalType: 'time-micros' },
  timestamp: { type: 'long', logicalType: 'timestamp-micros', 'adjust-to-utc': false },
  timestamptz: { type: 'long', logicalType: 'timestamp-micros', 'adjust-to-utc': true },
  timestamp_ns: { type: 'long', logicalType: 'timestamp-nanos', 'adjust-to-utc': false },
  timestamptz_ns: { type: 'long', logicalType: 'timestamp-nanos', 'adjust-to-utc': true },
  string: 'string',
  binary: 'bytes',
};

function avroType(type: IcebergType, fieldId: number): Json {
  if (type.kind === 'uuid') return { type: 'fixed', name: `uuid_${fieldId}`, size: 16, logicalType: 'uuid' };
  if (type.kind === 'fixed') return { type: 'fixed', name: `fixed_${fieldId}`, size: type.length };
  if (type.kind === 'decimal') {
    const { precision, scale } = type;
    const size = decimalBytes(precision);
    return { type: 'fixed', name: `decimal_${fieldId}`, size, logicalType: 'decimal', precision, scale };
  }
  const found = AVRO_TYPES[type.kind];
  if (found === undefined) throw invalid(`a ${type.kind} is no partition value`);
  return found;
}

/** Returns the size of a fixed that holds every unscaled value of a precision (Iceberg's and Parquet's rule). */
export const decimalBytes = (precision: number): number => Math.ceil((precision * Math.log2(10) + 1) / 8);

/** Returns a name that Avro accepts: other characters become `_x` and their code, as in Iceberg's Java library. */
function avroName(name: string): string {
  const clean = name.replace(/[^A-Za-z0-9_]/gu, (c) => `_x${(c.codePointAt(0) ?? 0).toString(16).toUpperCase()}`);
  return /^[A-Za-z_]/.test(clean) ? clean : `_${clean}`;
}
