import { locationKey } from '#shared/storage/location.ts';
import { requireWithin } from './allowed-roots.ts';
import { tooComplex } from './decode-limits.ts';
import type { ManifestFile } from './manifest.ts';
import { readManifest } from './read-manifest.ts';
import type { ReadingPlace, ScanRequest } from './scan-request.ts';
import { snapshotManifests } from './snapshot-manifests.ts';
import { specById } from './table-metadata.ts';

/** `table.snapshots` holds both the expired snapshots and those that are kept. Plain values, so that it can be sent to a thread. */
export type UnreachableRequest = Pick<ScanRequest, 'tenant' | 'table' | 'allowedRoots' | 'credential'> & {
  readonly expired: readonly bigint[];
  readonly kept: readonly bigint[];
};

/** Files that one expiry looks at; each path is held. */
const FILES_MAX = 2_000_000;

/**
 * The files that the expired snapshots reach and the kept ones do not: manifest lists, manifests, data and delete files. A file that a kept
 * manifest lists as deleted is not reached by it.
 * @throws as `planFiles`; TABLE_DATA_TOO_COMPLEX for more than `FILES_MAX` files
 */
export async function unreachableFiles(
  { io, manifestCaches, limits, signal }: ReadingPlace,
  { tenant, table, allowedRoots, expired, kept }: UnreachableRequest,
): Promise<readonly string[]> {
  const check = requireWithin(allowedRoots);
  const options = { manifestCache: manifestCaches.of(tenant), allowedRoots, limits };
  const manifestsOf = async (ids: readonly bigint[]): Promise<Map<string, ManifestFile>> => {
    const found = new Map<string, ManifestFile>();
    for (const id of ids) {
      signal?.throwIfAborted();
      for (const manifest of await snapshotManifests(io, table, id, options))
        found.set(locationKey(manifest.path), manifest);
      if (found.size > FILES_MAX) throw tooComplex(`more than ${FILES_MAX} manifests`);
    }
    return found;
  };
  const live = await manifestsOf(kept);
  const gone = [...(await manifestsOf(expired))].flatMap(([key, one]) => (live.has(key) ? [] : [one]));
  const listOf = (id: bigint): string => locationKey(table.snapshots.get(id)?.manifestList ?? '');
  const lists = new Set(['', ...kept.map(listOf)]);
  // By their keys: two snapshots may spell one file with different schemes.
  const found = new Set(expired.map(listOf).filter((list) => !lists.has(list)));
  const visit = async (manifests: Iterable<ManifestFile>, file: (path: string) => void): Promise<void> => {
    for (const manifest of manifests) {
      check(manifest.path);
      const spec = specById(table, manifest.specId);
      for await (const { entries } of readManifest(io, manifest, spec, (id) => table.fields.get(id)?.type, limits)) {
        signal?.throwIfAborted();
        for (const entry of entries) if (entry.status !== 'deleted') file(entry.file.path);
      }
    }
  };
  await visit(gone, (path) => {
    found.add(locationKey(path));
    if (found.size > FILES_MAX) throw tooComplex(`more than ${FILES_MAX} files`);
  });
  for (const { path } of gone) found.add(locationKey(path));
  await visit(live.values(), (path) => found.delete(locationKey(path)));
  for (const path of found) check(path);
  return [...found];
}
