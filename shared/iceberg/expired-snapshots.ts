import type { SnapshotRef, TableMetadata } from './table-metadata.ts';

/** How long snapshots and references are kept where a reference does not say it itself. */
export type ExpiryDefaults = {
  /** Snapshots that became older than this go. */
  readonly maxSnapshotAgeMs: number;
  /** Snapshots of a branch that stay, however old. */
  readonly minSnapshotsToKeep: number;
  readonly maxRefAgeMs: number;
};

export type Expired = { readonly snapshotIds: readonly bigint[]; readonly refs: readonly string[] };

/**
 * The snapshots and references of a table that have expired (Iceberg spec, Snapshot Retention Policy): a branch keeps its newest snapshots
 * by number or age, a tag its snapshot, a snapshot that no reference reaches its age. The branch main never expires.
 */
export function expiredSnapshots(metadata: TableMetadata, defaults: ExpiryDefaults, nowMs: number): Expired {
  const { snapshots } = metadata;
  const ageOf = (id: bigint): number => nowMs - (snapshots.get(id)?.timestampMs ?? nowMs);
  const isKept = ([name, { snapshotId, retention }]: readonly [string, SnapshotRef]): boolean =>
    name === 'main' || ageOf(snapshotId) <= (retention['max-ref-age-ms'] ?? defaults.maxRefAgeMs);
  const refs = [...metadata.refs].filter(isKept);
  const kept = new Set(metadata.currentSnapshotId === null ? [] : [metadata.currentSnapshotId]);
  const reached = new Set<bigint>();
  for (const [, { snapshotId, type, retention }] of refs) {
    kept.add(snapshotId);
    const seen = new Set<bigint>();
    const maxAge = retention['max-snapshot-age-ms'] ?? defaults.maxSnapshotAgeMs;
    const min = retention['min-snapshots-to-keep'] ?? defaults.minSnapshotsToKeep;
    let isKeeping = type === 'branch';
    for (
      let id: bigint | null = snapshotId;
      id !== null && !seen.has(id);
      id = snapshots.get(id)?.parentSnapshotId ?? null
    ) {
      seen.add(id);
      reached.add(id);
      isKeeping &&= seen.size <= min || ageOf(id) <= maxAge;
      if (isKeeping) kept.add(id);
    }
  }
  for (const id of snapshots.keys()) {
    if (!reached.has(id) && ageOf(id) <= defaults.maxSnapshotAgeMs) kept.add(id);
  }
  return {
    snapshotIds: [...snapshots.keys()].filter((id) => !kept.has(id)),
    refs: [...metadata.refs].filter((ref) => !isKept(ref)).map(([name]) => name),
  };
}
