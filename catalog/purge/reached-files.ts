import { SkeinError, type ErrorCode } from '#shared/error.ts';
import { limitsHere, tooComplex } from '#shared/iceberg/decode-limits.ts';
import type { FileIo } from '#shared/storage/file-io.ts';
import { SmallFirst } from '#shared/thread/small-first.ts';
import type { WorkPool } from '#shared/thread/work-pool.ts';
import { work } from '#shared/thread/work.ts';
import { runDocumentTask, type DocumentTask } from '../commit/document-task.ts';
import { isBelow } from '../storage/table-location.ts';
import { readPaths, readReached, unpackPaths, type PackedPaths, type PathsInput, type Reached } from './read-paths.ts';

/** What to read, and what could not be read and so is passed over. */
export type Reach = {
  readonly io: FileIo;
  readonly readers: WorkPool;
  /** The dropped table, for errors and turns. */
  readonly tableId: string;
  /** Nothing outside of them is opened. */
  readonly roots: readonly string[];
  /** Called with a manifest or manifest list that is not there, or is none. */
  readonly onUnreadable: (file: string, error: unknown) => void;
};

const MODULE = new URL('./read-in-thread.ts', import.meta.url);
const PATHS = work<PathsInput, PackedPaths>(MODULE, 'pathsInThread');
const REACHED: DocumentTask<string, Reached> = {
  here: readReached,
  apart: work<string, Reached>(MODULE, 'reachedInThread'),
};

/** Whose work purges are, among those that threads read for. */
const OWNER = 'purges';
/** Manifests of one table: their paths are held until they are deleted. */
const MANIFESTS_MAX = 1_000_000;

/** Files that are no manifests are passed over. One that is too large to be read is not: it may be one, with files of the table in it. */
const UNREADABLE: ReadonlySet<ErrorCode> = new Set(['INVALID_TABLE_DATA', 'NOT_SUPPORTED', 'INVALID_REQUEST']);

/**
 * Every file that table metadata reaches, in an order in which they can be deleted: after a crash the ones that are left are still
 * reached. First data and delete files (none when `gc.enabled` is false: they belong to someone else), then manifests, manifest lists,
 * statistics, earlier metadata files. In lists of some of one manifest each.
 * @param document the metadata, as text
 * @throws STORAGE_ERROR, TABLE_DATA_TOO_COMPLEX
 */
export async function* reachedFiles(reach: Reach, document: string): AsyncGenerator<readonly string[]> {
  const about = { bytes: document.length, owner: OWNER, what: `the metadata of the dropped table ${reach.tableId}` };
  const reached = await runDocumentTask(reach.readers, REACHED, document, about);
  const reader = new PathReader(reach);
  const manifests = new Set(reached.manifests);
  for (const list of new Set(reached.lists)) {
    for (const paths of await reader.read({ location: list, of: 'list' })) {
      for (const path of paths) manifests.add(path);
    }
    if (manifests.size > MANIFESTS_MAX) throw tooComplex(`the table has more than ${MANIFESTS_MAX} manifests`);
  }
  if (reached.ownsData) {
    for (const manifest of manifests) yield* await reader.read({ location: manifest, of: 'manifest' });
  }
  yield [...manifests];
  yield reached.lists;
  yield reached.statistics;
  yield reached.earlierMetadata;
}

/** Reads small files at once, large ones in a thread. */
class PathReader {
  readonly #reach: Reach;
  readonly #smallFirst = new SmallFirst();

  constructor(reach: Reach) {
    this.#reach = reach;
  }

  /** None for a file that is not there or cannot be read. */
  async read(input: PathsInput): Promise<Iterable<readonly string[]>> {
    const { io, roots, onUnreadable } = this.#reach;
    const { location } = input;
    // One that is not there was deleted by a purge that was cut short.
    if (!isBelow(location, roots) || !(await io.exists(location))) return [];
    try {
      return unpackPaths(await this.#read(input));
    } catch (error) {
      if (!(error instanceof SkeinError) || !UNREADABLE.has(error.code)) throw error;
      onUnreadable(location, error);
      return [];
    }
  }

  #read(input: PathsInput): Promise<PackedPaths> {
    const { io, readers } = this.#reach;
    return this.#smallFirst.run(
      input.location,
      () => readPaths(io, input, limitsHere()),
      () => readers.run(PATHS, input, { owner: OWNER, what: input.location }),
    );
  }
}
