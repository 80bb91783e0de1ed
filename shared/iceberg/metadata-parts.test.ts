import { expect, test } from 'vitest';
import { packMetadata, unpackMetadata } from './metadata-parts.ts';
import { distinctCountsOf, readTableMetadata } from './table-metadata.ts';

const statisticsOf = (snapshotId: bigint, ndv: string) => ({
  'snapshot-id': snapshotId,
  'statistics-path': `file:///w/t/${snapshotId}.stats`,
  'blob-metadata': [
    { type: 'apache-datasketches-theta-v1', fields: [1], properties: { ndv } },
    { type: 'apache-datasketches-theta-v1', fields: [2], properties: { ndv: 'many' } },
    { type: 'another-v1', fields: [3], properties: { ndv: '5' } },
  ],
});

test('metadata comes back from a thread as it was', async () => {
  const ids = Array.from({ length: 2_500 }, (_, i) => 9_007_199_254_740_993n + BigInt(i));
  const metadata = readTableMetadata({
    'format-version': 2,
    'table-uuid': 'u',
    location: 'file:///w/t',
    schemas: Array.from({ length: 30 }, (_, id) => ({
      'schema-id': id,
      type: 'struct',
      'identifier-field-ids': [1],
      fields: Array.from({ length: id + 1 }, (_field, i) => ({
        id: i + 1,
        name: `c${id}`,
        required: false,
        type: { type: 'list', 'element-id': 1_000 + i, element: 'decimal(9, 2)', 'element-required': false },
        'initial-default': 2n ** 60n,
      })),
    })),
    'current-schema-id': 7,
    'partition-specs': [
      { 'spec-id': 3, fields: [{ 'source-id': 1, 'field-id': 1000, name: 'b', transform: 'bucket[4]' }] },
    ],
    'default-spec-id': 3,
    'current-snapshot-id': ids[9] ?? 0n,
    statistics: [statisticsOf(ids[3] ?? 0n, '17')],
    properties: { 'schema.name-mapping.default': '[{"field-id": 1, "names": ["a"]}]' },
    snapshots: ids.map((id, i) => ({
      'snapshot-id': id,
      ...(i === 0 ? {} : { 'parent-snapshot-id': id - 1n }),
      'sequence-number': i,
      'timestamp-ms': i,
      'manifest-list': `file:///w/t/${id}.avro`,
      summary: { operation: 'append', 'total-records': String(i) },
    })),
    refs: { main: { type: 'branch', 'snapshot-id': ids[9] ?? 0n } },
    'snapshot-log': ids.map((id, i) => ({ 'snapshot-id': id, 'timestamp-ms': i })),
  });
  const frames = packMetadata(metadata);
  expect(frames.buffers.length).toBeGreaterThan(3);
  const back = await unpackMetadata(frames);
  expect(back).toStrictEqual(metadata);
  expect([...back.fields.keys()]).toEqual([...metadata.fields.keys()]);
  expect(back.fields.get(1)?.name).toBe('c7');
});

test('the distinct counts of a snapshot are its own, or those of the nearest ancestor that has any', () => {
  const metadata = readTableMetadata({
    'format-version': 2,
    'table-uuid': 'u',
    location: 'file:///w/t',
    schemas: [{ 'schema-id': 0, type: 'struct', fields: [] }],
    'current-schema-id': 0,
    'partition-specs': [{ 'spec-id': 0, fields: [] }],
    'current-snapshot-id': 3n,
    snapshots: [1n, 2n, 3n].map((id) => ({
      'snapshot-id': id,
      ...(id === 1n ? {} : { 'parent-snapshot-id': id - 1n }),
      'sequence-number': id,
      'timestamp-ms': id,
      'manifest-list': `file:///w/t/${id}.avro`,
    })),
    statistics: [statisticsOf(1n, '7'), statisticsOf(2n, '9')],
  });
  expect([3n, 2n, 1n, null].map((id) => [...distinctCountsOf(metadata, id)])).toEqual([
    [[1, 9]],
    [[1, 9]],
    [[1, 7]],
    [],
  ]);
});
