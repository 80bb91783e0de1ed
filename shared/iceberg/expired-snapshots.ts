import type { JsonObject } from '../json.ts';
import { foldKeyword } from '../sql/fold-identifier.ts';
import { tooComplex } from './decode-limits.ts';
import { bookmarkedSnapshots } from './sink-bookmarks.ts';
import type { SnapshotRef, TableMetadata } from './table-metadata.ts';
import type { UnreachableRequest } from './unreachable-files.ts';

/** How long snapshots and references are kept where a reference does not say it itself. */
export type ExpiryDefaults = {
  /** Snapshots that became older than this go. */
  readonly maxSnapshotAgeMs: number;
  /** Snapshots of a branch that stay, however old. */
  readonly minSnapshotsToKeep: number;
  readonly maxRefAgeMs: number;
  /** `snapshot.bookmark_keys` */
  readonly bookmarkKeys: readonly string[];
};

/** Snapshots that are looked at, branch by branch: less than 200 ms. */
const STEPS_MAX = 500_000;

export type Expired = { readonly snapshotIds: readonly bigint[]; readonly refs: readonly string[] };

/**
 * The snapshots and references of a table that have expired (Iceberg spec, Snapshot Retention Policy): a branch keeps its newest snapshots
 * by number or age, a tag its snapshot, a snapshot that no reference reaches its age. The branch main never expires. What tells a sink how far
 * it has come stays, however old, because without it the sink would bring rows again, or leave some out.
 * @throws TABLE_DATA_TOO_COMPLEX for many branches that keep many snapshots each
 */
export function expiredSnapshots(metadata: TableMetadata, defaults: ExpiryDefaults, nowMs: number): Expired {
  const { snapshots } = metadata;
  const ageOf = (id: bigint): number => nowMs - (snapshots.get(id)?.timestampMs ?? nowMs);
  const isKept = ([name, { snapshotId, retention }]: readonly [string, SnapshotRef]): boolean =>
    name === 'main' || ageOf(snapshotId) <= (retention['max-ref-age-ms'] ?? defaults.maxRefAgeMs);
  const refs = [...metadata.refs].filter(isKept);
  const kept = new Set(metadata.currentSnapshotId === null ? [] : [metadata.currentSnapshotId]);
  const reached = new Set<bigint>();
  let steps = 0;
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
      steps += 1;
      if (steps > STEPS_MAX) throw tooComplex(`its branches keep more than ${STEPS_MAX} snapshots together`);
      const isReached = reached.has(id);
      seen.add(id);
      reached.add(id);
      isKeeping &&= seen.size <= min || ageOf(id) <= maxAge;
      if (isKeeping) kept.add(id);
      // So are its ancestors.
      else if (isReached) break;
    }
  }
  for (const id of snapshots.keys()) {
    if (!reached.has(id) && ageOf(id) <= defaults.maxSnapshotAgeMs) kept.add(id);
  }
  // After a rollback the newest bookmark is on no branch, and the sink finds the one below it.
  for (const ids of [lineOf(metadata, metadata.currentSnapshotId), reached, snapshots.keys()]) {
    const found = [...ids].flatMap((id) => snapshots.get(id) ?? []);
    for (const id of bookmarkedSnapshots(found, defaults.bookmarkKeys)) kept.add(id);
  }
  return {
    snapshotIds: [...snapshots.keys()].filter((id) => !kept.has(id)),
    refs: [...metadata.refs].filter((ref) => !isKept(ref)).map(([name]) => name),
  };
}

/** A snapshot and its ancestors. */
function lineOf({ snapshots }: TableMetadata, start: bigint | null): ReadonlySet<bigint> {
  const line = new Set<bigint>();
  for (let id = start; id !== null && !line.has(id); id = snapshots.get(id)?.parentSnapshotId ?? null) line.add(id);
  return line;
}

const DAY_MS = 86_400_000;

