// long file: one class, whose steps share its counts and its budget
import { setImmediate } from 'node:timers/promises';
import type { ScanDelete, ScanFile } from './scan-file.ts';
import { SkeinError } from '#shared/error.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import type { FileReader } from '#shared/storage/storage.ts';
import { addressFacts } from './address-facts.ts';
import { requireWithin } from './allowed-roots.ts';
import { withinWhole, type DecodeLimits } from './decode-limits.ts';
import { DeleteIndex } from './delete-index.ts';
import { manifestKey, readingKey, tableKey, type ManifestCache } from './manifest-cache.ts';
import { pruningStats, statsSteps, type DataFile, type ManifestEntry, type ManifestFile } from './manifest.ts';
import { mayMatch, type ColumnStats } from './may-match.ts';
import { floatIds, nanFacts } from './nan-facts.ts';
import type { PartitionSpec } from './partition-spec.ts';
import { partitionStats } from './partition-stats.ts';
import { predicateSize, type Literal, type Predicate, type PredicateSize } from './predicate.ts';
import { projectPredicate } from './project-predicate.ts';
import { readManifest, type EntryBatch } from './read-manifest.ts';
import { requireParquet, scanDelete } from './scan-delete.ts';
import { decodeBound, literalToJson } from './single-value.ts';
import { specById, type TableMetadata } from './table-metadata.ts';
import { resultType } from './transform.ts';
import type { IcebergType } from './type.ts';

/** The parts of a table's metadata that planning needs. */
export type PlanTable = Pick<
  TableMetadata,
  'tableUuid' | 'formatVersion' | 'location' | 'fields' | 'specs' | 'defaultSpecId' | 'snapshots'
>;

export type PlanFilesOptions = {
  readonly manifestCache: ManifestCache;
  /** Roots that manifests, data and delete files must lie under. */
  readonly allowedRoots: readonly string[];
  /** Limits of each file that is read; `steps` is the budget of the whole plan. */
  readonly limits: DecodeLimits;
  /** Handling of a manifest that is too large to be held whole: it is read a second time, in batches, or the plan fails. */
  readonly largeManifests: 'read' | 'refuse';
  /** Fields whose identity-partition values a file carries as constants; absent = all. */
  readonly columnsNeeded?: ReadonlySet<number>;
  /** Maximum number of data files, and of delete files. */
  readonly filesMax?: number;
  readonly signal?: AbortSignal;
};

/**
 * `files`, `deleteFiles`: live ones of the snapshot; `filesPrunedByPartition`: those of `filesPruned` that their partition excludes, not
 * the bounds of their columns; `rows`, `bytes`: of the remaining data files.
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

/** The size of a scan: its data files that may match, their rows and their bytes. */
export type ScanNumbers = { readonly files: number; readonly rows: number; readonly bytes: number };

export const EMPTY_REPORT: PlanReport = {
  manifests: 0,
  manifestsPruned: 0,
  files: 0,
  filesPruned: 0,
  filesPrunedByPartition: 0,
  deleteFiles: 0,
  rows: 0,
  bytes: 0,
};

/** Number of manifests that are read at the same time, unless they are large. */
const MANIFESTS_AT_ONCE = 8;
/** Bytes that the cache counts for the entry which says that a manifest is too large. */
const LARGE_MARK_BYTES = 1_000;
const FILES_MAX_DEFAULT = 2_000_000;
/** Number of entries that are checked between two turns of the event loop. */
const ENTRIES_PER_TURN = 1_000;
/** Steps to check an entry, without its statistics. */
const ENTRY_STEPS = 20;

/** A plan in progress. */
export class Planning {
  readonly #io: FileReader;
  readonly #table: PlanTable;
  readonly #predicate: Predicate;
  readonly #predicateSize: PredicateSize;
  readonly #options: PlanFilesOptions;
  readonly #checkLocation: (location: string) => void;
  readonly #tableKey: string;
  readonly #partitioned = new Map<number, SpecFilter>();
  readonly #scanDeletes = new Map<DataFile, ScanDelete>();
  readonly #report: { -readonly [K in keyof PlanReport]: PlanReport[K] };
  readonly #floats: ReadonlySet<number>;
  #found = 0;
  #looked = 0;

  constructor(io: FileReader, table: PlanTable, predicate: Predicate, options: PlanFilesOptions) {
    this.#io = io;
    this.#table = table;
    this.#predicate = predicate;
    this.#predicateSize = predicateSize(predicate);
    this.#options = options;
    this.#checkLocation = requireWithin(options.allowedRoots);
    this.#tableKey = tableKey(table, options.allowedRoots);
    this.#floats = floatIds([...(options.columnsNeeded ?? [])].flatMap((id) => table.fields.get(id) ?? []));
    this.#report = { ...EMPTY_REPORT };
  }

