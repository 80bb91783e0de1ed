import fc from 'fast-check';
import { expect, test } from 'vitest';
import { COPIES_MAX, CopyTable, copyKey, type HeldCopy } from './copy-table.ts';

const keys = ['a', 'b', 'c'].map((path) => copyKey('tenant', 'table', { path, sizeBytes: 1 }));

test('a file of another tenant, table, path or size has another key', () => {
  const file = { path: '/a', sizeBytes: 1 };
  const all = [
    copyKey('t', 'u', file),
    copyKey('u', 'u', file),
    copyKey('t', 'v', file),
    copyKey('t', 'u', { ...file, path: '/b' }),
    copyKey('t', 'u', { ...file, sizeBytes: 2 }),
  ];
  expect(new Set(all).size).toBe(5);
});

test('the threads see what is added and removed, and nothing that is held goes', () => {
  const main = CopyTable.create();
  const threads = [new CopyTable(main.buffer), new CopyTable(main.buffer)];
  const step = fc.record({
    kind: fc.constantFrom('add', 'remove', 'hold', 'release'),
    key: fc.constantFrom(...keys),
    thread: fc.constantFrom(0, 1),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const copies = new Map<string, { place: number; serial: number; holds: HeldCopy[] }>();
      let serial = 0;
      for (const { kind, key, thread } of steps) {
        const copy = copies.get(key);
        if (kind === 'add' && copy === undefined) {
          const place = main.add(key, ++serial, 5_000) ?? -1;
          copies.set(key, { place, serial, holds: [] });
        } else if (kind === 'remove' && copy !== undefined) {
          expect(main.remove(copy.place)).toBe(copy.holds.length === 0);
          if (copy.holds.length === 0) copies.delete(key);
        } else if (kind === 'hold') {
          const held = threads[thread]?.hold(key, 7_000);
          expect(held).toEqual(copy === undefined ? undefined : { place: copy.place, serial: copy.serial });
          if (held !== undefined) copy?.holds.push(held);
        } else if (kind === 'release') {
          const held = copy?.holds.pop();
          if (held !== undefined) threads[thread]?.release(held.place);
        }
      }
      for (const { place, holds } of copies.values()) {
        for (const held of holds) threads[0]?.release(held.place);
        expect(main.remove(place)).toBe(true);
      }
    }),
  );
});

test('a place that has another copy by now is not taken for the old one', () => {
  const main = CopyTable.create();
  const thread = new CopyTable(main.buffer);
  const [old = '', other = ''] = keys;
  const place = main.add(old, 1, 0) ?? -1;
  expect(thread.hold(old, 0)).toEqual({ place, serial: 1 });
  thread.release(place);
  main.remove(place);
  // The number of changes comes round to what the thread has seen only by such a write; what the thread remembers of the place is stale then.
  expect(main.add(other, 2, 0)).toBe(place);
  new Int32Array(main.buffer)[0] = 1;
  expect(thread.hold(old, 0)).toBeUndefined();
  expect(main.isHeld(place)).toBe(false);
});

test('says when a copy was used and in how many seconds, and takes no more than it has places for', () => {
  const table = CopyTable.create();
  const place = table.add(keys[0] ?? '', 1, 4_999) ?? -1;
  expect(table.usedMs(place)).toBe(4_000);
  expect(table.uses(place)).toBe(0);
  for (const nowMs of [1.9e12, 1.9e12 + 999, 1.9e12 + 1_000]) table.hold(keys[0] ?? '', nowMs);
  expect(table.usedMs(place)).toBe(1.9e12 + 1_000);
  expect(table.uses(place)).toBe(2);
  for (let i = 1; i < COPIES_MAX; i++)
    expect(table.add(copyKey('t', 'u', { path: `${i}`, sizeBytes: 1 }), i, 0)).toBe(i);
  expect(table.add(copyKey('t', 'u', { path: 'x', sizeBytes: 1 }), 1, 0)).toBeUndefined();
});
