import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson, printJson, type Json } from '#shared/json.ts';
import { commitMetadata, parseCommit } from './commit-metadata.ts';
import { metadataOfUpdates, newTableMetadata, parseCreateTable } from './new-table.ts';
import type { Long, TableDocument } from './table-document.ts';
import { parseUpdates } from './update.ts';

const NOW = 1_800_000_000_000;
const LOCATION = 'file:///wh/ns/t';
const CREATION = { uuid: '6f1c1e0e-2f1a-4a54-a0e6-6c7a2e1f0a01', location: LOCATION, nowMs: NOW, owner: 'ada' };
const SCHEMA = {
  type: 'struct',
  fields: [
    { id: 5, name: 'id', required: true, type: 'long' },
    { id: 9, name: 'at', required: false, type: 'timestamptz' },
    {
      id: 11,
      name: 's',
      required: false,
      type: { type: 'struct', fields: [{ id: 12, name: 'x', required: false, type: 'int' }] },
    },
  ],
};

const create = (request: object = {}): TableDocument =>
  newTableMetadata(parseCreateTable({ name: 't', schema: SCHEMA, ...request }), CREATION);
const version = (formatVersion: number): TableDocument =>
  create({ properties: { 'format-version': String(formatVersion) } });

/** A commit that must be accepted; times move on by a second each. */
function commit(base: TableDocument, updates: readonly object[], requirements: readonly object[] = []): TableDocument {
  return commitMetadata(base, parseCommit({ updates, requirements } as unknown as Json), {
    nowMs: base['last-updated-ms'] + 1000,
    metadataLocation: `${LOCATION}/metadata/${base['metadata-log'].length}.json`,
  });
}
const snapshot = (id: Long, more: object = {}): object => ({
  action: 'add-snapshot',
  snapshot: {
    'snapshot-id': id,
    'sequence-number': 1,
    'timestamp-ms': NOW + 5,
    'manifest-list': `${LOCATION}/metadata/snap-${id}.avro`,
    summary: { operation: 'append' },
    ...more,
  },
});
const setMain = (id: Long): object => ({
  action: 'set-snapshot-ref',
  'ref-name': 'main',
  type: 'branch',
  'snapshot-id': id,
});

test('a new table has fresh ids, the stamps of the service, and no reserved properties', () => {
  const table = create({
    'partition-spec': { 'spec-id': 3, fields: [{ name: 'at_day', transform: 'day', 'source-id': 9, 'field-id': 77 }] },
    'write-order': {
      'order-id': 4,
      fields: [{ transform: 'identity', 'source-id': 5, direction: 'asc', 'null-order': 'nulls-first' }],
    },
    properties: { 'format-version': '2', p: 'q' },
  });
  expect(table).toMatchObject({
    'format-version': 2,
    'last-sequence-number': 0,
    'last-column-id': 4,
    'current-schema-id': 0,
    'partition-specs': [
      { 'spec-id': 0, fields: [{ name: 'at_day', transform: 'day', 'source-id': 2, 'field-id': 1000 }] },
    ],
    'last-partition-id': 1000,
    'default-sort-order-id': 1,
    'sort-orders': [{ 'order-id': 1, fields: [{ 'source-id': 1 }] }],
    'current-snapshot-id': -1,
    refs: {},
    'snapshot-log': [],
    'metadata-log': [],
  });
  const createdAt = new Date(NOW).toISOString();
  expect(table.properties).toEqual({
    'write.parquet.compression-codec': 'zstd',
    p: 'q',
    owner: 'ada',
    created_at: createdAt,
    'created-at': createdAt,
  });
});

test('owner and created-at may be given', () => {
  const { properties } = create({ properties: { owner: 'bob', 'created-at': '2020-01-01T00:00:00Z' } });
  expect(properties).toMatchObject({
    owner: 'bob',
    'created-at': '2020-01-01T00:00:00Z',
    created_at: '2020-01-01T00:00:00Z',
  });
});

