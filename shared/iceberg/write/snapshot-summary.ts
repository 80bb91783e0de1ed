import type { DataFile } from '../manifest.ts';
import type { NewDataFile, NewDeleteFile } from './data-file.ts';

/** The files and rows that a snapshot adds to its table. */
export type SnapshotCounts = {
  readonly files: number;
  readonly records: number;
  readonly bytes: number;
  readonly partitions: number;
  readonly removed?: RemovedCounts;
  readonly deletes?: AddedDeletes;
};

/** The delete files that a snapshot adds to its table; `vectors`: those of them that are deletion vectors. */
type AddedDeletes = {
  readonly files: number;
  readonly positions: number;
  readonly bytes: number;
  readonly vectors: number;
};

/** The files that a snapshot removes from its table; `bytes` are those of delete files, too. */
export type RemovedCounts = {
  readonly files: number;
  readonly records: number;
  readonly bytes: number;
  readonly deleteFiles: number;
  readonly positionDeletes: number;
  readonly equalityDeletes: number;
  readonly partitions: number;
};

/** Some files of a snapshot that go, with the keys of their partitions. */
export type RemovedOfSnapshot = Omit<RemovedCounts, 'partitions'> & { readonly partitions: ReadonlySet<string> };

/** Counts files that a snapshot removes. */
export class RemovedCounter {
  #counts: Omit<RemovedCounts, 'partitions'> = NO_FILES;
  readonly #partitions = new Set<string>();

  get files(): RemovedOfSnapshot {
    return { ...this.#counts, partitions: this.#partitions };
  }

  add({ content, recordCount, sizeBytes, specId, partition, contentSizeBytes }: DataFile): void {
    const now = this.#counts;
    this.#partitions.add(partitionKey(specId, partition));
    const isData = content === 'data';
    const rows = (of: typeof content): number => (content === of ? recordCount : 0);
    this.#counts = {
      files: now.files + (isData ? 1 : 0),
      records: now.records + rows('data'),
      bytes: now.bytes + (contentSizeBytes ?? sizeBytes),
      deleteFiles: now.deleteFiles + (isData ? 0 : 1),
      positionDeletes: now.positionDeletes + rows('position-deletes'),
      equalityDeletes: now.equalityDeletes + rows('equality-deletes'),
    };
  }
}

const partitionKey = (specId: number, partition: NewDataFile['partition']): string =>
  [specId, ...partition].map(String).join('\0');

const NO_FILES = { files: 0, records: 0, bytes: 0, deleteFiles: 0, positionDeletes: 0, equalityDeletes: 0 };

/** Adds up what several manifests lose. */
export function countRemoved(parts: readonly RemovedOfSnapshot[]): RemovedCounts {
  const sum = (of: keyof typeof NO_FILES): number => parts.reduce((total, part) => total + part[of], 0);
  return {
    files: sum('files'),
    records: sum('records'),
    bytes: sum('bytes'),
    deleteFiles: sum('deleteFiles'),
    positionDeletes: sum('positionDeletes'),
    equalityDeletes: sum('equalityDeletes'),
    partitions: new Set(parts.flatMap(({ partitions }) => [...partitions])).size,
  };
}

export const NOTHING_ADDED: SnapshotCounts = { files: 0, records: 0, bytes: 0, partitions: 0 };

export function countAdded(files: readonly NewDataFile[]): SnapshotCounts {
  let [records, bytes] = [0, 0];
  const partitions = new Set<string>();
  for (const file of files) {
    records += file.recordCount;
    bytes += file.sizeBytes;
    partitions.add(file.partition.map(String).join('\0'));
  }
  return { files: files.length, records, bytes, partitions: partitions.size };
}

/** Counts files that a snapshot adds in the place of others. */
export function countReplaced(
  {
    added,
    specId,
    deletes = [],
  }: {
    readonly added: readonly NewDataFile[];
    /** The spec of the added files. */
    readonly specId: number;
    readonly deletes?: readonly NewDeleteFile[];
  },
  parts: readonly RemovedOfSnapshot[],
): SnapshotCounts {
  const partitions = new Set(parts.flatMap((part) => [...part.partitions]));
  for (const { partition } of added) partitions.add(partitionKey(specId, partition));
  for (const file of deletes) partitions.add(partitionKey(file.specId, file.partition));
  return {
    ...countAdded(added),
    partitions: partitions.size,
    removed: countRemoved(parts),
    ...(deletes.length === 0 ? {} : { deletes: countDeletes(deletes) }),
  };
}

