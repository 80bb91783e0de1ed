import { setImmediate } from 'node:timers/promises';
import type { ScanDelete, ScanFile } from '#proto/task.ts';
import { SkeinError } from '#shared/error.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import type { FileIo } from '#shared/storage/file-io.ts';
import { requireWithin } from './allowed-roots.ts';
import { DeleteIndex } from './delete-index.ts';
import { manifestKey, manifestListKey, readingKey, tableKey, type ManifestCache } from './manifest-cache.ts';
import {
  columnStats,
  readManifest,
  readManifestList,
  type DataFile,
  type ManifestEntry,
  type ManifestFile,
} from './manifest.ts';
import { mayMatch, type ColumnStats } from './may-match.ts';
import type { PartitionSpec } from './partition-spec.ts';
import type { Literal, Predicate } from './predicate.ts';
import { projectPredicate } from './project-predicate.ts';
import { requireParquet, scanDelete } from './scan-delete.ts';
import { decodeBound, literalToJson } from './single-value.ts';
import { specById, type Snapshot, type TableMetadata } from './table-metadata.ts';
import { resultType } from './transform.ts';
import { invalid, type IcebergType } from './type.ts';
import { unlistedManifest } from './unlisted-manifest.ts';

export type PlanFilesOptions = {
  readonly manifestCache: ManifestCache;
  /** Roots that manifests, data and delete files must lie under. */
  readonly allowedRoots: readonly string[];
  /** Fields whose identity-partition values a file carries as constants; absent = all. */
  readonly columnsNeeded?: ReadonlySet<number>;
  /** Most data files, and most delete files. */
  readonly filesMax?: number;
  readonly signal?: AbortSignal;
};

export type PlannedFiles = { readonly files: readonly ScanFile[]; readonly report: PlanReport };

/**
 * `files`, `deleteFiles`: live ones of the snapshot; `filesPrunedByPartition`: those of `filesPruned` that their partition rules out, not
 * the bounds of their columns; `rows`, `bytes`: of the data files that are left.
 */
export type PlanReport = {
  readonly manifests: number;
  readonly manifestsPruned: number;
  readonly files: number;
  readonly filesPruned: number;
  readonly filesPrunedByPartition: number;
  readonly deleteFiles: number;
  readonly rows: number;
  readonly bytes: number;
};

/** Manifests read at once. */
const MANIFESTS_AT_ONCE = 8;
const FILES_MAX_DEFAULT = 2_000_000;
/** Entries looked at between two turns of the event loop. */
const ENTRIES_PER_TURN = 1_000;

/**
 * The data files of a snapshot that may hold a row which satisfies `predicate`, with the deletes that apply to each: manifests are
 * pruned by their partition summaries, files by their partition values, then by the bounds of their columns.
 * @throws INVALID_TABLE_DATA for a missing, corrupt or misplaced file; NOT_SUPPORTED for what is not Parquet; STORAGE_ERROR.
 */
export async function planFiles(
  io: FileIo,
  metadata: TableMetadata,
  snapshotId: bigint | null,
  predicate: Predicate,
  options: PlanFilesOptions,
): Promise<PlannedFiles> {
  if (snapshotId === null) return { files: [], report: EMPTY };
  const plan = new Planning(io, metadata, predicate, options);
  const manifests = await snapshotManifests(io, metadata, snapshotId, options);
  const files = await plan.run(manifests, (entry, deletes) => plan.toScanFile(entry, deletes));
  return { files, report: plan.report };
}

/** A data file as its manifest has it, and the delete files that apply to it. */
export type PlannedEntry = { readonly file: DataFile; readonly deletes: readonly DataFile[] };

/**
 * As `planFiles`, for readers of their own: files of every format, as the manifests have them, in an order that belongs to the snapshot.
 */
export async function planEntries(
  io: FileIo,
  metadata: TableMetadata,
  snapshotId: bigint,
  predicate: Predicate,
  options: PlanFilesOptions,
): Promise<readonly PlannedEntry[]> {
  const plan = new Planning(io, metadata, predicate, options);
  const manifests = await snapshotManifests(io, metadata, snapshotId, options);
  return plan.run(manifests, ({ file }, deletes) => ({ file, deletes: deletes() }));
}

