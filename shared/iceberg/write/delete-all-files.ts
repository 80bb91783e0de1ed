import type { ManifestFile } from '../manifest.ts';
import type { SnapshotChange } from './snapshot-change.ts';
import { countRemoved, NOTHING_ADDED, type RemovedOfSnapshot } from './snapshot-summary.ts';

/**
 * Returns the change that takes every file out of a table. Each data file gets an entry of status "deleted", so that whoever expires the
 * snapshots before knows whose files are no longer needed; delete files go with them.
 *
 *   parent: data manifest ─▶ a manifest of the same files, all deleted
 *           delete manifest ─▶ nothing
 */
export function deleteAllFiles(): SnapshotChange {
  let removed: readonly RemovedOfSnapshot[] = [];
  return {
    operation: 'delete',
    get counts() {
      const counts = countRemoved(removed);
      return { ...NOTHING_ADDED, partitions: counts.partitions, removed: counts };
    },
    async manifests(writer, parent) {
      const files: RemovedOfSnapshot[] = [];
      const written: ManifestFile[] = [];
      for (const manifest of parent) {
        const made = await writer.rewrite([manifest], manifest.content === 'data' ? 'deleted' : 'counted');
        files.push(made.files);
        written.push(...made.manifests);
      }
      removed = files;
      return written;
    },
  };
}
