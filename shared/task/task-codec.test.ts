import { expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { principalId, queryId, taskId, tenantId } from '#shared/id.ts';
import { decodeTask, decodeTaskHead, encodeTaskSpec } from './task-codec.ts';
import type { ScanColumn } from '#shared/iceberg/scan-file.ts';
import type { TaskSpec } from './task.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';

const column: ScanColumn = { fieldId: 1, name: 'id', type: 'long', required: true, initialDefault: 9007199254740993n };

const spec: TaskSpec = {
  queryId: queryId('q'),
  taskId: taskId('t'),
  epoch: 3,
  tenant: tenantId('default'),
  principal: principalId('p'),
  sql: ['SELECT * FROM ', { scan: 0 }],
  scans: [
    {
      tableName: 'lake.ns.t',
      tableUuid: 'u',
      snapshotId: '9223372036854775807',
      schemaId: 0,
      columns: [column, { ...column, initialDefault: [{ a: 1, b: [-9223372036854775808n] }] }],
      files: [
        {
          path: 'file:///w/a.parquet',
          recordCount: 10,
          sizeBytes: 100,
          rows: { start: 0, end: 5 },
          constants: { 1: 9223372036854775807n, 2: 'x', 3: null, 4: 7 },
          deletes: [
            { kind: 'equality', path: 'file:///w/d.parquet', sizeBytes: 1, columns: [column] },
            { kind: 'vector', path: 'file:///w/d.puffin', offset: 4, lengthBytes: 40, cardinality: 2 },
          ],
          firstRowId: '12',
        },
      ],
      nameMapping: [{ 'field-id': 1, names: ['id', '$int'] }],
      predicate: {
        kind: 'and',
        children: [
          { kind: 'compare', op: 'eq', fieldId: 1, value: 34n },
          { kind: 'in', fieldId: 2, values: [Uint8Array.of(0, 255), 'x', true, 1.5, -0, Number.NaN, -Infinity] },
          { kind: 'or', children: [{ kind: 'isNull', fieldId: 3 }, { kind: 'false' }] },
          { kind: 'startsWith', fieldId: 4, prefix: 'ä' },
        ],
      },
      allowedRoots: ['file:///w'],
      credential: FILE_CREDENTIAL,
    },
  ],
  inputs: [],
  keepJoinOrder: false,
  output: { kind: 'stream' },
  context: { nowMicros: '1', timeZone: 'UTC', currentUser: 'admin', currentCatalog: 'lake', currentSchema: 'default' },
  memoryLimitBytes: 1,
  spillLimitBytes: 2,
  threads: 1,
  scheduledMs: 0,
  pinnedToTop: false,
  killRank: null,
  profile: 'none',
  bounds: [],
  collected: false,
};

test('a task comes back as it was: bigints, bytes, NaN and -0', async () => {
  expect(await decodeTask(decodeTaskHead(await encodeTaskSpec(spec)))).toStrictEqual(spec);
});

test('its head has neither text nor files, and others have turns while there are many of them', async () => {
  const [scan] = spec.scans;
  const [file] = scan?.files ?? [];
  const files = Array.from({ length: 5_000 }, (_, i) => ({ ...must(file, 'a file'), path: `file:///w/${i}.parquet` }));
  const large = { ...spec, scans: [{ ...must(scan, 'a scan'), files }, ...spec.scans] };
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  const bytes = await encodeTaskSpec(large);
  const { body, ...head } = decodeTaskHead(bytes);
  expect(JSON.stringify(head).length).toBeLessThan(1_000);
  expect(await decodeTask({ ...head, body })).toStrictEqual(large);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(2);
});

test('messages of inputs travel as bytes beside the JSON, and come back to their sources', async () => {
  const source = { address: 'a', taskId: spec.taskId, partition: 0, ticket: 't', batches: null, rows: 1, bytes: 3 };
  const carried = (...bytes: readonly number[]): Uint8Array => Uint8Array.from(bytes);
  const inputs = [
    { columns: [], reads: 1, sources: [{ ...source, messages: [carried(1, 255), carried()] }, source] },
    { columns: [], reads: 1, sources: [{ ...source, messages: [carried(3)] }] },
  ];
  const sent = await encodeTaskSpec({ ...spec, inputs });
  expect(sent.messages.map((one) => [...one])).toEqual([[1, 255], [], [3]]);
  expect(decodeTaskHead(sent).inputs).toStrictEqual(inputs);
  expect(() => decodeTaskHead({ ...sent, messages: sent.messages.slice(1) })).toThrow('its messages have come');
});
