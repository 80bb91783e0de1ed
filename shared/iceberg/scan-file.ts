import type { Json, JsonObject } from '../json.ts';

/** The files of a table as a scan reads them: what the coordinator plans, and its tasks carry. */

/** `type` is the Iceberg type in its JSON form (`"long"`, `"decimal(15,2)"`, `{"type":"struct",...}`). */
export type ScanColumn = {
  readonly fieldId: number;
  readonly name: string;
  readonly type: Json;
  readonly required: boolean;
  /** `initial-default`, JSON single-value form; null when absent. */
  readonly initialDefault: Json;
};

export type ScanFile = {
  readonly path: string;
  readonly recordCount: number;
  readonly sizeBytes: number;
  /** Rows `[start, end)` of the file that are this task's; null = all. */
  readonly rows: { readonly start: number; readonly end: number } | null;
  /** Identity-partition values by source field id, JSON single-value form: for columns that the file does not hold. */
  readonly constants: JsonObject;
  readonly deletes: readonly ScanDelete[];
  /** Ids of the fields of REAL and DOUBLE that hold no NaN, as the file's writer counted; absent = unknown. */
  readonly withoutNan?: readonly number[];
  /** v3 row lineage. */
  readonly firstRowId: string | null;
  /** Data sequence number, for a scan that reads `_last_updated_sequence_number`. */
  readonly sequenceNumber?: string;
  /** Partition values by the ids of the partition fields, JSON single-value form, for a scan that reads `_partition`. */
  readonly partition?: JsonObject;
  /** The partition spec of these values. */
  readonly specId?: number;
  /** Version of a stage's file: it is refused when another one has replaced it. */
  readonly etag?: string;
  /**
   * The task's part of a stage's file: the lines that begin in bytes `[start, end)`, or the groups of rows of Parquet at this share of all
   * rows. Absent = all.
   */
  readonly bytes?: ByteRange;
};

export type ByteRange = { readonly start: number; readonly end: number };

export type ScanDelete =
  | { readonly kind: 'position'; readonly path: string; readonly sizeBytes: number }
  | {
      readonly kind: 'equality';
      readonly path: string;
      readonly sizeBytes: number;
      readonly columns: readonly ScanColumn[];
    }
  | {
      readonly kind: 'vector';
      readonly path: string;
      readonly offset: number;
      readonly lengthBytes: number;
      readonly cardinality: number;
    };
