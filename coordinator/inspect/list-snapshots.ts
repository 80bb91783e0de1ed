import { SkeinError } from '#shared/error.ts';
import type { Snapshot, TableMetadata } from '#shared/iceberg/table-metadata.ts';
import type { FoundTable } from '../catalog-client/loaded-tables.ts';
import { summaryCount, showsRows, timeOf } from './found-table.ts';
import { foldSnapshots, orderSnapshots, type PlacedSnapshot } from './order-snapshots.ts';

export type SnapshotsPage = {
  readonly snapshots: readonly ShownSnapshot[];
  readonly refs: readonly ShownRef[];
  readonly refs_total: number;
  readonly total: number;
  readonly hidden_by_policy: boolean;
  readonly next_page_token: string | null;
};

type ShownSnapshot = {
  readonly snapshot_id: string;
  readonly parent_id: string | null;
  readonly committed_at: string;
  readonly operation: string | null;
  readonly schema_id: number | null;
  readonly lane: number;
  readonly folded: number;
  readonly is_current_ancestor: boolean;
  readonly added_rows: number | null;
  readonly removed_rows: number | null;
  readonly added_files: number | null;
  readonly removed_files: number | null;
  readonly added_bytes: number | null;
  readonly removed_bytes: number | null;
  readonly total_rows: number | null;
  readonly total_files: number | null;
  readonly total_bytes: number | null;
  readonly summary: Readonly<Record<string, string>>;
};

type ShownRef = {
  readonly name: string;
  readonly type: 'branch' | 'tag';
  readonly snapshot_id: string;
  readonly max_ref_age_ms: number | null;
};

/** Branches and tags of one answer. */
const REFS_MAX = 1_000;
/** Entries of a summary, and characters of a value, that are shown. */
const SUMMARY_MAX = 50;
const SUMMARY_LENGTH_MAX = 500;

export type SnapshotsRequest = {
  readonly pageToken: string | undefined;
  readonly limit: number;
  /** Snapshots that only continue a line are left out, and counted. */
  readonly isFolded: boolean;
};

/** A page of the history of a table, the newest first. @throws INVALID_REQUEST */
export function listSnapshots(table: FoundTable, { pageToken, limit, isFolded }: SnapshotsRequest): SnapshotsPage {
  const { metadata } = table;
  const placed = orderSnapshots(metadata);
  const rows = isFolded ? foldSnapshots(metadata, placed) : placed.map((one) => ({ ...one, folded: 0 }));
  const start = pageToken === undefined ? 0 : placeBehind(rows, pageToken);
  const page = rows.slice(start, start + limit);
  const last = page.at(-1);
  const isShown = showsRows(table);
  const ancestors = ancestorsOf(metadata);
  return {
    snapshots: page.map((one) => shown(one, isShown, ancestors)),
    refs: [...metadata.refs].slice(0, REFS_MAX).map(([name, { type, snapshotId, retention }]) => ({
      name,
      type,
      snapshot_id: snapshotId.toString(),
      max_ref_age_ms: retention['max-ref-age-ms'] ?? null,
    })),
    refs_total: metadata.refs.size,
    total: placed.length,
    hidden_by_policy: !isShown,
    next_page_token: last === undefined || start + limit >= rows.length ? null : last.snapshot.snapshotId.toString(),
  };
}

function placeBehind(rows: readonly PlacedSnapshot[], token: string): number {
  const found = rows.findIndex(({ snapshot }) => snapshot.snapshotId.toString() === token);
  if (found === -1) {
    throw new SkeinError(
      'INVALID_REQUEST',
      'page_token must be the next_page_token of a page of the table as it is now',
    );
  }
  return found + 1;
}

function ancestorsOf({ snapshots, currentSnapshotId }: TableMetadata): ReadonlySet<bigint> {
  const found = new Set<bigint>();
  for (let id = currentSnapshotId; id !== null && !found.has(id); id = snapshots.get(id)?.parentSnapshotId ?? null) {
    found.add(id);
  }
  return found;
}

function shown(
  { snapshot, lane, folded }: PlacedSnapshot & { readonly folded: number },
  isShown: boolean,
  ancestors: ReadonlySet<bigint>,
): ShownSnapshot {
  const count = (key: string): number | null => (isShown ? summaryCount(snapshot, key) : null);
  return {
    snapshot_id: snapshot.snapshotId.toString(),
    parent_id: snapshot.parentSnapshotId?.toString() ?? null,
    committed_at: timeOf(snapshot.timestampMs),
    operation: snapshot.summary['operation'] ?? null,
    schema_id: snapshot.schemaId,
    lane,
    folded,
    is_current_ancestor: ancestors.has(snapshot.snapshotId),
    added_rows: count('added-records'),
    removed_rows: count('deleted-records'),
    added_files: count('added-data-files'),
    removed_files: count('deleted-data-files'),
    added_bytes: count('added-files-size'),
    removed_bytes: count('removed-files-size'),
    total_rows: count('total-records'),
    total_files: count('total-data-files'),
    total_bytes: count('total-files-size'),
    // A summary may name partitions, which are values of rows.
    summary: isShown ? summaryOf(snapshot) : {},
  };
}

const summaryOf = ({ summary }: Snapshot): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(summary)
      .filter(([key]) => key !== 'operation')
      .slice(0, SUMMARY_MAX)
      .map(([key, value]) => [key, value.slice(0, SUMMARY_LENGTH_MAX)]),
  );
