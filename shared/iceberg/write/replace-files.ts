import { SkeinError } from '#shared/error.ts';
import type { ManifestFile } from '../manifest.ts';
import type { NewDataFile } from './data-file.ts';
import type { ManifestWriter } from './manifest-writer.ts';
import type { SnapshotChange } from './snapshot-change.ts';
import { countReplaced, NOTHING_ADDED, type SnapshotCounts } from './snapshot-summary.ts';

/** Files that go, and those that come in their place; files that go are named by `fileKey`. */
export type Replacement = {
  /** `replace`: the table has the same rows as before. */
  readonly operation: 'replace' | 'overwrite';
  readonly removed: ReadonlySet<string>;
  /** Delete files that no data file needs any more. One that is gone already is no conflict. */
  readonly removedDeletes: ReadonlySet<string>;
  readonly added: readonly NewDataFile[];
  /** The spec of the added files. */
  readonly specId: number;
  /** Data sequence number of the added files: deletes by values that came later apply to them. Absent = that of the snapshot. */
  readonly sequenceNumber?: bigint;
  /** Sequence number of the snapshot in which the removed files were read, with their deletes. */
  readonly readAt: bigint;
};

/**
 * Returns the change that puts files in the place of others:
 * ```
 *   parent: manifest of a, b, c ─▶ the same with b as deleted        (b goes)
 *           manifests without a file that goes ─▶ they stay
 *           ─▶ manifests of the added files
 * ```
 * It holds as long as every file that goes is there, and no position of it was deleted since it was read.
 * @throws COMMIT_CONFLICT from `manifests`
 */
export function replaceFiles({ removed, removedDeletes, ...change }: Replacement): SnapshotChange {
  const { operation, added, specId, sequenceNumber, readAt } = change;
  let written: readonly ManifestFile[] | undefined;
  let counts: SnapshotCounts = NOTHING_ADDED;
  return {
    operation,
    get counts() {
      return counts;
    },
    async manifests(writer, parent) {
      const live = parent.filter(hasFiles);
      const data = live.filter(({ content }) => content === 'data');
      const deletes = live.filter(({ content }) => content === 'deletes');
      await refuseNewDeletes(writer, deletes, { afterSequenceNumber: readAt, dataFiles: removed });
      const fromData = await writer.remove(data, removed);
      const missing = removed.size - fromData.reduce((sum, { found }) => sum + found.length, 0);
      if (missing > 0) throw conflict(`${missing} of the files that it replaces are gone`);
      const made = [...fromData, ...(removedDeletes.size === 0 ? [] : await writer.remove(deletes, removedDeletes))];
      counts = countReplaced(
        { added, specId },
        made.map(({ files }) => files),
      );
      written ??= await writer.writeAdded(added, sequenceNumber);
      const inPlace = new Map(made.map(({ source, manifest }) => [source, manifest]));
      return [...written, ...live.map((one) => inPlace.get(one.path) ?? one)];
    },
  };
}

/** Deletes of positions are written for files by their paths: they would be lost with these files. */
export async function refuseNewDeletes(
  writer: ManifestWriter,
  manifests: readonly ManifestFile[],
  search: { readonly afterSequenceNumber: bigint; readonly dataFiles: ReadonlySet<string> },
): Promise<void> {
  const newer = manifests.filter(({ sequenceNumber }) => sequenceNumber > search.afterSequenceNumber);
  const found = await writer.newDeletes(newer, search);
  if (found !== null) throw conflict('rows of the files that it replaces were deleted');
}

/** Whether a manifest may have live files; others end with the next commit that looks through the manifests. */
export const hasFiles = ({ addedFiles, existingFiles }: ManifestFile): boolean =>
  addedFiles === undefined || existingFiles === undefined || addedFiles + existingFiles > 0;

export const conflict = (why: string): SkeinError =>
  new SkeinError('COMMIT_CONFLICT', `another commit came first: ${why}`);
