import type { FileIo } from '#shared/storage/file-io.ts';
import { requireWithin } from './allowed-roots.ts';
import type { ManifestFile } from './manifest.ts';
import type { PlanFilesOptions, PlanTable } from './planning.ts';
import { readManifestList } from './read-manifest.ts';
import type { Snapshot } from './table-metadata.ts';
import { invalid } from './type.ts';

/**
 * The manifests of a snapshot, from its list (or, in the oldest tables, the metadata).
 * @throws INVALID_TABLE_DATA, TABLE_DATA_TOO_COMPLEX, STORAGE_ERROR
 */
export async function snapshotManifests(
  io: FileIo,
  table: Pick<PlanTable, 'snapshots' | 'defaultSpecId'>,
  snapshotId: bigint,
  options: Pick<PlanFilesOptions, 'manifestCache' | 'allowedRoots' | 'limits'>,
): Promise<readonly ManifestFile[]> {
  const { manifestList, manifests, sequenceNumber } = snapshotById(table, snapshotId);
  const checkLocation = requireWithin(options.allowedRoots);
  if (manifestList !== null) {
    checkLocation(manifestList);
    return options.manifestCache.load(manifestList, () => readManifestList(io, manifestList, options.limits));
  }
  return manifests.map((path) => ({
    path,
    lengthBytes: 0,
    specId: table.defaultSpecId,
    content: 'data',
    sequenceNumber,
    minSequenceNumber: sequenceNumber,
    addedSnapshotId: snapshotId,
    addedFiles: undefined,
    existingFiles: undefined,
    deletedFiles: undefined,
    addedRows: undefined,
    existingRows: undefined,
    deletedRows: undefined,
    partitions: undefined,
    firstRowId: undefined,
  }));
}

/** @throws INVALID_TABLE_DATA when the table has no such snapshot. */
function snapshotById({ snapshots }: Pick<PlanTable, 'snapshots'>, snapshotId: bigint): Snapshot {
  const snapshot = snapshots.get(snapshotId);
  if (snapshot === undefined) throw invalid(`the table has no snapshot ${snapshotId}`);
  return snapshot;
}
