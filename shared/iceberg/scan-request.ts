import type { ScanFile } from '#proto/task.ts';
import type { FileIo } from '#shared/storage/file-io.ts';
import { ColumnSummaries, type ColumnSummary, type SummarizedColumn } from './column-summary.ts';
import type { DecodeLimits } from './decode-limits.ts';
import type { ManifestCache } from './manifest-cache.ts';
import { planEntries, planFiles, type Sink } from './plan-files.ts';
import type { PlanFilesOptions, PlanReport, PlanTable } from './planning.ts';
import type { Predicate } from './predicate.ts';

/** A scan of which something is asked: plain values, so that it can be sent to a thread. */
export type ScanRequest = {
  readonly table: PlanTable;
  readonly snapshotId: bigint;
  readonly predicate: Predicate;
  readonly allowedRoots: readonly string[];
  /** Fields whose identity-partition values a file carries as constants. */
  readonly columnsNeeded: ReadonlySet<number>;
};

/** Where a request is answered: on the thread that serves everybody, or in one of its own. */
export type ReadingPlace = Pick<PlanFilesOptions, 'largeManifests' | 'signal'> & {
  readonly io: FileIo;
  readonly manifestCache: ManifestCache;
  readonly limits: DecodeLimits;
};

const optionsOf = ({ io: _io, ...place }: ReadingPlace, request: ScanRequest): PlanFilesOptions => ({
  ...place,
  allowedRoots: request.allowedRoots,
  columnsNeeded: request.columnsNeeded,
});

/** The files of a scan; see `planFiles`. */
export const scanFiles = (place: ReadingPlace, request: ScanRequest, sink: Sink<ScanFile>): Promise<PlanReport> =>
  planFiles(place.io, request.table, request.snapshotId, request.predicate, optionsOf(place, request), sink);

/** What the manifests say of columns over the files of a scan. */
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
