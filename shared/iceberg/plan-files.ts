import type { ScanFile } from '#proto/task.ts';
import type { FileReader } from '#shared/storage/storage.ts';
import type { DataFile } from './manifest.ts';
import { Planning, type PlanFilesOptions, type PlanReport, type PlanTable, type ScanNumbers } from './planning.ts';
import type { Predicate } from './predicate.ts';
import { snapshotManifests } from './snapshot-manifests.ts';

/** Takes what a plan has found, in the order of the manifests, as soon as it is found. */
export type Sink<T> = (found: T) => void;

/**
 * The data files of a snapshot that may hold a row which satisfies `predicate`, with the deletes that apply to each: manifests are
 * pruned by their partition summaries, files by their partition values, then by the bounds of their columns.
 * @throws INVALID_TABLE_DATA for a missing, corrupt or misplaced file; NOT_SUPPORTED for what is not Parquet; TABLE_DATA_TOO_COMPLEX
 * beyond the limits; STORAGE_ERROR.
 */
export async function planFiles(
  io: FileReader,
  table: PlanTable,
  snapshotId: bigint,
  predicate: Predicate,
  options: PlanFilesOptions,
  sink: Sink<ScanFile>,
): Promise<PlanReport> {
  const plan = new Planning(io, table, predicate, options);
  const manifests = await snapshotManifests(io, table, snapshotId, options);
  await plan.run(manifests, (entry, deletes) => plan.toScanFile(entry, deletes), sink);
  return plan.report;
}

/**
 * The numbers of the data files that `planFiles` finds, or more: it reads the manifest list, and no manifest that is not in memory.
 * @throws as `planFiles`
 */
export async function countFiles(
  io: FileReader,
  table: PlanTable,
  snapshotId: bigint,
  predicate: Predicate,
  options: PlanFilesOptions,
): Promise<ScanNumbers> {
  const manifests = await snapshotManifests(io, table, snapshotId, options);
  const summary = table.snapshots.get(snapshotId)?.summary ?? {};
  const perRow = Number(summary['total-files-size']) / Number(summary['total-records']);
  return new Planning(io, table, predicate, options).count(manifests, Number.isFinite(perRow) ? perRow : 0);
}

/** A data file as its manifest has it, and the delete files that apply to it. */
export type PlannedEntry = { readonly file: DataFile; readonly deletes: readonly DataFile[] };

/**
 * As `planFiles`, for readers of their own: files of every format, as the manifests have them, in an order that belongs to the snapshot.
 */
export async function planEntries(
  io: FileReader,
  table: PlanTable,
  snapshotId: bigint,
  predicate: Predicate,
  options: PlanFilesOptions,
  sink: Sink<PlannedEntry>,
): Promise<void> {
  const plan = new Planning(io, table, predicate, options);
  const manifests = await snapshotManifests(io, table, snapshotId, options);
  await plan.run(manifests, ({ file }, deletes) => ({ file, deletes: deletes() }), sink);
}

/** The files that the given snapshots added, whatever became of them since; deletes do not apply to them. */
export async function planAppended(
  io: FileReader,
  table: PlanTable,
  snapshotIds: readonly bigint[],
  predicate: Predicate,
  options: PlanFilesOptions,
  sink: Sink<PlannedEntry>,
): Promise<void> {
  const plan = new Planning(io, table, predicate, options);
  for (const snapshotId of snapshotIds) {
    const all = await snapshotManifests(io, table, snapshotId, options);
    const manifests = all.filter((one) => one.content === 'data' && one.addedSnapshotId === snapshotId);
    await plan.run(
      manifests,
      (entry) =>
        entry.status === 'added' && entry.snapshotId === snapshotId ? { file: entry.file, deletes: [] } : undefined,
      sink,
    );
  }
}
