import { must } from '../must.ts';
import { removeFiles } from '../storage/files-stayed.ts';
import { isWithin, normalizeLocation } from '../storage/location.ts';
import type { Storage } from '../storage/storage.ts';
import { isBelow } from './allowed-roots.ts';

/**
 * The one rule for whoever deletes files that a table's metadata names (expiry by statement and by the catalog, purges, orphans): a file
 * goes only if it lies in a folder that the table claims. A file elsewhere, which was added where it lay, may belong to another table.
 * `test/file-deletions.test.ts` lists all code that deletes files.
 */
export type OwnPlaces = {
  /** Roots of the table's catalog. */
  readonly roots: readonly string[];
  /** Folders that the table claims. */
  readonly folders: readonly string[];
};

/** The way to the bytes of a location. */
export type OwnStorages = { open(location: string, roots: readonly string[]): Promise<Storage> };

type Removal = OwnPlaces &
  Parameters<typeof removeFiles>[2] & {
    /** Nothing is deleted, and the answer says what would be. */
    readonly dryRun?: boolean;
  };

/** The files that lie in the table's own folders, and not behind a symbolic link, which could lead anywhere. Normalised. */
async function ownFiles(
  storages: OwnStorages,
  files: readonly string[],
  { roots, folders }: OwnPlaces,
): Promise<readonly string[]> {
  const own = files.filter((file) => isBelow(file, roots) && isBelow(file, folders)).map(normalizeLocation);
  const plain: string[] = [];
  for (const [folder, inside] of Map.groupBy(own, (file) => file.slice(0, file.lastIndexOf('/')))) {
    if (await isPlain(storages, folder, roots)) plain.push(...inside);
  }
  return plain;
}

/**
 * Deletes those of the files that are the table's own.
 * @returns how many went, how many could not be deleted (each of these is in the log), and how many lie elsewhere and stay
 * @throws STORAGE_ERROR when nothing of a request could be deleted
 */
export async function removeOwnFiles(
  storages: OwnStorages,
  files: readonly string[],
  { roots, folders, dryRun = false, ...removal }: Removal,
): Promise<RemovedFiles> {
  const own = await ownFiles(storages, files, { roots, folders });
  let stayed = 0;
  if (dryRun) return { deleted: own.length, stayed, elsewhere: files.length - own.length };
  // The files below one root are in one storage.
  for (const [root, ofOne] of Map.groupBy(own, (file) => roots.find((one) => isWithin(file, one)))) {
    const storage = await storages.open(must(root, 'the file lies in a root'), roots);
    stayed += await removeFiles(storage, ofOne, removal);
  }
  return { deleted: own.length - stayed, stayed, elsewhere: files.length - own.length };
}

export type RemovedFiles = { readonly deleted: number; readonly stayed: number; readonly elsewhere: number };

export const NONE_REMOVED: RemovedFiles = { deleted: 0, stayed: 0, elsewhere: 0 };

export const addRemoved = (some: RemovedFiles, more: RemovedFiles): RemovedFiles => ({
  deleted: some.deleted + more.deleted,
  stayed: some.stayed + more.stayed,
  elsewhere: some.elsewhere + more.elsewhere,
});

/** Whether the path of a folder below its root has no symbolic link. True for a folder that does not exist. */
export async function isPlain(storages: OwnStorages, folder: string, roots: readonly string[]): Promise<boolean> {
  const root = must(
    roots.map(normalizeLocation).find((one) => isWithin(folder, one)),
    'the folder lies in a root',
  );
  const storage = await storages.open(root, roots);
  if (!storage.isLocal) return true;
  const [real, realRoot] = [await storage.resolve(folder), await storage.resolve(root)];
  return (
    real === undefined || realRoot === undefined || real === normalizeLocation(realRoot + folder.slice(root.length))
  );
}