test('an unpartitioned, unsorted table counts partition fields from 1000', () => {
  expect(create()).toMatchObject({
    'last-partition-id': 999,
    'default-spec-id': 0,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
  });
});

test.each([
  [
    1,
    { schema: { 'schema-id': 0 }, 'partition-spec': [], 'current-snapshot-id': -1 },
    ['last-sequence-number', 'next-row-id'],
  ],
  [2, { 'last-sequence-number': 0, 'current-snapshot-id': -1 }, ['schema', 'partition-spec', 'next-row-id']],
  [3, { 'next-row-id': 0, 'current-snapshot-id': null }, ['schema', 'partition-spec']],
])('version %i has its own members', (formatVersion, members, absent) => {
  const table = version(formatVersion);
  expect(table).toMatchObject(members);
  for (const key of absent) expect(table).not.toHaveProperty([key]);
});

test.each([
  ['format version 4', { properties: { 'format-version': '4' } }, 'Unsupported format version: v4'],
  [
    'a spec of an unknown column',
    { 'partition-spec': { fields: [{ name: 'p', transform: 'identity', 'source-id': 99 }] } },
    'Cannot find source column',
  ],
  [
    'an hour of a long',
    { 'partition-spec': { fields: [{ name: 'p', transform: 'hour', 'source-id': 5 }] } },
    'Invalid source type long for transform: hour',
  ],
  [
    'a partition of a struct',
    { 'partition-spec': { fields: [{ name: 'p', transform: 'identity', 'source-id': 11 }] } },
    'non-primitive source',
  ],
  [
    'a partition named like a column',
    { 'partition-spec': { fields: [{ name: 'id', transform: 'bucket[4]', 'source-id': 5 }] } },
    'name that exists in schema',
  ],
  [
    'an unknown transform',
    { 'partition-spec': { fields: [{ name: 'p', transform: 'zorder', 'source-id': 5 }] } },
    'Cannot parse transform',
  ],
  ['a property that is no string', { properties: { a: 1 } }, 'Cannot parse to a string value'],
  ['a missing name', { name: null }, 'missing string: name'],
])('refuses a create with %s', (_what, request, message) => {
  expect(() => create(request)).toThrow(message);
});

test('a first append', () => {
  const id = 8_123_456_789_012_345_678n;
  const table = commit(create(), [snapshot(id), setMain(id)]);
  expect(table).toMatchObject({
    'current-snapshot-id': id,
    'last-sequence-number': 1,
    refs: { main: { 'snapshot-id': id, type: 'branch' } },
    'snapshot-log': [{ 'snapshot-id': id, 'timestamp-ms': NOW + 5 }],
    'metadata-log': [{ 'timestamp-ms': NOW, 'metadata-file': `${LOCATION}/metadata/0.json` }],
  });
});

test('64-bit ids survive printing, parsing and a commit', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), (big) => {
      const id = parseJson(String(big)) as Long;
      const table = commit(create(), [snapshot(id), setMain(id)]);
      const read = parseJson(printJson(table)) as unknown as TableDocument;
      expect(BigInt(read['current-snapshot-id'] ?? -1)).toBe(big);
      expect(commit(read, [{ action: 'remove-snapshots', 'snapshot-ids': [id] }])).toMatchObject({
        snapshots: [],
        refs: {},
      });
    }),
    { numRuns: 50 },
  );
});

