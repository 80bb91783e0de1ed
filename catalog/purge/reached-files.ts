import type { FileIo } from '#shared/storage/file-io.ts';
import { SkeinError } from '#shared/error.ts';
import { readManifestList, readManifestPaths } from '#shared/iceberg/manifest.ts';
import { isBelow } from '../storage/table-location.ts';
import type { TableMetadata } from '../commit/table-metadata.ts';

/** What to read, and what could not be read and so is passed over. */
export type Reach = {
  readonly io: FileIo;
  /** Nothing outside of them is opened. */
  readonly roots: readonly string[];
  /** Called with a manifest or manifest list that is not there, or is none. */
  readonly onUnreadable: (file: string, error: unknown) => void;
};

/**
 * Every file that table metadata reaches, in an order in which they can be deleted: after a crash the ones that are left are still
 * reached. First data and delete files (none when `gc.enabled` is false: they belong to someone else), then manifests, manifest lists,
 * statistics, earlier metadata files. In lists of one manifest each.
 * @throws STORAGE_ERROR
 */
export async function* reachedFiles(reach: Reach, metadata: TableMetadata): AsyncGenerator<readonly string[]> {
  const lists = metadata.snapshots.flatMap((snapshot) => snapshot['manifest-list'] ?? []);
  const manifests = new Set(metadata.snapshots.flatMap((snapshot) => snapshot.manifests ?? []));
  for (const list of new Set(lists)) {
    const found = await readable(reach, list, async () => (await readManifestList(reach.io, list)).value);
    for (const { path } of found ?? []) manifests.add(path);
  }
  if (metadata.properties['gc.enabled']?.toLowerCase() !== 'false') {
    for (const manifest of manifests) {
      yield (await readable(reach, manifest, () => readManifestPaths(reach.io, manifest))) ?? [];
    }
  }
  yield [...manifests];
  yield lists;
  yield [...metadata.statistics, ...metadata['partition-statistics']].map((file) => file['statistics-path']);
  yield metadata['metadata-log'].map((entry) => entry['metadata-file']);
}

async function readable<T>(reach: Reach, file: string, read: () => Promise<T>): Promise<T | undefined> {
  if (!isBelow(file, reach.roots)) return undefined;
  // A purge that was cut short deleted it.
  if (!(await reach.io.exists(file))) return undefined;
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof SkeinError) || error.code === 'STORAGE_ERROR') throw error;
    reach.onUnreadable(file, error);
    return undefined;
  }
}