/** The files that the given snapshots added, whatever became of them since; deletes do not apply to them. */
export async function planAppended(
  io: FileIo,
  metadata: TableMetadata,
  snapshotIds: readonly bigint[],
  predicate: Predicate,
  options: PlanFilesOptions,
): Promise<readonly PlannedEntry[]> {
  const plan = new Planning(io, metadata, predicate, options);
  const found: PlannedEntry[] = [];
  for (const snapshotId of snapshotIds) {
    const all = await snapshotManifests(io, metadata, snapshotId, options);
    const manifests = all.filter((one) => one.content === 'data' && one.addedSnapshotId === snapshotId);
    found.push(
      ...(await plan.run(manifests, (entry) =>
        entry.status === 'added' && entry.snapshotId === snapshotId ? { file: entry.file, deletes: [] } : undefined,
      )),
    );
    if (found.length > filesMax(options)) throw tooManyFiles(options);
  }
  return found;
}

/** @throws INVALID_TABLE_DATA when the table has no such snapshot. */
function snapshotById(metadata: TableMetadata, snapshotId: bigint): Snapshot {
  const snapshot = metadata.snapshots.get(snapshotId);
  if (snapshot === undefined) throw invalid(`the table has no snapshot ${snapshotId}`);
  return snapshot;
}

/** The manifests of a snapshot, from its list (or, in the oldest tables, the metadata). */
export async function snapshotManifests(
  io: FileIo,
  metadata: TableMetadata,
  snapshotId: bigint,
  options: Pick<PlanFilesOptions, 'manifestCache' | 'allowedRoots'>,
): Promise<readonly ManifestFile[]> {
  const snapshot = snapshotById(metadata, snapshotId);
  const { manifestList, manifests } = snapshot;
  const checkLocation = requireWithin(options.allowedRoots);
  if (manifestList !== null) {
    checkLocation(manifestList);
    const key = manifestListKey(tableKey(metadata, options.allowedRoots), snapshot);
    return options.manifestCache.load(key, () => readManifestList(io, manifestList));
  }
  return manifests.map((path) => unlistedManifest(path, metadata.defaultSpecId, snapshot));
}

const EMPTY: PlanReport = {
  manifests: 0,
  manifestsPruned: 0,
  files: 0,
  filesPruned: 0,
  filesPrunedByPartition: 0,
  deleteFiles: 0,
  rows: 0,
  bytes: 0,
};

/** One call of `planFiles`. */
class Planning {
  readonly #io: FileIo;
  readonly #metadata: TableMetadata;
  readonly #predicate: Predicate;
  readonly #options: PlanFilesOptions;
  readonly #checkLocation: (location: string) => void;
  readonly #tableKey: string;
  readonly #partitioned = new Map<number, SpecFilter>();
  readonly #scanDeletes = new Map<DataFile, ScanDelete>();
  readonly #report: { -readonly [K in keyof PlanReport]: PlanReport[K] } = { ...EMPTY };
  #looked = 0;

  constructor(io: FileIo, metadata: TableMetadata, predicate: Predicate, options: PlanFilesOptions) {
    this.#io = io;
    this.#metadata = metadata;
    this.#predicate = predicate;
    this.#options = options;
    this.#checkLocation = requireWithin(options.allowedRoots);
    this.#tableKey = tableKey(metadata, options.allowedRoots);
  }

  get report(): PlanReport {
    return this.#report;
  }

