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
  unlink,
  type FileHandle,
} from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { SkeinError } from '#shared/error.ts';
import {
  atPlace,
  MAKES_MAX,
  RealFolder,
  RealRoot,
  refuseLink,
  requireReal,
  requireRealSync,
  type FilePlace,
} from './file-place.ts';
import { FilesStayed, type StayedFile } from './files-stayed.ts';
import { fileLocation, localPath } from './location.ts';
import { OpenFile } from './open-file.ts';
import { PRIVATE_MODE } from './private-folder.ts';
import { FileNotFound, FileTooLarge, type ListedFile, type Storage } from './storage.ts';

/** Number of files that `list` returns at once, the page size of S3. */
const PAGE_FILES = 1_000;
/** Number of files whose size and time are asked for at once. */
const STATS_AT_ONCE = 16;
/** Maximum number of concurrent deletions. */
const REMOVES_AT_ONCE = 16;

type PlaceOf = (uri: string) => FilePlace;

/**
 * Storage of `file:` locations below some roots. A write goes to a temporary name, is synced, and then linked, so a reader never sees half a
 * file. Below a root no symbolic link is followed (`file-place.ts`): what one leads to is refused with FORBIDDEN.
 */
export function filesBelow(locations: readonly string[]): Storage {
  const roots = locations.map((location) => new RealRoot(location)).toSorted((a, b) => b.path.length - a.path.length);
  const placeOf: PlaceOf = (uri) => {
    const path = localPath(uri);
    const root = roots.find((one) => one.holds(path));
    if (root === undefined) throw new SkeinError('FORBIDDEN', `${uri} lies outside of the folders of its catalog`);
    return { root, path };
  };
  return {
    isLocal: true,
    ...readsOf(placeOf),
    ...writesOf(placeOf),
    ...listsOf(placeOf),
    ...folderCalls(placeOf),
    remove: (uris) => removeAll(uris, placeOf),
    abortUploads: () => Promise.resolve(0),
  };
}

type Reads = Pick<Storage, 'read' | 'readRange' | 'openFile' | 'exists' | 'modifiedMs' | 'fileAt'>;

