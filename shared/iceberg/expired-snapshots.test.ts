import { expect, test } from 'vitest';
import { expiredSnapshots } from './expired-snapshots.ts';
import type { JsonObject } from '#shared/json.ts';
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
const DEFAULTS = { maxSnapshotAgeMs: 2.5 * DAY_MS, minSnapshotsToKeep: 1, maxRefAgeMs: Infinity };
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
