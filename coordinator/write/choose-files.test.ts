import { expect, test } from 'vitest';
import type { ScanDelete, ScanFile } from '#shared/iceberg/scan-file.ts';
import { fileKey } from '#shared/iceberg/write/rewrite-manifests.ts';
import { chooseFiles, droppedDeletes } from './choose-files.ts';

const file = (path: string, sizeBytes: number, more: Partial<ScanFile> = {}): ScanFile => ({
  path,
  recordCount: 1,
  sizeBytes,
  rows: null,
  constants: {},
  deletes: [],
  firstRowId: null,
  ...more,
});
const inPartition = (path: string, sizeBytes: number, month: number): ScanFile =>
  file(path, sizeBytes, { partition: { 1000: month } });
const position = (path: string): ScanDelete => ({ kind: 'position', path, sizeBytes: 1 });
const options = { thresholdBytes: 50, targetBytes: 100 };
const pathsOf = (files: readonly ScanFile[], more = options) =>
  chooseFiles(files, more).parts.map((part) => part.map(({ path }) => path).join(' '));

test('small files meet in bins of the target size; large ones stay', () => {
  const files = [file('a', 40), file('b', 200), file('c', 40), file('d', 40), file('e', 10)];
  expect(pathsOf(files)).toEqual(['a c e']);
  expect(chooseFiles(files, options).bins).toBe(1);
  expect(pathsOf([file('a', 60), file('b', 60)], { ...options, thresholdBytes: 90 })).toEqual([]);
});

test('a file alone in its partition stays, unless it has deletes', () => {
  expect(pathsOf([inPartition('a', 10, 1), inPartition('b', 10, 2)])).toEqual([]);
  expect(pathsOf([{ ...inPartition('a', 900, 1), deletes: [position('p')] }, inPartition('b', 10, 2)])).toEqual(['a']);
});

test('small partitions share a part, two bins of one partition do not', () => {
  const files = [1, 2, 3].flatMap((month) => [inPartition(`a${month}`, 5, month), inPartition(`b${month}`, 5, month)]);
  expect(pathsOf(files)).toEqual(['a1 b1 a2 b2 a3 b3']);
  expect(chooseFiles(files, options).bins).toBe(3);
  const large = ['a', 'b', 'c', 'd'].map((name) => inPartition(name, 45, 1));
  expect(pathsOf(large)).toEqual(['a b', 'c d']);
  expect(
    pathsOf(
      ['a', 'b', 'c', 'd'].map((name) => inPartition(name, 45, 1)),
      { ...options, targetBytes: 200 },
    ),
  ).toEqual(['a b c d']);
});

test('many small partitions are many parts', () => {
  const files = Array.from({ length: 250 }, (_, month) => [
    inPartition(`a${month}`, 0, month),
    inPartition(`b${month}`, 0, month),
  ]);
  expect(chooseFiles(files.flat(), options).parts.map(({ length }) => length)).toEqual([200, 200, 100]);
});

test('a delete file is dropped when no file that stays needs it', () => {
  const vector: ScanDelete = { kind: 'vector', path: 'v', offset: 4, lengthBytes: 9, cardinality: 1 };
  const all = [
    file('a', 1, { deletes: [position('p'), position('shared'), vector] }),
    file('b', 1, { deletes: [position('shared'), { ...vector, offset: 13 }] }),
  ];
  expect([...droppedDeletes(all, new Set(['a']))]).toEqual(['p', fileKey({ path: 'v', contentOffset: 4 })]);
  expect(droppedDeletes(all, new Set(['a', 'b'])).size).toBe(4);
});
