import type { Snapshot } from './table-answers.ts';

/** A line that crosses a row, from a lane at its upper end to one at its lower end. */
export type Passing = { readonly from: number; readonly to: number; readonly part: 'whole' | 'upper' | 'lower' };

/** For each row the lines from children above to their parents below that cross it. */
export function graphOf(snapshots: readonly Snapshot[]): readonly (readonly Passing[])[] {
  const rowOf = new Map(snapshots.map(({ snapshot_id: id }, i) => [id, i]));
  const found = snapshots.map(() => new Map<string, Passing>());
  const below = nextOnLanes(snapshots);
  const add = (row: number, one: Passing): void => void found[row]?.set(`${one.from} ${one.to} ${one.part}`, one);
  for (const [row, { lane, parent_id: parent }] of snapshots.entries()) {
    if (parent === null) continue;
    // A parent that is folded or on a later page lies below, on the same lane.
    const end = rowOf.get(parent) ?? below[row] ?? snapshots.length;
    const to = snapshots[end]?.lane ?? lane;
    const bend = (at: number): number => (end === at + 1 ? to : lane);
    add(row, { from: lane, to: bend(row), part: 'lower' });
    for (let at = row + 1; at < Math.min(end, snapshots.length); at += 1)
      add(at, { from: lane, to: bend(at), part: 'whole' });
    if (end < snapshots.length) add(end, { from: to, to, part: 'upper' });
  }
  return found.map((lines) => [...lines.values()]);
}

/** The next row on the lane of each row. */
function nextOnLanes(snapshots: readonly Snapshot[]): readonly number[] {
  const last = new Map<number, number>();
  const next = snapshots.map(() => snapshots.length);
  for (let row = snapshots.length - 1; row >= 0; row -= 1) {
    const lane = snapshots[row]?.lane ?? 0;
    next[row] = last.get(lane) ?? snapshots.length;
    last.set(lane, row);
  }
  return next;
}
