import type { ScanSpec } from '#proto/task.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import type { Storage } from '#shared/storage/storage.ts';

/** Opens the storage of a location with the credential of a scan. */
export type OpenScanned = (location: string) => Storage;

export const openScanned =
  ({ credential }: Pick<ScanSpec, 'credential'>): OpenScanned =>
  (location) =>
    openStorage(location, credential);

/**
 * Returns the path by which DuckDB reads a file or folder of a scan. Every path in a task's SQL or in its instance's `allowed_directories`
 * comes from here, so an object cache belongs at this place: it fetches the ranges that the scan needs into a local file, and answers with
 * the path of that file.
 * @throws NOT_SUPPORTED when the storage has no local paths
 */
export const readablePath = (open: OpenScanned, location: string): string => open(location).localPath(location);
