import type { ManifestFile } from '../manifest.ts';
import type { NewDataFile } from './data-file.ts';
import type { SnapshotChange } from './snapshot-change.ts';
import { countAdded } from './snapshot-summary.ts';

/** Returns the change that adds data files; every manifest of the parent stays as it is. */
export function appendFiles(files: readonly NewDataFile[]): SnapshotChange {
  let added: readonly ManifestFile[] | undefined;
  return {
    operation: 'append',
    counts: countAdded(files),
    async manifests(writer, parent) {
      added ??= await writer.writeAdded(files);
      return [...added, ...parent];
    },
  };
}