/** The retention that a table's properties ask for (`history.expire.*`). @param maxSnapshotAgeMs in place of the property; null = its own */
export function expiryDefaults(
  { properties }: Pick<TableMetadata, 'properties'>,
  bookmarkKeys: readonly string[],
  maxSnapshotAgeMs: number | null = null,
): ExpiryDefaults {
  const number = (name: string): number | null => {
    const text = properties[name] ?? '';
    return /^\d{1,15}$/.test(text) ? Number(text) : null;
  };
  return {
    maxSnapshotAgeMs: maxSnapshotAgeMs ?? number('history.expire.max-snapshot-age-ms') ?? 7 * DAY_MS,
    minSnapshotsToKeep: Math.max(1, number('history.expire.min-snapshots-to-keep') ?? 1),
    maxRefAgeMs: number('history.expire.max-ref-age-ms') ?? Infinity,
    bookmarkKeys,
  };
}

/** Whether nobody may remove files of a table, because they belong to someone else. */
export const isProtected = ({ properties }: Pick<TableMetadata, 'properties'>): boolean =>
  foldKeyword(properties['gc.enabled'] ?? '') === 'FALSE';

/** A table is looked at again after a tenth of its shortest age, but after this time at the earliest and that at the latest. */
const LOOK_AFTER_MIN_MS = 60_000;
const LOOK_AFTER_MAX_MS = 3_600_000;

/**
 * The time at which to look whether something of a table has expired, in ms; null when its properties do not ask for that. Nothing expires
 * before it that has not expired now; when something will is not known, as a branch may keep old snapshots by their number.
 */
export function nextLook(metadata: TableMetadata, nowMs: number): number | null {
  const { properties, snapshots, refs } = metadata;
  const asks = Object.keys(properties).some((name) => name.startsWith('history.expire.'));
  if (!asks || isProtected(metadata) || snapshots.size === 0) return null;
  const { maxSnapshotAgeMs, maxRefAgeMs } = expiryDefaults(metadata, []);
  let age = Math.min(maxSnapshotAgeMs, maxRefAgeMs);
  for (const { retention } of refs.values()) {
    age = Math.min(age, retention['max-snapshot-age-ms'] ?? Infinity, retention['max-ref-age-ms'] ?? Infinity);
  }
  let oldest = Infinity;
  for (const { timestampMs } of snapshots.values()) oldest = Math.min(oldest, timestampMs);
  const pause = Math.min(LOOK_AFTER_MAX_MS, Math.max(LOOK_AFTER_MIN_MS, age / 10));
  return Math.max(oldest + age + 1, nowMs + pause);
}

/** The change that removes what has expired, of the table as it is. */
export const expiryChange = (
  metadata: TableMetadata,
  { snapshotIds, refs }: Expired,
): { readonly requirements: readonly JsonObject[]; readonly updates: readonly JsonObject[] } => ({
  requirements: [...metadata.refs].map(([ref, { snapshotId }]) => ({
    type: 'assert-ref-snapshot-id',
    ref,
    'snapshot-id': snapshotId,
  })),
  updates: [
    ...refs.map((name) => ({ action: 'remove-snapshot-ref', 'ref-name': name })),
    ...(snapshotIds.length === 0 ? [] : [{ action: 'remove-snapshots', 'snapshot-ids': snapshotIds }]),
  ],
});

/**
 * Asks for the files that only expired snapshots reach, of the table as it stands now: what was committed meanwhile is kept. Null when there
 * can be none: the table was made anew, or a snapshot came back.
 * @param before the table with the snapshots
 */
export function expiredFiles(
  before: TableMetadata,
  now: TableMetadata,
  expired: readonly bigint[],
): Pick<UnreachableRequest, 'table' | 'expired' | 'kept'> | null {
  if (now.tableUuid !== before.tableUuid) return null;
  const gone = new Set(expired);
  const kept = [...now.snapshots.keys()].filter((id) => !gone.has(id));
  const { tableUuid, formatVersion, location, fields, specs, defaultSpecId } = now;
  const snapshots = new Map([...before.snapshots, ...now.snapshots]);
  return { table: { tableUuid, formatVersion, location, fields, specs, defaultSpecId, snapshots }, expired, kept };
}
