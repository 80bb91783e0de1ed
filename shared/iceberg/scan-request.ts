import type { ScanFile } from './scan-file.ts';
import type { TenantId } from '#shared/id.ts';
import type { StorageCredential } from '#shared/storage/credential.ts';
import type { FileReader } from '#shared/storage/storage.ts';
import { ColumnSummaries, type ColumnSummary, type SummarizedColumn } from './column-summary.ts';
import type { DecodeLimits } from './decode-limits.ts';
import type { ManifestCaches } from './manifest-cache.ts';
import { countFiles, planEntries, planFiles, type ScanFilesOptions, type Sink } from './plan-files.ts';
import type { PlanFilesOptions, PlanReport, PlanTable, ScanNumbers } from './planning.ts';
import type { Predicate } from './predicate.ts';

/** A scan whose files or statistics are requested: plain values, so that it can be sent to a thread. */
export type ScanRequest = {
  /** The tenant that owns the table: only manifests that were cached for this tenant's own tables are used. */
  readonly tenant: TenantId;
  readonly table: PlanTable;
  readonly snapshotId: bigint;
  readonly predicate: Predicate;
  readonly allowedRoots: readonly string[];
  readonly credential: StorageCredential;
  /** Fields whose identity-partition values a file carries as constants. */
  readonly columnsNeeded: ReadonlySet<number>;
  /** Only data files of a higher data sequence number. */
  readonly addedAfter?: bigint;
};

/** The place that answers a request: the main thread, or a thread of its own. */
export type ReadingPlace = Pick<PlanFilesOptions, 'largeManifests' | 'signal'> & {
  readonly io: FileReader;
  readonly manifestCaches: ManifestCaches;
  readonly limits: DecodeLimits;
};

const optionsOf = ({ io: _io, manifestCaches, ...place }: ReadingPlace, request: ScanRequest): ScanFilesOptions => ({
  ...place,
  manifestCache: manifestCaches.of(request.tenant),
  allowedRoots: request.allowedRoots,
  columnsNeeded: request.columnsNeeded,
  ...(request.addedAfter === undefined ? {} : { addedAfter: request.addedAfter }),
});

/** Finds the files of a scan; see `planFiles`. */
export const scanFiles = (place: ReadingPlace, request: ScanRequest, sink: Sink<ScanFile>): Promise<PlanReport> =>
  planFiles(place.io, request.table, request.snapshotId, request.predicate, optionsOf(place, request), sink);

/** Returns the size of a scan, without its files; see `countFiles`. */
export const scanNumbers = (place: ReadingPlace, request: ScanRequest): Promise<ScanNumbers> =>
  countFiles(place.io, request.table, request.snapshotId, request.predicate, optionsOf(place, request));

/** Returns column statistics over the files of a scan, from the manifests. */
export async function scanColumns(
  place: ReadingPlace,
  request: ScanRequest,
  columns: readonly SummarizedColumn[],
): Promise<readonly ColumnSummary[]> {
  const summaries = new ColumnSummaries(columns, place.limits.steps);
  let rows = 0;
  await planEntries(
    place.io,
    request.table,
    request.snapshotId,
    request.predicate,
    optionsOf(place, request),
    ({ file }) => {
      rows += file.recordCount;
      summaries.add(file);
    },
  );
  return summaries.finish(rows);
}
