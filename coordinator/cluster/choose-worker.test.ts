import { expect, test } from 'vitest';
import { chooseWorker } from './choose-worker.ts';

const workers = (...loads: number[]) => loads.map((load, i) => ({ address: `w${i}`, cores: 2, load }));

test('without affinity the least loaded worker is taken', () => {
  expect(chooseWorker(workers(3, 1, 2), undefined)?.address).toBe('w1');
  expect(chooseWorker([], undefined)).toBeUndefined();
});

test('a table stays with its worker, tables spread over workers, and few move when a worker goes', () => {
  const tables = Array.from({ length: 300 }, (_, i) => `table-${i}`);
  const before = tables.map((t) => chooseWorker(workers(0, 0, 0), t)?.address);
  expect(before).toEqual(tables.map((t) => chooseWorker(workers(0, 0, 0).toReversed(), t)?.address));
  for (const name of ['w0', 'w1', 'w2']) expect(before.filter((w) => w === name).length).toBeGreaterThan(60);
  const after = tables.map((t) => chooseWorker(workers(0, 0), t)?.address);
  expect(after.filter((w, i) => before[i] !== 'w2' && w !== before[i])).toEqual([]);
});

test('a worker that has its cores more to do than another loses the table', () => {
  const home = chooseWorker(workers(0, 0), 't');
  const loaded = (load: number) => workers(0, 0).map((w) => ({ ...w, load: w.address === home?.address ? load : 0 }));
  expect(chooseWorker(loaded(1), 't')?.address).toBe(home?.address);
  expect(chooseWorker(loaded(2), 't')?.address).not.toBe(home?.address);
});
