import { workerData } from 'piscina';
import type { ScanDelete, ScanFile } from './scan-file.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { FrameWriter, type Frames } from '#shared/thread/frames.ts';
import { inThread, type WorkSettings } from '#shared/thread/work.ts';
import type { ColumnSummary, SummarizedColumn } from './column-summary.ts';
import { limitsApart, tooComplex } from './decode-limits.ts';
import { inspectSnapshot, type InspectedRow, type InspectRequest } from './inspect-snapshot.ts';
import { LruManifestCache } from './manifest-cache.ts';
import type { ManifestFile } from './manifest.ts';
import { packMetadata, type MetadataPart } from './metadata-parts.ts';
import { orphanFiles, type OrphansRequest } from './orphan-files.ts';
import type { PlanReport, ScanNumbers } from './planning.ts';
import {
  findFiles,
  findNewDeletes,
  type FoundFiles,
  removeFromManifests,
  rewriteManifests,
  type ListRequest,
  type Removal,
  type RemoveRequest,
  type RewriteRequest,
  type Rewritten,
  type SearchRequest,
} from './write/rewrite-manifests.ts';
import { snapshotManifests } from './snapshot-manifests.ts';
import { sumChanges, type ChangesRequest, type FileChanges } from './sum-changes.ts';
import { sumFiles, type FileSums, type SumRequest } from './sum-files.ts';
import { parseTableMetadata } from './table-metadata.ts';
import { unreachableFiles, type UnreachableRequest } from './unreachable-files.ts';
import { scanColumns, scanFiles, scanNumbers, type ReadingPlace, type ScanRequest } from './scan-request.ts';

/** Entry point of the worker threads that read manifests of tables. */
const settings = workerData as WorkSettings;
const manifestCaches = new LruManifestCache(settings.cacheBytes);

const place = ({ table, credential }: Pick<ScanRequest, 'table' | 'credential'>): ReadingPlace => ({
  io: openStorage(table.location, credential),
  manifestCaches,
  limits: limitsApart(settings.fileBytes),
  largeManifests: 'read',
});

/** A file of a scan as threads send it: its deletes are indexes into the list of all delete files sent so far. */
export type SentFile = Omit<ScanFile, 'deletes'> & {
  readonly deletes: readonly number[];
  /** Delete files that this file is the first to refer to; their numbers continue the numbering. */
  readonly newDeletes: readonly ScanDelete[];
};

export type FilesInput = { readonly request: ScanRequest; /** Longest list, packed. */ readonly bytesMax: number };
export type FilesOutput = { readonly files: Frames<SentFile>; readonly report: PlanReport };

export const filesInThread = inThread<FilesInput, FilesOutput>(
  async ({ request, bytesMax }) => {
    const writer = new FrameWriter<SentFile>((bytes) => {
      if (bytes > bytesMax) throw tooComplex(`the list of a scan's files has more than ${bytesMax} bytes`);
    });
    const numbers = new Map<ScanDelete, number>();
    const report = await scanFiles(place(request), request, ({ deletes, ...file }) => {
      const newDeletes = deletes.filter((one) => !numbers.has(one));
      for (const one of newDeletes) numbers.set(one, numbers.size);
      const sent = { ...file, deletes: deletes.map((one) => numbers.get(one) ?? -1), newDeletes };
      writer.add(sent, SENT_FILE_BYTES + file.path.length + deletes.length * SENT_NUMBER_BYTES);
    });
    return { files: writer.finish(), report };
  },
  ({ files }) => files.buffers,
);

/** Approximate bytes of a sent file, without its path. */
const SENT_FILE_BYTES = 100;
const SENT_NUMBER_BYTES = 4;

export type ColumnsInput = { readonly request: ScanRequest; readonly columns: readonly SummarizedColumn[] };

export const columnsInThread = inThread<ColumnsInput, readonly ColumnSummary[]>(({ request, columns }) =>
  scanColumns(place(request), request, columns),
);

export type InspectInput = { readonly request: InspectRequest; /** Longest rows, packed. */ readonly bytesMax: number };

export const inspectInThread = inThread<InspectInput, Frames<InspectedRow>>(
  async ({ request, bytesMax }) => {
    const writer = new FrameWriter<InspectedRow>((bytes) => {
      if (bytes > bytesMax) throw tooComplex(`the rows of a metadata table have more than ${bytesMax} bytes`);
    });
    await inspectSnapshot(place(request), request, (row) => {
      writer.add(
        row,
        row.reduce((bytes, text) => bytes + SENT_NUMBER_BYTES + (text?.length ?? 0), 0),
      );
    });
    return writer.finish();
  },
  ({ buffers }) => buffers,
);

export const sumsInThread = inThread<SumRequest, FileSums>((request) => sumFiles(place(request), request, true));

export const changesInThread = inThread<ChangesRequest, FileChanges | null>((request) =>
  sumChanges(place(request), request, true),
);

export type ListInput = ListRequest & Pick<ScanRequest, 'tenant' | 'credential'>;
export type RewriteInput = RewriteRequest & Pick<ScanRequest, 'credential'>;
export type RemoveInput = RemoveRequest & Pick<ScanRequest, 'credential'>;
export type SearchInput = SearchRequest & Pick<ScanRequest, 'credential'>;

export const listInThread = inThread<ListInput, Frames<ManifestFile>>(
  async (request) => {
    const { table, snapshotId, tenant, allowedRoots } = request;
    const { io, limits } = place(request);
    const options = { manifestCache: manifestCaches.of(tenant), allowedRoots, limits };
    const writer = new FrameWriter<ManifestFile>(() => undefined);
    for (const one of await snapshotManifests(io, table, snapshotId, options)) writer.add(one, LISTED_BYTES);
    return writer.finish();
  },
  ({ buffers }) => buffers,
);

/** Approximate bytes of a manifest in a list. */
const LISTED_BYTES = 400;

export const rewriteInThread = inThread<RewriteInput, Rewritten>(({ credential, ...request }) =>
  rewriteManifests(openStorage(request.table.location, credential), request, limitsApart(settings.fileBytes)),
);

export const removeInThread = inThread<RemoveInput, readonly Removal[]>(({ credential, ...request }) =>
  removeFromManifests(openStorage(request.table.location, credential), request, limitsApart(settings.fileBytes)),
);

export const newDeletesInThread = inThread<SearchInput, string | null>(({ credential, ...request }) =>
  findNewDeletes(openStorage(request.table.location, credential), request, limitsApart(settings.fileBytes)),
);

export const findInThread = inThread<SearchInput, FoundFiles>(({ credential, ...request }) =>
  findFiles(openStorage(request.table.location, credential), request, limitsApart(settings.fileBytes)),
);

export const unreachableInThread = inThread<UnreachableRequest, Frames<string>>(
  async (request) => {
    const writer = new FrameWriter<string>(() => undefined);
    for (const path of await unreachableFiles(place(request), request)) writer.add(path, path.length);
    return writer.finish();
  },
  ({ buffers }) => buffers,
);

export const orphansInThread = inThread<OrphansRequest, Frames<string>>(
  async (request) => {
    const writer = new FrameWriter<string>(() => undefined);
    for (const path of await orphanFiles(place(request), request)) writer.add(path, path.length);
    return writer.finish();
  },
  ({ buffers }) => buffers,
);

export const numbersInThread = inThread<ScanRequest, ScanNumbers>((request) => scanNumbers(place(request), request));

export const metadataInThread = inThread<string, Frames<MetadataPart>>(
  (text) => packMetadata(parseTableMetadata(text)),
  ({ buffers }) => buffers,
);
