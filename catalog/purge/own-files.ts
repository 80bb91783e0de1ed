import { must } from '#shared/must.ts';
import { removeFiles } from '#shared/storage/files-stayed.ts';
import { isWithin, normalizeLocation } from '#shared/storage/location.ts';
import type { Storages } from '../storage/storages.ts';
import { isBelow } from '../storage/table-location.ts';

/** Where a table's own files lie: in folders that it claims, below the roots of its catalog. */
type OwnPlaces = { readonly roots: readonly string[]; readonly folders: readonly string[] };

/** The way to the bytes of catalogs. */
export type OwnStorages = Pick<Storages, 'open'>;

type Removal = OwnPlaces & Parameters<typeof removeFiles>[2];

/**
 * Deletes those of the files that lie in the table's own folders, and not behind a symbolic link, which could lead anywhere: a file
 * elsewhere (one that was added where it lay) may belong to another table.
 * @returns how many went, and how many could not be deleted; each of these is in the log
 * @throws STORAGE_ERROR when nothing of a request could be deleted
 */
export async function removeOwnFiles(
  storages: OwnStorages,
  files: readonly string[],
  { roots, folders, ...removal }: Removal,
): Promise<{ readonly deleted: number; readonly stayed: number }> {
  const own = files.filter((file) => isBelow(file, roots) && isBelow(file, folders)).map(normalizeLocation);
  const ofFolders = Map.groupBy(own, (file) => file.slice(0, file.lastIndexOf('/')));
  const removed: string[] = [];
  for (const [folder, inside] of ofFolders) if (await isPlain(storages, folder, roots)) removed.push(...inside);
  let stayed = 0;
  // The files below one root are in one storage.
  for (const [root, ofOne] of Map.groupBy(removed, (file) => roots.find((one) => isWithin(file, one)))) {
    const storage = await storages.open(must(root, 'the file lies in a root'));
    stayed += await removeFiles(storage, ofOne, removal);
  }
  return { deleted: removed.length - stayed, stayed };
}

/** Whether the path of a folder below its root has no symbolic link. True for a folder that does not exist. */
export async function isPlain(storages: OwnStorages, folder: string, roots: readonly string[]): Promise<boolean> {
  const root = must(
    roots.map(normalizeLocation).find((one) => isWithin(folder, one)),
    'the folder lies in a root',
  );
  const storage = await storages.open(root);
  if (!storage.isLocal) return true;
  const [real, realRoot] = [await storage.resolve(folder), await storage.resolve(root)];
  return (
    real === undefined || realRoot === undefined || real === normalizeLocation(realRoot + folder.slice(root.length))
  );
}
