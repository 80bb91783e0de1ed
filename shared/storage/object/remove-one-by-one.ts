import { FilesStayed, type StayedFile } from '#shared/storage/files-stayed.ts';
import { storageError } from './store-error.ts';

/** Requests for deletions that run at once. */
const REQUESTS_AT_ONCE = 16;

/** Deletes objects by a request each, where the store takes no list of them. @throws FilesStayed */
export async function removeOneByOne(
  locations: readonly string[],
  remove: (location: string) => Promise<void>,
): Promise<void> {
  const stayed: StayedFile[] = [];
  const rest = locations.values();
  const work = async (): Promise<void> => {
    for (const location of rest) {
      await remove(location).catch((error: unknown) => {
        stayed.push({ location, why: storageError(location, error).message });
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(REQUESTS_AT_ONCE, locations.length) }, work));
  if (stayed.length > 0) throw new FilesStayed(stayed);
}
