import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { checkedBorders, RangeSet, SegmentSums, segmentsWith } from './segment-list.ts';

test('a file of many segments has no more than 322 checksums, and the last segment its own', () => {
  const borders = Float64Array.from({ length: 2_001 }, (_, i) => i * 10);
  const checked = checkedBorders(borders);
  expect(checked.length).toBeLessThanOrEqual(323);
  expect(Array.from(checked.slice(-2))).toEqual([19_990, 20_000]);
  expect(checked[0]).toBe(0);
  const few = Float64Array.of(0, 4, 9);
  expect([...checkedBorders(few)]).toEqual([0, 4, 9]);
});

test('the segments that have a byte of a range', () => {
  const borders = Float64Array.of(0, 4, 10, 20, 100);
  const of = (...ranges: [number, number][]): readonly number[] =>
    segmentsWith(
      borders,
      ranges.map(([start, end]) => ({ start, end })),
    );
  expect(of([4, 10])).toEqual([1]);
  expect(of([3, 11])).toEqual([0, 1, 2]);
  expect(of([99, 100], [4, 5], [5, 6])).toEqual([1, 3]);
  expect(of([10, 10])).toEqual([]);
  expect(of([100, 200])).toEqual([3]);
});

test('checksums of segments, whatever the sizes in which the bytes come', () => {
  const bytes = randomBytes(1_000);
  const borders = Float64Array.of(0, 4, 400, 401, 1_000);
  const wanted = Array.from(borders.slice(1), (end, i) => crc32(bytes.subarray(borders[i], end)));
  for (const size of [1, 7, 396, 1_000]) {
    const sums = new SegmentSums(borders);
    for (let at = 0; at < bytes.length; at += size) sums.add(bytes.subarray(at, at + size), at);
    expect(sums.all).toEqual(wanted);
  }
});

test('ranges that touch are one', () => {
  const set = new RangeSet();
  set.add([{ start: 10, end: 20 }]);
  set.add([
    { start: 30, end: 40 },
    { start: 20, end: 25 },
  ]);
  expect([set.bytes, set.has({ start: 10, end: 25 }), set.has({ start: 24, end: 31 })]).toEqual([25, true, false]);
  set.add([{ start: 22, end: 32 }]);
  expect([set.bytes, set.has({ start: 10, end: 40 }), set.startOf(40), set.startOf(50)]).toEqual([30, true, 10, 50]);
});
