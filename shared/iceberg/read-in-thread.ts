import { workerData } from 'piscina';
import type { ScanDelete, ScanFile } from '#proto/task.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { FrameWriter, type Frames } from '#shared/thread/frames.ts';
import { inThread, type WorkSettings } from '#shared/thread/work.ts';
import type { ColumnSummary, SummarizedColumn } from './column-summary.ts';
import { limitsApart, tooComplex } from './decode-limits.ts';
import { LruManifestCache } from './manifest-cache.ts';
import { packMetadata, type MetadataPart } from './metadata-parts.ts';
import type { PlanReport, ScanNumbers } from './planning.ts';
import { parseTableMetadata } from './table-metadata.ts';
import { scanColumns, scanFiles, scanNumbers, type ReadingPlace, type ScanRequest } from './scan-request.ts';

/** Entry point of the worker threads that read manifests of tables. */
const settings = workerData as WorkSettings;
const manifestCaches = new LruManifestCache(settings.cacheBytes);

const place = ({ table, credential }: ScanRequest): ReadingPlace => ({
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

export const numbersInThread = inThread<ScanRequest, ScanNumbers>((request) => scanNumbers(place(request), request));

export const metadataInThread = inThread<string, Frames<MetadataPart>>(
  (text) => packMetadata(parseTableMetadata(text)),
  ({ buffers }) => buffers,
);
