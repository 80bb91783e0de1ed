import type { ScanDelete, ScanFile } from './scan-file.ts';
import type { TenantId } from '#shared/id.ts';
import { must } from '#shared/must.ts';
import type { OpenStorage } from '#shared/storage/open-storage.ts';
import type { FileReader } from '#shared/storage/storage.ts';
import { readFrames, type Frames } from '#shared/thread/frames.ts';
import { SmallFirst } from '#shared/thread/small-first.ts';
import type { WorkCall, WorkPool } from '#shared/thread/work-pool.ts';
import { work, type Work } from '#shared/thread/work.ts';
import type { ColumnSummary, SummarizedColumn } from './column-summary.ts';
import { limitsHere, type DecodeLimits } from './decode-limits.ts';
import type { FileListHold } from './file-list-hold.ts';
import type { ManifestCaches } from './manifest-cache.ts';
import type { ManifestFile } from './manifest.ts';
import type { OrphansRequest } from './orphan-files.ts';
import type { PlanReport, ScanNumbers } from './planning.ts';
import type { UnreachableRequest } from './unreachable-files.ts';
import { inspectSnapshot, type InspectedRow, type InspectRequest } from './inspect-snapshot.ts';
import type {
  ColumnsInput,
  FilesInput,
  FilesOutput,
  InspectInput,
  ListInput,
  SearchInput,
  RemoveInput,
  RewriteInput,
  SentFile,
} from './read-in-thread.ts';
import {
  findFiles,
  findNewDeletes,
  type FoundFiles,
  removeFromManifests,
  rewriteManifests,
  type Removal,
  type Rewritten,
} from './write/rewrite-manifests.ts';
import { snapshotManifests } from './snapshot-manifests.ts';
import { sumChanges, type ChangesRequest, type FileChanges } from './sum-changes.ts';
import { sumFiles, type FileSums, type SumRequest } from './sum-files.ts';
import { scanColumns, scanFiles, scanNumbers, type ReadingPlace, type ScanRequest } from './scan-request.ts';

/** The caller of a read, and its deadline. */
export type ReadCall = {
  /** `catalog.namespace.table`, for errors. */
  readonly tableName: string;
  readonly signal: AbortSignal;
};

export type PlannedFiles = { readonly files: readonly ScanFile[]; readonly report: PlanReport };

/** Reads the manifests of tables, whose bytes are untrusted. @throws the errors of `planFiles`, QUEUE_FULL, the reason of the signal */
export interface TableReader {
  /** Finds the files of a scan; `hold` counts their memory. */
  files(request: ScanRequest, call: ReadCall, hold: FileListHold): Promise<PlannedFiles>;
  /** Returns column statistics over the files of a scan, from the manifests. */
  columns(
    request: ScanRequest,
    columns: readonly SummarizedColumn[],
    call: ReadCall,
  ): Promise<readonly ColumnSummary[]>;
  /** Returns the size of a scan, from the manifest list and the cached manifests; it keeps no memory afterwards. */
  numbers(request: ScanRequest, call: ReadCall): Promise<ScanNumbers>;
  /** Gives the rows of a metadata table, in portions. */
  inspect(request: InspectRequest, call: ReadCall): AsyncIterable<readonly InspectedRow[]>;
  /** Sums the files of a snapshot. */
  sums(request: SumRequest, call: ReadCall): Promise<FileSums>;
  /** Compares the files of two snapshots; null: that takes too much. */
  changes(request: ChangesRequest, call: ReadCall): Promise<FileChanges | null>;
  /** Returns the manifests of a snapshot. */
  list(request: ListInput, call: ReadCall): Promise<readonly ManifestFile[]>;
  /** Writes manifests into one. */
  rewrite(request: RewriteInput & Pick<ScanRequest, 'tenant'>, call: ReadCall): Promise<Rewritten>;
  /** Takes files out of manifests. */
  remove(request: RemoveInput & Pick<ScanRequest, 'tenant'>, call: ReadCall): Promise<readonly Removal[]>;
  /** See `ManifestReader.newDeletes`. */
  newDeletes(request: SearchInput & Pick<ScanRequest, 'tenant'>, call: ReadCall): Promise<string | null>;
  /** See `ManifestReader.find`. */
  find(request: SearchInput & Pick<ScanRequest, 'tenant'>, call: ReadCall): Promise<FoundFiles>;
  /** Finds the files that only the expired snapshots reach, in portions; a thread looks for them. */
  unreachable(request: UnreachableRequest, call: ReadCall): AsyncIterable<readonly string[]>;
  /** Finds the files that no snapshot reaches, among candidates; a thread looks for them. */
  orphans(request: OrphansRequest, call: ReadCall): AsyncIterable<readonly string[]>;
}

