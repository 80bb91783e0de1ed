import { setImmediate as nextTurn } from 'node:timers/promises';
import { SkeinError } from '#shared/error.ts';
import { uploadFolder, UPLOADS_FOLDER } from '#shared/stage/stage-folders.ts';
import { must } from '#shared/must.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { FileNotFound, type ListedFile, type Storage } from '#shared/storage/storage.ts';
import type { Pages } from '../catalog-client/pages.ts';
import type { Stage, StageUpload } from '../catalog-client/stage-catalog.ts';

/** The files of stages, in the storage. */

export type StageFile = Omit<ListedFile, 'location'> & {
  /** In the stage. */
  readonly path: string;
};

type StagePlace = Pick<Stage, 'location' | 'credential' | 'use'>;
type UploadPlace = Pick<StageUpload, 'id'> & { readonly stage: StagePlace };

/** Bytes of a file that are in memory at once while it is read. */
const CHUNK_BYTES = 1024 * 1024;

const storageOf = ({ location, credential, use }: StagePlace): Storage =>
  openStorage(location, must(credential, 'a stage that is opened comes with the right to its files'), use);

const locationOf = (stage: StagePlace, path: string): string =>
  path === '' ? stage.location : `${stage.location}/${path}`;

/** The file of this path, or those of the folder; all for an empty path. Each page is sorted. */
export async function* listStageFiles(stage: Stage, path: string): Pages<StageFile> {
  const storage = storageOf(stage);
  const file = path === '' ? undefined : await storage.fileAt(locationOf(stage, path));
  if (file !== undefined) yield [inStage(stage, file)];
  for await (const page of storage.listFiles(locationOf(stage, path))) {
    // Files that are being written are none of the stage's.
    const files = page.map((one) => inStage(stage, one)).filter((one) => !one.path.startsWith(`${UPLOADS_FOLDER}/`));
    yield files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    await nextTurn();
  }
}

const inStage = ({ location }: StagePlace, { location: at, ...file }: ListedFile): StageFile => ({
  path: at.slice(location.length + 1),
  ...file,
});

/** @throws STAGE_FILE_NOT_FOUND */
export async function requireStageFile(stage: StagePlace, path: string): Promise<StageFile> {
  const file = await storageOf(stage).fileAt(locationOf(stage, path));
  if (file === undefined) throw fileNotFound(path);
  return inStage(stage, file);
}

const fileNotFound = (path: string): SkeinError =>
  new SkeinError('STAGE_FILE_NOT_FOUND', `the stage has no file ${path}`);

/** Removes files; the folders that become empty go, too. */
export async function removeStageFiles(stage: Stage, path: string, files: readonly StageFile[]): Promise<void> {
  const storage = storageOf(stage);
  await storage.remove(files.map((file) => locationOf(stage, file.path)));
  if (path !== '') await storage.removeEmptyFolders(locationOf(stage, path));
}

/** Removes files that are still in the state in which they were found. What cannot be removed stays. */
export async function removeUnchanged(stage: Stage, files: readonly StageFile[]): Promise<void> {
  const storage = storageOf(stage);
  for (const { path, etag } of files) {
    const now = await storage.fileAt(locationOf(stage, path)).catch(() => undefined);
    if (now?.etag === etag) await storage.remove([locationOf(stage, path)]).catch(() => undefined);
  }
}

/** A file that is read from one end to the other: that which was opened, even when another one replaces it. */
export type OpenedStageFile = AsyncDisposable & {
  readonly file: StageFile;
  /** Bytes `[begin, end)`. */
  chunks(begin: number, end: number): AsyncGenerator<Buffer>;
};

