import { SIZE_ENDS, type FileSums, type Sum } from '#shared/iceberg/sum-files.ts';
import type { Snapshot } from '#shared/iceberg/table-metadata.ts';
import type { FoundTable } from '../catalog-client/loaded-tables.ts';
import { summaryCount, showsRows } from './found-table.ts';

/** The answer about a table's files. */
export type TableFilesAnswer = {
  readonly snapshot_id: string | null;
  readonly hidden_by_policy: boolean;
  /** False: there are too many files to count; what is told is that of the snapshot's summary, and of the files that were read. */
  readonly is_whole: boolean;
  readonly data: Sum | null;
  readonly position_deletes: Sum | null;
  readonly equality_deletes: Sum | null;
  readonly deletion_vectors: Sum | null;
  readonly data_manifests: { readonly manifests: number; readonly bytes: number } | null;
  readonly delete_manifests: { readonly manifests: number; readonly bytes: number } | null;
  readonly sizes: readonly (Sum & { readonly below: number | null })[];
  readonly partition_fields: readonly string[];
  readonly partitions: readonly (Sum & {
    readonly values: readonly (string | null)[];
    readonly delete_files: number;
  })[];
  readonly other_partitions: (Sum & { readonly partitions: number }) | null;
};

/** The answer for a table whose files a policy hides. */
const HIDDEN_FILES: TableFilesAnswer = {
  snapshot_id: null,
  hidden_by_policy: true,
  is_whole: true,
  data: null,
  position_deletes: null,
  equality_deletes: null,
  deletion_vectors: null,
  data_manifests: null,
  delete_manifests: null,
  sizes: [],
  partition_fields: [],
  partitions: [],
  other_partitions: null,
};

const NONE: Sum = { files: 0, rows: 0, bytes: 0 };
const NO_MANIFESTS = { manifests: 0, bytes: 0 };

/** @param sums null: they could not be read within the limits @param snapshot null: the table has none, and no files */
export function filesAnswer(table: FoundTable, snapshot: Snapshot | null, sums: FileSums | null): TableFilesAnswer {
  if (!showsRows(table)) return HIDDEN_FILES;
  const id = { snapshot_id: snapshot?.snapshotId.toString() ?? null, hidden_by_policy: false };
  if (snapshot === null) return { ...HIDDEN_FILES, ...id, ...emptyTable };
  if (sums === null) return { ...HIDDEN_FILES, ...id, is_whole: false, data: bySummary(snapshot) };
  return {
    ...id,
    is_whole: sums.isWhole,
    data: sums.isWhole ? sums.data : (bySummary(snapshot) ?? sums.data),
    position_deletes: sums.positionDeletes,
    equality_deletes: sums.equalityDeletes,
    deletion_vectors: sums.deletionVectors,
    data_manifests: sums.dataManifests,
    delete_manifests: sums.deleteManifests,
    sizes: sums.sizes.map((sum, i) => ({ below: SIZE_ENDS[i] ?? null, ...sum })),
    partition_fields: sums.partitionFields,
    partitions: sums.partitions.map(({ values, files, rows, bytes, deleteFiles }) => ({
      values,
      files,
      rows,
      bytes,
      delete_files: deleteFiles,
    })),
    other_partitions: sums.others,
  };
}

const emptyTable = {
  data: NONE,
  position_deletes: NONE,
  equality_deletes: NONE,
  deletion_vectors: NONE,
  data_manifests: NO_MANIFESTS,
  delete_manifests: NO_MANIFESTS,
  other_partitions: { ...NONE, partitions: 0 },
} as const;

/** The data files by the snapshot's summary; null: its writer has not said. */
function bySummary(snapshot: Snapshot): Sum | null {
  const [files, rows] = [summaryCount(snapshot, 'total-data-files'), summaryCount(snapshot, 'total-records')];
  return files === null || rows === null
    ? null
    : { files, rows, bytes: summaryCount(snapshot, 'total-files-size') ?? 0 };
}
