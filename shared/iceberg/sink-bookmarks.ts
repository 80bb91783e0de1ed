import type { Snapshot } from './table-metadata.ts';

/**
 * Keys of a snapshot's summary by which a sink finds how far it has come (`snapshot.bookmark_keys`): `prefix*`, where each whole key is a
 * writer's, or `key/by/...`, where the values of other keys say whose it is.
 */
type BookmarkKeys = readonly string[];

/** Writers of a table whose bookmarks are kept: those that wrote last. Each start of a job of Flink is another writer. */
const WRITERS_MAX = 1_000;

/** The newest snapshot of each writer that has a bookmark in it. @param snapshots of one table or branch, in any order */
export function bookmarkedSnapshots(snapshots: Iterable<Snapshot>, keys: BookmarkKeys): ReadonlySet<bigint> {
  const newest = new Map<string, Snapshot>();
  for (const snapshot of snapshots) {
    for (const writer of writersOf(snapshot.summary, keys)) {
      const known = newest.get(writer);
      if (known === undefined || isNewer(snapshot, known)) newest.set(writer, snapshot);
    }
  }
  const last = [...newest.values()].toSorted((one, other) => (isNewer(one, other) ? -1 : 1)).slice(0, WRITERS_MAX);
  return new Set(last.map(({ snapshotId }) => snapshotId));
}

/** Tables of format version 1 have no sequence numbers. */
const isNewer = (one: Snapshot, other: Snapshot): boolean =>
  one.sequenceNumber === other.sequenceNumber
    ? one.timestampMs > other.timestampMs
    : one.sequenceNumber > other.sequenceNumber;

function writersOf(summary: Snapshot['summary'], keys: BookmarkKeys): readonly string[] {
  return keys.flatMap((key) => {
    if (key.endsWith('*')) return Object.keys(summary).filter((name) => name.startsWith(key.slice(0, -1)));
    const [name = '', ...by] = key.split('/');
    if (summary[name] === undefined) return [];
    return [JSON.stringify([name, ...by.map((other) => summary[other] ?? '')])];
  });
}
