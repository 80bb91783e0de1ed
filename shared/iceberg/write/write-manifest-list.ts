import { toBuffer, writeAvroFile } from '../avro/write-container.ts';
import type { ManifestFile, PartitionSummary } from '../manifest.ts';
import { invalid } from '../type.ts';
import { manifestListSchema, type WrittenVersion } from '../manifest-schema.ts';
import { UNASSIGNED } from './write-manifest.ts';

export type SnapshotIds = {
  readonly snapshotId: bigint;
  readonly parentSnapshotId: bigint | null;
  readonly sequenceNumber: bigint;
  /** Format version 3: the table's next row id, which the first new row gets. */
  readonly firstRowId: bigint;
};

/**
 * Encodes a manifest list. Manifests that this snapshot added get its sequence number; in format version 3 each data manifest that has no
 * row ids yet gets the next ones, for its added and existing rows.
 * @returns also the number of assigned row ids: `added-rows` of the snapshot
 */
export function encodeManifestList(
  formatVersion: WrittenVersion,
  ids: SnapshotIds,
  manifests: readonly ManifestFile[],
): { readonly bytes: Uint8Array; readonly addedRows: bigint } {
  let nextRowId = ids.firstRowId;
  const rows = manifests.map((one) => {
    const isNew = one.addedSnapshotId === ids.snapshotId;
    const addedRows = known(one.addedRows);
    const existingRows = known(one.existingRows);
    const row = {
      manifest_path: one.path,
      manifest_length: one.lengthBytes,
      partition_spec_id: one.specId,
      content: one.content === 'data' ? 0 : 1,
      sequence_number: isNew ? ids.sequenceNumber : one.sequenceNumber,
      min_sequence_number: one.minSequenceNumber === UNASSIGNED ? ids.sequenceNumber : one.minSequenceNumber,
      added_snapshot_id: one.addedSnapshotId,
      added_files_count: known(one.addedFiles),
      existing_files_count: known(one.existingFiles),
      deleted_files_count: known(one.deletedFiles),
      added_rows_count: addedRows,
      existing_rows_count: existingRows,
      deleted_rows_count: known(one.deletedRows),
      partitions: one.partitions?.map(summaryRow) ?? null,
      key_metadata: null,
    };
    if (formatVersion === 2) return row;
    const firstRowId = one.firstRowId ?? (one.content === 'data' ? nextRowId : null);
    if (one.firstRowId === undefined && firstRowId !== null) nextRowId += BigInt(addedRows + existingRows);
    return { ...row, first_row_id: firstRowId };
  });
  const metadata = {
    'snapshot-id': String(ids.snapshotId),
    'parent-snapshot-id': String(ids.parentSnapshotId),
    'sequence-number': String(ids.sequenceNumber),
    ...(formatVersion === 2 ? {} : { 'first-row-id': String(ids.firstRowId) }),
    'format-version': String(formatVersion),
  };
  return {
    bytes: writeAvroFile(manifestListSchema(formatVersion), metadata, rows),
    addedRows: nextRowId - ids.firstRowId,
  };
}

/** Requires a count, which format version 1 may leave out and later ones may not. */
function known(count: number | undefined): number {
  if (count === undefined) throw invalid('a manifest list has no counts of files');
  return count;
}

const summaryRow = (summary: PartitionSummary): object => ({
  contains_null: summary.containsNull,
  contains_nan: summary.containsNan ?? null,
  lower_bound: summary.lower === undefined ? null : toBuffer(summary.lower),
  upper_bound: summary.upper === undefined ? null : toBuffer(summary.upper),
});