const countDeletes = (files: readonly NewDeleteFile[]): AddedDeletes => ({
  files: files.length,
  positions: files.reduce((sum, { recordCount }) => sum + recordCount, 0),
  // Vectors share a file.
  bytes: files.reduce((sum, { sizeBytes, content }) => sum + (content?.lengthBytes ?? sizeBytes), 0),
  vectors: files.filter(({ format }) => format === 'puffin').length,
});

type Count = (counts: SnapshotCounts) => number;

/** Totals that a snapshot carries on from its parent, and the counts that change them. */
const TOTALS: Readonly<Record<string, Count>> = {
  'data-files': ({ files, removed }) => files - (removed?.files ?? 0),
  records: ({ records, removed }) => records - (removed?.records ?? 0),
  'files-size': ({ bytes, removed, deletes }) => bytes + (deletes?.bytes ?? 0) - (removed?.bytes ?? 0),
  'delete-files': ({ removed, deletes }) => (deletes?.files ?? 0) - (removed?.deleteFiles ?? 0),
  'position-deletes': ({ removed, deletes }) => (deletes?.positions ?? 0) - (removed?.positionDeletes ?? 0),
  'equality-deletes': ({ removed }) => -(removed?.equalityDeletes ?? 0),
};

/** Counts that stand in a summary when they are not 0, as Iceberg's libraries write them. */
const CHANGES: Readonly<Record<string, Count>> = {
  'added-data-files': ({ files }) => files,
  'added-records': ({ records }) => records,
  'added-files-size': ({ bytes, deletes }) => bytes + (deletes?.bytes ?? 0),
  'added-delete-files': ({ deletes }) => deletes?.files ?? 0,
  'added-position-deletes': ({ deletes }) => deletes?.positions ?? 0,
  'added-position-delete-files': ({ deletes }) => (deletes === undefined ? 0 : deletes.files - deletes.vectors),
  'added-dvs': ({ deletes }) => deletes?.vectors ?? 0,
  'deleted-data-files': ({ removed }) => removed?.files ?? 0,
  'deleted-records': ({ removed }) => removed?.records ?? 0,
  'removed-files-size': ({ removed }) => removed?.bytes ?? 0,
  'removed-delete-files': ({ removed }) => removed?.deleteFiles ?? 0,
  'removed-position-deletes': ({ removed }) => removed?.positionDeletes ?? 0,
  'removed-equality-deletes': ({ removed }) => removed?.equalityDeletes ?? 0,
};

const OF_APPENDS: ReadonlySet<string> = new Set(['added-data-files', 'added-records', 'added-files-size']);

/**
 * Returns the summary of a snapshot. A total is left out when the parent's summary lacks it.
 * @param parent null when the snapshot has no parent
 */
export function summarize(
  operation: string,
  counts: SnapshotCounts,
  parent: Readonly<Record<string, string>> | null,
): Readonly<Record<string, string>> {
  const summary: Record<string, string> = {
    operation,
    'engine-name': 'skein',
    'changed-partition-count': String(counts.partitions),
  };
  for (const [name, count] of Object.entries(CHANGES)) {
    // An append says what it adds, also when it is nothing.
    if (count(counts) > 0 || (counts.removed === undefined && OF_APPENDS.has(name))) {
      summary[name] = String(count(counts));
    }
  }
  for (const [name, change] of Object.entries(TOTALS)) {
    const before = parent === null ? '0' : parent[`total-${name}`];
    if (before === undefined || !/^\d+$/.test(before)) continue;
    summary[`total-${name}`] = String(largest(BigInt(before) + BigInt(change(counts)), 0n));
  }
  return summary;
}

/** A total of another writer may be wrong, and must not become negative. */
const largest = (a: bigint, b: bigint): bigint => (a > b ? a : b);
