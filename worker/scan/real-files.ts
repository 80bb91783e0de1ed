import { lstatSync } from 'node:fs';
import { dirname } from 'node:path';
import { SkeinError } from '#shared/error.ts';
import { readablePath, type OpenScanned } from './readable-path.ts';

type RealFile = {
  readonly open: OpenScanned;
  readonly location: string;
  readonly path: string;
  readonly identity: string;
};

/**
 * The local files that DuckDB opens for a task by their paths, some time after these were checked. A tenant that exchanges a file or a folder
 * for a link in between would have it read what is another's, so the task's answer holds only if every file is after it what it was before:
 * no link on its way, the same inode, and not touched, as one is that was put aside and back. A folder that is put aside and back within the
 * task is not noticed: the time of its change moves with every commit, too.
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
      if (identityOf(path) !== identity || identity === '') {
        throw new SkeinError('STORAGE_ERROR', `${location} was changed while it was read`);
      }
    }
  }
}

/** The inode that has the path itself, not what it may lead to; '' when there is none. The owner of a file cannot set the time of its change. */
function identityOf(path: string): string {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? '' : `${found.dev} ${found.ino} ${found.ctimeNs}`;
}
