import type { StorageCredential } from '#shared/storage/credential.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { SkeinError, type ErrorCode } from '#shared/error.ts';
import { isBelow } from '#shared/iceberg/allowed-roots.ts';
import { limitsHere, tooComplex } from '#shared/iceberg/decode-limits.ts';
import { SmallFirst } from '#shared/thread/small-first.ts';
import type { WorkPool } from '#shared/thread/work-pool.ts';
import { work } from '#shared/thread/work.ts';
import { runDocumentTask, type DocumentTask } from '../metadata/document-task.ts';
import type { Storages } from '../storage/storages.ts';
import { readPaths, readReached, unpackPaths, type PackedPaths, type PathsInput, type Reached } from './read-paths.ts';

/** Lets other requests have the thread, extends the hold on the dropped table, and throws to stop the purge. */
export type Pause = () => Promise<void>;

/** The input of a walk over a table's files, and a callback for files that cannot be read and are skipped. */
export type Reach = {
  readonly readers: WorkPool;
  readonly storages: Pick<Storages, 'credential' | 'open'>;
  /** The dropped table, for error messages and for its turns in the worker pool. */
  readonly tableId: string;
  /** Only files below these roots are opened. */
  readonly roots: readonly string[];
  /** Called with a manifest or manifest list that does not exist or cannot be parsed. */
  readonly onUnreadable: (file: string, error: unknown) => void;
  /** Called before each file, and for each batch of paths of a manifest list: hostile metadata names many that cannot be opened. */
  readonly pause: Pause;
};

const MODULE = new URL('./read-in-thread.ts', import.meta.url);
const PATHS = work<PathsInput & { readonly credential: StorageCredential }, PackedPaths>(MODULE, 'pathsInThread');
const REACHED: DocumentTask<string, Reached> = {
  here: readReached,
  apart: work<string, Reached>(MODULE, 'reachedInThread'),
};

/** The owner under which purges queue in the worker pool. */
const OWNER = 'purges';
/** Maximum number of manifests of one table: their paths stay in memory until the files are deleted. */
const MANIFESTS_MAX = 1_000_000;

/** Files that a store deletes at once. */
const FILES_AT_ONCE = 1_000;

/**
 * Errors of a file that is no manifest: it is skipped. A file too large to be read is not skipped: it may be a manifest that names files of
 * the table.
 */
const UNREADABLE: ReadonlySet<ErrorCode> = new Set([
  'INVALID_TABLE_DATA',
  'NOT_SUPPORTED',
  'INVALID_REQUEST',
  // Behind a symbolic link.
  'FORBIDDEN',
]);

/**
 * Yields every file that table metadata reaches, data files by as many as a store deletes at once, ordered so that after a crash in
 * mid-deletion the remaining files are still reached: data and delete files first (none when `gc.enabled` is false: they belong to someone
 * else), then manifests, manifest lists, statistics, earlier metadata files.
 * @param document the metadata, as text
 * @throws STORAGE_ERROR, TABLE_DATA_TOO_COMPLEX
 */
export async function* reachedFiles(reach: Reach, document: string): AsyncGenerator<ReachedFiles> {
  const about = { bytes: document.length, owner: OWNER, what: `the metadata of the dropped table ${reach.tableId}` };
  const reached = await runDocumentTask(reach.readers, REACHED, document, about);
  const reader = new PathReader(reach);
  const manifests = new Set(reached.manifests);
  for (const list of new Set(reached.lists)) {
    for (const paths of await reader.read({ location: list, of: 'list' })) {
      await reach.pause();
      for (const path of paths) manifests.add(path);
      if (manifests.size > MANIFESTS_MAX) throw tooComplex(`the table has more than ${MANIFESTS_MAX} manifests`);
    }
  }
  if (reached.ownsData) {
    let files: string[] = [];
    for (const manifest of manifests) {
      for (const paths of await reader.read({ location: manifest, of: 'manifest' })) {
        for (const path of paths) files.push(path);
        if (files.length < FILES_AT_ONCE) continue;
        yield { kind: 'data', files };
        files = [];
      }
    }
    yield { kind: 'data', files };
  }
  for (const files of [[...manifests], reached.lists, reached.statistics, reached.earlierMetadata]) {
    yield { kind: 'metadata', files };
  }
}

/** Files of a table; data files are reached by metadata only. */
export type ReachedFiles = { readonly kind: 'data' | 'metadata'; readonly files: readonly string[] };

/** Reads small files on the calling thread, large ones in a worker thread. */
class PathReader {
  readonly #reach: Reach;
  readonly #smallFirst = new SmallFirst();

  constructor(reach: Reach) {
    this.#reach = reach;
  }

  /** Reads the paths in a file; empty for a file that does not exist or cannot be read. */
  async read(input: PathsInput): Promise<Iterable<readonly string[]>> {
    const { roots, onUnreadable, pause, storages } = this.#reach;
    const { location } = input;
    await pause();
    // A missing file was deleted by an earlier purge that was interrupted.
    if (!isBelow(location, roots)) return [];
    const credential = await storages.credential(location, { roots });
    try {
      if (!(await openStorage(location, credential).exists(location))) return [];
      return unpackPaths(await this.#read(input, credential));
    } catch (error) {
      if (!(error instanceof SkeinError) || !UNREADABLE.has(error.code)) throw error;
      onUnreadable(location, error);
      return [];
    }
  }

  #read(input: PathsInput, credential: StorageCredential): Promise<PackedPaths> {
    const { readers } = this.#reach;
    return this.#smallFirst.run(
      input.location,
      () => readPaths(openStorage(input.location, credential), input, limitsHere()),
      () => readers.run(PATHS, { ...input, credential }, { owner: OWNER, what: input.location }),
    );
  }
}
