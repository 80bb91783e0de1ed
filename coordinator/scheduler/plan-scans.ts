import type { ScanSpec } from '#proto/task.ts';
import type { ManifestCache } from '#shared/iceberg/manifest-cache.ts';
import { planFiles, type PlanReport } from '#shared/iceberg/plan-files.ts';
import type { FileIo } from '#shared/storage/file-io.ts';
import type { ScanBinding } from '../resolver/scan-binding.ts';

/** A scan with its files, and how many were pruned away. */
export type PlannedScan = { readonly spec: ScanSpec; readonly report: PlanReport };

export type ScanContext = { readonly io: FileIo; readonly manifestCache: ManifestCache; readonly signal: AbortSignal };

/** The files of every scan of a query, partitions and files pruned by its predicate. @throws as `planFiles` does. */
export function planScans(bindings: readonly ScanBinding[], context: ScanContext): Promise<PlannedScan[]> {
  return Promise.all(bindings.map((binding) => planScan(binding, context)));
}

async function planScan(binding: ScanBinding, { io, manifestCache, signal }: ScanContext): Promise<PlannedScan> {
  const { metadata, snapshotId, predicate, allowedRoots, columns } = binding;
  const { files, report } = await planFiles(io, metadata, snapshotId === null ? null : BigInt(snapshotId), predicate, {
    manifestCache,
    allowedRoots,
    columnsNeeded: new Set(columns.map((column) => column.fieldId)),
    signal,
  });
  const { tableName, tableUuid, schemaId, readFieldIds } = binding;
  const { nameMapping } = metadata;
  const table = { tableName, tableUuid, snapshotId, schemaId, columns, readFieldIds, nameMapping, allowedRoots };
  return { spec: { ...table, files, predicate }, report };
}
