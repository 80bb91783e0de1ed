import { expect, test } from 'vitest';
import { defaultConfig } from '#shared/config/config-schema.ts';
import { expiredSnapshots } from './expired-snapshots.ts';
import { readTableMetadata } from './table-metadata.ts';

const DAY_MS = 86_400_000;
const NOW_MS = 100 * DAY_MS;
const KEYS = defaultConfig({})['snapshot.bookmark_keys'];

/** Snapshot n is n days old, and the child of the next; each with its summary. `head` is what main is rolled back to. */
const expired = (
  summaries: Readonly<Record<number, Readonly<Record<string, string>>>>,
  { bookmarkKeys = KEYS, head }: { readonly bookmarkKeys?: typeof KEYS; readonly head?: number } = {},
) => {
  const ids = Object.keys(summaries).map(Number);
  const table = readTableMetadata({
    'format-version': 2,
    schemas: [{ type: 'struct', 'schema-id': 0, fields: [] }],
    'current-snapshot-id': BigInt(head ?? Math.min(...ids)),
    snapshots: ids.map((id, i) => ({
      'snapshot-id': id,
      ...(ids[i + 1] === undefined ? {} : { 'parent-snapshot-id': ids[i + 1] ?? 0 }),
      'sequence-number': 100 - id,
      'timestamp-ms': NOW_MS - id * DAY_MS,
      summary: { operation: 'append', ...summaries[id] },
    })),
    refs: { main: { 'snapshot-id': BigInt(head ?? Math.min(...ids)), type: 'branch' } },
  });
  const defaults = { maxSnapshotAgeMs: 2.5 * DAY_MS, minSnapshotsToKeep: 1, maxRefAgeMs: Infinity, bookmarkKeys };
  return expiredSnapshots(table, defaults, NOW_MS).snapshotIds.map(Number);
};

test('the newest bookmark of each group of Kafka Connect outlives its age', () => {
  const offsets = (group: string) => ({ [`kafka.connect.offsets.control.${group}`]: '{"0":7}' });
  expect(expired({ 1: {}, 5: offsets('a'), 6: offsets('a'), 7: offsets('b'), 8: {} })).toEqual([6, 8]);
  expect(expired({ 1: {}, 2: offsets('a'), 6: offsets('a') })).toEqual([6]);
});

test('the newest bookmark of each job of Flink outlives its age', () => {
  const checkpoint = (job: string, id: number) => ({
    'flink.job-id': job,
    'flink.max-committed-checkpoint-id': String(id),
  });
  expect(expired({ 1: {}, 5: checkpoint('x', 9), 6: checkpoint('y', 3), 7: checkpoint('x', 8) })).toEqual([7]);
  // A snapshot without a checkpoint is none.
  expect(expired({ 1: {}, 5: { 'flink.job-id': 'x' } })).toEqual([5]);
});

test('each sink of a job of Flink has a bookmark of its own', () => {
  const checkpoint = (operator: string) => ({
    'flink.job-id': 'x',
    'flink.operator-id': operator,
    'flink.max-committed-checkpoint-id': '9',
  });
  expect(expired({ 1: {}, 5: checkpoint('p'), 6: checkpoint('q'), 7: checkpoint('p') })).toEqual([7]);
});

test('the newest epoch of each query of Spark outlives its age', () => {
  const epoch = (query: string) => ({ 'spark.sql.streaming.queryId': query, 'spark.sql.streaming.epochId': '4' });
  expect(expired({ 1: {}, 5: epoch('x'), 6: epoch('y'), 7: epoch('x') })).toEqual([7]);
});

test('after a rollback the newest bookmark of the branch stays, which the sink finds then', () => {
  const offsets = { 'kafka.connect.offsets.control.a': '{"0":7}' };
  expect(expired({ 4: offsets, 5: {}, 6: {}, 7: offsets, 8: offsets }, { head: 5 })).toEqual([6, 8]);
});

test('the setting lists the keys', () => {
  const summaries = {
    1: {},
    5: { 'our.offset': '1' },
    6: { 'our.offset': '0' },
    7: { 'kafka.connect.offsets.c.g': '' },
  };
  expect(expired(summaries, { bookmarkKeys: ['our.offset'] })).toEqual([6, 7]);
  expect(expired(summaries, { bookmarkKeys: [] })).toEqual([5, 6, 7]);
});