test('an identical schema, spec or order is used again; -1 is the one just named', () => {
  const wider = {
    ...SCHEMA,
    fields: [
      { id: 1, name: 'id', required: true, type: 'long' },
      { id: 5, name: 'new', required: false, type: 'int' },
    ],
  };
  const evolved = commit(create(), [
    { action: 'add-schema', schema: { ...wider, 'schema-id': 42 } },
    { action: 'set-current-schema', 'schema-id': -1 },
    {
      action: 'add-spec',
      spec: { 'spec-id': 9, fields: [{ name: 'b', transform: 'bucket[8]', 'source-id': 1, 'field-id': 1000 }] },
    },
    { action: 'set-default-spec', 'spec-id': -1 },
    {
      action: 'add-sort-order',
      'sort-order': {
        'order-id': 7,
        fields: [{ transform: 'identity', 'source-id': 1, direction: 'desc', 'null-order': 'nulls-last' }],
      },
    },
    { action: 'set-default-sort-order', 'sort-order-id': -1 },
  ]);
  expect(evolved).toMatchObject({
    'current-schema-id': 1,
    'last-column-id': 5,
    'default-spec-id': 1,
    'last-partition-id': 1000,
    'default-sort-order-id': 1,
  });
  const original = evolved.schemas[0];
  const back = commit(evolved, [
    { action: 'set-default-spec', 'spec-id': 0 },
    { action: 'add-schema', schema: { ...original, 'schema-id': 77 } },
    { action: 'set-current-schema', 'schema-id': -1 },
    { action: 'add-spec', spec: { fields: [{ name: 'b', transform: 'bucket[8]', 'source-id': 1 }] } },
  ]);
  expect(back).toMatchObject({ 'current-schema-id': 0, 'last-column-id': 5 });
  expect(back.schemas).toHaveLength(2);
  expect(back['partition-specs']).toHaveLength(2);
});

test('a partition field keeps its id when its transform comes back in another spec', () => {
  const table = commit(create(), [
    { action: 'add-spec', spec: { fields: [{ name: 'b', transform: 'bucket[8]', 'source-id': 1 }] } },
    {
      action: 'add-spec',
      spec: {
        fields: [
          { name: 'd', transform: 'day', 'source-id': 2 },
          { name: 'bb', transform: 'bucket[8]', 'source-id': 1 },
        ],
      },
    },
  ]);
  expect(table['partition-specs'][2]?.fields.map((field) => field['field-id'])).toEqual([1001, 1000]);
});

test('the current schema cannot lose the source of the default spec', () => {
  const partitioned = create({ 'partition-spec': { fields: [{ name: 'd', transform: 'day', 'source-id': 9 }] } });
  const narrower = { type: 'struct', fields: [{ id: 1, name: 'id', required: true, type: 'long' }] };
  expect(() =>
    commit(partitioned, [
      { action: 'add-schema', schema: narrower },
      { action: 'set-current-schema', 'schema-id': -1 },
    ]),
  ).toThrow('Cannot find source column for partition field');
});

test('snapshots that were current only inside of one commit leave no history', () => {
  const table = commit(create(), [
    snapshot(1),
    setMain(1),
    snapshot(2, { 'sequence-number': 2, 'parent-snapshot-id': 1 }),
    setMain(2),
  ]);
  expect(table['snapshot-log'].map((entry) => entry['snapshot-id'])).toEqual([2]);
});

test('removing a snapshot removes its references and statistics, and cuts the history before it', () => {
  let table = commit(create(), [snapshot(1), setMain(1)]);
  table = commit(table, [snapshot(2, { 'sequence-number': 2, 'parent-snapshot-id': 1 }), setMain(2)]);
  table = commit(table, [snapshot(3, { 'sequence-number': 3, 'parent-snapshot-id': 2 }), setMain(3)]);
  table = commit(table, [
    { action: 'set-snapshot-ref', 'ref-name': 'old', type: 'tag', 'snapshot-id': 2 },
    {
      action: 'set-statistics',
      statistics: { 'snapshot-id': 2, 'statistics-path': `${LOCATION}/s.puffin`, 'file-size-in-bytes': 9 },
    },
  ]);
  expect(table.statistics).toHaveLength(1);
  const expired = commit(table, [{ action: 'remove-snapshots', 'snapshot-ids': [2] }]);
  expect(expired.snapshots.map((s) => s['snapshot-id'])).toEqual([1, 3]);
  expect(Object.keys(expired.refs)).toEqual(['main']);
  expect(expired.statistics).toEqual([]);
  expect(expired['snapshot-log'].map((entry) => entry['snapshot-id'])).toEqual([3]);
  expect(commit(expired, [{ action: 'remove-snapshots', 'snapshot-ids': [3] }])).toMatchObject({
    refs: {},
    'current-snapshot-id': -1,
  });
});

