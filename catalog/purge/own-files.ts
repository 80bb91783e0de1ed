import { must } from '#shared/must.ts';
import { isWithin, normalizeLocation } from '#shared/storage/location.ts';
import type { Storages } from '../storage/storages.ts';
import { isBelow } from '../storage/table-location.ts';

/** Where a table's own files lie: in folders that it claims, below the roots of its catalog. */
export type OwnPlaces = { readonly roots: readonly string[]; readonly folders: readonly string[] };

/** The way to the bytes of catalogs. */
export type OwnStorages = Pick<Storages, 'open'>;

/**
 * Deletes those of the files that lie in the table's own folders, and not behind a symbolic link, which could lead anywhere: a file
 * elsewhere (one that was added where it lay) may belong to another table. @returns how many
 */
export async function removeOwnFiles(
  storages: OwnStorages,
  files: readonly string[],
  { roots, folders }: OwnPlaces,
): Promise<number> {
  const own = files.filter((file) => isBelow(file, roots) && isBelow(file, folders)).map(normalizeLocation);
  const plain = await Promise.all(own.map((file) => isPlain(storages, file.slice(0, file.lastIndexOf('/')), roots)));
  const removed = own.filter((_, i) => plain[i]);
  // The files below one root are in one storage.
  for (const [root, ofOne] of Map.groupBy(removed, (file) => roots.find((one) => isWithin(file, one)))) {
    await (await storages.open(must(root, 'the file lies in a root'))).remove(ofOne);
  }
  return removed.length;
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
