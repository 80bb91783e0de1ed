import type { ScanSpec } from '#proto/task.ts';
import type { FileListHold } from '#shared/iceberg/file-list-hold.ts';
import { EMPTY_REPORT, type PlanReport } from '#shared/iceberg/planning.ts';
import type { TenantId } from '#shared/id.ts';
import type { ScanRequest } from '#shared/iceberg/scan-request.ts';
import type { PlannedFiles, ReadCall, TableReader } from '#shared/iceberg/table-reader.ts';
import type { ScanBinding } from '../resolver/scan-binding.ts';

/** A scan with its files, and a report of what was read and pruned. */
export type PlannedScan = { readonly spec: ScanSpec; readonly report: PlanReport };

export type ScanContext = {
  readonly tables: TableReader;
  /** The tenant whose query it is. */
  readonly tenant: TenantId;
  /** Counts the files of all scans of the query. */
  readonly hold: FileListHold;
  readonly signal: AbortSignal;
};

/** Lists the files of every scan of a query, with partitions and files pruned by its predicate. @throws as `TableReader` does. */
export function planScans(bindings: readonly ScanBinding[], context: ScanContext): Promise<PlannedScan[]> {
  return Promise.all(bindings.map((binding) => planScan(binding, context)));
}

async function planScan(binding: ScanBinding, context: ScanContext): Promise<PlannedScan> {
  const { files, report } = await filesOf(binding, context);
  const { tableName, tableUuid, snapshotId, schemaId, columns, readFieldIds, allowedRoots, credential } = binding;
  const { nameMapping } = binding.metadata;
  const table = { tableName, tableUuid, snapshotId, schemaId, columns, readFieldIds, nameMapping };
  return { spec: { ...table, files, predicate: binding.predicate, allowedRoots, credential }, report };
}

async function filesOf(binding: ScanBinding, context: ScanContext): Promise<PlannedFiles> {
  const request = scanRequest(binding, context);
  if (request === null) return { files: [], report: EMPTY_REPORT };
  return context.tables.files(request, readCall(binding, context), context.hold);
}

/** Builds the file request of a scan; null for a table without a snapshot. */
export function scanRequest(binding: ScanBinding, { tenant }: ScanContext): ScanRequest | null {
  const { metadata, predicate, allowedRoots, credential, columns } = binding;
  if (binding.snapshotId === null) return null;
  const snapshotId = BigInt(binding.snapshotId);
  const { tableUuid, formatVersion, location, fields, specs, defaultSpecId } = metadata;
  const snapshot = metadata.snapshots.get(snapshotId);
  // Requests are copied to a thread, so they carry only the snapshot that is read.
  const snapshots = new Map(snapshot === undefined ? [] : [[snapshotId, snapshot]]);
  const columnsNeeded = new Set(columns.map((column) => column.fieldId));
  const table = { tableUuid, formatVersion, location, fields, specs, defaultSpecId, snapshots };
  return { tenant, table, snapshotId, predicate, allowedRoots, credential, columnsNeeded };
}

export const readCall = ({ tableName }: ScanBinding, { signal }: ScanContext): ReadCall => ({
  tableName,
  signal,
});
