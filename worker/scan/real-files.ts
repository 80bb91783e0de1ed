import { lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { SkeinError } from '#shared/error.ts';
import { readablePath, type OpenScanned } from './readable-path.ts';

type RealFile = {
  readonly open: OpenScanned;
  readonly location: string;
  readonly path: string;
  /** Undefined when the file has gone before its task began: nothing may be there later. */
  readonly identity: string | undefined;
};

/**
 * The local files that DuckDB opens for a task by their paths, some time after these were checked. A tenant that exchanges a file or a folder
 * for a link in between would have it read what is another's, so the task's answer holds only if no path leads after it to what it did not
 * lead to before: no link is on its way, and the inode is the same. A file that is gone was deleted by an expiry, whom queries that have it
 * open do not hear of; one whose link count or rights changed is what a backup leaves. An exchange that is undone within the task is not
 * noticed: nothing tells it from these, for a folder not even the time of its change, which moves with every commit.
 */
export class RealFiles {
  readonly #files: RealFile[] = [];

  /** Called before DuckDB can open the file. Files of buckets are the worker's own here. @throws FORBIDDEN */
  add(open: OpenScanned, location: string): void {
    if (!open(location).isLocal) return;
    const path = readablePath(open, location);
    this.#files.push({ open, location, path, identity: identityOf(path) });
  }

  /** Called when DuckDB opens none of them any more, before anything that it said is believed. @throws FORBIDDEN, STORAGE_ERROR */
  check(): void {
    const folders = new Set<string>();
    for (const { open, location, path, identity } of this.#files) {
      const folder = dirname(path);
      // The way to a folder is looked at once.
      if (!folders.has(folder)) readablePath(open, location);
      folders.add(folder);
      const now = identityOf(path);
      if (now !== undefined && now !== identity) {
        throw new SkeinError('STORAGE_ERROR', `${location} was changed while it was read`);
      }
    }
  }
}

/** The inode that has the path itself, not what it may lead to; undefined when there is none. A new link may get the inode of a deleted file. */
function identityOf(path: string): string | undefined {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev} ${found.ino} ${found.isSymbolicLink() ? 'link' : 'file'}`;
}
