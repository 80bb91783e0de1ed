import type { ScanSpec, TaskSpec } from '#shared/task/task.ts';
import { SkeinError } from '#shared/error.ts';
import type { ReadFooter } from '../scan/footer.ts';
import { nameBadFile } from '../scan/name-bad-file.ts';
import { unreadStorageError } from '../scan/unread-storage.ts';
import type { HeldObjects } from '../objects/held-objects.ts';
import type { RangeFiles } from '../staged/range-files.ts';
import { stagedError } from '../staged/staged-error.ts';

/** The parts of a failed task that its error may be about. */
type Failed = {
  readonly spec: Pick<TaskSpec, 'scans'>;
  /** The files that DuckDB opens. */
  readonly files: ReadonlySet<string>;
  readonly footersOf: (scan: ScanSpec) => ReadFooter;
  readonly ranges: Pick<RangeFiles, 'find'>;
  readonly objects: Pick<HeldObjects, 'withLocations'>;
};

/** Says of a task's error which file it is about, as far as it is about one, and what is wrong with the file. */
export async function explainFailure(
  thrown: unknown,
  { spec, files, footersOf, ranges, objects }: Failed,
): Promise<SkeinError> {
  const { code, message, cause } = SkeinError.of(thrown);
  const named = nameBadFile(new SkeinError(code, objects.withLocations(message), { cause }), files);
  return stagedError(await unreadStorageError(named, spec.scans, footersOf), spec, ranges);
}
