import { describe, expect, test } from 'vitest';
import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import { batchFiles, divideFile, splitFile, SplitQueue, type Split } from './split-queue.ts';

const MIB = 2 ** 20;
const file = (path: string, recordCount: number, sizeBytes: number): ScanFile => ({
  path,
  recordCount,
  sizeBytes,
  rows: null,
  constants: {},
  deletes: [],
  firstRowId: null,
});
const rowsOf = (splits: readonly Split[]) =>
  splits.map((split) => (split.kind === 'rows' ? (split.file.rows ?? 'all') : 'output'));

test('a small file, and one of a single row group, are one split; a big one is divided at row groups', () => {
  expect(rowsOf(splitFile(0, file('a', 1_000_000, MIB)))).toEqual(['all']);
  expect(rowsOf(splitFile(0, file('a', 122_880, 100 * MIB)))).toEqual(['all']);
  const splits = splitFile(0, file('a', 400_000, 8 * MIB));
  expect(rowsOf(splits)).toEqual([
    { start: 0, end: 122_880 },
    { start: 122_880, end: 245_760 },
    { start: 245_760, end: 368_640 },
    { start: 368_640, end: 400_000 },
  ]);
  expect(splits.reduce((sum, { bytes }) => sum + bytes, 0)).toBeCloseTo(8 * MIB, -1);
  const big = splitFile(0, file('a', 10_000_000_000, 500_000 * MIB));
  expect(big.length).toBeLessThanOrEqual(1_000);
  expect(big.every(({ kind, ...rest }) => kind === 'rows' && 'file' in rest)).toBe(true);
});

test('every row is handed out once, whoever asks; a worker without a share of its own takes from the others', () => {
  const splits = ['a', 'b', 'c'].flatMap((path) => splitFile(0, file(path, 1_000_000, 100 * MIB)));
  const workers = [
    { address: 'w1', slots: 1 },
    { address: 'w2', slots: 1 },
  ];
  const queue = new SplitQueue(splits, { workers, repeatedBytes: 0, readPart: 1, groups: 0 });
  const seen: ScanFile[] = [];
  const counts = { w1: 0, w2: 0, w3: 0 };
  while (queue.size > 0) {
    for (const worker of ['w1', 'w2', 'w3'] as const) {
      const batch = queue.take(worker, true);
      counts[worker] += batch.length;
      seen.push(...batchFiles(batch, 1).flat());
    }
  }
  expect(counts.w1 * counts.w2 * counts.w3).toBeGreaterThan(0);
  for (const path of ['a', 'b', 'c']) {
    const ranges = seen
      .filter((one) => one.path === path)
      .map(({ rows }) => rows ?? { start: 0, end: 1_000_000 })
      .toSorted((x, y) => x.start - y.start);
    expect(ranges[0]?.start).toBe(0);
    expect(ranges.at(-1)?.end).toBe(1_000_000);
    for (const [i, range] of ranges.slice(1).entries()) expect(range.start).toBe(ranges[i]?.end);
  }
  expect(queue.take('w1', true)).toEqual([]);
});

test('the same file goes to the same worker each time, and only there while others may not take it', () => {
  const split = splitFile(0, file('s3://bucket/x.parquet', 10, 10));
  const workers = ['w1', 'w2', 'w3'].map((address) => ({ address, slots: 1 }));
  const owners = [workers, workers.toReversed()].map((order) => {
    const queue = new SplitQueue(split, { workers: order, repeatedBytes: 0, readPart: 1, groups: 0 });
    return workers.filter(({ address }) => queue.take(address, false).length > 0).map(({ address }) => address);
  });
  expect(owners[0]).toHaveLength(1);
  expect(owners[0]).toEqual(owners[1]);
});

