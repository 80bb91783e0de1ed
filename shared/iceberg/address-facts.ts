import type { ScanFile } from './scan-file.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { ADDRESS_IDS } from './address-columns.ts';
import type { DataFile, ManifestEntry } from './manifest.ts';
import type { PartitionSpec } from './partition-spec.ts';
import { literalToJson } from './single-value.ts';
import type { IcebergType } from './type.ts';

type Partitioning = { readonly spec: PartitionSpec; readonly types: readonly (IcebergType | undefined)[] };

/** Facts of a data file that a scan needs to give the addresses of its rows. */
export function addressFacts(
  { file, sequenceNumber }: ManifestEntry,
  partitioning: Partitioning,
  needed: ReadonlySet<number> = new Set(),
): Pick<ScanFile, 'firstRowId' | 'sequenceNumber' | 'partition' | 'specId'> {
  return {
    firstRowId: file.firstRowId?.toString() ?? null,
    ...(needed.has(ADDRESS_IDS._last_updated_sequence_number) ? { sequenceNumber: sequenceNumber.toString() } : {}),
    ...(needed.has(ADDRESS_IDS._partition)
      ? { partition: partitionJson(file, partitioning), specId: file.specId }
      : {}),
  };
}

/** The partition values by the ids of the partition fields. */
export function partitionJson({ partition }: Pick<DataFile, 'partition'>, { spec, types }: Partitioning): JsonObject {
  const values: Record<string, Json> = {};
  for (const [index, { fieldId }] of spec.fields.entries()) {
    const [value, type] = [partition[index] ?? null, types[index]];
    if (value !== null && type !== undefined) values[fieldId] = literalToJson(type, value);
  }
  return values;
}
