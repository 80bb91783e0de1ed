import { SkeinError } from '#shared/error.ts';
import type { Schema } from '#shared/iceberg/schema.ts';
import { currentSchema, schemaById, type Snapshot, type TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { unreachable } from '#shared/must.ts';
import type { TimeTravel } from '../binding/query-references.ts';

/** A snapshot of a table, and the schema that it is read with. */
export type TableState = { readonly snapshot: Snapshot | null; readonly schema: Schema };

/**
 * The state of a table that a statement asks for; `travel` null = the current one; `table` names it in messages. A snapshot, a tag and an instant are read with the
 * snapshot's own schema, a branch with the table's current one, because it goes on changing.
 * @throws SNAPSHOT_NOT_FOUND, with the place of the value
 */
export function travelTo(metadata: TableMetadata, travel: TimeTravel | null, table: string): TableState {
  if (travel === null || travel.kind === 'current') {
    return { snapshot: currentSnapshot(metadata), schema: currentSchema(metadata) };
  }
  const missing = (message: string): SkeinError =>
    new SkeinError('SNAPSHOT_NOT_FOUND', message, { position: travel.location });
  switch (travel.kind) {
    case 'timestamp': {
      const id = snapshotAt(metadata, travel.micros);
      if (id === undefined) throw missing(`${table} ${noHistory(metadata)}`);
      const snapshot = metadata.snapshots.get(id);
      if (snapshot === undefined) throw missing(`the snapshot ${id} of ${table} at that time has expired`);
      return atSnapshot(metadata, snapshot);
    }
    case 'snapshot': {
      const snapshot = snapshotOf(metadata, travel.snapshotId);
      if (snapshot === undefined) {
        throw missing(`${table} has no snapshot ${travel.snapshotId.slice(0, 100)}, or it has expired`);
      }
      return atSnapshot(metadata, snapshot);
    }
    case 'ref': {
      const { ref } = travel;
      const named = metadata.refs.get(ref);
      // The branch main stands in the metadata only when it has a snapshot.
      if (named === undefined && ref === MAIN) return { snapshot: null, schema: currentSchema(metadata) };
      const snapshot = named === undefined ? snapshotOf(metadata, ref) : metadata.snapshots.get(named.snapshotId);
      if (snapshot === undefined) throw missing(`${table} has no branch, tag or snapshot ${ref.slice(0, 100)}`);
      return named?.type === 'branch' ? { snapshot, schema: currentSchema(metadata) } : atSnapshot(metadata, snapshot);
    }
    default:
      return unreachable(travel);
  }
}

/** Name of the branch whose snapshot is the table's current one. */
const MAIN = 'main';

const atSnapshot = (metadata: TableMetadata, snapshot: Snapshot): TableState => ({
  snapshot,
  schema: snapshot.schemaId === null ? currentSchema(metadata) : schemaById(metadata, snapshot.schemaId),
});

function currentSnapshot({ currentSnapshotId, snapshots }: TableMetadata): Snapshot | null {
  if (currentSnapshotId === null) return null;
  const snapshot = snapshots.get(currentSnapshotId);
  if (snapshot !== undefined) return snapshot;
  throw new SkeinError('INVALID_TABLE_DATA', `the table's metadata lacks its snapshot ${currentSnapshotId}`);
}

const snapshotOf = ({ snapshots }: TableMetadata, id: string): Snapshot | undefined =>
  /^\d{1,19}$/.test(id) ? snapshots.get(BigInt(id)) : undefined;

/** Id of the snapshot that was current at an instant. */
const snapshotAt = ({ snapshotLog }: TableMetadata, micros: string): bigint | undefined =>
  snapshotLog.findLast((one) => BigInt(one.timestampMs) * 1000n <= BigInt(micros))?.snapshotId;

function noHistory({ snapshotLog }: TableMetadata): string {
  const [first] = snapshotLog;
  return first === undefined
    ? 'has no snapshot yet'
    : `had no snapshot at that time: its history begins at ${new Date(first.timestampMs).toISOString()}`;
}