const readsOf = (placeOf: PlaceOf): Reads => ({
  read: (uri, bytesMax) =>
    guard(uri, async () => {
      await using file = await OpenFile.open(placeOf(uri));
      if (file.sizeBytes > bytesMax) throw new FileTooLarge(uri, bytesMax);
      return file.read(0, file.sizeBytes);
    }),

  readRange: (uri, offset, length) =>
    guard(uri, async () => {
      await using file = await OpenFile.open(placeOf(uri));
      return file.read(offset, length);
    }),

  openFile: (uri, tailBytes) =>
    guard(uri, async () => {
      const file = await OpenFile.open(placeOf(uri));
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

  exists: (uri) => guard(uri, async () => (await statsAt(placeOf(uri)))?.isFile() === true),

  modifiedMs: (uri) =>
    guard(uri, async () => {
      const stats = await statsAt(placeOf(uri));
      return stats === undefined ? undefined : Number(stats.mtimeMs);
    }),

  fileAt: (uri) =>
    guard(uri, async () => {
      const place = placeOf(uri);
      return listedFile(place.path, await statsAt(place));
    }),
});

const writesOf = (placeOf: PlaceOf): Pick<Storage, 'write' | 'writeStream' | 'place' | 'sync'> => ({
  write: async (uri, bytes) => {
    await writeNew(uri, placeOf, [bytes]);
  },

  writeStream: (uri, chunks) => writeNew(uri, placeOf, chunks),

  place: (from, to) =>
    guard(from, async () => {
      const place = placeOf(to);
      const renameInto = (folder: RealFolder): Promise<void> =>
        atPlace(placeOf(from), (path) => rename(path, folder.at(basename(place.path))));
      const { folder } = await firstInFolder(place, to, renameInto);
      await folder[Symbol.asyncDispose]();
    }),

  sync: (uri) =>
    guard(uri, async () => {
      const place = placeOf(uri);
      await using file = await open(place.path, 'r+');
      await requireReal(file, place);
      await file.sync();
    }),
});

const folderCalls = (
  placeOf: PlaceOf,
): Pick<Storage, 'makeFolder' | 'removeEmptyFolders' | 'resolve' | 'localPath'> => ({
  makeFolder: (uri, access) =>
    guard(uri, async () => {
      const folder = await makeFolderFor(placeOf(uri), uri, access === 'private' ? PRIVATE_MODE : undefined);
      await folder[Symbol.asyncDispose]();
    }),

  removeEmptyFolders: (uri) => guard(uri, () => removeEmptyFolders(placeOf(uri))),

  resolve: (uri) =>
    guard(uri, async () => {
      const path = await realpath(localPath(uri)).catch(ignoreMissing);
      return path === undefined ? undefined : fileLocation(path);
    }),

  localPath: (uri) => {
    const place = placeOf(uri);
    requireRealSync(place);
    return place.path;
  },
});

/** Creates a file. @returns its size. An error that the bytes throw is no error of the storage. */
async function writeNew(
  uri: string,
  placeOf: PlaceOf,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<number> {
  const place = placeOf(uri);
  const [name, temporaryName] = [basename(place.path), `${basename(place.path)}.${randomUUID()}.tmp`];
  const openIn = (opened: RealFolder): Promise<FileHandle> => open(opened.at(temporaryName), 'wx');
  const { folder: opened, made: file } = await guard(uri, () => firstInFolder(place, uri, openIn));
  await using folder = opened;
  const [path, temporary] = [folder.at(name), folder.at(temporaryName)];
  try {
    let sizeBytes = 0;
    try {
      for await (const chunk of chunks) {
        await guard(uri, () => file.writeFile(chunk));
        sizeBytes += chunk.length;
      }
      await guard(uri, () => file.sync());
    } finally {
      await file.close();
    }
    await guard(uri, () => link(temporary, path));
    return sizeBytes;
  } finally {
    await unlink(temporary).catch(() => undefined);
  }
}

async function removeAll(uris: readonly string[], placeOf: PlaceOf): Promise<void> {
  const stayed: StayedFile[] = [];
  let cause: unknown;
  const stays = (location: string, error: unknown): void => {
    cause ??= error;
    stayed.push({ location, why: codeOf((error as Error).cause) || String(error) });
  };
  for (const [folder, inside] of Map.groupBy(uris, (uri) => dirname(localPath(uri)))) {
    await removeIn(folder, inside, { placeOf, stays });
  }
  if (stayed.length > 0) throw new FilesStayed(stayed, cause);
}

type Removal = { readonly placeOf: PlaceOf; readonly stays: (uri: string, error: unknown) => void };

async function removeIn(folder: string, uris: readonly string[], { placeOf, stays }: Removal): Promise<void> {
  const first = uris[0] ?? '';
  let opened: RealFolder | undefined;
  try {
    opened = await guard(first, () => RealFolder.open({ ...placeOf(first), path: folder }).catch(ignoreMissing));
  } catch (error) {
    for (const uri of uris) stays(uri, error);
  }
  if (opened === undefined) return;
  await using parent = opened;
  for (let start = 0; start < uris.length; start += REMOVES_AT_ONCE) {
    const batch = uris.slice(start, start + REMOVES_AT_ONCE);
    const remove = (uri: string): Promise<void> =>
      guard(uri, () => rm(parent.at(basename(localPath(uri))), { force: true }).catch(ignoreMissing));
    for (const [i, result] of (await Promise.allSettled(batch.map(remove))).entries()) {
      if (result.status === 'rejected') stays(batch[i] ?? '', result.reason);
    }
  }
}

const listsOf = (placeOf: PlaceOf): Pick<Storage, 'list' | 'listFiles'> => ({
  list: (uri) => inPages(namesBelow(uri, placeOf)),
  listFiles: (uri) => inPages(filesIn(uri, placeOf)),
});

async function* inPages<T>(portions: AsyncIterable<readonly T[]>): AsyncGenerator<readonly T[]> {
  let page: T[] = [];
  for await (const portion of portions) {
    page.push(...portion);
    if (page.length < PAGE_FILES) continue;
    yield page.slice(0, PAGE_FILES);
    page = page.slice(PAGE_FILES);
  }
  if (page.length > 0) yield page;
}

async function* namesBelow(uri: string, placeOf: PlaceOf): AsyncGenerator<readonly string[]> {
  for await (const { folder, names } of walk(uri, placeOf)) {
    yield names.map((name) => fileLocation(join(folder.place.path, name)));
  }
}

async function* filesIn(uri: string, placeOf: PlaceOf): AsyncGenerator<readonly ListedFile[]> {
  for await (const { folder, names } of walk(uri, placeOf)) {
    for (let start = 0; start < names.length; start += STATS_AT_ONCE) {
      const some = names.slice(start, start + STATS_AT_ONCE);
      const stats = await guard(uri, () => Promise.all(some.map((name) => statsOf(folder.at(name)))));
      const files = some.map((name, i) => listedFile(join(folder.place.path, name), stats[i]));
      yield files.filter((file) => file !== undefined);
    }
  }
}

/** The files of each folder at and below a location. The folder is open until the next one is asked for. */
async function* walk(
  uri: string,
  placeOf: PlaceOf,
): AsyncGenerator<{ readonly folder: RealFolder; readonly names: readonly string[] }> {
  const { root, path } = placeOf(uri);
  const waiting = [path];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const place = { root, path: next };
    const opened = await guard(uri, () => RealFolder.open(place).catch(ignoreMissing));
    if (opened === undefined) continue;
    await using folder = opened;
    let names: string[] = [];
    for await (const entry of await guard(uri, () => opendir(folder.path))) {
      if (entry.isDirectory()) waiting.push(join(next, entry.name));
      else if (entry.isFile()) names.push(entry.name);
      if (names.length < PAGE_FILES) continue;
      yield { folder, names };
      names = [];
    }
    if (names.length > 0) yield { folder, names };
  }
}

const statsOf = (path: string): Promise<BigIntStats | undefined> => lstat(path, { bigint: true }).catch(ignoreMissing);

const statsAt = (place: FilePlace): Promise<BigIntStats | undefined> => atPlace(place, statsOf).catch(ignoreMissing);

function listedFile(path: string, stats: BigIntStats | undefined): ListedFile | undefined {
  if (stats?.isFile() !== true) return undefined;
  const { size, mtimeMs } = stats;
  return { location: fileLocation(path), sizeBytes: Number(size), modifiedMs: Number(mtimeMs), etag: etagOf(stats) };
}

/** A file that replaces another one has another inode or another time; no two files at once have one inode. */
const etagOf = ({ ino, size, mtimeNs }: BigIntStats): string =>
  [ino, size, mtimeNs].map((part) => part.toString(16)).join('-');

/**
 * Makes something in the folder of a file that is written. Until then others may remove the folder, because it is empty: then it is made
 * again. @throws FileNotFound when a file is in the way
 */
async function firstInFolder<T>(
  place: FilePlace,
  uri: string,
  make: (folder: RealFolder) => Promise<T>,
): Promise<{ readonly folder: RealFolder; readonly made: T }> {
  for (let left = MAKES_MAX; ; left -= 1) {
    const folder = await folderFor(place, uri);
    try {
      return { folder, made: await make(folder) };
    } catch (error) {
      const isRemoved = await folder.isRemoved();
      await folder[Symbol.asyncDispose]();
      if (!isRemoved || left === 0) throw error;
    }
  }
}

/** The folder of a file that is written. @throws FileNotFound when a file is in the way */
const folderFor = ({ root, path }: FilePlace, uri: string): Promise<RealFolder> => {
  // A file that is a root has no folder below it.
  if (path === root.path) refuseLink(path);
  return makeFolderFor({ root, path: dirname(path) }, uri);
};

async function makeFolderFor(place: FilePlace, uri: string, mode?: number): Promise<RealFolder> {
  try {
    return await RealFolder.make(place, mode);
  } catch (error) {
    throw codeOf(error) === 'EEXIST' ? new FileNotFound(uri) : error;
  }
}

async function removeEmptyFolders({ root, path }: FilePlace): Promise<void> {
  const entries = await entriesOf({ root, path });
  for (const entry of entries)
    if (entry.isDirectory()) await removeEmptyFolders({ root, path: join(path, entry.name) });
  // A folder with contents stays.
  await atPlace({ root, path }, rmdir).catch(() => undefined);
}

async function entriesOf(place: FilePlace): Promise<readonly Dirent[]> {
  const opened = await RealFolder.open(place).catch(ignoreMissing);
  if (opened === undefined) return [];
  await using folder = opened;
  return await readdir(folder.path, { withFileTypes: true });
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
const isMissing = (error: unknown): boolean => error instanceof FileNotFound || MISSING.has(codeOf(error));

function ignoreMissing(error: unknown): undefined {
  if (isMissing(error)) return undefined;
  throw error;
}
