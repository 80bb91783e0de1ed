import type { FileReader } from '#shared/storage/storage.ts';
import { requireWithin } from './allowed-roots.ts';
import { manifestListKey, tableKey } from './manifest-cache.ts';
import type { ManifestFile } from './manifest.ts';
import type { PlanFilesOptions, PlanTable } from './planning.ts';
import { readManifestList } from './read-manifest.ts';
import type { Snapshot } from './table-metadata.ts';
import { invalid } from './type.ts';
import { unlistedManifest } from './unlisted-manifest.ts';

/**
 * Returns the manifests of a snapshot, from its list (or, in the oldest tables, from the metadata).
 * @throws INVALID_TABLE_DATA, TABLE_DATA_TOO_COMPLEX, STORAGE_ERROR
 */
export async function snapshotManifests(
  io: FileReader,
  table: Omit<PlanTable, 'fields' | 'specs'>,
  snapshotId: bigint,
  options: Pick<PlanFilesOptions, 'manifestCache' | 'allowedRoots' | 'limits'>,
): Promise<readonly ManifestFile[]> {
  const snapshot = snapshotById(table, snapshotId);
  const { manifestList, manifests } = snapshot;
  const checkLocation = requireWithin(options.allowedRoots);
  if (manifestList !== null) {
    checkLocation(manifestList);
    const key = manifestListKey(tableKey(table, options.allowedRoots), snapshot);
    return options.manifestCache.load(key, () => readManifestList(io, manifestList, options.limits));
  }
  return manifests.map((path) => unlistedManifest(path, table.defaultSpecId, snapshot));
}

/** @throws INVALID_TABLE_DATA when the table has no such snapshot. */
function snapshotById({ snapshots }: Pick<PlanTable, 'snapshots'>, snapshotId: bigint): Snapshot {
  const snapshot = snapshots.get(snapshotId);
  if (snapshot === undefined) throw invalid(`the table has no snapshot ${snapshotId}`);
  return snapshot;
}
