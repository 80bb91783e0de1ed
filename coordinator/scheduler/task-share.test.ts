import { expect, test } from 'vitest';
import { partitionShares, sliceBatches, type PartitionInput } from './task-share.ts';

const MIB = 2 ** 20;
/** One task gave these MiB for each partition, in batches of 1 MiB. */
const input = (sizes: readonly number[], changes: Partial<PartitionInput> = {}): PartitionInput => ({
  isPartitioned: true,
  dividable: false,
  produced: [sizes.map((size) => ({ rows: size, batches: Math.ceil(size), bytes: size * MIB }))],
  ...changes,
});
const partitionsOf = (shares: readonly { inputs: readonly object[] }[]) => shares.map(({ inputs }) => inputs[0]);

test('small partitions share a task, and every partition is in exactly one', () => {
  const { shares, skewed } = partitionShares([input([1, 0.5, 2, 0, 1])], { partitions: 5, slots: 4, isFixed: false });
  expect(skewed).toBe(0);
  expect(shares).toHaveLength(2);
  const all = shares.flatMap(({ inputs }) => (inputs[0]?.kind === 'partitions' ? inputs[0].partitions : []));
  expect(all.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4]);
  expect(partitionShares([input([0, 0])], { partitions: 2, slots: 4, isFixed: false }).shares).toHaveLength(1);
});

test('partitions of many rows are tasks of their own: a task has a million or two', () => {
  const of = (rows: number, repeatedRows = 0): number => {
    const produced = [Array.from({ length: 16 }, () => ({ rows, batches: 1, bytes: MIB }))];
    const everywhere = { isPartitioned: false, produced: [[{ rows: repeatedRows, batches: 1, bytes: MIB }]] };
    const inputs = [input([], { produced }), input([], everywhere)];
    return partitionShares(inputs, { partitions: 16, slots: 1, isFixed: false }).shares.length;
  };
  expect(of(1_000)).toBe(2);
  expect(of(500_000)).toBe(8);
  expect(of(2_000_000)).toBe(16);
  // Each task would build a hash table of the rows that all of them read.
  expect(of(2_000_000, 8_000_000)).toBe(4);
});

test('with a number of partitions that the session chose each one is a task, also an empty one', () => {
  const { shares } = partitionShares([input([1, 0, 3])], { partitions: 3, slots: 1, isFixed: true });
  expect(partitionsOf(shares)).toEqual([2, 0, 1].map((p) => ({ kind: 'partitions', partitions: [p] })));
});

test('a skewed partition is divided by the input that allows it, the others are read whole by each part', () => {
  const probe = input([100, 2, 2, 2], { dividable: true });
  const build = input([5, 1, 1, 1]);
  const all = input([1, 1, 1, 1], { isPartitioned: false });
  const { shares, skewed } = partitionShares([probe, build, all], { partitions: 4, slots: 2, isFixed: false });
  expect(skewed).toBe(1);
  expect(shares.slice(0, 2).map(({ inputs }) => inputs)).toEqual([
    [{ kind: 'slice', partition: 0, part: 0, of: 2 }, { kind: 'partitions', partitions: [0] }, { kind: 'all' }],
    [{ kind: 'slice', partition: 0, part: 1, of: 2 }, { kind: 'partitions', partitions: [0] }, { kind: 'all' }],
  ]);
  const rest = shares.slice(2).flatMap(({ inputs }) => (inputs[0]?.kind === 'partitions' ? inputs[0].partitions : []));
  expect(rest.toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
});

test('nothing is divided when no input allows it, or the partition is small, or all are as big', () => {
  const options = { partitions: 4, slots: 2, isFixed: false };
  expect(partitionShares([input([100, 2, 2, 2])], options).skewed).toBe(0);
  expect(partitionShares([input([10, 1, 1, 1], { dividable: true })], options).skewed).toBe(0);
  expect(partitionShares([input([90, 90, 90, 90], { dividable: true })], options).skewed).toBe(0);
});

test('slices of a partition cover its batches once', () => {
  const batches = [3, 0, 5];
  const slices = [0, 1, 2].map((part) => sliceBatches(batches, part, 3));
  expect(slices).toEqual([
    [{ start: 0, end: 2 }, null, null],
    [{ start: 2, end: 3 }, null, { start: 0, end: 2 }],
    [null, null, { start: 2, end: 5 }],
  ]);
});
