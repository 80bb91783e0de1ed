import { SkeinError } from '#shared/error.ts';
import { FileNotFound, type FileIo } from '#shared/storage/file-io.ts';
import { AvroSpan, type Wanted } from './avro/compile-avro.ts';
import { readAvroFile } from './avro/read-container.ts';
import { integerOfBytes } from './big-endian.ts';
import type { ColumnStats } from './may-match.ts';
import type { PartitionSpec } from './partition-spec.ts';
import type { Literal } from './predicate.ts';
import { decodeBound, uuidBytes } from './single-value.ts';
import { resultType } from './transform.ts';
import { invalid, type IcebergType } from './type.ts';

/** Manifest lists and manifests of the Iceberg specification, format versions 1 to 3, as data. */

export type ManifestFile = {
  readonly path: string;
  readonly lengthBytes: number;
  readonly specId: number;
  readonly content: 'data' | 'deletes';
  readonly sequenceNumber: bigint;
  readonly minSequenceNumber: bigint;
  readonly addedSnapshotId: bigint;
  /** Undefined in files of format version 1 that leave them out. */
  readonly addedFiles: number | undefined;
  readonly existingFiles: number | undefined;
  readonly deletedFiles: number | undefined;
  readonly addedRows: number | undefined;
  readonly existingRows: number | undefined;
  readonly deletedRows: number | undefined;
  /** One per field of the spec; undefined when the writer left them out. */
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

/** Largest manifest or manifest list. */
const MANIFEST_BYTES_MAX = 256 * 2 ** 20;
/** Memory of a parsed entry beside the bytes that it refers to, roughly. */
const ENTRY_BYTES = 1_000;

const LIST: Wanted = {
  path: { id: 500 },
  lengthBytes: { id: 501 },
  specId: { id: 502 },
  content: { id: 517 },
  sequenceNumber: { id: 515 },
  minSequenceNumber: { id: 516 },
  addedSnapshotId: { id: 503 },
  addedFiles: { id: 504 },
  existingFiles: { id: 505 },
  deletedFiles: { id: 506 },
  addedRows: { id: 512 },
  existingRows: { id: 513 },
  deletedRows: { id: 514 },
  partitions: {
    id: 507,
    fields: { containsNull: { id: 509 }, containsNan: { id: 518 }, lower: { id: 510 }, upper: { id: 511 } },
  },
  keyMetadata: { id: 519 },
  firstRowId: { id: 520 },
};

const ENTRY: Wanted = {
  status: { id: 0 },
  snapshotId: { id: 1 },
  sequenceNumber: { id: 3 },
  fileSequenceNumber: { id: 4 },
  file: {
    id: 2,
    fields: {
      content: { id: 134 },
      path: { id: 100 },
      format: { id: 101 },
      partition: { id: 102, as: 'map' },
      recordCount: { id: 103 },
      sizeBytes: { id: 104 },
      columnSizes: { id: 108, as: 'span' },
      valueCounts: { id: 109, as: 'span' },
      nullCounts: { id: 110, as: 'span' },
      nanCounts: { id: 137, as: 'span' },
      lower: { id: 125, as: 'span' },
      upper: { id: 128, as: 'span' },
      keyMetadata: { id: 131 },
      splitOffsets: { id: 132 },
      equalityIds: { id: 135 },
      sortOrderId: { id: 140 },
      firstRowId: { id: 142 },
      referencedDataFile: { id: 143 },
      contentOffset: { id: 144 },
      contentSizeBytes: { id: 145 },
    },
  },
};

const PATHS: Wanted = { file: { id: 2, fields: { path: { id: 100 } } } };

type Raw = Readonly<Record<string, unknown>>;

/** @throws INVALID_TABLE_DATA when the file is missing, too large or no manifest list. */
export async function readManifestList(
  io: FileIo,
  location: string,
): Promise<{ readonly value: readonly ManifestFile[]; readonly bytes: number }> {
  const { rows, decodedBytes } = await readAvroFile<Raw>(await readWhole(io, location), LIST);
  return { value: rows.map(toManifestFile), bytes: decodedBytes + rows.length * ENTRY_BYTES };
}

/**
 * Reads a manifest's entries; what they leave out is inherited from its entry in the list (specification, "Sequence Number
 * Inheritance", "First Row ID Inheritance").
 * @param sourceType the type of a column by id, for partition values
 * @throws INVALID_TABLE_DATA when the file is missing, too large or no manifest.
 */
export async function readManifest(
  io: FileIo,
  manifest: ManifestFile,
  spec: PartitionSpec,
  sourceType: (fieldId: number) => IcebergType | undefined,
): Promise<{ readonly value: readonly ManifestEntry[]; readonly bytes: number }> {
  const { rows, decodedBytes } = await readAvroFile<Raw>(await readWhole(io, manifest.path), ENTRY);
  const types = spec.fields.map(({ transform, sourceId }) => resultType(transform, sourceType(sourceId) ?? UNKNOWN));
  let nextRowId = manifest.content === 'data' ? manifest.firstRowId : undefined;
  const value = rows.map((row) => {
    const entry = toEntry(row, manifest, spec, types);
    if (nextRowId === undefined || entry.status === 'deleted' || entry.file.firstRowId !== undefined) return entry;
    const firstRowId = nextRowId;
    nextRowId += BigInt(entry.file.recordCount);
    return { ...entry, file: { ...entry.file, firstRowId } };
  });
  return { value, bytes: decodedBytes + rows.length * ENTRY_BYTES };
}

/** The paths of all files that a manifest names, live or deleted. @throws INVALID_TABLE_DATA */
export async function readManifestPaths(io: FileIo, location: string): Promise<readonly string[]> {
  const { rows } = await readAvroFile<Raw>(await readWhole(io, location), PATHS);
  return rows.map(({ file }) => text((file as Raw | null)?.['path'], 'file_path'));
}

/** What a file's entry knows of a column, each part decoded when it is asked; bounds as values of `type`. */
export function columnStats(stats: FileStats, fieldId: number, type: IcebergType | undefined): ColumnStats {
  return {
    get lower() {
      return bound(type, stats.lower?.find(fieldId));
    },
    get upper() {
      return bound(type, stats.upper?.find(fieldId));
    },
    get nullCount() {
      return count(stats.nullCounts?.find(fieldId));
    },
    get valueCount() {
      return count(stats.valueCounts?.find(fieldId));
    },
    get nanCount() {
      return count(stats.nanCounts?.find(fieldId));
    },
  };
}

const UNKNOWN: IcebergType = { kind: 'unknown' };

const bound = (type: IcebergType | undefined, bytes: unknown): Literal | undefined =>
  type !== undefined && bytes instanceof Uint8Array ? decodeBound(type, bytes) : undefined;

const count = (value: unknown): number | undefined => (typeof value === 'number' && value >= 0 ? value : undefined);

async function readWhole(io: FileIo, location: string): Promise<Uint8Array> {
  try {
    const sizeBytes = await io.sizeBytes(location);
    if (sizeBytes > MANIFEST_BYTES_MAX)
      throw invalid(`manifest ${location} is larger than ${MANIFEST_BYTES_MAX} bytes`);
    return await io.read(location);
  } catch (error) {
    if (error instanceof FileNotFound) throw invalid(`manifest ${location} is missing`);
    throw error;
  }
}

function toManifestFile(row: Raw): ManifestFile {
  refuseEncrypted(row);
  return {
    path: text(row['path'], 'manifest_path'),
    lengthBytes: integer(row['lengthBytes'], 'manifest_length'),
    specId: integer(row['specId'] ?? 0, 'partition_spec_id'),
    content: row['content'] === 1 ? 'deletes' : 'data',
    sequenceNumber: long(row['sequenceNumber']) ?? 0n,
    minSequenceNumber: long(row['minSequenceNumber']) ?? 0n,
    addedSnapshotId: long(row['addedSnapshotId']) ?? 0n,
    addedFiles: count(row['addedFiles']),
    existingFiles: count(row['existingFiles']),
    deletedFiles: count(row['deletedFiles']),
    addedRows: count(row['addedRows']),
    existingRows: count(row['existingRows']),
    deletedRows: count(row['deletedRows']),
    partitions: Array.isArray(row['partitions']) ? (row['partitions'] as readonly Raw[]).map(toSummary) : undefined,
    firstRowId: long(row['firstRowId']),
  };
}

const toSummary = (row: Raw): PartitionSummary => ({
  containsNull: row['containsNull'] !== false,
  containsNan: typeof row['containsNan'] === 'boolean' ? row['containsNan'] : undefined,
  lower: row['lower'] instanceof Uint8Array ? row['lower'] : undefined,
  upper: row['upper'] instanceof Uint8Array ? row['upper'] : undefined,
});

const STATUS = ['existing', 'added', 'deleted'] as const;
const CONTENT = ['data', 'position-deletes', 'equality-deletes'] as const;

function toEntry(
  row: Raw,
  manifest: ManifestFile,
  spec: PartitionSpec,
  types: readonly (IcebergType | undefined)[],
): ManifestEntry {
  const status = STATUS[integer(row['status'], 'status')];
  const file = row['file'] as Raw | null | undefined;
  if (status === undefined || file === null || file === undefined) throw invalid('a manifest entry has no file');
  const sequenceNumber = long(row['sequenceNumber']) ?? manifest.sequenceNumber;
  return {
    status,
    snapshotId: long(row['snapshotId']) ?? manifest.addedSnapshotId,
    sequenceNumber,
    fileSequenceNumber: long(row['fileSequenceNumber']) ?? manifest.sequenceNumber,
    file: toDataFile(file, spec, types),
  };
}

function toDataFile(row: Raw, spec: PartitionSpec, types: readonly (IcebergType | undefined)[]): DataFile {
  refuseEncrypted(row);
  const content = CONTENT[integer(row['content'] ?? 0, 'content')];
  if (content === undefined) throw invalid('a file has an unknown content');
  return {
    content,
    path: text(row['path'], 'file_path'),
    format: text(row['format'], 'file_format').toLowerCase(),
    specId: spec.specId,
    partition: toPartition(row['partition'], spec, types),
    recordCount: integer(row['recordCount'], 'record_count'),
    sizeBytes: integer(row['sizeBytes'], 'file_size_in_bytes'),
    stats: {
      columnSizes: toSpan(row['columnSizes']),
      valueCounts: toSpan(row['valueCounts']),
      nullCounts: toSpan(row['nullCounts']),
      nanCounts: toSpan(row['nanCounts']),
      lower: toSpan(row['lower']),
      upper: toSpan(row['upper']),
    },
    splitOffsets: integers(row['splitOffsets'], 'split_offsets'),
    equalityIds: integers(row['equalityIds'], 'equality_ids'),
    sortOrderId: count(row['sortOrderId']),
    firstRowId: long(row['firstRowId']),
    referencedDataFile: typeof row['referencedDataFile'] === 'string' ? row['referencedDataFile'] : undefined,
    contentOffset: count(row['contentOffset']),
    contentSizeBytes: count(row['contentSizeBytes']),
  };
}

/** Values by partition field id; in files without ids, by position. */
function toPartition(
  raw: unknown,
  spec: PartitionSpec,
  types: readonly (IcebergType | undefined)[],
): readonly (Literal | null)[] {
  const values =
    raw instanceof Map ? (raw as ReadonlyMap<number | string, unknown>) : new Map<number | string, unknown>();
  const byPosition = [...values.values()];
  const hasIds = [...values.keys()].every((key) => typeof key === 'number');
  return spec.fields.map((field, index) =>
    partitionValue(hasIds ? values.get(field.fieldId) : byPosition[index], types[index]),
  );
}

/** Avro writes integers, dates and times as numbers, decimals as bytes, uuids as fixed or text. */
function partitionValue(raw: unknown, type: IcebergType | undefined): Literal | null {
  if (raw === null || raw === undefined) return null;
  if (raw instanceof Uint8Array) return type?.kind === 'decimal' ? integerOfBytes(raw) : raw;
  if (typeof raw === 'number') {
    return type?.kind === 'float' || type?.kind === 'double' ? raw : BigInt(integer(raw, 'a partition value'));
  }
  if (typeof raw === 'string') return type?.kind === 'uuid' ? uuidBytes(raw) : raw;
  if (typeof raw === 'bigint' || typeof raw === 'boolean') return raw;
  throw invalid('a partition value is not a single value');
}

function refuseEncrypted(row: Raw): void {
  if (row['keyMetadata'] instanceof Uint8Array && row['keyMetadata'].length > 0) {
    throw new SkeinError('NOT_SUPPORTED', 'encrypted Iceberg tables are not supported');
  }
}

function long(value: unknown): bigint | undefined {
  return typeof value === 'bigint' || Number.isInteger(value) ? BigInt(value as number | bigint) : undefined;
}

function integer(value: unknown, what: string): number {
  if (typeof value === 'number' && Number.isInteger(value)) return value;
  throw invalid(`${what} is not an integer`);
}

function text(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  throw invalid(`${what} is not a text`);
}

const integers = (value: unknown, what: string): readonly number[] =>
  Array.isArray(value) ? (value as readonly unknown[]).map((one) => integer(one, what)) : [];

const toSpan = (value: unknown): AvroSpan | undefined => (value instanceof AvroSpan ? value : undefined);
