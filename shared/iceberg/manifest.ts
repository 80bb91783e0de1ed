import type { AvroSpan } from './avro/compile-avro.ts';
import type { ColumnStats } from './may-match.ts';
import type { Literal } from './predicate.ts';
import { decodeBound } from './single-value.ts';
import type { IcebergType } from './type.ts';

/** Manifest lists and manifests of the Iceberg specification, format versions 1 to 3, as data; `read-manifest.ts` reads them. */

export type ManifestFile = {
  readonly path: string;
  readonly lengthBytes: number;
  readonly specId: number;
  readonly content: 'data' | 'deletes';
  readonly sequenceNumber: bigint;
  readonly minSequenceNumber: bigint;
  readonly addedSnapshotId: bigint;
  /** Undefined when a file of format version 1 leaves it out. */
  readonly addedFiles: number | undefined;
  readonly existingFiles: number | undefined;
  readonly deletedFiles: number | undefined;
  readonly addedRows: number | undefined;
  readonly existingRows: number | undefined;
  readonly deletedRows: number | undefined;
  /** One per field of the spec; undefined when the writer left it out. */
  readonly partitions: readonly PartitionSummary[] | undefined;
  /** Row lineage (version 3). */
  readonly firstRowId: bigint | undefined;
};

export type PartitionSummary = {
  readonly containsNull: boolean;
  readonly containsNan: boolean | undefined;
  readonly lower: Uint8Array | undefined;
  readonly upper: Uint8Array | undefined;
};

export type ManifestEntry = {
  readonly status: 'existing' | 'added' | 'deleted';
  readonly snapshotId: bigint;
  readonly sequenceNumber: bigint;
  readonly fileSequenceNumber: bigint;
  readonly file: DataFile;
};

/** A data or delete file. Counts of `stats` are per field id. */
export type DataFile = {
  readonly content: 'data' | 'position-deletes' | 'equality-deletes';
  readonly path: string;
  /** Lower case: parquet, avro, orc, puffin. */
  readonly format: string;
  readonly specId: number;
  /** One per field of the spec. */
  readonly partition: readonly (Literal | null)[];
  readonly recordCount: number;
  readonly sizeBytes: number;
  readonly stats: FileStats;
  readonly splitOffsets: readonly number[];
  readonly equalityIds: readonly number[];
  readonly sortOrderId: number | undefined;
  readonly firstRowId: bigint | undefined;
  readonly referencedDataFile: string | undefined;
  readonly contentOffset: number | undefined;
  readonly contentSizeBytes: number | undefined;
};

/** Statistics of a file, undecoded; `columnStats` reads one column's. */
export type FileStats = {
  readonly columnSizes: AvroSpan | undefined;
  readonly valueCounts: AvroSpan | undefined;
  readonly nullCounts: AvroSpan | undefined;
  readonly nanCounts: AvroSpan | undefined;
  readonly lower: AvroSpan | undefined;
  readonly upper: AvroSpan | undefined;
};

/** Returns a file's statistics of one column. Each part is decoded on first use; bounds are values of `type`. */
export function columnStats(stats: FileStats, fieldId: number, type: IcebergType | undefined): ColumnStats {
  const lower = once(() => bound(type, stats.lower?.find(fieldId)));
  const upper = once(() => bound(type, stats.upper?.find(fieldId)));
  const nullCount = once(() => count(stats.nullCounts?.find(fieldId)));
  const valueCount = once(() => count(stats.valueCounts?.find(fieldId)));
  const nanCount = once(() => count(stats.nanCounts?.find(fieldId)));
  return {
    get lower() {
      return lower();
    },
    get upper() {
      return upper();
    },
    get nullCount() {
      return nullCount();
    },
    get valueCount() {
      return valueCount();
    },
    get nanCount() {
      return nanCount();
    },
  };
}

/**
 * Returns the statistics of a column that may prune a file. That it holds no NaN counts only for a file of one row group: DuckDB 1.5.5 says so
 * when its last row group holds none, and Skein has put that into manifests, which do not tell who has written a file.
 */
export function pruningStats(
  { stats, splitOffsets }: Pick<DataFile, 'stats' | 'splitOffsets'>,
  fieldId: number,
  type: IcebergType | undefined,
): ColumnStats {
  const known = columnStats(stats, fieldId, type);
  if (splitOffsets.length === 1 || (type?.kind !== 'float' && type?.kind !== 'double')) return known;
  const { lower, upper, nullCount, valueCount, nanCount } = known;
  return { lower, upper, nullCount, valueCount, nanCount: nanCount === 0 ? undefined : nanCount };
}

/** Returns the steps of looking a column up in all of a file's statistics. */
export const statsSteps = ({ lower, upper, nullCounts, valueCounts, nanCounts }: FileStats): number =>
  (lower?.steps ?? 0) +
  (upper?.steps ?? 0) +
  (nullCounts?.steps ?? 0) +
  (valueCounts?.steps ?? 0) +
  (nanCounts?.steps ?? 0);

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

const bound = (type: IcebergType | undefined, bytes: unknown): Literal | undefined =>
  type !== undefined && bytes instanceof Uint8Array ? decodeBound(type, bytes) : undefined;

const count = (value: unknown): number | undefined => (typeof value === 'number' && value >= 0 ? value : undefined);