test('a roll back is logged with the time of the commit', () => {
  let table = commit(create(), [snapshot(1), setMain(1)]);
  table = commit(table, [snapshot(2, { 'sequence-number': 2, 'parent-snapshot-id': 1 }), setMain(2)]);
  const back = commit(table, [setMain(1)]);
  expect(back['snapshot-log'].at(-1)).toEqual({ 'snapshot-id': 1, 'timestamp-ms': back['last-updated-ms'] });
});

test('the metadata log is cut by write.metadata.previous-versions-max', () => {
  let table = create({ properties: { 'write.metadata.previous-versions-max': '2' } });
  for (let i = 0; i < 5; i += 1) table = commit(table, [{ action: 'set-properties', updates: { i: String(i) } }]);
  expect(table['metadata-log']).toHaveLength(2);
});

test('properties, location, keys and files come and go; a commit that changes nothing gives the base itself', () => {
  const table = commit(create(), [
    { action: 'set-properties', updates: { a: '1', b: '2' } },
    { action: 'remove-properties', removals: ['a', 'none'] },
    { action: 'set-location', location: 'file:///wh/elsewhere' },
    { action: 'add-encryption-key', 'encryption-key': { 'key-id': 'k', 'encrypted-key-metadata': 'eA==' } },
    { action: 'add-encryption-key', 'encryption-key': { 'key-id': 'l', 'encrypted-key-metadata': 'eA==' } },
    { action: 'remove-encryption-key', 'key-id': 'l' },
    {
      action: 'set-partition-statistics',
      'partition-statistics': { 'snapshot-id': 1, 'statistics-path': `${LOCATION}/p`, 'file-size-in-bytes': 1 },
    },
    {
      action: 'set-partition-statistics',
      'partition-statistics': { 'snapshot-id': 1, 'statistics-path': `${LOCATION}/q`, 'file-size-in-bytes': 1 },
    },
  ]);
  expect(table).toMatchObject({ location: 'file:///wh/elsewhere', 'encryption-keys': [{ 'key-id': 'k' }] });
  expect(table.properties).toMatchObject({ b: '2' });
  expect(table.properties).not.toHaveProperty('a');
  expect(table['partition-statistics'].map((file) => file['statistics-path'])).toEqual([`${LOCATION}/q`]);
  expect(commit(table, [{ action: 'remove-partition-statistics', 'snapshot-id': 1 }])['partition-statistics']).toEqual(
    [],
  );
  expect(commit(table, [{ action: 'set-location', location: table.location }])).toBe(table);
  expect(commit(table, [])).toBe(table);
  expect(commit(table, [{ action: 'set-properties', updates: { b: '2' } }])).toBe(table);
  expect(commit(table, [{ action: 'remove-properties', removals: ['none'] }])).toBe(table);
  expect(commit(table, [{ action: 'set-properties', updates: { b: '2', toString: '1' } }])).not.toBe(table);
});

test('old schemas and specs can be removed, current ones not', () => {
  const table = commit(create(), [
    { action: 'add-spec', spec: { fields: [{ name: 'b', transform: 'bucket[8]', 'source-id': 1 }] } },
    { action: 'add-schema', schema: { type: 'struct', fields: [{ id: 1, name: 'id', required: true, type: 'long' }] } },
  ]);
  const removed = commit(table, [
    { action: 'remove-schemas', 'schema-ids': [1] },
    { action: 'remove-partition-specs', 'spec-ids': [1] },
  ]);
  expect(removed.schemas).toHaveLength(1);
  expect(removed['partition-specs']).toHaveLength(1);
  expect(() => commit(table, [{ action: 'remove-schemas', 'schema-ids': [0] }])).toThrow(
    'Cannot remove the current schema',
  );
  expect(() => commit(table, [{ action: 'remove-partition-specs', 'spec-ids': [0] }])).toThrow(
    'Cannot remove the default',
  );
});

