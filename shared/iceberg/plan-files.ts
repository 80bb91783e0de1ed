import type { ScanFile } from './scan-file.ts';
import type { FileReader } from '#shared/storage/storage.ts';
import type { DataFile, ManifestEntry } from './manifest.ts';
import { Planning, type PlanFilesOptions, type PlanReport, type PlanTable, type ScanNumbers } from './planning.ts';
import type { Predicate } from './predicate.ts';
import { snapshotManifests } from './snapshot-manifests.ts';

/** `addedAfter`: only data files of a higher data sequence number. */
export type ScanFilesOptions = PlanFilesOptions & { readonly addedAfter?: bigint };

/** Receives each result of a plan as soon as it is found, in the order of the manifests. */
export type Sink<T> = (found: T) => void;

/**
 * Finds the data files of a snapshot that may hold a row which satisfies `predicate`, with the deletes that apply to each: manifests are
 * pruned by their partition summaries, files by their partition values, then by the bounds of their columns.
 * @throws INVALID_TABLE_DATA for a missing, corrupt or misplaced file; NOT_SUPPORTED for a file that is not Parquet; TABLE_DATA_TOO_COMPLEX
 * beyond the limits; STORAGE_ERROR.
 */
export async function planFiles(
  io: FileReader,
  table: PlanTable,
  snapshotId: bigint,
  predicate: Predicate,
  options: ScanFilesOptions,
  sink: Sink<ScanFile>,
): Promise<PlanReport> {
  const plan = new Planning(io, table, predicate, options);
  const isOld = ({ sequenceNumber }: { readonly sequenceNumber: bigint }): boolean =>
    options.addedAfter !== undefined && sequenceNumber <= options.addedAfter;
  const all = await snapshotManifests(io, table, snapshotId, options);
  const manifests = all.filter((manifest) => manifest.content === 'deletes' || !isOld(manifest));
  const toFile = (entry: ManifestEntry, deletes: () => readonly DataFile[]): ScanFile | undefined =>
    isOld(entry) ? undefined : plan.toScanFile(entry, deletes);
  await plan.run(manifests, toFile, sink);
  return plan.report;
}

/**
 * Counts at least the data files that `planFiles` finds, with their rows and bytes: it reads the manifest list, and no manifest that is not
 * cached.
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

/** A data file as its manifest lists it, and the delete files that apply to it. */
export type PlannedEntry = { readonly file: DataFile; readonly deletes: readonly DataFile[] };

/**
 * Like `planFiles`, for callers that read the files themselves: files of every format, as the manifests list them, in an order that is
 * fixed for a snapshot.
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

/** Finds the files that the given snapshots added, even if later snapshots removed them; no deletes are applied. */
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
