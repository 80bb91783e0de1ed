import { setImmediate } from 'node:timers/promises';
import { SkeinError, type ErrorCode } from '#shared/error.ts';
import { FileNotFound, FileTooLarge, type FileReader } from '#shared/storage/storage.ts';
import { AvroSpan, type Wanted } from './avro/compile-avro.ts';
import { readAvroFile, type AvroBatch } from './avro/read-container.ts';
import { integerOfBytes } from './big-endian.ts';
import { tooComplex, type DecodeLimits } from './decode-limits.ts';
import type { DataFile, ManifestEntry, ManifestFile, PartitionSummary } from './manifest.ts';
import type { PartitionSpec } from './partition-spec.ts';
import type { Literal } from './predicate.ts';
import { uuidBytes } from './single-value.ts';
import { resultType } from './transform.ts';
import { invalid, type IcebergType } from './type.ts';

/** Reads manifest lists and manifests, whose bytes are untrusted: within limits, in batches, and with the file named in each error. */

/** Approximate memory of a parsed entry, without the bytes that it refers to. */
const ENTRY_BYTES = 1_000;
/** Maximum number of manifests of one list: all of them are held in memory at once. */
const MANIFESTS_MAX = 250_000;

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

/** @throws INVALID_TABLE_DATA when the file is missing or not a manifest list; TABLE_DATA_TOO_COMPLEX beyond a limit */
export async function readManifestList(
  io: FileReader,
  location: string,
  limits: DecodeLimits,
): Promise<{ readonly value: readonly ManifestFile[]; readonly bytes: number }> {
  const rowsMax = Math.min(MANIFESTS_MAX, limits.rowsMax);
  const value: ManifestFile[] = [];
  let bytes = 0;
  for await (const batch of readBatches(io, location, LIST, { ...limits, rowsMax })) {
    bytes += batch.bytes + batch.rows.length * ENTRY_BYTES;
    for (const row of batch.rows) value.push(toManifestFile(row));
  }
  return { value, bytes };
}

/** Some entries of a manifest; `bytes` is their approximate memory. */
export type EntryBatch = { readonly entries: readonly ManifestEntry[]; readonly bytes: number };

/**
 * Reads a manifest's entries; omitted values are inherited from the manifest's entry in the list (specification, "Sequence Number
 * Inheritance", "First Row ID Inheritance").
 * @param sourceType returns the type of a column by id, for partition values
 * @throws INVALID_TABLE_DATA when the file is missing or not a manifest; TABLE_DATA_TOO_COMPLEX beyond a limit
 */
export async function* readManifest(
  io: FileReader,
  manifest: ManifestFile,
  spec: PartitionSpec,
  sourceType: (fieldId: number) => IcebergType | undefined,
  limits: DecodeLimits,
): AsyncGenerator<EntryBatch, void> {
  const types = spec.fields.map(({ transform, sourceId }) => resultType(transform, sourceType(sourceId) ?? UNKNOWN));
  let nextRowId = manifest.content === 'data' ? manifest.firstRowId : undefined;
  for await (const { rows, bytes } of readBatches(io, manifest.path, ENTRY, limits)) {
    const entries = rows.map((row) => {
      const entry = toEntry(row, manifest, spec, types);
      if (nextRowId === undefined || entry.status === 'deleted' || entry.file.firstRowId !== undefined) return entry;
      const firstRowId = nextRowId;
      nextRowId += BigInt(entry.file.recordCount);
      return { ...entry, file: { ...entry.file, firstRowId } };
    });
    yield { entries, bytes: bytes + rows.length * ENTRY_BYTES };
  }
}

/** Yields the paths of all files that a manifest names, live or deleted. @throws as `readManifest` does */
export async function* readManifestPaths(
  io: FileReader,
  location: string,
  limits: DecodeLimits,
): AsyncGenerator<readonly string[], void> {
  for await (const { rows } of readBatches(io, location, PATHS, limits)) {
    yield rows.map(({ file }) => text(isRecord(file) ? file['path'] : undefined, 'file_path'));
  }
}

const UNKNOWN: IcebergType = { kind: 'unknown' };

/** Yields the rows of a file in batches, with a turn of the event loop between two of them. */
async function* readBatches(
  io: FileReader,
  location: string,
  wanted: Wanted,
  limits: DecodeLimits,
): AsyncGenerator<AvroBatch<Raw>, void> {
  try {
    for (const batch of readAvroFile<Raw>(await readWhole(io, location, limits), wanted, limits)) {
      yield batch;
      await setImmediate();
    }
  } catch (error) {
    throw naming(location, error);
  }
}