const MODULE = new URL('./read-in-thread.ts', import.meta.url);
const FILES = work<FilesInput, FilesOutput>(MODULE, 'filesInThread');
const NUMBERS = work<ScanRequest, ScanNumbers>(MODULE, 'numbersInThread');
const INSPECT = work<InspectInput, Frames<InspectedRow>>(MODULE, 'inspectInThread');
const SUMS = work<SumRequest, FileSums>(MODULE, 'sumsInThread');
const CHANGES = work<ChangesRequest, FileChanges | null>(MODULE, 'changesInThread');
const UNREACHABLE = work<UnreachableRequest, Frames<string>>(MODULE, 'unreachableInThread');
const ORPHANS = work<OrphansRequest, Frames<string>>(MODULE, 'orphansInThread');
const LIST = work<ListInput, Frames<ManifestFile>>(MODULE, 'listInThread');
const REWRITE = work<RewriteInput, Rewritten>(MODULE, 'rewriteInThread');
const REMOVE = work<RemoveInput, readonly Removal[]>(MODULE, 'removeInThread');
const NEW_DELETES = work<SearchInput, string | null>(MODULE, 'newDeletesInThread');
const FIND = work<SearchInput, FoundFiles>(MODULE, 'findInThread');
const COLUMNS = work<ColumnsInput, readonly ColumnSummary[]>(MODULE, 'columnsInThread');

export type TableReaderParts = {
  readonly openStorage: OpenStorage;
  /** Caches of the manifests that this thread has read. */
  readonly manifestCaches: ManifestCaches;
  readonly pool: WorkPool;
  /** Maximum packed size of the list of files of one scan. */
  readonly fileListBytesMax: number;
};

/**
 * Reads small tables on the calling thread: their manifests are in its cache, and a query over them takes milliseconds. A read that exceeds
 * `limitsHere` is stopped, and done by a thread of the pool.
 */
export class GuardedTableReader implements TableReader {
  readonly #parts: TableReaderParts;
  /** Reads small tables on this thread; keyed by the tenant and the location of the manifest list. */
  readonly #smallFirst = new SmallFirst();

  constructor(parts: TableReaderParts) {
    this.#parts = parts;
  }

  files(request: ScanRequest, call: ReadCall, hold: FileListHold): Promise<PlannedFiles> {
    const here = async (place: ReadingPlace): Promise<PlannedFiles> => {
      const files: ScanFile[] = [];
      const report = await scanFiles(place, request, (file) => {
        files.push(file);
      });
      count(files, hold);
      return { files, report };
    };
    return this.#read(request, call, here, () => this.#filesApart(request, call, hold));
  }