  /** What `make` makes of every data file that may match, in the order of the manifests; undefined leaves it out. */
  async run<T>(
    all: readonly ManifestFile[],
    make: (entry: ManifestEntry, deletes: () => readonly DataFile[]) => T | undefined,
  ): Promise<readonly T[]> {
    const report = this.#report;
    const kept = all.filter((manifest) => this.#keepManifest(manifest));
    report.manifests += all.length;
    report.manifestsPruned += all.length - kept.length;

    const deletes = await this.#readDeletes(kept.filter(({ content }) => content === 'deletes'));
    const files: T[] = [];
    await this.#forEachEntry(
      kept.filter(({ content }) => content === 'data'),
      (entry, filter) => {
        const { file } = entry;
        report.files++;
        this.#checkLocation(file.path);
        if (!this.#keepFile(entry, filter)) {
          report.filesPruned++;
          return;
        }
        const made = make(entry, () => deletes.deletesOf(entry));
        if (made === undefined) return;
        report.rows += file.recordCount;
        report.bytes += file.sizeBytes;
        if (files.push(made) > filesMax(this.#options)) throw tooManyFiles(this.#options);
      },
    );
    report.deleteFiles += deletes.count;
    return files;
  }

  /** Counts the live files of what it drops. */
  #keepManifest(manifest: ManifestFile): boolean {
    const live = (manifest.addedFiles ?? 0) + (manifest.existingFiles ?? 0);
    if (live === 0 && manifest.addedFiles !== undefined && manifest.existingFiles !== undefined) return false;
    const { spec, predicate, types } = this.#filterOf(manifest.specId);
    const { partitions } = manifest;
    if (partitions === undefined || predicate.kind === 'true') return true;
    const stats = (fieldId: number): ColumnStats | undefined => {
      const index = spec.fields.findIndex((field) => field.fieldId === fieldId);
      const summary = partitions[index];
      const type = types[index];
      if (summary === undefined || type === undefined) return undefined;
      return {
        lower: summary.lower && decodeBound(type, summary.lower),
        upper: summary.upper && decodeBound(type, summary.upper),
        nullCount: summary.containsNull ? undefined : 0,
        nanCount: summary.containsNan === false ? 0 : undefined,
      };
    };
    if (mayMatch(predicate, stats)) return true;
    if (manifest.content === 'data') {
      this.#report.files += live;
      this.#report.filesPruned += live;
      this.#report.filesPrunedByPartition += live;
    } else {
      this.#report.deleteFiles += live;
    }
    return false;
  }

  async #readDeletes(manifests: readonly ManifestFile[]): Promise<DeleteIndex> {
    const index = new DeleteIndex(this.#metadata.fields, (specId) =>
      specById(this.#metadata, specId).fields.some(({ transform }) => transform.kind !== 'void'),
    );
    await this.#forEachEntry(manifests, (entry) => {
      this.#checkLocation(entry.file.path);
      index.add(entry);
      if (index.count > filesMax(this.#options)) throw tooManyFiles(this.#options);
    });
    return index;
  }

  async #forEachEntry(
    manifests: readonly ManifestFile[],
    visit: (entry: ManifestEntry, filter: SpecFilter) => void,
  ): Promise<void> {
    for (let start = 0; start < manifests.length; start += MANIFESTS_AT_ONCE) {
      const group = manifests.slice(start, start + MANIFESTS_AT_ONCE);
      const loaded = await Promise.all(group.map((manifest) => this.#load(manifest)));
      for (const [index, entries] of loaded.entries()) {
        const filter = this.#filterOf(must(group[index], 'one result per manifest').specId);
        for (const entry of entries) {
          if (entry.status === 'deleted') continue;
          visit(entry, filter);
          if (++this.#looked % ENTRIES_PER_TURN === 0) await setImmediate();
        }
      }
      this.#options.signal?.throwIfAborted();
    }
  }

  #load(manifest: ManifestFile): Promise<readonly ManifestEntry[]> {
    this.#checkLocation(manifest.path);
    const { spec, key } = this.#filterOf(manifest.specId);
    return this.#options.manifestCache.load(manifestKey(this.#tableKey, manifest, key), () =>
      readManifest(this.#io, manifest, spec, (fieldId) => this.#typeOf(fieldId)),
    );
  }

  #keepFile(entry: ManifestEntry, filter: SpecFilter): boolean {
    const { file } = entry;
    if (filter.predicate.kind !== 'true' && !mayMatch(filter.predicate, partitionStats(filter.spec, file.partition))) {
      this.#report.filesPrunedByPartition++;
      return false;
    }
    if (this.#predicate.kind === 'true') return true;
    if (file.recordCount === 0) return false;
    return mayMatch(this.#predicate, (fieldId) => columnStats(file.stats, fieldId, this.#typeOf(fieldId)));
  }

  toScanFile({ file }: ManifestEntry, deletes: () => readonly DataFile[]): ScanFile {
    requireParquet(file);
    const applied = deletes().map((one) => this.#scanDelete(one));
    return {
      path: file.path,
      recordCount: file.recordCount,
      sizeBytes: file.sizeBytes,
      rows: null,
      constants: this.#constantsOf(file.partition, this.#filterOf(file.specId), applied),
      deletes: applied,
      firstRowId: file.firstRowId?.toString() ?? null,
    };
  }

  /** One object for each delete file, however many data files it applies to. */
  #scanDelete(file: DataFile): ScanDelete {
    const found = this.#scanDeletes.get(file);
    if (found !== undefined) return found;
    const made = scanDelete(file, this.#metadata.fields);
    this.#scanDeletes.set(file, made);
    return made;
  }

  #constantsOf(partition: readonly (Literal | null)[], filter: SpecFilter, deletes: readonly ScanDelete[]): JsonObject {
    if (filter.identities.length === 0) return NO_CONSTANTS;
    const needed = this.#options.columnsNeeded;
    const constants: Record<string, Json> = {};
    for (const { index, sourceId, type } of filter.identities) {
      const value = partition[index] ?? null;
      const isNeeded = needed === undefined || needed.has(sourceId) || deletes.some((one) => hasColumn(one, sourceId));
      if (isNeeded) constants[sourceId] = value === null ? null : literalToJson(type, value);
    }
    return constants;
  }

  /** Made once per spec of a call. */
  #filterOf(specId: number): SpecFilter {
    const found = this.#partitioned.get(specId);
    if (found !== undefined) return found;
    const spec = specById(this.#metadata, specId);
    const typeOf = (fieldId: number): IcebergType | undefined => this.#typeOf(fieldId);
    const types = spec.fields.map(({ transform, sourceId }) => {
      const source = typeOf(sourceId);
      return source === undefined ? undefined : resultType(transform, source);
    });
    const filter: SpecFilter = {
      spec,
      key: readingKey(spec, types),
      predicate: projectPredicate(this.#predicate, spec, typeOf),
      types,
      identities: spec.fields.flatMap(({ transform, sourceId }, index) => {
        const type = typeOf(sourceId);
        return transform.kind === 'identity' && type !== undefined ? [{ index, sourceId, type }] : [];
      }),
    };
    this.#partitioned.set(specId, filter);
    return filter;
  }

  #typeOf(fieldId: number): IcebergType | undefined {
    return this.#metadata.fields.get(fieldId)?.type;
  }
}

/** What a partition spec makes of the predicate. */
type SpecFilter = {
  readonly spec: PartitionSpec;
  /** Stands for the spec and its types in the manifest cache. */
  readonly key: string;
  readonly predicate: Predicate;
  readonly types: readonly (IcebergType | undefined)[];
  readonly identities: readonly { readonly index: number; readonly sourceId: number; readonly type: IcebergType }[];
};

const NO_CONSTANTS: JsonObject = {};

/** Partition values as statistics of one value; those of a transform that nobody knows are never asked for. */
function partitionStats(
  spec: PartitionSpec,
  partition: readonly (Literal | null)[],
): (fieldId: number) => ColumnStats | undefined {
  return (fieldId) => {
    const index = spec.fields.findIndex((field) => field.fieldId === fieldId);
    const value = partition[index];
    if (value === undefined) return undefined;
    if (value === null) return { nullCount: 1, valueCount: 1 };
    return { lower: value, upper: value, nullCount: 0, valueCount: 1, nanCount: Number.isNaN(value) ? 1 : 0 };
  };
}

const hasColumn = (one: ScanDelete, fieldId: number): boolean =>
  one.kind === 'equality' && one.columns.some((column) => column.fieldId === fieldId);

const filesMax = (options: PlanFilesOptions): number => options.filesMax ?? FILES_MAX_DEFAULT;
const tooManyFiles = (options: PlanFilesOptions): SkeinError =>
  new SkeinError('NOT_SUPPORTED', `a scan of more than ${filesMax(options)} files is not supported`);
