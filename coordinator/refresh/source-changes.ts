import type { Snapshot } from '#shared/iceberg/table-metadata.ts';
import type { ScanBinding } from '../binding/scan-binding.ts';
import type { SourceState } from './refresh-state.ts';

/** Changes of a table since it was read. `afterSequenceNumber`: files above it are those that were appended. */
export type SourceChange =
  | { readonly kind: 'same' }
  | { readonly kind: 'appended'; readonly snapshots: number; readonly afterSequenceNumber: bigint }
  | { readonly kind: 'other'; readonly reason: string };

/** Snapshots that a comparison goes back. */
const SNAPSHOTS_MAX = 10_000;

/** Compares a table with its state at the last refresh: it is the same, or snapshots have only appended, or neither. */
export function sourceChange(now: ScanBinding, { uuid, snapshotId, schemaId }: SourceState): SourceChange {
  const { tableName, metadata } = now;
  const other = (reason: string): SourceChange => ({ kind: 'other', reason: `${tableName} ${reason}` });
  if (now.tableUuid !== uuid) return other('is another table');
  if (now.schemaId !== schemaId) return other('has other columns');
  if (now.snapshotId === snapshotId) return { kind: 'same' };
  if (metadata.formatVersion < 2) return other('is of format version 1, whose files do not say when they came');
  if (snapshotId === null) {
    return appended(metadata.snapshots, now.snapshotId, null, 0n) ?? other('has had more than appends');
  }
  const before = metadata.snapshots.get(BigInt(snapshotId));
  if (before === undefined) return other('has lost the snapshot of the last refresh');
  return (
    appended(metadata.snapshots, now.snapshotId, before.snapshotId, before.sequenceNumber) ??
    other('has had more than appends')
  );
}

/** Null when a snapshot on the way back did something else, or the way does not lead there. */
function appended(
  snapshots: ReadonlyMap<bigint, Snapshot>,
  from: string | null,
  to: bigint | null,
  afterSequenceNumber: bigint,
): SourceChange | null {
  let id = from === null ? null : BigInt(from);
  for (let count = 0; count <= SNAPSHOTS_MAX; count++) {
    if (id === to) return { kind: 'appended', snapshots: count, afterSequenceNumber };
    const snapshot = id === null ? undefined : snapshots.get(id);
    if (snapshot === undefined || snapshot.summary['operation'] !== 'append') return null;
    id = snapshot.parentSnapshotId;
  }
  return null;
}
