import type { Json, JsonObject } from '#shared/json.ts';

/**
 * Iceberg table metadata (table spec, "Table Metadata Fields"), format versions 1 to 3, under the names of its JSON form, so that
 * reading and writing are `parseJson` and `printJson`. A document is in this shape only after `parseTableDocument` or after it was built
 * here: all lists are present, ids are known to be integers.
 */

/** An int64 as `parseJson` gives it: a `number` while exact, else a `bigint`; so equal values are `===`, and `<` compares across. */
export type Long = number | bigint;

export type TableDocument = {
  readonly 'format-version': number;
  readonly 'table-uuid': string;
  readonly location: string;
  /** Absent in version 1. */
  readonly 'last-sequence-number'?: Long;
  readonly 'last-updated-ms': number;
  readonly 'last-column-id': number;
  /** Version 1 only: the current schema once more, for old readers. */
  readonly schema?: DocumentSchema;
  readonly 'current-schema-id': number;
  readonly schemas: readonly DocumentSchema[];
  /** Version 1 only: the fields of the default spec once more, for old readers. */
  readonly 'partition-spec'?: readonly PartitionField[];
  readonly 'default-spec-id': number;
  readonly 'partition-specs': readonly PartitionSpec[];
  readonly 'last-partition-id': number;
  readonly 'default-sort-order-id': number;
  readonly 'sort-orders': readonly SortOrder[];
  readonly properties: Properties;
  /** -1 without a current snapshot (null from version 3 on). */
  readonly 'current-snapshot-id': Long | null;
  /** Version 3: the row id that the next added row gets. */
  readonly 'next-row-id'?: Long;
  readonly 'encryption-keys'?: readonly EncryptionKey[];
  readonly refs: { readonly [name: string]: SnapshotRef };
  readonly snapshots: readonly Snapshot[];
  readonly statistics: readonly StatisticsFile[];
  readonly 'partition-statistics': readonly StatisticsFile[];
  readonly 'snapshot-log': readonly SnapshotLogEntry[];
  readonly 'metadata-log': readonly MetadataLogEntry[];
};

export type Properties = { readonly [name: string]: string };

export type Field = {
  readonly id: number;
  readonly name: string;
  readonly required: boolean;
  readonly type: Type;
  readonly doc?: string;
  readonly 'initial-default'?: Json;
  readonly 'write-default'?: Json;
};
export type StructType = { readonly type: 'struct'; readonly fields: readonly Field[] };
export type ListType = {
  readonly type: 'list';
  readonly 'element-id': number;
  readonly element: Type;
  readonly 'element-required': boolean;
};
export type MapType = {
  readonly type: 'map';
  readonly 'key-id': number;
  readonly key: Type;
  readonly 'value-id': number;
  readonly value: Type;
  readonly 'value-required': boolean;
};
/** A string is a primitive type in its canonical spelling, or `variant`. */
export type Type = string | StructType | ListType | MapType;
export type DocumentSchema = StructType & {
  readonly 'schema-id': number;
  readonly 'identifier-field-ids'?: readonly number[];
};

export type PartitionField = {
  readonly name: string;
  readonly transform: string;
  readonly 'source-id': number;
  readonly 'field-id': number;
};
export type PartitionSpec = { readonly 'spec-id': number; readonly fields: readonly PartitionField[] };

export type SortField = {
  readonly transform: string;
  readonly 'source-id': number;
  readonly direction: 'asc' | 'desc';
  readonly 'null-order': 'nulls-first' | 'nulls-last';
};
export type SortOrder = { readonly 'order-id': number; readonly fields: readonly SortField[] };

export type Snapshot = {
  readonly 'snapshot-id': Long;
  readonly 'parent-snapshot-id'?: Long;
  /** 0 when absent (version 1). */
  readonly 'sequence-number'?: Long;
  readonly 'timestamp-ms': number;
  readonly 'manifest-list'?: string;
  /** Version 1, instead of a manifest list. */
  readonly manifests?: readonly string[];
  readonly summary?: Properties;
  readonly 'schema-id'?: number;
  readonly 'first-row-id'?: Long;
  readonly 'added-rows'?: Long;
  readonly 'key-id'?: string;
};

export type SnapshotRef = {
  readonly 'snapshot-id': Long;
  readonly type: 'branch' | 'tag';
  readonly 'min-snapshots-to-keep'?: number;
  readonly 'max-snapshot-age-ms'?: Long;
  readonly 'max-ref-age-ms'?: Long;
};

/** A statistics or partition statistics file: only the snapshot and the path matter to a catalog. */
export type StatisticsFile = JsonObject & { readonly 'snapshot-id': Long; readonly 'statistics-path': string };
export type EncryptionKey = JsonObject & { readonly 'key-id': string };
export type SnapshotLogEntry = { readonly 'timestamp-ms': number; readonly 'snapshot-id': Long };
export type MetadataLogEntry = { readonly 'timestamp-ms': number; readonly 'metadata-file': string };

export const MAIN_BRANCH = 'main';
export const FORMAT_VERSION_DEFAULT = 2;
export const FORMAT_VERSION_MAX = 3;
/** Partition field ids start one above. */
export const PARTITION_ID_START = 999;

/** The snapshot id, or undefined for a table without data. */
export function currentSnapshotId(metadata: Pick<TableDocument, 'current-snapshot-id'>): Long | undefined {
  const id = metadata['current-snapshot-id'];
  return id === null || id === -1 ? undefined : id;
}

export const sequenceNumber = (snapshot: Snapshot): Long => snapshot['sequence-number'] ?? 0;

/** `a + b` in the canonical form of `Long`. */
export function addLong(a: Long, b: Long): Long {
  const sum = BigInt(a) + BigInt(b);
  return sum <= BigInt(Number.MAX_SAFE_INTEGER) && sum >= BigInt(Number.MIN_SAFE_INTEGER) ? Number(sum) : sum;
}