test('batches get smaller towards the end; where every task reads much beside its batch, each slot has one', () => {
  const splits = splitFile(0, file('a', 12_288_000, 400 * MIB));
  const workers = [{ address: 'w', slots: 2 }];
  const sizes = (repeatedBytes: number, readPart = 1, groups = 0): number[] => {
    const queue = new SplitQueue(splits, { workers, repeatedBytes, readPart, groups });
    const taken: number[] = [];
    while (queue.size > 0) taken.push(queue.take('w', true).reduce((sum, { bytes }) => sum + bytes, 0) / MIB);
    return taken;
  };
  const many = sizes(0);
  expect(many.length).toBeGreaterThan(4);
  expect(many[0]).toBeGreaterThan(many.at(-2) ?? 0);
  // Each slot has one batch when tasks read much beside it, or little of it.
  expect(sizes(50 * MIB)).toEqual([200, 200]);
  expect(sizes(0, 0.25)).toEqual([200, 200]);
  // A stage with many groups gets batches that keep its hash tables small, unless each task reads a large build side as well.
  expect(Math.max(...sizes(0, 0.25, 16_000_000))).toBe(100);
  expect(sizes(50 * MIB, 0.25, 16_000_000)).toEqual([200, 200]);
});

test('where each slot takes its share at once, there is a task for each slot, whatever hashing gave its worker', () => {
  const parts = (address: string, count: number): Split[] =>
    Array.from({ length: count }, (_, task) => ({ kind: 'output', input: 0, task, bytes: MIB, address }));
  const workers = ['w1', 'w2', 'w3'].map((address) => ({ address, slots: 1 }));
  const splits = [...parts('w1', 7), ...parts('w2', 1), ...parts('w3', 4)];
  const queue = new SplitQueue(splits, { workers, repeatedBytes: 0, readPart: 1, groups: 0 });
  const sizes = workers.map(({ address }) => queue.take(address, false).length);
  expect([sizes, queue.size]).toEqual([[4, 4, 4], 0]);
});

test('neighbouring splits of a file are one range, a whole file has none', () => {
  const splits = splitFile(1, file('a', 400_000, 8 * MIB));
  expect(batchFiles(splits.slice(1, 3).toReversed(), 2).map((files) => files.map(({ rows }) => rows))).toEqual([
    [],
    [{ start: 122_880, end: 368_640 }],
  ]);
  expect(batchFiles(splits, 2)[1]).toEqual([file('a', 400_000, 8 * MIB)]);
});

test('outputs of tasks wait for the worker that holds them', () => {
  const output = (task: number, address: string): Split => ({ kind: 'output', input: 0, task, bytes: 5, address });
  const workers = ['w1', 'w2'].map((address) => ({ address, slots: 1 }));
  const queue = new SplitQueue([output(0, 'w1'), output(1, 'w2'), output(2, 'gone')], {
    workers,
    repeatedBytes: 0,
    readPart: 1,
    groups: 0,
  });
  expect(queue.take('w2', false)).toEqual([output(1, 'w2')]);
  expect(queue.take('w2', false)).toEqual([]);
  expect(queue.take('w2', true).length + queue.take('w1', true).length).toBe(2);
});

describe('parts of a big file', () => {
  const ROWS = 60 * 122_880;
  const slotOf = (address: string) => ({ address, slots: 1 });
  /** The rows that each worker has as its own share. */
  const sharesOf = (path: string, sizeBytes: number, addresses: readonly string[]) => {
    const workers = addresses.map(slotOf);
    const queue = new SplitQueue(splitFile(0, file(path, ROWS, sizeBytes)), {
      workers,
      repeatedBytes: 0,
      readPart: 1,
      groups: 0,
    });
    const shares = addresses.map((address) => {
      const own: Split[] = [];
      for (let batch = queue.take(address, false); batch.length > 0; batch = queue.take(address, false)) {
        own.push(...batch);
      }
      return { address, ranges: batchFiles(own, 1).flatMap((files) => files.map(({ rows }) => rows)) };
    });
    return shares.toSorted((a, b) => (a.ranges[0]?.start ?? -1) - (b.ranges[0]?.start ?? -1));
  };

  test('each worker has neighbouring ones, as many as the others', () => {
    const thirds = sharesOf('a', 384 * MIB, ['w1', 'w2', 'w3']);
    expect(thirds.map(({ ranges }) => ranges)).toEqual([
      [{ start: 0, end: ROWS / 3 }],
      [{ start: ROWS / 3, end: (2 * ROWS) / 3 }],
      [{ start: (2 * ROWS) / 3, end: ROWS }],
    ]);
  });

  test('the same ones each time, whatever the order of the workers', () => {
    const once = sharesOf('a', 384 * MIB, ['w1', 'w2', 'w3']);
    expect(sharesOf('a', 384 * MIB, ['w3', 'w1', 'w2'])).toEqual(once);
  });

  test('the first parts of other files are assigned to other workers', () => {
    const firsts = Array.from({ length: 30 }, (_, i) => sharesOf(`f${i}`, 384 * MIB, ['w1', 'w2', 'w3'])[0]?.address);
    expect(new Set(firsts)).toEqual(new Set(['w1', 'w2', 'w3']));
  });

  test('a file that is not big stays with one worker', () => {
    const shares = sharesOf('a', 64 * MIB, ['w1', 'w2', 'w3']);
    expect(shares.flatMap(({ ranges }) => ranges)).toEqual([null]);
  });

  test('when one worker goes, the others keep their order', () => {
    const before = sharesOf('a', 384 * MIB, ['w1', 'w2', 'w3']).map(({ address }) => address);
    for (const gone of before) {
      const left = before.filter((address) => address !== gone);
      expect(sharesOf('a', 384 * MIB, left).map(({ address }) => address)).toEqual(left);
    }
  });
});

