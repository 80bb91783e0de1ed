import type { DataFile, FileStats } from '#shared/iceberg/manifest.ts';
import type { PartitionSpec } from '#shared/iceberg/partition-spec.ts';
import type { PlannedEntry } from '#shared/iceberg/plan-files.ts';
import { literalToJson } from '#shared/iceberg/single-value.ts';
import { specById, type TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { resultType } from '#shared/iceberg/transform.ts';
import { printJson, type Json, type JsonObject } from '#shared/json.ts';
import type { PlannedScan } from '../metadata/plan-request.ts';

/** Maximum length of a filter that is repeated as the residual of every file. Without a residual a client applies its own filter. */
const RESIDUAL_LENGTH_MAX = 16 * 1024;

/**
 * Prints the files of a plan as `ScanTasks` of the REST specification, every delete file once. The residual is the whole filter: that may
 * check more than is needed, never less.
 */
export function scanTasksJson(
  entries: readonly PlannedEntry[],
  metadata: TableMetadata,
  scan: PlannedScan,
): JsonObject {
  const deletes = new Map<DataFile, number>();
  const specs = new Map<number, PartitionPrinter>();
  const content = (file: DataFile): JsonObject => {
    const print = specs.get(file.specId) ?? partitionPrinter(metadata, specById(metadata, file.specId));
    specs.set(file.specId, print);
    return contentFile(file, print);
  };
  const residual = printJson(scan.filter).length > RESIDUAL_LENGTH_MAX ? {} : { 'residual-filter': scan.filter };
  const tasks = entries.map(({ file, deletes: applied }): JsonObject => {
    const references = applied.map((one) => {
      const index = deletes.get(one) ?? deletes.size;
      deletes.set(one, index);
      return index;
    });
    return {
      'data-file': { ...content(file), ...dataMembers(file, scan.statsFieldIds) },
      ...(references.length === 0 ? {} : { 'delete-file-references': references }),
      ...residual,
    };
  });
  return {
    'delete-files': [...deletes.keys()].map((file) => ({ ...content(file), ...deleteMembers(file) })),
    'file-scan-tasks': tasks,
  };
}

type PartitionPrinter = (file: DataFile) => readonly Json[];

/** Returns a printer of partition values, in the order of the spec's fields; it prints null for a value without a single-value form. */
function partitionPrinter(metadata: TableMetadata, spec: PartitionSpec): PartitionPrinter {
  const types = spec.fields.map(({ transform, sourceId }) => {
    const source = metadata.fields.get(sourceId)?.type;
    return source === undefined ? undefined : resultType(transform, source);
  });
  return ({ partition }) =>
    types.map((type, i) => {
      const value = partition[i] ?? null;
      return type === undefined || value === null ? null : literalToJson(type, value);
    });
}

const contentFile = (file: DataFile, partition: PartitionPrinter): JsonObject => ({
  'spec-id': file.specId,
  content: file.content,
  'file-path': file.path,
  'file-format': file.format,
  partition: partition(file),
  'file-size-in-bytes': file.sizeBytes,
  'record-count': file.recordCount,
  ...(file.splitOffsets.length === 0 ? {} : { 'split-offsets': file.splitOffsets }),
  ...(file.sortOrderId === undefined ? {} : { 'sort-order-id': file.sortOrderId }),
});

const dataMembers = (file: DataFile, statsFieldIds: readonly number[]): JsonObject => ({
  ...(file.firstRowId === undefined ? {} : { 'first-row-id': file.firstRowId }),
  ...(statsFieldIds.length === 0 ? {} : statistics(file.stats, statsFieldIds)),
});

const deleteMembers = (file: DataFile): JsonObject => ({
  ...(file.content === 'equality-deletes' ? { 'equality-ids': file.equalityIds } : {}),
  ...(file.referencedDataFile === undefined ? {} : { 'referenced-data-file': file.referencedDataFile }),
  ...(file.contentOffset === undefined ? {} : { 'content-offset': file.contentOffset }),
  ...(file.contentSizeBytes === undefined ? {} : { 'content-size-in-bytes': file.contentSizeBytes }),
});

const STATISTICS = [
  ['column-sizes', 'columnSizes'],
  ['value-counts', 'valueCounts'],
  ['null-value-counts', 'nullCounts'],
  ['nan-value-counts', 'nanCounts'],
  ['lower-bounds', 'lower'],
  ['upper-bounds', 'upper'],
] as const satisfies readonly (readonly [string, keyof FileStats])[];

/** Bounds are the hexadecimal digits of their binary form, as Iceberg's own library writes and reads them. */
function statistics(stats: FileStats, fieldIds: readonly number[]): JsonObject {
  const found: Record<string, Json> = {};
  for (const [name, key] of STATISTICS) {
    const pairs = fieldIds.flatMap((id): readonly (readonly [number, Json])[] => {
      const value = stats[key]?.find(id);
      if (value instanceof Uint8Array) return [[id, Buffer.from(value).toString('hex').toUpperCase()]];
      return typeof value === 'number' || typeof value === 'bigint' ? [[id, value]] : [];
    });
    if (pairs.length > 0) found[name] = { keys: pairs.map(([id]) => id), values: pairs.map(([, value]) => value) };
  }
  return found;
}
