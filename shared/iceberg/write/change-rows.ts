import { must } from '#shared/must.ts';
import type { ManifestFile } from '../manifest.ts';
import type { NewDataFile, NewDeleteFile } from './data-file.ts';
import type { ManifestWriter } from './manifest-writer.ts';
import { conflict, hasFiles, refuseNewDeletes } from './replace-files.ts';
import type { SnapshotChange } from './snapshot-change.ts';
import { countReplaced, NOTHING_ADDED, type SnapshotCounts } from './snapshot-summary.ts';

/** The changes of a statement to rows that a table has; files that go are named by `fileKey`. */
export type RowsChange = {
  /** That of the snapshot; absent = by what it does. */
  readonly operation?: SnapshotChange['operation'];
  readonly removed: ReadonlySet<string>;
  /** Delete files that no data file needs any more. One that is gone already is no conflict. */
  readonly removedDeletes: ReadonlySet<string>;
  /** The rows of removed files that stay. They keep the data sequence number `readAt`, so later deletes by values apply to them. */
  readonly rewritten: readonly NewDataFile[];
  /** Rows that the table did not have. */
  readonly added: readonly NewDataFile[];
  /** The spec of the rewritten and the added files. */
  readonly specId: number;
  /** Files with the positions of deleted rows. */
  readonly deletes: readonly DeletesOf[];
  /** Sequence number of the snapshot in which the rows were found. */
  readonly readAt: bigint;
  /** `serializable`: no row may have come since then, because the statement might have found it, too. */
  readonly isolation: 'serializable' | 'snapshot';
};

/** A delete file without the spec and partition of its data file, which the manifests say. */
export type DeletesOf = Omit<NewDeleteFile, 'specId' | 'partition'>;

/**
 * Returns the change of a DELETE, UPDATE, MERGE or INSERT OVERWRITE:
 * ```
 *   parent: manifest of a, b, c ─▶ the same with b as deleted         (b goes, or is written anew)
 *           manifest of the deletes of a ─▶ without those that are merged into new ones
 *           ─▶ manifests of rewritten and added files, and of new delete files
 * ```
 * @throws COMMIT_CONFLICT from `manifests` when a file that it deletes rows of is gone, or has lost other rows since it was read, and for
 * new rows when it is serializable; the statement must then find its rows again
 */
export function changeRows(change: RowsChange): SnapshotChange {
  const { removed, removedDeletes, rewritten, added, specId, deletes, readAt } = change;
  let written: readonly ManifestFile[] | undefined;
  let counts: SnapshotCounts = NOTHING_ADDED;
  return {
    operation: change.operation ?? operationOf(change),
    get counts() {
      return counts;
    },
    async manifests(writer, parent) {
      const live = parent.filter(hasFiles);
      const data = live.filter(({ content }) => content === 'data');
      const ofDeletes = live.filter(({ content }) => content === 'deletes');
      const dataFiles = new Set([...removed, ...deletes.map(({ dataFile }) => dataFile)]);
      await refuseNewDeletes(writer, ofDeletes, { afterSequenceNumber: readAt, dataFiles });
      const located = await locate(writer, data, change);
      const fromData = removed.size === 0 ? [] : await writer.remove(data, removed);
      const missing = removed.size - fromData.reduce((sum, { found }) => sum + found.length, 0);
      if (missing > 0) throw conflict(`${missing} of the files that it changes are gone`);
      const made = [...fromData, ...(removedDeletes.size === 0 ? [] : await writer.remove(ofDeletes, removedDeletes))];
      counts = countReplaced(
        { added: [...rewritten, ...added], specId, deletes: located },
        made.map(({ files }) => files),
      );
      written ??= await write(writer, change, located);
      const inPlace = new Map(made.map(({ source, manifest }) => [source, manifest]));
      return [...written, ...live.map((one) => inPlace.get(one.path) ?? one)];
    },
  };
}

function operationOf({ removed, deletes, rewritten, added }: RowsChange): SnapshotChange['operation'] {
  if (removed.size + deletes.length === 0) return 'append';
  return rewritten.length + added.length === 0 ? 'delete' : 'overwrite';
}

async function write(
  writer: ManifestWriter,
  { rewritten, added, readAt }: RowsChange,
  deletes: readonly NewDeleteFile[],
): Promise<readonly ManifestFile[]> {
  const ofRewritten = await writer.writeAdded(rewritten, readAt);
  const ofAdded = await writer.writeAdded(added);
  return [...ofRewritten, ...ofAdded, ...(await writer.writeDeletes(deletes))];
}

/** The delete files with spec and partition of their data files, which must be there. */
async function locate(
  writer: ManifestWriter,
  data: readonly ManifestFile[],
  { deletes, readAt, isolation }: RowsChange,
): Promise<readonly NewDeleteFile[]> {
  const search = { afterSequenceNumber: readAt, dataFiles: new Set(deletes.map(({ dataFile }) => dataFile)) };
  const isSerializable = isolation === 'serializable';
  const asked =
    deletes.length > 0 ? data : data.filter(({ sequenceNumber }) => isSerializable && sequenceNumber > readAt);
  const { files, newer } = await writer.find(asked, search);
  if (isSerializable && newer !== null) throw conflict('rows were added that the statement has not seen');
  const byPath = new Map(files.map((file) => [file.path, file]));
  const gone = search.dataFiles.size - byPath.size;
  if (gone > 0) throw conflict(`${gone} of the files that it deletes rows of are gone`);
  return deletes.map((one) => {
    const { specId, partition } = must(byPath.get(one.dataFile), 'it was found');
    return { ...one, specId, partition };
  });
}
