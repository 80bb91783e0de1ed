import type { ManifestFile } from './manifest.ts';
import type { Snapshot } from './table-metadata.ts';

/** Returns the entry of a manifest that a snapshot names itself, as in the oldest tables: no list describes it. */
export const unlistedManifest = (
  path: string,
  specId: number,
  { snapshotId, sequenceNumber }: Pick<Snapshot, 'snapshotId' | 'sequenceNumber'>,
): ManifestFile => ({
  path,
  lengthBytes: 0,
  specId,
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
});