/** @throws STAGE_FILE_NOT_FOUND */
export async function openStageFile(stage: Stage, path: string): Promise<OpenedStageFile> {
  const file = await requireStageFile(stage, path);
  const opened = await storageOf(stage)
    .openFile(locationOf(stage, path), 0)
    .catch((error: unknown) => {
      throw error instanceof FileNotFound ? fileNotFound(path) : error;
    });
  return {
    file: { ...file, sizeBytes: opened.sizeBytes },
    async *chunks(begin, end) {
      for (let at = begin; at < end; at += CHUNK_BYTES) yield opened.read(at, Math.min(CHUNK_BYTES, end - at));
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}

/** Writes bytes beside the stage's files, under a name that only the upload has. @returns their number */
export function writeUploadFile(
  { id, stage }: StageUpload,
  name: string,
  chunks: AsyncIterable<Uint8Array>,
): Promise<number> {
  return storageOf(stage).writeStream(`${uploadFolder(stage.location, id)}/${name}`, chunks);
}

/** The names of the files that an upload has now, with their sizes. */
export async function uploadFiles({ id, stage }: UploadPlace): Promise<ReadonlyMap<string, number>> {
  const folder = uploadFolder(stage.location, id);
  const files = new Map<string, number>();
  for await (const page of storageOf(stage).listFiles(folder)) {
    for (const { location, sizeBytes } of page) files.set(location.slice(folder.length + 1), sizeBytes);
  }
  return files;
}

/** Gives a file of an upload another name there. */
export async function renameUploadFile({ id, stage }: StageUpload, from: string, to: string): Promise<void> {
  const folder = uploadFolder(stage.location, id);
  await storageOf(stage).place(`${folder}/${from}`, `${folder}/${to}`);
}

/** The bytes of files of an upload, one after the other. */
export async function* readUploadFiles({ id, stage }: StageUpload, names: readonly string[]): AsyncGenerator<Buffer> {
  const folder = uploadFolder(stage.location, id);
  for (const name of names) {
    await using file = await storageOf(stage).openFile(`${folder}/${name}`, 0);
    for (let at = 0; at < file.sizeBytes; at += CHUNK_BYTES) yield file.read(at, CHUNK_BYTES);
  }
}

/**
 * Makes a file of an upload the stage's file of the upload's path, in the place of an earlier one.
 * @throws INVALID_REQUEST when a folder has the path, or a file that of a folder
 */
export async function placeUploadFile(
  { id, stage, path }: UploadPlace & Pick<StageUpload, 'path'>,
  name: string,
): Promise<StageFile> {
  const storage = storageOf(stage);
  try {
    await storage.place(`${uploadFolder(stage.location, id)}/${name}`, locationOf(stage, path));
  } catch (error) {
    if (!(error instanceof FileNotFound)) throw error;
    throw new SkeinError('INVALID_REQUEST', `${path} cannot be a file: a folder, or a file, is in its way`, {
      cause: error,
    });
  }
  return requireStageFile(stage, path);
}

/**
 * Checks that files can get these paths. @param mayReplace where a file has the path already, it is replaced
 * @throws ALREADY_EXISTS; INVALID_REQUEST when a folder has the path, or a file that of a folder
 */
export async function requireFreePaths(stage: Stage, paths: readonly string[], mayReplace: boolean): Promise<void> {
  const storage = storageOf(stage);
  const folders = new Set(paths.flatMap(foldersOf));
  for (const folder of folders) {
    if ((await storage.fileAt(locationOf(stage, folder))) !== undefined) throw inTheWay(folder);
  }
  for (const path of paths) {
    const location = locationOf(stage, path);
    if ((await storage.resolve(location)) === undefined) continue;
    if ((await storage.fileAt(location)) === undefined) throw inTheWay(path);
    if (!mayReplace) throw fileExists(path);
  }
}

/** `a/b/c` lies in the folders `a` and `a/b`. */
const foldersOf = (path: string): readonly string[] => {
  const names = path.split('/');
  return names.slice(1).map((_, i) => names.slice(0, i + 1).join('/'));
};

const inTheWay = (path: string): SkeinError =>
  new SkeinError('INVALID_REQUEST', `${path} is in the way of the files: a folder, or a file where a folder is wanted`);

export const fileExists = (path: string): SkeinError =>
  new SkeinError('ALREADY_EXISTS', `the stage has a file ${path} already: OVERWRITE = TRUE replaces files`);

/** Deletes files of an upload. */
export async function removeUploadFiles({ id, stage }: UploadPlace, names: readonly string[]): Promise<void> {
  await storageOf(stage).remove(names.map((name) => `${uploadFolder(stage.location, id)}/${name}`));
}

/** Deletes all that is left of an upload. */
export async function removeUpload(upload: UploadPlace): Promise<void> {
  await removeUploadFiles(upload, [...(await uploadFiles(upload)).keys()]);
  await storageOf(upload.stage).removeEmptyFolders(uploadFolder(upload.stage.location, upload.id));
}