describe('the rest that a batch leaves of its worker’s share', () => {
  const outputs = (address: string, count: number, mib: number): Split[] =>
    Array.from({ length: count }, (_, task) => ({ kind: 'output', input: 0, task, bytes: mib * MIB, address }));
  /** MiB of the batches of `w1`, which takes of its own alone; all workers together have 200, so that a slot takes 80 at first. */
  const batches = (own: readonly Split[]): number[] => {
    const ownMib = own.reduce((sum, { bytes }) => sum + bytes, 0) / MIB;
    const splits = [...own, ...outputs('w2', 1, 200 - ownMib)];
    const workers = ['w1', 'w2'].map((address) => ({ address, slots: 1 }));
    const queue = new SplitQueue(splits, { workers, repeatedBytes: 0, readPart: 1, groups: 0 });
    const taken: number[] = [];
    for (let batch = queue.take('w1', false); batch.length > 0; batch = queue.take('w1', false)) {
      taken.push(batch.reduce((sum, { bytes }) => sum + bytes, 0) / MIB);
    }
    // The rest belongs to the other worker.
    expect(queue.size).toBe(1);
    return taken;
  };

  test('joins the batch when it is small', () => {
    expect(batches([...outputs('w1', 16, 5), ...outputs('w1', 1, 5)])).toEqual([85]);
    expect(batches([...outputs('w1', 16, 5), ...outputs('w1', 8, 1)])).toEqual([88]);
  });

  test('does not when it is much, or many splits', () => {
    expect(batches([...outputs('w1', 16, 5), ...outputs('w1', 2, 5)])).toEqual([80, 10]);
    expect(batches([...outputs('w1', 16, 5), ...outputs('w1', 9, 1)])).toEqual([80, 9]);
  });
});

test('a file of a stage is divided by its bytes, and neighbours become one range again', () => {
  const splits = divideFile(0, { ...file('s', 0, 40 * MIB), etag: 'e' });
  const ranges = splits.map((split) => (split.kind === 'rows' ? split.file.bytes : undefined));
  expect(ranges).toHaveLength(10);
  expect(ranges.slice(0, 2)).toEqual([
    { start: 0, end: 4 * MIB },
    { start: 4 * MIB, end: 8 * MIB },
  ]);
  expect(ranges.at(-1)?.end).toBe(40 * MIB);
  const [some = []] = batchFiles(splits.slice(2, 5).toReversed(), 1);
  expect(some.map(({ bytes }) => bytes)).toEqual([{ start: 8 * MIB, end: 20 * MIB }]);
  const [apart = []] = batchFiles(
    [splits[0], splits[2]].flatMap((split) => split ?? []),
    1,
  );
  expect(apart.map(({ bytes }) => bytes)).toEqual([ranges[0], ranges[2]]);
  const [all = []] = batchFiles(splits, 1);
  expect(all).toEqual([{ ...file('s', 0, 40 * MIB), etag: 'e' }]);
  expect(divideFile(0, file('little', 0, 3 * MIB)).map((split) => split.bytes)).toEqual([3 * MIB]);
});
