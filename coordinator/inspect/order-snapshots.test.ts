import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readTableMetadata, type TableMetadata } from '#shared/iceberg/table-metadata.ts';
import type { JsonObject } from '#shared/json.ts';
import { foldSnapshots, orderSnapshots } from './order-snapshots.ts';

type Made = readonly [id: number, parent: number | null, timestampMs: number];

const tableOf = (snapshots: readonly Made[], current: number | null, refs: JsonObject = {}): TableMetadata =>
  readTableMetadata({
    'format-version': 2,
    schemas: [{ type: 'struct', 'schema-id': 0, fields: [] }],
    'current-snapshot-id': current,
    snapshots: snapshots.map(([id, parent, time]) => ({
      'snapshot-id': id,
      ...(parent === null ? {} : { 'parent-snapshot-id': parent }),
      'timestamp-ms': time,
    })),
    refs,
  });

const drawn = (table: TableMetadata): readonly (readonly [number, number])[] =>
  orderSnapshots(table).map(({ snapshot, lane }) => [Number(snapshot.snapshotId), lane]);

test('a snapshot comes before its parent, whatever the clocks of its writers said', () => {
  expect(
    drawn(
      tableOf(
        [
          [1, null, 900],
          [2, 1, 300],
          [3, 2, 600],
        ],
        3,
      ),
    ),
  ).toEqual([
    [3, 0],
    [2, 0],
    [1, 0],
  ]);
});

test('a branch has a lane down to where it begins, and a lane that has ended is used again', () => {
  const refs = { work: { 'snapshot-id': 5, type: 'branch' }, other: { 'snapshot-id': 3, type: 'branch' } };
  const table = tableOf(
    [
      [1, null, 1],
      [2, 1, 2],
      [3, 2, 3],
      [4, 2, 4],
      [5, 4, 5],
      [6, 4, 6],
    ],
    6,
    refs,
  );
  expect(drawn(table)).toEqual([
    [6, 0],
    [5, 1],
    [4, 0],
    [3, 1],
    [2, 0],
    [1, 0],
  ]);
});

test('a long line is folded between what has a name', () => {
  const line = Array.from({ length: 5_000 }, (_, i): Made => [i + 1, i === 0 ? null : i, i]);
  const table = tableOf(line, 5_000, { june: { 'snapshot-id': 2_500, type: 'tag' } });
  const folded = foldSnapshots(table, orderSnapshots(table));
  expect(folded.length).toBeLessThan(30);
  expect(folded.map(({ snapshot }) => Number(snapshot.snapshotId))).toContain(2_500);
  expect(folded.reduce((sum, { folded: count }) => sum + count + 1, 0)).toBe(5_000);
});

test('every snapshot is there once, behind all of its children, also where parents are gone or form a ring', () => {
  const made = fc.array(fc.tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 0, max: 40 })), { maxLength: 40 });
  fc.assert(
    fc.property(made, fc.boolean(), (pairs, mayRing) => {
      const byId = new Map(
        pairs.map(([id, parent]) => [id, mayRing || parent < id || parent > 30 ? parent || null : null]),
      );
      const table = tableOf(
        [...byId].map(([id, parent]): Made => [id, parent, (id * 7) % 11]),
        null,
      );
      const order = drawn(table).map(([id]) => id);
      expect(order.toSorted((a, b) => a - b)).toEqual([...byId.keys()].toSorted((a, b) => a - b));
      if (mayRing) return;
      for (const [id, parent] of byId) {
        if (parent !== null && byId.has(parent)) expect(order.indexOf(id)).toBeLessThan(order.indexOf(parent));
      }
    }),
  );
});

test('a table of very many branches is drawn in a few lanes, of which the last one is not folded', () => {
  const made = Array.from({ length: 3_000 }, (_, i): Made => [i + 1, i % 3 === 0 ? null : i % 3 === 1 ? 1 : i, i]);
  const table = tableOf(made, 3_000);
  const placed = orderSnapshots(table);
  expect(new Set(placed.map(({ lane }) => lane)).size).toBe(100);
  const shared = placed.filter(({ lane }) => lane === 99).length;
  expect(foldSnapshots(table, placed).filter(({ lane }) => lane === 99)).toHaveLength(shared);
});
