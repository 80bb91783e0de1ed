import type { FileIo } from '#shared/storage/file-io.ts';
import { snapshotManifests, type PlanFilesOptions } from './plan-files.ts';
import type { TableMetadata } from './table-metadata.ts';

/** How large a snapshot is, for join ordering. `exact` when no delete file blurs the count. */
export type TableEstimate = { readonly rows: number; readonly bytes: number; readonly exact: boolean };

/**
 * From the snapshot's summary (no file is opened); where its writer left the totals out, from the counts of the manifest list.
 * @throws INVALID_TABLE_DATA, STORAGE_ERROR when the list has to be read and cannot be.
 */
export async function estimateTable(
  io: FileIo,
  metadata: TableMetadata,
  snapshotId: bigint | null,
  options: Pick<PlanFilesOptions, 'manifestCache' | 'allowedRoots'>,
): Promise<TableEstimate> {
  if (snapshotId === null) return { rows: 0, bytes: 0, exact: true };
  const summary = metadata.snapshots.get(snapshotId)?.summary ?? {};
  const total = (key: string): number | undefined => {
    const text = summary[`total-${key}`];
    return text === undefined || !/^\d{1,15}$/.test(text) ? undefined : Number(text);
  };
  const records = total('records');
  if (records !== undefined) {
    const positions = total('position-deletes') ?? 0;
    const exact = positions === 0 && total('equality-deletes') === 0;
    return { rows: Math.max(0, records - positions), bytes: total('files-size') ?? 0, exact };
  }
  const manifests = await snapshotManifests(io, metadata, snapshotId, options);
  const data = manifests.filter(({ content }) => content === 'data');
  return {
    rows: data.reduce((sum, one) => sum + (one.addedRows ?? 0) + (one.existingRows ?? 0), 0),
    bytes: 0,
    exact: false,
  };
}
