import type { ScanSpec, TaskSpec } from '#proto/task.ts';
import { SkeinError } from '#shared/error.ts';
import type { ReadFooter } from '../scan/footer.ts';
import { nameBadFile } from '../scan/name-bad-file.ts';
import { unreadStorage } from '../scan/unread-storage.ts';
import type { RangeFiles } from '../staged/range-files.ts';
import { stagedError } from '../staged/staged-error.ts';

/** The parts of a failed task that its error may be about. */
type Failed = {
  readonly spec: Pick<TaskSpec, 'scans'>;
  /** The files that DuckDB opens. */
  readonly files: ReadonlySet<string>;
  readonly footersOf: (scan: ScanSpec) => ReadFooter;
  readonly ranges: Pick<RangeFiles, 'find'>;
};

/** Says of a task's error which file it is about, as far as it is about one, and what is wrong with the file. */
export async function explainFailure(thrown: unknown, { spec, files, footersOf, ranges }: Failed): Promise<SkeinError> {
  const named = nameBadFile(SkeinError.of(thrown), files);
  return stagedError(await unreadStorage(named, spec.scans, footersOf), spec, ranges);
}
