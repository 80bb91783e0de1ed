import { expect, test } from 'vitest';
import { packMetadata, unpackMetadata } from './metadata-parts.ts';
import { readTableMetadata } from './table-metadata.ts';

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
