import { randomUUID } from 'node:crypto';
import type { BigIntStats, Dirent } from 'node:fs';
import {
  link,
  lstat,
  open,
  opendir,
  readdir,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SkeinError } from '#shared/error.ts';
import { FilesStayed, type StayedFile } from './files-stayed.ts';
import { fileLocation, localPath } from './location.ts';
import { makeFolders } from './make-folders.ts';
import { OpenFile } from './open-file.ts';
import { PRIVATE_MODE } from './private-folder.ts';
import { FileNotFound, FileTooLarge, type ListedFile, type Storage } from './storage.ts';

/** Number of files that `list` returns at once, the page size of S3. */
const PAGE_FILES = 1_000;
/** Number of files whose size and time are asked for at once. */
const STATS_AT_ONCE = 16;
/** Maximum number of concurrent deletions. */
const REMOVES_AT_ONCE = 16;

/** Storage of `file:` locations. A write goes to a temporary name, is synced, and then linked, so a reader never sees half a file. */
export const fileStorage: Storage = {
  isLocal: true,

  read: (uri, bytesMax) =>
    guard(uri, async () => {
      await using file = await OpenFile.open(localPath(uri));
      if (file.sizeBytes > bytesMax) throw new FileTooLarge(uri, bytesMax);
      return file.read(0, file.sizeBytes);
    }),

  readRange: (uri, offset, length) =>
    guard(uri, async () => {
      await using file = await OpenFile.open(localPath(uri));
      return file.read(offset, length);
    }),

  openFile: (uri, tailBytes) =>
    guard(uri, async () => {
      const file = await OpenFile.open(localPath(uri));
      try {
        const tail = await file.read(Math.max(0, file.sizeBytes - tailBytes), tailBytes);
        return {
          sizeBytes: file.sizeBytes,
          tail,
          etag: '',
          checksums: null,
          read: (offset, length) => guard(uri, () => file.read(offset, length)),
          [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
        };
      } catch (error) {
        await file[Symbol.asyncDispose]();
        throw error;
      }
    }),

  write: (uri, bytes) =>
    guard(uri, async () => {
      const path = localPath(uri);
      await makeFoldersFor(dirname(path), uri);
      const temporary = `${path}.${randomUUID()}.tmp`;
      try {
        await writeFile(temporary, bytes, { flush: true });
        await link(temporary, path);
      } finally {
        await unlink(temporary).catch(() => undefined);
      }
    }),

  writeStream: async (uri, chunks) => {
    const temporary = `${localPath(uri)}.${randomUUID()}.tmp`;
    const file = await guard(uri, async () => {
      await makeFoldersFor(dirname(temporary), uri);
      return open(temporary, 'wx');
    });
    try {
      let sizeBytes = 0;
      try {
        // An error that the bytes throw is no error of the storage.
        for await (const chunk of chunks) {
          await guard(uri, () => file.writeFile(chunk));
          sizeBytes += chunk.length;
        }
        await guard(uri, () => file.sync());
      } finally {
        await file.close();
      }
      await guard(uri, () => link(temporary, localPath(uri)));
      return sizeBytes;
    } finally {
      await unlink(temporary).catch(() => undefined);
    }
  },

  place: (from, to) =>
    guard(from, async () => {
      const path = localPath(to);
      await makeFoldersFor(dirname(path), to);
      await rename(localPath(from), path);
    }),

  sync: (uri) =>
    guard(uri, async () => {
      await using file = await open(localPath(uri), 'r+');
      await file.sync();
    }),

  makeFolder: (uri, access) =>
    guard(uri, () => makeFoldersFor(localPath(uri), uri, access === 'private' ? PRIVATE_MODE : undefined)),

  removeEmptyFolders: (uri) => guard(uri, () => removeEmptyFolders(localPath(uri))),

  exists: (uri) => guard(uri, async () => (await stat(localPath(uri)).catch(ignoreMissing))?.isFile() === true),

  modifiedMs: (uri) => guard(uri, async () => (await stat(localPath(uri)).catch(ignoreMissing))?.mtimeMs),

  resolve: (uri) =>
    guard(uri, async () => {
      const path = await realpath(localPath(uri)).catch(ignoreMissing);
      return path === undefined ? undefined : fileLocation(path);
    }),

  list: (uri) => listPages(uri),

  listFiles: (uri) => listedPages(uri),

  fileAt: (uri) => guard(uri, () => fileAt(localPath(uri))),

  remove: async (uris) => {
    const stayed: StayedFile[] = [];
    let cause: unknown;
    for (let start = 0; start < uris.length; start += REMOVES_AT_ONCE) {
      const batch = uris.slice(start, start + REMOVES_AT_ONCE);
      for (const [i, result] of (await Promise.allSettled(batch.map(removeFile))).entries()) {
        if (result.status === 'fulfilled') continue;
        cause ??= result.reason;
        stayed.push({ location: batch[i] ?? '', why: codeOf((result.reason as Error).cause) || String(result.reason) });
      }
    }
    if (stayed.length > 0) throw new FilesStayed(stayed, cause);
  },

  abortUploads: () => Promise.resolve(0),

  localPath,
};

const removeFile = (uri: string): Promise<void> =>
  guard(uri, () => rm(localPath(uri), { force: true }).catch(ignoreMissing));

async function* listPages(uri: string): AsyncGenerator<readonly string[]> {
  let page: string[] = [];
  const folders = [localPath(uri)];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for await (const entry of entriesOf(folder, uri)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile()) page.push(fileLocation(path));
      if (page.length < PAGE_FILES) continue;
      yield page;
      page = [];
    }
  }
  if (page.length > 0) yield page;
}