test('version 3 counts row ids, and a snapshot made for an older state is a conflict', () => {
  const table = commit(version(3), [snapshot(1, { 'first-row-id': 0, 'added-rows': 10 }), setMain(1)]);
  expect(table['next-row-id']).toBe(10);
  expect(() => commit(table, [snapshot(2, { 'sequence-number': 2, 'parent-snapshot-id': 1 })])).toThrow(
    'first-row-id is null',
  );
  expect(() =>
    commit(table, [snapshot(2, { 'sequence-number': 2, 'parent-snapshot-id': 1, 'first-row-id': 5, 'added-rows': 1 })]),
  ).toThrow(expect.objectContaining({ code: 'COMMIT_CONFLICT' }) as Error);
});

test('a stale sequence number is a conflict, not a bad request', () => {
  const table = commit(create(), [snapshot(1), setMain(1)]);
  expect(() => commit(table, [snapshot(2, { 'parent-snapshot-id': 1 })])).toThrow(
    expect.objectContaining({
      code: 'COMMIT_CONFLICT',
      message:
        'Validation failed, please retry: Cannot add snapshot with sequence number 1 older than last sequence number 1',
    }) as Error,
  );
});

test('upgrades go up only', () => {
  const upgrade = (base: TableDocument, to: number): TableDocument =>
    commit(base, [{ action: 'upgrade-format-version', 'format-version': to }]);
  expect(upgrade(upgrade(version(1), 2), 3)).toMatchObject({
    'format-version': 3,
    'next-row-id': 0,
    'last-sequence-number': 0,
  });
  expect(() => upgrade(version(3), 2)).toThrow('Cannot downgrade v3 table to v2');
  expect(() => upgrade(version(2), 4)).toThrow('unsupported format version: v4');
});

test.each([
  [
    'an unknown update',
    [{ action: 'drop-everything' }],
    'Cannot convert metadata update action to update: drop-everything',
  ],
  ['a name of Object', [{ action: 'constructor' }], 'Cannot convert metadata update action'],
  ['an update without action', [{}], 'missing string: action'],
  ['another uuid', [{ action: 'assign-uuid', uuid: 'bb0d2c5c-0001-4a54-a0e6-6c7a2e1f0a01' }], 'Cannot reassign'],
  ['an unknown schema', [{ action: 'set-current-schema', 'schema-id': 5 }], 'unknown schema: 5'],
  ['no last schema', [{ action: 'set-current-schema', 'schema-id': -1 }], 'no schema has been added'],
  ['an unknown snapshot', [setMain(9)], 'Cannot set main to unknown snapshot: 9'],
  ['main as a tag', [snapshot(1), { ...setMain(1), type: 'tag' }], 'it must be a branch'],
  ['a snapshot twice', [snapshot(1), snapshot(1)], 'Snapshot already exists for id: 1'],
  ['an id beyond 64 bits', [setMain(2n ** 70n)], 'Cannot parse to a long value: snapshot-id'],
  [
    'a snapshot of the future',
    [snapshot(1, { 'timestamp-ms': NOW + 86_400_000 }), setMain(1)],
    'Invalid update timestamp',
  ],
])('refuses a commit with %s', (_what, updates, message) => {
  expect(() => commit(create(), updates)).toThrow(
    expect.objectContaining({ code: 'INVALID_REQUEST', message: expect.stringContaining(message) as string }) as Error,
  );
});