/** Returns the error with the file's location added. */
function naming(location: string, error: unknown): unknown {
  if (!(error instanceof SkeinError) || !FILE_ERRORS.has(error.code)) return error;
  return new SkeinError(error.code, `${location}: ${error.message}`, { cause: error.cause });
}

const FILE_ERRORS: ReadonlySet<ErrorCode> = new Set(['INVALID_TABLE_DATA', 'TABLE_DATA_TOO_COMPLEX', 'NOT_SUPPORTED']);

async function readWhole(io: FileReader, location: string, { blockBytesMax }: DecodeLimits): Promise<Uint8Array> {
  try {
    return await io.read(location, blockBytesMax);
  } catch (error) {
    if (error instanceof FileNotFound) throw invalid('the manifest is missing');
    if (error instanceof FileTooLarge) throw tooComplex(`it is larger than ${blockBytesMax} bytes`);
    throw error;
  }
}

function toManifestFile(row: Raw): ManifestFile {
  refuseEncrypted(row);
  return {
    path: text(row['path'], 'manifest_path'),
    lengthBytes: size(row['lengthBytes'], 'manifest_length'),
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
    partitions: Array.isArray(row['partitions']) ? (row['partitions'] as readonly unknown[]).map(toSummary) : undefined,
    firstRowId: long(row['firstRowId']),
  };
}

function toSummary(row: unknown): PartitionSummary {
  if (!isRecord(row)) throw invalid('a partition summary is not a record');
  return {
    containsNull: row['containsNull'] !== false,
    containsNan: typeof row['containsNan'] === 'boolean' ? row['containsNan'] : undefined,
    lower: row['lower'] instanceof Uint8Array ? row['lower'] : undefined,
    upper: row['upper'] instanceof Uint8Array ? row['upper'] : undefined,
  };
}

const STATUS = ['existing', 'added', 'deleted'] as const;
const CONTENT = ['data', 'position-deletes', 'equality-deletes'] as const;

function toEntry(
  row: Raw,
  manifest: ManifestFile,
  spec: PartitionSpec,
  types: readonly (IcebergType | undefined)[],
): ManifestEntry {
  const status = STATUS[integer(row['status'], 'status')];
  const { file } = row;
  if (status === undefined || !isRecord(file)) throw invalid('a manifest entry has no file');
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
    recordCount: size(row['recordCount'], 'record_count'),
    sizeBytes: size(row['sizeBytes'], 'file_size_in_bytes'),
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

/** Returns the partition values by field id; in files without ids, by position. */
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
  if (raw instanceof Uint8Array) return type?.kind === 'decimal' ? decimalOf(raw) : raw;
  if (typeof raw === 'number') {
    return type?.kind === 'float' || type?.kind === 'double' ? raw : BigInt(integer(raw, 'a partition value'));
  }
  if (typeof raw === 'string') return type?.kind === 'uuid' ? uuidBytes(raw) : raw;
  if (typeof raw === 'bigint' || typeof raw === 'boolean') return raw;
  throw invalid('a partition value is not a single value');
}

function decimalOf(bytes: Uint8Array): bigint {
  if (bytes.length > DECIMAL_BYTES_MAX) throw invalid('a decimal is too long');
  return integerOfBytes(bytes);
}

/** The widest decimal has 38 digits; some writers pad it. */
const DECIMAL_BYTES_MAX = 32;

/** Whether a value is a decoded record whose fields were wanted by name. */
const isRecord = (value: unknown): value is Raw =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

function refuseEncrypted(row: Raw): void {
  if (row['keyMetadata'] instanceof Uint8Array && row['keyMetadata'].length > 0) {
    throw new SkeinError('NOT_SUPPORTED', 'encrypted Iceberg tables are not supported');
  }
}

function long(value: unknown): bigint | undefined {
  return typeof value === 'bigint' || Number.isSafeInteger(value) ? BigInt(value as number | bigint) : undefined;
}

function integer(value: unknown, what: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw invalid(`${what} is not an integer`);
}

function size(value: unknown, what: string): number {
  const found = integer(value, what);
  if (found < 0) throw invalid(`${what} is negative`);
  return found;
}

const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

function text(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  throw invalid(`${what} is not a text`);
}

const integers = (value: unknown, what: string): readonly number[] =>
  Array.isArray(value) ? (value as readonly unknown[]).map((one) => integer(one, what)) : [];

const toSpan = (value: unknown): AvroSpan | undefined => (value instanceof AvroSpan ? value : undefined);
