import { expect, test } from 'vitest';
import type { ScanDelete, ScanFile } from '#shared/iceberg/scan-file.ts';
import { PositionSet } from '#shared/iceberg/position-set.ts';
import { liveRows, planChanges, type ChangeMode } from './plan-changes.ts';

const LARGE = 100 * 2 ** 20;
const file = (path: string, more: Partial<ScanFile> = {}): ScanFile => ({
  path,
  recordCount: 1_000,
  sizeBytes: LARGE,
  rows: null,
  constants: {},
  deletes: [],
  firstRowId: null,
  ...more,
});
const rows = (count: number): PositionSet => {
  const positions = new PositionSet();
  for (let i = 0; i < count; i += 1) positions.add(i);
  return positions;
};
const vector = (cardinality: number, lengthBytes = 50): ScanDelete => ({
  kind: 'vector',
  path: 'v',
  offset: 4,
  lengthBytes,
  cardinality,
});
const position: ScanDelete = { kind: 'position', path: 'p', sizeBytes: 1 };
const kindOf = (one: ScanFile, count: number, mode: ChangeMode = null, formatVersion = 3): string | undefined =>
  planChanges([one, file('other')], new Map([[one.path, rows(count)]]), { mode, formatVersion })
    .map(({ kind }) => kind)
    .join(' ');

test('a file without a row left goes, whatever the mode', () => {
  expect(kindOf(file('a'), 1_000, 'merge-on-read')).toBe('remove');
  expect(kindOf(file('a', { deletes: [vector(10)] }), 990)).toBe('remove');
  expect(kindOf(file('a', { deletes: [vector(10)] }), 989)).toBe('rewrite');
  // How many rows a delete file deletes is not known before it is read.
  expect(kindOf(file('a', { deletes: [position] }), 1_000)).toBe('rewrite');
});

test('without a mode few rows of a large file are marked, up to the limit', () => {
  expect(kindOf(file('a'), 50)).toBe('mark');
  expect(kindOf(file('a'), 51)).toBe('rewrite');
  expect(kindOf(file('a', { sizeBytes: 1_000_000 }), 1)).toBe('rewrite');
});

test('the mode of the table decides', () => {
  expect(kindOf(file('a', { sizeBytes: 10 }), 900, 'merge-on-read')).toBe('mark');
  expect(kindOf(file('a'), 1, 'copy-on-write')).toBe('rewrite');
});

test('a file that cannot be marked is written anew', () => {
  expect(kindOf(file('a', { deletes: [position] }), 1, 'merge-on-read')).toBe('rewrite');
  expect(kindOf(file('a', { deletes: [vector(1, 9 * 2 ** 20)] }), 1, 'merge-on-read')).toBe('rewrite');
  expect(kindOf(file('a', { deletes: [vector(10)] }), 1, 'merge-on-read')).toBe('mark');
});

test('in format 2 positions are listed in files, of which a data file gets so many', () => {
  expect(kindOf(file('a'), 50, null, 2)).toBe('mark');
  expect(kindOf(file('a', { deletes: Array.from({ length: 19 }, () => position) }), 1, 'merge-on-read', 2)).toBe(
    'mark',
  );
  expect(kindOf(file('a', { deletes: Array.from({ length: 20 }, () => position) }), 1, 'merge-on-read', 2)).toBe(
    'rewrite',
  );
});

test('live rows are known but for deletes that are files of rows', () => {
  expect(liveRows(file('a', { deletes: [vector(10)] }))).toBe(990);
  expect(liveRows(file('a', { deletes: [vector(10), position] }))).toBe(null);
});