async function* listedPages(uri: string): AsyncGenerator<readonly ListedFile[]> {
  for await (const page of listPages(uri)) {
    const files: ListedFile[] = [];
    for (let start = 0; start < page.length; start += STATS_AT_ONCE) {
      const some = page.slice(start, start + STATS_AT_ONCE);
      const found = await guard(uri, () => Promise.all(some.map((file) => fileAt(localPath(file)))));
      files.push(...found.filter((file) => file !== undefined));
    }
    yield files;
  }
}

async function fileAt(path: string): Promise<ListedFile | undefined> {
  const stats = await lstat(path, { bigint: true }).catch(ignoreMissing);
  if (stats?.isFile() !== true) return undefined;
  const { size, mtimeMs } = stats;
  return { location: fileLocation(path), sizeBytes: Number(size), modifiedMs: Number(mtimeMs), etag: etagOf(stats) };
}

/** A file that replaces another one has another inode or another time; no two files at once have one inode. */
const etagOf = ({ ino, size, mtimeNs }: BigIntStats): string =>
  [ino, size, mtimeNs].map((part) => part.toString(16)).join('-');

async function* entriesOf(folder: string, uri: string): AsyncGenerator<Dirent> {
  const opened = await guard(uri, () => opendir(folder).catch(ignoreMissing));
  if (opened !== undefined) yield* opened;
}

/** @throws FileNotFound when a file is in the way. */
async function makeFoldersFor(path: string, uri: string, mode?: number): Promise<void> {
  try {
    await makeFolders(path, { mode });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? new FileNotFound(uri) : error;
  }
}

async function removeEmptyFolders(path: string): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true }).catch(ignoreMissing);
  for (const entry of entries ?? []) if (entry.isDirectory()) await removeEmptyFolders(join(path, entry.name));
  // A folder with contents stays.
  await rmdir(path).catch(() => undefined);
}

async function guard<T>(uri: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SkeinError || error instanceof FileNotFound || error instanceof FileTooLarge) throw error;
    if (isMissing(error)) throw new FileNotFound(uri);
    if (FULL.has(codeOf(error))) {
      throw new SkeinError('STORAGE_FULL', `there is no space to write ${uri}`, { cause: error });
    }
    throw new SkeinError('STORAGE_ERROR', `cannot access ${uri}`, { cause: error });
  }
}

/** Error codes for a name that is missing, is a folder, or is not possible. */
const MISSING = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ERR_FS_EISDIR', 'ENAMETOOLONG']);

/** Error codes for a file system, a quota or a file that is full. */
const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException | undefined)?.code ?? '';
const isMissing = (error: unknown): boolean => MISSING.has(codeOf(error));

function ignoreMissing(error: unknown): undefined {
  if (isMissing(error)) return undefined;
  throw error;
}
