import { fileName } from '#shared/storage/location.ts';
import { requireWithin } from './allowed-roots.ts';
import { readManifest } from './read-manifest.ts';
import type { ReadingPlace, ScanRequest } from './scan-request.ts';
import { snapshotManifests } from './snapshot-manifests.ts';
import { specById } from './table-metadata.ts';

/** `table.snapshots` holds every snapshot. Plain values, so that it can be sent to a thread. */
export type OrphansRequest = Pick<ScanRequest, 'tenant' | 'table' | 'allowedRoots' | 'credential'> & {
  /** Locations of files that were found in the table's folders. */
  readonly candidates: readonly string[];
};

/**
 * The candidates that no snapshot reaches: neither as a manifest list, nor as a manifest, nor as a data or delete file. They are compared by
 * their names without folders, because writers spell the same location in several ways; names of files are unique by themselves.
 * @throws as `planFiles`: a manifest that cannot be read may name any file
 */
export async function orphanFiles(
  { io, manifestCaches, limits, signal }: ReadingPlace,
  { tenant, table, allowedRoots, candidates }: OrphansRequest,
): Promise<readonly string[]> {
  const check = requireWithin(allowedRoots);
  const options = { manifestCache: manifestCaches.of(tenant), allowedRoots, limits };
  const left = Map.groupBy(candidates, fileName);
  const seen = new Set<string>();
  for (const [snapshotId, { manifestList }] of table.snapshots) {
    signal?.throwIfAborted();
    if (manifestList !== null) left.delete(fileName(manifestList));
    for (const manifest of await snapshotManifests(io, table, snapshotId, options)) {
      const { path, specId } = manifest;
      if (seen.has(path)) continue;
      seen.add(path);
      check(path);
      left.delete(fileName(path));
      const spec = specById(table, specId);
      for await (const { entries } of readManifest(io, manifest, spec, (id) => table.fields.get(id)?.type, limits)) {
        signal?.throwIfAborted();
        for (const { status, file } of entries) if (status !== 'deleted') left.delete(fileName(file.path));
      }
    }
  }
  return [...left.values()].flat();
}