  columns(
    request: ScanRequest,
    columns: readonly SummarizedColumn[],
    call: ReadCall,
  ): Promise<readonly ColumnSummary[]> {
    return this.#read(
      request,
      call,
      (place) => scanColumns(place, request, columns),
      () => this.#parts.pool.run(COLUMNS, { request, columns }, poolCall(request, call)),
    );
  }

  numbers(request: ScanRequest, call: ReadCall): Promise<ScanNumbers> {
    return this.#read(
      request,
      call,
      (place) => scanNumbers(place, request),
      () => this.#parts.pool.run(NUMBERS, request, poolCall(request, call)),
    );
  }

  async *inspect(request: InspectRequest, call: ReadCall): AsyncGenerator<readonly InspectedRow[]> {
    const { pool, fileListBytesMax } = this.#parts;
    const found = await this.#read<readonly InspectedRow[] | Frames<InspectedRow>>(
      request,
      call,
      async (place) => {
        const rows: InspectedRow[] = [];
        await inspectSnapshot(place, request, (row) => rows.push(row));
        return rows;
      },
      () => pool.run(INSPECT, { request, bytesMax: fileListBytesMax }, poolCall(request, call)),
    );
    if ('buffers' in found) yield* readFrames(found);
    else yield found;
  }

  sums(request: SumRequest, call: ReadCall): Promise<FileSums> {
    return this.#read(
      request,
      call,
      (place) => sumFiles(place, request, false),
      () => this.#parts.pool.run(SUMS, request, poolCall(request, call)),
    );
  }

  changes(request: ChangesRequest, call: ReadCall): Promise<FileChanges | null> {
    return this.#read(
      { ...request, snapshotId: request.to },
      call,
      (place) => sumChanges(place, request, false),
      () => this.#parts.pool.run(CHANGES, request, poolCall(request, call)),
    );
  }

  async list(request: ListInput, call: ReadCall): Promise<readonly ManifestFile[]> {
    const { table, snapshotId, allowedRoots, tenant } = request;
    const found = await this.#read<readonly ManifestFile[] | Frames<ManifestFile>>(
      request,
      call,
      ({ io, manifestCaches, limits }) =>
        snapshotManifests(io, table, snapshotId, { manifestCache: manifestCaches.of(tenant), allowedRoots, limits }),
      () => this.#parts.pool.run(LIST, request, poolCall(request, call)),
    );
    if (!('buffers' in found)) return found;
    const all: ManifestFile[] = [];
    for await (const frame of readFrames(found)) all.push(...frame);
    return all;
  }

  rewrite({ tenant, ...request }: RewriteInput & Pick<ScanRequest, 'tenant'>, call: ReadCall): Promise<Rewritten> {
    return this.#change(request, { tenant, call }, rewriteManifests, REWRITE);
  }

  remove(
    { tenant, ...request }: RemoveInput & Pick<ScanRequest, 'tenant'>,
    call: ReadCall,
  ): Promise<readonly Removal[]> {
    return this.#change(request, { tenant, call }, removeFromManifests, REMOVE);
  }

  newDeletes(
    { tenant, ...request }: SearchInput & Pick<ScanRequest, 'tenant'>,
    call: ReadCall,
  ): Promise<string | null> {
    return this.#change(request, { tenant, call }, findNewDeletes, NEW_DELETES);
  }

  find({ tenant, ...request }: SearchInput & Pick<ScanRequest, 'tenant'>, call: ReadCall): Promise<FoundFiles> {
    return this.#change(request, { tenant, call }, findFiles, FIND);
  }

  async *unreachable(request: UnreachableRequest, call: ReadCall): AsyncGenerator<readonly string[]> {
    yield* readFrames(await this.#parts.pool.run(UNREACHABLE, request, poolCall(request, call)));
  }

  async *orphans(request: OrphansRequest, call: ReadCall): AsyncGenerator<readonly string[]> {
    yield* readFrames(await this.#parts.pool.run(ORPHANS, request, poolCall(request, call)));
  }

  #change<Request extends Pick<RewriteInput, 'table' | 'manifests' | 'credential'>, T>(
    request: Request,
    { tenant, call }: { readonly tenant: TenantId; readonly call: ReadCall },
    here: (io: FileReader, request: Request, limits: DecodeLimits) => Promise<T>,
    apart: Work<Request, T>,
  ): Promise<T> {
    const { openStorage, pool } = this.#parts;
    const io = openStorage(request.table.location, request.credential);
    return this.#smallFirst.run(
      `${tenant} ${apart.name} ${request.manifests[0]?.path}`,
      () => here(io, request, limitsHere()),
      () => pool.run(apart, request, poolCall({ tenant }, call)),
    );
  }

  #read<T>(
    { tenant, table, snapshotId, credential }: ReadRequest,
    { signal }: ReadCall,
    here: (place: ReadingPlace) => Promise<T>,
    apart: () => Promise<T>,
  ): Promise<T> {
    const { openStorage, manifestCaches } = this.#parts;
    const io = openStorage(table.location, credential);
    const place = { io, manifestCaches, limits: limitsHere(), largeManifests: 'refuse', signal } as const;
    const list = table.snapshots.get(snapshotId)?.manifestList ?? '';
    return this.#smallFirst.run(`${tenant} ${list}`, () => here(place), apart);
  }

  async #filesApart(request: ScanRequest, call: ReadCall, hold: FileListHold): Promise<PlannedFiles> {
    const { pool, fileListBytesMax } = this.#parts;
    const input = { request, bytesMax: fileListBytesMax };
    const { files: sent, report } = await pool.run(FILES, input, poolCall(request, call));
    const files: ScanFile[] = [];
    const deletes: ScanDelete[] = [];
    for await (const frame of readFrames<SentFile>(sent)) {
      call.signal.throwIfAborted();
      const received = frame.map((file) => receive(file, deletes));
      count(received, hold);
      for (const file of received) files.push(file);
    }
    return { files, report };
  }
}

type ReadRequest = Pick<ScanRequest, 'tenant' | 'table' | 'snapshotId' | 'credential'>;

const poolCall = ({ tenant }: Pick<ReadRequest, 'tenant'>, { tableName, signal }: ReadCall): WorkCall => ({
  owner: tenant,
  what: `the manifests of ${tableName}`,
  signal,
});

function count(files: readonly ScanFile[], hold: FileListHold): void {
  let pathBytes = 0;
  for (const { path } of files) pathBytes += path.length;
  hold.add(files.length, pathBytes);
}

function receive({ newDeletes, deletes, ...file }: SentFile, known: ScanDelete[]): ScanFile {
  known.push(...newDeletes);
  return {
    ...file,
    deletes: deletes.map((number) => must(known[number], 'a delete comes with the first file that it applies to')),
  };
}