test.each([
  [{ type: 'assert-table-uuid', uuid: CREATION.uuid.toUpperCase() }],
  [{ type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': 1 }],
  [{ type: 'assert-ref-snapshot-id', ref: 'other', 'snapshot-id': null }],
  [{ type: 'assert-last-assigned-field-id', 'last-assigned-field-id': 4 }],
  [{ type: 'assert-current-schema-id', 'current-schema-id': 0 }],
  [{ type: 'assert-last-assigned-partition-id', 'last-assigned-partition-id': 999 }],
  [{ type: 'assert-default-spec-id', 'default-spec-id': 0 }],
  [{ type: 'assert-default-sort-order-id', 'default-sort-order-id': 0 }],
])('holds: %j', (requirement) => {
  const table = commit(create(), [snapshot(1), setMain(1)]);
  expect(commit(table, [], [requirement])).toBe(table);
});

test.each([
  [{ type: 'assert-table-uuid', uuid: 'x' }, `UUID does not match: expected ${CREATION.uuid} != x`],
  [{ type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': 7 }, 'branch main has changed: expected id 7 != 1'],
  [{ type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': null }, 'branch main was created concurrently'],
  [{ type: 'assert-ref-snapshot-id', ref: 'b', 'snapshot-id': 7 }, 'branch or tag b is missing, expected 7'],
  [
    { type: 'assert-last-assigned-field-id', 'last-assigned-field-id': 3 },
    'last assigned field id changed: expected id 3 != 4',
  ],
  [{ type: 'assert-current-schema-id', 'current-schema-id': 1 }, 'current schema changed: expected id 1 != 0'],
  [
    { type: 'assert-last-assigned-partition-id', 'last-assigned-partition-id': 1 },
    'last assigned partition id changed: expected id 1 != 999',
  ],
  [{ type: 'assert-default-spec-id', 'default-spec-id': 1 }, 'default partition spec changed: expected id 1 != 0'],
  [
    { type: 'assert-default-sort-order-id', 'default-sort-order-id': 1 },
    'default sort order changed: expected id 1 != 0',
  ],
])('does not hold: %j', (requirement, message) => {
  const table = commit(create(), [snapshot(1), setMain(1)]);
  expect(() => commit(table, [], [requirement])).toThrow(
    expect.objectContaining({ code: 'COMMIT_CONFLICT', message: `Requirement failed: ${message}` }) as Error,
  );
});

test('refuses requirements that are unknown, or exclude each other', () => {
  expect(() => commit(create(), [], [{ type: 'assert-weather' }])).toThrow('Unsupported requirement: assert-weather');
  expect(() =>
    commit(create(), [], [{ type: 'assert-create' }, { type: 'assert-default-spec-id', 'default-spec-id': 0 }]),
  ).toThrow('Invalid create requirements');
});

test('a transaction that creates gives the table that its updates say, stamped', () => {
  const updates = parseUpdates([
    { action: 'assign-uuid', uuid: 'bb0d2c5c-0001-4a54-a0e6-6c7a2e1f0a01' },
    { action: 'upgrade-format-version', 'format-version': 2 },
    { action: 'add-schema', schema: SCHEMA as Json },
    { action: 'set-current-schema', 'schema-id': -1 },
    { action: 'set-location', location: 'file:///wh/x/y' },
    snapshot(4) as Json,
  ]);
  // The snapshot comes before a spec and an order exist.
  expect(() => metadataOfUpdates(updates, CREATION)).toThrow('before a partition spec is added');
  const table = metadataOfUpdates(updates.slice(0, -1), CREATION);
  expect(table).toMatchObject({
    'table-uuid': 'bb0d2c5c-0001-4a54-a0e6-6c7a2e1f0a01',
    location: 'file:///wh/x/y',
    'last-column-id': 12,
    'partition-specs': [{ 'spec-id': 0, fields: [] }],
    properties: { owner: 'ada' },
  });
});
