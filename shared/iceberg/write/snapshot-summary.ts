import type { NewDataFile } from './data-file.ts';

/** The files and rows that a snapshot adds to its table. */
export type SnapshotCounts = {
  readonly files: number;
  readonly records: number;
  readonly bytes: number;
  readonly partitions: number;
};

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

/** Totals that a snapshot carries on from its parent, and the counts that change them. */
const TOTALS: Readonly<Record<string, (counts: SnapshotCounts) => number>> = {
  'data-files': ({ files }) => files,
  records: ({ records }) => records,
  'files-size': ({ bytes }) => bytes,
  'delete-files': () => 0,
  'position-deletes': () => 0,
  'equality-deletes': () => 0,
};

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
    'added-data-files': String(counts.files),
    'added-records': String(counts.records),
    'added-files-size': String(counts.bytes),
    'changed-partition-count': String(counts.partitions),
  };
  for (const [name, added] of Object.entries(TOTALS)) {
    const before = parent === null ? '0' : parent[`total-${name}`];
    if (before === undefined || !/^\d+$/.test(before)) continue;
    summary[`total-${name}`] = String(BigInt(before) + BigInt(added(counts)));
  }
  return summary;
}