  get report(): PlanReport {
    return this.#report;
  }

  /**
   * Calls `make` for every data file that may match and passes the result to `sink`, in the order of the manifests; undefined is left out.
   */
  async run<T>(
    all: readonly ManifestFile[],
    make: (entry: ManifestEntry, deletes: () => readonly DataFile[]) => T | undefined,
    sink: (found: T) => void,
  ): Promise<void> {
    const report = this.#report;
    const kept = all.filter((manifest) => this.#keepManifest(manifest));
    report.manifests += all.length;
    report.manifestsPruned += all.length - kept.length;

    const deletes = await this.#readDeletes(kept.filter(({ content }) => content === 'deletes'));
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
        if (++this.#found > this.#filesMax) throw this.#tooManyFiles();
        sink(made);
      },
    );
    report.deleteFiles += deletes.count;
  }

  /**
   * Counts the data files that may match, as far as the cache and the manifest list tell: for a manifest that is not cached, all live files
   * count, at `bytesPerRow`. It reads no manifest and keeps no file.
   */
  async count(all: readonly ManifestFile[], bytesPerRow: number): Promise<ScanNumbers> {
    const numbers = { files: 0, rows: 0, bytes: 0 };
    for (const manifest of all) {
      if (manifest.content !== 'data' || !this.#keepManifest(manifest)) continue;
      const filter = this.#filterOf(manifest.specId);
      const key = manifestKey(this.#tableKey, manifest, filter.key);
      const entries = this.#options.manifestCache.peek(key) as readonly ManifestEntry[] | null | undefined;
      if (entries === undefined || entries === null) {
        const rows = (manifest.addedRows ?? 0) + (manifest.existingRows ?? 0);
        numbers.files += (manifest.addedFiles ?? 0) + (manifest.existingFiles ?? 0);
        numbers.rows += rows;
        numbers.bytes += rows * bytesPerRow;
        continue;
      }
      await this.#visitAll(entries, filter, (entry) => {
        if (!this.#keepFile(entry, filter)) return;
        numbers.files += 1;
        numbers.rows += entry.file.recordCount;
        numbers.bytes += entry.file.sizeBytes;
      });
    }
    return numbers;
  }

  /** Whether the manifest may have matching files; the live files of the others are counted as pruned. */
  #keepManifest(manifest: ManifestFile): boolean {
    const live = (manifest.addedFiles ?? 0) + (manifest.existingFiles ?? 0);
    if (live === 0 && manifest.addedFiles !== undefined && manifest.existingFiles !== undefined) return false;
    const { spec, predicate, types } = this.#filterOf(manifest.specId);
    this.#options.limits.steps.spend(ENTRY_STEPS + this.#predicateSize.literals);
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
    const isPartitioned = (specId: number): boolean =>
      this.#filterOf(specId).spec.fields.some(({ transform }) => transform.kind !== 'void');
    const index = new DeleteIndex(this.#table.fields, isPartitioned, this.#options.limits.steps);
    await this.#forEachEntry(manifests, (entry) => {
      this.#checkLocation(entry.file.path);
      index.add(entry);
      if (index.count > this.#filesMax) throw this.#tooManyFiles();
    });
    return index;
  }

