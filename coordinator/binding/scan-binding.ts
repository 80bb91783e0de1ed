import type { ScanColumn } from '#shared/iceberg/scan-file.ts';
import type { Field } from '#shared/iceberg/type.ts';
import type { Predicate } from '#shared/iceberg/predicate.ts';
import type { StorageCredential } from '#shared/storage/credential.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';
import type { TablePolicies } from './table-policies.ts';
import type { TableName } from './table-source.ts';

/** A table as one statement reads it, before its files are pruned: names bound, snapshot and schema fixed. */
export type ScanBinding = {
  readonly kind: 'iceberg';
  readonly name: TableName;
  /** `catalog.namespace.table`, for messages and EXPLAIN only. */
  readonly tableName: string;
  readonly tableUuid: string;
  /** Version of the metadata; no other document has the same. */
  readonly version: string;
  /** Parsed once per version and shared; never changed. */
  readonly metadata: TableMetadata;
  /** Decimal int64; null for a table without a snapshot. */
  readonly snapshotId: string | null;
  /** The current schema; with time travel that of the snapshot. */
  readonly schemaId: number;
  /** Address columns that the query reads; they stand behind the columns of the schema. */
  readonly addresses: readonly Field[];
  /** Every column of the schema, in its order: the statement's text may name any of them; DuckDB reads what it needs. */
  readonly columns: readonly ScanColumn[];
  /** Field ids of the columns that the statement's text may name, those of `readFieldIds` among them; null = all. */
  readonly namedFieldIds: readonly number[] | null;
  /** Field ids of the columns that the optimised plan reads; none for a bare `count(*)`, all when there is no plan. */
  readonly readFieldIds: readonly number[];
  /** Weaker than or equal to what the query keeps; for partitions, files and row groups. */
  readonly predicate: Predicate;
  /** Any so many rows will do; absent = all are read. */
  readonly rowsMax?: number;
  readonly allowedRoots: readonly string[];
  /** The right to read the files below these roots. */
  readonly credential: StorageCredential;
  /** Rows by the snapshot's summary, deletes taken off; null when the summary does not say. */
  readonly rowCount: number | null;
  readonly policies: TablePolicies;
  /** Only files of a higher data sequence number are read (decimal int64); absent = all. */
  readonly addedAfter?: string;
};
