import type { Snapshot, TableMetadata } from '#shared/iceberg/table-metadata.ts';

/** A snapshot in the graph of a table's history. */
export type PlacedSnapshot = {
  readonly snapshot: Snapshot;
  /** The column in which it is drawn; 0 is that of the current snapshot and its ancestors. */
  readonly lane: number;
  /** Snapshots that were made of it. */
  readonly children: number;
};

/** Orders are kept as long as the metadata that they were made of. */
const KEPT = new WeakMap<TableMetadata, readonly PlacedSnapshot[]>();

/**
 * The snapshots of a table, the newest first and each before its parent, whatever their times say: clocks of writers differ. A branch has a lane
 * of its own down to where it begins; lanes that have ended are used again.
 */
export function orderSnapshots(metadata: TableMetadata): readonly PlacedSnapshot[] {
  const known = KEPT.get(metadata);
  if (known !== undefined) return known;
  const childrenOf = childrenById(metadata);
  const order = childrenFirst(metadata, childrenOf);
  const lanes = lanesOf(metadata, order);
  const placed = order.map((snapshot) => ({
    snapshot,
    lane: lanes.get(snapshot.snapshotId) ?? 0,
    children: childrenOf.get(snapshot.snapshotId)?.length ?? 0,
  }));
  KEPT.set(metadata, placed);
  return placed;
}

function childrenById({ snapshots }: TableMetadata): ReadonlyMap<bigint, readonly Snapshot[]> {
  const children = new Map<bigint, Snapshot[]>();
  for (const snapshot of snapshots.values()) {
    if (snapshot.parentSnapshotId === null) continue;
    const siblings = children.get(snapshot.parentSnapshotId);
    if (siblings === undefined) children.set(snapshot.parentSnapshotId, [snapshot]);
    else siblings.push(snapshot);
  }
  return children;
}

/** A parent comes when all of its children have; among those that may come, the newest. A ring of parents, which no writer makes, is cut. */
function childrenFirst(
  { snapshots }: TableMetadata,
  childrenOf: ReadonlyMap<bigint, readonly Snapshot[]>,
): readonly Snapshot[] {
  const order: Snapshot[] = [];
  const [begun, done] = [new Set<bigint>(), new Set<bigint>()];
  for (const first of [...snapshots.values()].toSorted(newestFirst)) {
    const stack = [first];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const id = top.snapshotId;
      const before = begun.has(id)
        ? []
        : (childrenOf.get(id) ?? []).filter((child) => !begun.has(child.snapshotId) && !done.has(child.snapshotId));
      begun.add(id);
      if (before.length > 0) {
        // One by one: a snapshot may have more children than a call takes arguments.
        for (const child of before.toSorted((a, b) => newestFirst(b, a))) stack.push(child);
        continue;
      }
      stack.pop();
      if (done.has(id)) continue;
      done.add(id);
      order.push(top);
    }
  }
  return order;
}

function newestFirst(a: Snapshot, b: Snapshot): number {
  if (a.sequenceNumber !== b.sequenceNumber) return a.sequenceNumber > b.sequenceNumber ? -1 : 1;
  if (a.timestampMs !== b.timestampMs) return b.timestampMs - a.timestampMs;
  return a.snapshotId > b.snapshotId ? -1 : 1;
}

/** Lanes of a graph: lines beyond share the last one, so that a table of very many branches holds nobody up. */
const LANES_MAX = 100;

type Chain = { readonly ids: readonly bigint[]; readonly first: number; readonly last: number };

function lanesOf(metadata: TableMetadata, order: readonly Snapshot[]): ReadonlyMap<bigint, number> {
  const placeOf = new Map(order.map(({ snapshotId }, i) => [snapshotId, i]));
  const chains = chainsOf(metadata, order, placeOf);
  const lanes = new Map<bigint, number>();
  /** The last row that each lane is used in. */
  const ends: number[] = [];
  for (const [i, { ids, first, last }] of chains.entries()) {
    // The first chain is that of the table itself, whose lane is nobody else's.
    const free = i === 0 ? -1 : ends.findIndex((end, lane) => lane > 0 && end < first);
    const lane = free === -1 ? Math.min(ends.length, LANES_MAX - 1) : free;
    ends[lane] = Math.max(ends[lane] ?? 0, last);
    for (const id of ids) lanes.set(id, lane);
  }
  return lanes;
}

/** The lines of snapshots: that of the table, then those of branches and tags, and of what neither reaches, by their first rows. */
function chainsOf(
  { currentSnapshotId, snapshots, refs }: TableMetadata,
  order: readonly Snapshot[],
  placeOf: ReadonlyMap<bigint, number>,
): readonly Chain[] {
  const taken = new Set<bigint>();
  const chainFrom = (start: bigint | null): Chain | null => {
    const ids: bigint[] = [];
    let id = start;
    while (id !== null && snapshots.has(id) && !taken.has(id)) {
      taken.add(id);
      ids.push(id);
      id = snapshots.get(id)?.parentSnapshotId ?? null;
    }
    const [head, tail] = [ids[0], ids.at(-1)];
    if (head === undefined || tail === undefined) return null;
    const end = id !== null && placeOf.has(id) ? id : tail;
    return { ids, first: placeOf.get(head) ?? 0, last: placeOf.get(end) ?? 0 };
  };
  const main = chainFrom(currentSnapshotId);
  const branches = [...refs].filter(([, { type }]) => type === 'branch').toSorted(([a], [b]) => (a < b ? -1 : 1));
  const tags = [...refs].filter(([, { type }]) => type === 'tag');
  const starts = [...branches, ...tags].map(([, { snapshotId }]) => snapshotId);
  const rest = [...starts, ...order.map(({ snapshotId }) => snapshotId)].flatMap((id) => chainFrom(id) ?? []);
  return [...(main === null ? [] : [main]), ...rest.toSorted((a, b) => a.first - b.first)];
}

/** Rows at the begin of a history that are never folded. */
const ALWAYS_SHOWN = 20;

/**
 * Leaves out what only continues a line: a snapshot with a branch or a tag, the current one, one that is a beginning, an end or a fork, and the
 * newest ones stay. `folded` counts those that a row stands for beside its own.
 */
export function foldSnapshots(
  metadata: TableMetadata,
  placed: readonly PlacedSnapshot[],
): readonly (PlacedSnapshot & { readonly folded: number })[] {
  const named = new Set([...metadata.refs.values()].map(({ snapshotId }) => snapshotId));
  const shown: (PlacedSnapshot & { folded: number })[] = [];
  /** The last row that is shown in each lane. */
  const above = new Map<number, { folded: number }>();
  for (const [i, one] of placed.entries()) {
    const { snapshotId, parentSnapshotId } = one.snapshot;
    const isEnd = parentSnapshotId === null || !metadata.snapshots.has(parentSnapshotId);
    const stays =
      i < ALWAYS_SHOWN ||
      named.has(snapshotId) ||
      snapshotId === metadata.currentSnapshotId ||
      isEnd ||
      one.children !== 1 ||
      // Which line of a lane that many share it would be a part of, nobody could say.
      one.lane === LANES_MAX - 1;
    const line = above.get(one.lane);
    if (!stays && line !== undefined) {
      line.folded += 1;
      continue;
    }
    const row = { ...one, folded: 0 };
    shown.push(row);
    above.set(one.lane, row);
  }
  return shown;
}