  async #forEachEntry(
    manifests: readonly ManifestFile[],
    visit: (entry: ManifestEntry, filter: SpecFilter) => void,
  ): Promise<void> {
    for (let start = 0; start < manifests.length; start += MANIFESTS_AT_ONCE) {
      const group = manifests.slice(start, start + MANIFESTS_AT_ONCE);
      const loaded = await Promise.all(group.map((manifest) => this.#loadWhole(manifest)));
      for (const [index, whole] of loaded.entries()) {
        const manifest = must(group[index], 'one result per manifest');
        const filter = this.#filterOf(manifest.specId);
        if (whole !== null) await this.#visitAll(whole, filter, visit);
        else for await (const { entries } of this.#read(manifest)) await this.#visitAll(entries, filter, visit);
      }
    }
  }

  async #visitAll(
    entries: readonly ManifestEntry[],
    filter: SpecFilter,
    visit: (entry: ManifestEntry, filter: SpecFilter) => void,
  ): Promise<void> {
    for (const entry of entries) {
      if (entry.status === 'deleted') continue;
      this.#options.limits.steps.spend(ENTRY_STEPS);
      visit(entry, filter);
      if (++this.#looked % ENTRIES_PER_TURN === 0) await setImmediate();
    }
    this.#options.signal?.throwIfAborted();
  }

  /** Returns the entries of a manifest, or null when it is too large to be held whole. */
  #loadWhole(manifest: ManifestFile): Promise<readonly ManifestEntry[] | null> {
    this.#checkLocation(manifest.path);
    const { key } = this.#filterOf(manifest.specId);
    return this.#options.manifestCache.load(manifestKey(this.#tableKey, manifest, key), () =>
      this.#readWhole(manifest),
    );
  }

  async #readWhole(
    manifest: ManifestFile,
  ): Promise<{ readonly value: readonly ManifestEntry[] | null; readonly bytes: number }> {
    const value: ManifestEntry[] = [];
    let bytes = 0;
    try {
      for await (const batch of this.#read(manifest, withinWhole(this.#options.limits))) {
        value.push(...batch.entries);
        bytes += batch.bytes;
      }
      return { value, bytes };
    } catch (error) {
      const isLarge = error instanceof SkeinError && error.code === 'TABLE_DATA_TOO_COMPLEX';
      if (!isLarge) throw error;
      if (this.#options.largeManifests === 'refuse') {
        // The plan has failed, so the manifests that are read at the same time stop as well.
        this.#options.limits.steps.exhaust();
        throw error;
      }
      return { value: null, bytes: LARGE_MARK_BYTES };
    }
  }

  #read(manifest: ManifestFile, limits = this.#options.limits): AsyncGenerator<EntryBatch, void> {
    const { spec } = this.#filterOf(manifest.specId);
    return readManifest(this.#io, manifest, spec, (fieldId) => this.#typeOf(fieldId), limits);
  }

  #keepFile(entry: ManifestEntry, filter: SpecFilter): boolean {
    const { file } = entry;
    const { steps } = this.#options.limits;
    if (filter.predicate.kind !== 'true') {
      steps.spend(this.#predicateSize.literals);
      if (!mayMatch(filter.predicate, partitionStats(filter.spec, file.partition))) {
        this.#report.filesPrunedByPartition++;
        return false;
      }
    }
    if (this.#predicate.kind === 'true') return true;
    if (file.recordCount === 0) return false;
    steps.spend(this.#predicateSize.literals + this.#predicateSize.leaves * statsSteps(file.stats));
    return mayMatch(this.#predicate, (fieldId) => pruningStats(file, fieldId, this.#typeOf(fieldId)));
  }

  toScanFile(entry: ManifestEntry, deletes: () => readonly DataFile[]): ScanFile {
    const { file } = entry;
    requireParquet(file);
    const applied = deletes().map((one) => this.#scanDelete(one));
    return {
      path: file.path,
      recordCount: file.recordCount,
      sizeBytes: file.sizeBytes,
      rows: null,
      constants: this.#constantsOf(file.partition, this.#filterOf(file.specId), applied),
      deletes: applied,
      ...nanFacts(file, this.#floats, this.#options.limits.steps),
      ...addressFacts(entry, this.#filterOf(file.specId), this.#options.columnsNeeded),
    };
  }

  /** Returns the same object for a delete file, however many data files it applies to. */
  #scanDelete(file: DataFile): ScanDelete {
    const found = this.#scanDeletes.get(file);
    if (found !== undefined) return found;
    const made = scanDelete(file, this.#table.fields);
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

  /** Returns the filter of a spec, made once per plan. */
  #filterOf(specId: number): SpecFilter {
    const found = this.#partitioned.get(specId);
    if (found !== undefined) return found;
    const spec = specById(this.#table, specId);
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
    return this.#table.fields.get(fieldId)?.type;
  }

  get #filesMax(): number {
    return this.#options.filesMax ?? FILES_MAX_DEFAULT;
  }

  #tooManyFiles(): SkeinError {
    return new SkeinError('NOT_SUPPORTED', `a scan of more than ${this.#filesMax} files is not supported`);
  }
}

/** The predicate projected to the fields of a partition spec. */
type SpecFilter = {
  readonly spec: PartitionSpec;
  /** Identifies the spec and its types in the manifest cache. */
  readonly key: string;
  readonly predicate: Predicate;
  readonly types: readonly (IcebergType | undefined)[];
  readonly identities: readonly { readonly index: number; readonly sourceId: number; readonly type: IcebergType }[];
};

const NO_CONSTANTS: JsonObject = {};

const hasColumn = (one: ScanDelete, fieldId: number): boolean =>
  one.kind === 'equality' && one.columns.some((column) => column.fieldId === fieldId);
