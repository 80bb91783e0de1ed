import { mkdirSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

type Mode = { readonly mode?: number | undefined };

/**
 * Makes a folder and its missing parents; an existing folder stays as it is. Node's own `recursive: true` never returns where a file system
 * answers ENOENT although the parent exists (`/proc/x`): it makes the parent again and again (`test/tidy.test.ts` forbids it).
 * @throws the file system's error: ENOENT, EACCES, EEXIST and ENOTDIR when a file is in the way
 */
export function makeFoldersSync(path: string, { mode }: Mode = {}): void {
  const lacking: string[] = [];
  for (let at = resolve(path); !isFolderSync(at); at = dirname(at)) lacking.push(at);
  for (const folder of lacking.toReversed()) {
    try {
      mkdirSync(folder, { mode });
    } catch (error) {
      // Another process may have made it in the meantime.
      if (!isFolderSync(folder)) throw error;
    }
  }
}

/** Like `makeFoldersSync`, without blocking the thread. */
export async function makeFolders(path: string, { mode }: Mode = {}): Promise<void> {
  const lacking: string[] = [];
  for (let at = resolve(path); !(await isFolder(at)); at = dirname(at)) lacking.push(at);
  for (const folder of lacking.toReversed()) {
    try {
      await mkdir(folder, { mode });
    } catch (error) {
      if (!(await isFolder(folder))) throw error;
    }
  }
}

function isFolderSync(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    return isNoFolder(error);
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    return isNoFolder(error);
  }
}

/** Returns false for a path that does not exist; throws every other error (such as a folder without access). */
function isNoFolder(error: unknown): false {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return false;
  throw error;
}
