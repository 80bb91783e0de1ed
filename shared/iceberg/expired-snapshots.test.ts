import { describe, expect, test } from 'vitest';
import { expiredSnapshots, nextLook } from './expired-snapshots.ts';
import type { JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { readTableMetadata } from './table-metadata.ts';

const DAY_MS = 86_400_000;
const NOW_MS = 100 * DAY_MS;

/** Snapshot n is n days old; 1 to 4 are main's, 15 and 16 a branch's, 30 and 31 nobody's. */
const table = (refs: Readonly<Record<string, JsonObject>>) =>
  readTableMetadata({
    'format-version': 2,
    schemas: [{ type: 'struct', 'schema-id': 0, fields: [] }],
    'current-snapshot-id': 1n,
    snapshots: [
      [1, 2],
      [2, 3],
      [3, 4],
      [4, null],
      [15, 16],
      [16, 4],
      [30, 31],
      [31, null],
    ].map(([id, parent]) => ({
      'snapshot-id': id ?? 0,
      ...(parent === null ? {} : { 'parent-snapshot-id': parent ?? 0 }),
      'timestamp-ms': NOW_MS - (id ?? 0) * DAY_MS,
    })),
    refs: { main: { 'snapshot-id': 1n, type: 'branch' }, ...refs },
  });
const DEFAULTS = { maxSnapshotAgeMs: 2.5 * DAY_MS, minSnapshotsToKeep: 1, maxRefAgeMs: Infinity, bookmarkKeys: [] };
const expired = (refs: Readonly<Record<string, JsonObject>>, more = {}) => {
  const found = expiredSnapshots(table(refs), { ...DEFAULTS, ...more }, NOW_MS);
  return [found.snapshotIds.map(Number), found.refs];
};

test('branches keep by age and number, tags one snapshot, unreferenced ones their age', () => {
  expect(expired({})).toEqual([[3, 4, 15, 16, 30, 31], []]);
  expect(expired({}, { minSnapshotsToKeep: 3 })).toEqual([[4, 15, 16, 30, 31], []]);
  expect(expired({}, { maxSnapshotAgeMs: 15.5 * DAY_MS })).toEqual([[16, 30, 31], []]);
  expect(expired({ x: { 'snapshot-id': 15, type: 'branch' } })).toEqual([[3, 4, 16, 30, 31], []]);
  expect(expired({ x: { 'snapshot-id': 15, type: 'branch', 'min-snapshots-to-keep': 3 } })).toEqual([[3, 30, 31], []]);
  expect(expired({ x: { 'snapshot-id': 30, type: 'tag' } })).toEqual([[3, 4, 15, 16, 31], []]);
});

test('a reference expires by its own age or the default; main never does', () => {
  expect(expired({ x: { 'snapshot-id': 15, type: 'tag', 'max-ref-age-ms': DAY_MS } })).toEqual([
    [3, 4, 15, 16, 30, 31],
    ['x'],
  ]);
  expect(expired({ x: { 'snapshot-id': 2, type: 'branch' } }, { maxRefAgeMs: 0, maxSnapshotAgeMs: 0 })).toEqual([
    [2, 3, 4, 15, 16, 30, 31],
    ['x'],
  ]);
});

describe('the time of the next look', () => {
  const asks = (days: number): Readonly<Record<string, string>> => ({
    'history.expire.max-snapshot-age-ms': String(days * DAY_MS),
  });
  const inDays = (
    properties: Readonly<Record<string, string>>,
    refs: Readonly<Record<string, JsonObject>> = {},
  ): number | null => {
    const next = nextLook({ ...table(refs), properties }, NOW_MS);
    return next === null ? null : (next - NOW_MS) / DAY_MS;
  };

  test('comes when the oldest snapshot has the shortest age that anything is kept for', () => {
    // The oldest is 31 days old.
    expect(inDays(asks(40))).toBeCloseTo(9, 6);
    expect(inDays(asks(40), { x: { 'snapshot-id': 2, type: 'tag', 'max-ref-age-ms': 33 * DAY_MS } })).toBeCloseTo(2, 6);
  });

  test('comes within an hour when that is over, and not at once', () => {
    expect(inDays(asks(1))).toBeCloseTo(1 / 24, 6);
    expect(inDays(asks(0))).toBeCloseTo(1 / 24 / 60, 6);
  });

  test('never comes for a table that does not ask for it, or may not, or has no snapshot', () => {
    expect([inDays({}), inDays({ ...asks(40), 'gc.enabled': 'False' })]).toEqual([null, null]);
    expect(nextLook({ ...table({}), properties: asks(1), snapshots: new Map() }, NOW_MS)).toBeNull();
  });
});

test('branches that keep many snapshots each are too many to look at', () => {
  const ids = Array.from({ length: 3_000 }, (_, i) => BigInt(i + 1));
  const one = must([...table({}).snapshots.values()][0], 'a snapshot');
  const snapshots = new Map(ids.map((id) => [id, { ...one, parentSnapshotId: id === 1n ? null : id - 1n }]));
  const ref = { snapshotId: 3_000n, type: 'branch', retention: { 'min-snapshots-to-keep': 9_999 } } as const;
  const refs = new Map(Array.from({ length: 1_000 }, (_, i) => [`b${i}`, ref]));
  expect(() => expiredSnapshots({ ...table({}), snapshots, refs }, DEFAULTS, NOW_MS)).toThrow(
    'keep more than 500000 snapshots',
  );
});
