import { must } from '#shared/must.ts';
import { isWithin, normalizeLocation } from '#shared/storage/location.ts';
import { ownStorage } from '../storage/own-storage.ts';
import { isBelow } from '../storage/table-location.ts';

/** Where a table's own files lie: in folders that it claims, below the roots of its catalog. */
export type OwnPlaces = { readonly roots: readonly string[]; readonly folders: readonly string[] };

/**
 * Deletes those of the files that lie in the table's own folders, and not behind a symbolic link, which could lead anywhere: a file
 * elsewhere (one that was added where it lay) may belong to another table. @returns how many
 */
export async function removeOwnFiles(files: readonly string[], { roots, folders }: OwnPlaces): Promise<number> {
  const own = files.filter((file) => isBelow(file, roots) && isBelow(file, folders)).map(normalizeLocation);
  const plain = await Promise.all(own.map((file) => isPlain(file.slice(0, file.lastIndexOf('/')), roots)));
  const removed = own.filter((_, i) => plain[i]);
  for (const [storage, ofOne] of Map.groupBy(removed, ownStorage)) await storage.remove(ofOne);
  return removed.length;
}

/** Whether the path of a folder below its root has no symbolic link. True for a folder that does not exist. */
export async function isPlain(folder: string, roots: readonly string[]): Promise<boolean> {
  const root = must(
    roots.map(normalizeLocation).find((one) => isWithin(folder, one)),
    'the folder lies in a root',
  );
  const storage = ownStorage(root);
  const [real, realRoot] = [await storage.resolve(folder), await storage.resolve(root)];
  return (
    real === undefined || realRoot === undefined || real === normalizeLocation(realRoot + folder.slice(root.length))
  );
}
