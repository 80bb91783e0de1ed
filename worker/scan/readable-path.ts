import type { ScanSpec } from '#shared/task/task.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import type { Storage } from '#shared/storage/storage.ts';
import type { WantedObject } from '../objects/held-objects.ts';

/** Opens the storage of a location with the credential of a scan. */
export type OpenScanned = (location: string) => Storage;

/** Brings files here whose storage this machine's programs cannot open. */
export type FetchFiles = (files: readonly WantedObject[]) => Promise<void>;

export const openScanned =
  ({ credential }: Pick<ScanSpec, 'credential'>): OpenScanned =>
  (location) =>
    openStorage(location, credential);

/**
 * Returns the path by which DuckDB reads a file or folder of a scan. Every path in a task's SQL or in its instance's `allowed_directories`
 * comes from here. That of an object is the path of its copy, which the task has fetched before (`worker/objects`).
 * @throws NOT_SUPPORTED when the storage has no local paths
 */
export const readablePath = (open: OpenScanned, location: string): string => open(location).localPath(location);
