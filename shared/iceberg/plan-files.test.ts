import { expect, test, describe } from 'vitest';
import type { ScanDelete, ScanFile } from './scan-file.ts';
import type { JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { FileNotFound, type FileReader } from '#shared/storage/storage.ts';
import { writeAvroFile } from './avro/write-container.ts';
import { LruManifestCache, type ManifestCache } from './manifest-cache.ts';
import { manifestListSchema, manifestSchema } from './manifest-schema.ts';
import { limitsApart } from './decode-limits.ts';
import { countFiles, planFiles } from './plan-files.ts';
import type { PlanFilesOptions, ScanNumbers } from './planning.ts';
import type { Predicate } from './predicate.ts';
import { encodeBound } from './single-value.ts';
import { readTableMetadata } from './table-metadata.ts';
import type { PlannedFiles } from './table-reader.ts';
import type { IcebergType } from './type.ts';

/** A table in memory; fields that a manifest or a list omits get usual values. */
type FileRow = {
  readonly path: string;
  readonly content?: 0 | 1 | 2;
  readonly status?: 0 | 1 | 2;
  readonly seq?: bigint;
  readonly partition?: { readonly p: string | null };
  readonly rows?: number;
  readonly format?: string;
  readonly bounds?: readonly (readonly [number, Uint8Array, Uint8Array])[];
  readonly extra?: JsonObject;
};
type ManifestRow = {
  readonly specId?: number;
  readonly seq?: bigint;
  readonly deletes?: boolean;
  readonly files: readonly FileRow[];
  readonly firstRowId?: bigint;
};

const LOCATION = 'file:///w/t';
const STRING: IcebergType = { kind: 'string' };
const partitionColumn = { fieldId: 1000, name: 'p', type: STRING };

const DOCUMENT: JsonObject = {
  'format-version': 2,
  'table-uuid': 'u',
  location: LOCATION,
  schemas: [
    {
      'schema-id': 0,
      type: 'struct',
      fields: [
        { id: 1, name: 'id', required: false, type: 'long' },
        { id: 2, name: 'p', required: false, type: 'string' },
      ],
    },
  ],
  'current-schema-id': 0,
  'partition-specs': [
    { 'spec-id': 0, fields: [] },
    { 'spec-id': 1, fields: [{ 'source-id': 2, 'field-id': 1000, name: 'p', transform: 'identity' }] },
  ],
  'default-spec-id': 1,
  'current-snapshot-id': 1,
  snapshots: [{ 'snapshot-id': 1, 'sequence-number': 9, 'timestamp-ms': 0, 'manifest-list': `${LOCATION}/l.avro` }],
};
const metadata = readTableMetadata(DOCUMENT);

const entrySchema = (specId: number): JsonObject => manifestSchema(specId === 0 ? [] : [partitionColumn], 3);

const NOTHING = {
  column_sizes: null,
  value_counts: null,
  null_value_counts: null,
  nan_value_counts: null,
  key_metadata: null,
  split_offsets: null,
  equality_ids: null,
  sort_order_id: null,
  first_row_id: null,
  referenced_data_file: null,
  content_offset: null,
  content_size_in_bytes: null,
};

const entryRow = (file: FileRow): object => ({
  status: file.status ?? 1,
  snapshot_id: null,
  sequence_number: file.seq ?? null,
  file_sequence_number: null,
  data_file: {
    ...NOTHING,
    content: file.content ?? 0,
    file_path: file.path,
    file_format: file.format ?? 'PARQUET',
    partition: file.partition ?? {},
    record_count: file.rows ?? 10,
    file_size_in_bytes: 100,
    lower_bounds: file.bounds?.map(([key, value]) => ({ key, value: Buffer.from(value) })) ?? null,
    upper_bounds: file.bounds?.map(([key, , value]) => ({ key, value: Buffer.from(value) })) ?? null,
    ...file.extra,
  },
});

function tableIo(manifests: readonly ManifestRow[], read: string[] = []): FileReader {
  const files = new Map<string, Uint8Array>();
  const listSchema = manifestListSchema(3);
  const rows = manifests.map((manifest, index) => {
    const path = `${LOCATION}/m${index}.avro`;
    const specId = manifest.specId ?? 0;
    files.set(path, writeAvroFile(entrySchema(specId), {}, manifest.files.map(entryRow)));
    const values = manifest.files.map((file) => file.partition?.p ?? null);
    const sorted = values.filter((value) => value !== null).sort();
    return {
      manifest_path: path,
      manifest_length: 1,
      partition_spec_id: specId,
      content: manifest.deletes === true ? 1 : 0,
      sequence_number: manifest.seq ?? 1n,
      min_sequence_number: 1,
      added_snapshot_id: 1,
      added_files_count: manifest.files.length,
      existing_files_count: 0,
      deleted_files_count: 0,
      added_rows_count: manifest.files.reduce((sum, { rows = 10 }) => sum + rows, 0),
      existing_rows_count: 0,
      deleted_rows_count: 0,
      partitions:
        specId === 0
          ? null
          : [
              {
                contains_null: values.includes(null),
                contains_nan: null,
                lower_bound: sorted[0] === undefined ? null : Buffer.from(sorted[0]),
                upper_bound: sorted[0] === undefined ? null : Buffer.from(sorted.at(-1) ?? ''),
              },
            ],
      key_metadata: null,
      first_row_id: manifest.firstRowId ?? null,
    };
  });
  files.set(`${LOCATION}/l.avro`, writeAvroFile(listSchema, {}, rows));
  const get = (uri: string): Uint8Array => {
    read.push(uri);
    const bytes = files.get(uri);
    if (bytes === undefined) throw new FileNotFound(uri);
    return bytes;
  };
  return {
    read: async (uri) => get(uri),
  };
}

const optionsOf = (manifestCache: ManifestCache, allowedRoots: readonly string[] = [LOCATION]): PlanFilesOptions => ({
  manifestCache,
  allowedRoots,
  limits: limitsApart(2 ** 26),
  largeManifests: 'read',
});

async function plan(
  io: FileReader,
  predicate: Predicate = { kind: 'true' },
  options = optionsOf(new LruManifestCache(1e6)),
  table = metadata,
): Promise<PlannedFiles> {
  const files: ScanFile[] = [];
  const snapshotId = must(table.currentSnapshotId, 'the table has a snapshot');
  const report = await planFiles(io, table, snapshotId, predicate, options, (one) => files.push(one));
  return { files, report };
}

const file = (name: string, rest: Partial<FileRow> = {}): FileRow => ({ path: `${LOCATION}/${name}`, ...rest });

/** Returns the names of the deletes of each data file. */
const deletesByFile = ({ files }: PlannedFiles): Record<string, readonly string[]> =>
  Object.fromEntries(files.map((one) => [nameOf(one.path), one.deletes.map((d: ScanDelete) => nameOf(d.path))]));
const nameOf = (path: string): string => path.slice(LOCATION.length + 1);

describe('deletes', () => {
  test('position deletes apply up to their sequence number, equality deletes below it', async () => {
    const io = tableIo([
      { files: [file('a', { seq: 1n }), file('b', { seq: 5n }), file('c', { seq: 6n })] },
      { seq: 5n, deletes: true, files: [file('pos', { content: 1 })] },
      { seq: 5n, deletes: true, files: [file('eq', { content: 2, extra: { equality_ids: [1] } })] },
    ]);
    const planned = await plan(io);
    expect(deletesByFile(planned)).toStrictEqual({ a: ['pos', 'eq'], b: ['pos'], c: [] });
    expect(planned.files[0]?.deletes[1]).toStrictEqual({
      kind: 'equality',
      path: `${LOCATION}/eq`,
      sizeBytes: 100,
      columns: [{ fieldId: 1, name: 'id', type: 'long', required: false, initialDefault: null }],
    });
    expect(planned.report).toMatchObject({ files: 3, deleteFiles: 2, manifests: 3 });
  });

  test('they apply within their partition; equality deletes without a partition everywhere', async () => {
    const x = { p: 'x' };
    const io = tableIo([
      { specId: 1, files: [file('a', { partition: x }), file('b', { partition: { p: null } })] },
      { files: [file('c')] },
      { seq: 2n, specId: 1, deletes: true, files: [file('pos', { content: 1, partition: x })] },
      {
        seq: 2n,
        specId: 1,
        deletes: true,
        files: [file('eq', { content: 2, partition: { p: null }, extra: { equality_ids: [1] } })],
      },
      { seq: 2n, deletes: true, files: [file('all', { content: 2, extra: { equality_ids: [1] } })] },
      { seq: 2n, deletes: true, files: [file('unpartitioned', { content: 1 })] },
    ]);
    expect(deletesByFile(await plan(io))).toStrictEqual({
      a: ['pos', 'all'],
      b: ['all', 'eq'],
      c: ['unpartitioned', 'all'],
    });
  });

  test('position deletes that name one file, by reference or by bounds, apply to that one', async () => {
    const path = (name: string): Uint8Array => Buffer.from(`${LOCATION}/${name}`);
    const bounds = (from: string, to: string): NonNullable<FileRow['bounds']> => [
      [2_147_483_546, path(from), path(to)],
    ];
    const io = tableIo([
      { files: [file('a'), file('b'), file('c')] },
      {
        deletes: true,
        files: [
          file('by-reference', { content: 1, extra: { referenced_data_file: `${LOCATION}/a` } }),
          file('by-bounds', { content: 1, bounds: bounds('b', 'b') }),
          file('by-range', { content: 1, bounds: bounds('b', 'c') }),
        ],
      },
    ]);
    expect(deletesByFile(await plan(io))).toStrictEqual({
      a: ['by-reference'],
      b: ['by-bounds', 'by-range'],
      c: ['by-range'],
    });
  });

  test('position deletes and vectors name their files with whatever scheme their writer uses', async () => {
    const at = (scheme: string, name: string): string => `${scheme}://bucket/t/${name}`;
    const range = (from: string, to: string): NonNullable<FileRow['bounds']> => [
      [2_147_483_546, Buffer.from(from), Buffer.from(to)],
    ];
    const deletes: readonly FileRow[] = [
      { path: at('s3', 'by-reference'), content: 1, extra: { referenced_data_file: at('s3a', 'a') } },
      { path: at('s3', 'by-bounds'), content: 1, bounds: range(at('s3n', 'b'), at('s3n', 'b')) },
      { path: at('s3', 'by-range'), content: 1, bounds: range(at('s3a', 'b'), at('s3a', 'c')) },
      { path: at('s3', 'of-both'), content: 1, bounds: range(at('s3', 'z'), at('s3a', 'a')) },
      { path: at('s3', 'cut'), content: 1, bounds: range('s3', 't') },
      {
        path: at('s3', 'dv'),
        content: 1,
        format: 'PUFFIN',
        extra: { referenced_data_file: at('s3a', 'd'), content_offset: 4, content_size_in_bytes: 40 },
      },
    ];
    const io = tableIo([
      { files: [{ path: at('s3a', 'a') }, { path: at('s3', 'b') }, { path: at('s3n', 'c') }, { path: at('s3', 'd') }] },
      { deletes: true, files: deletes },
    ]);
    const { files } = await plan(io, undefined, optionsOf(new LruManifestCache(1e6), [LOCATION, 's3://bucket/t']));
    const found = files.map((one) => one.deletes.map(({ path }) => path.slice('s3://bucket/t/'.length)));
    expect(found).toStrictEqual([
      ['by-reference', 'of-both', 'cut'],
      ['by-bounds', 'by-range', 'of-both', 'cut'],
      ['by-range', 'of-both', 'cut'],
      ['dv'],
    ]);
  });

  test('a deletion vector stands for all position deletes of its file', async () => {
    const vector = {
      content: 1,
      format: 'PUFFIN',
      rows: 3,
      extra: { referenced_data_file: `${LOCATION}/a`, content_offset: 4, content_size_in_bytes: 40 },
    } as const;
    const io = tableIo([
      { files: [file('a'), file('b')] },
      { seq: 2n, deletes: true, files: [file('pos', { content: 1 }), file('dv', vector)] },
    ]);
    const planned = await plan(io);
    expect(deletesByFile(planned)).toStrictEqual({ a: ['dv'], b: ['pos'] });
    expect(planned.files[0]?.deletes).toStrictEqual([
      { kind: 'vector', path: `${LOCATION}/dv`, offset: 4, lengthBytes: 40, cardinality: 3 },
    ]);
    const twice = tableIo([{ files: [file('a')] }, { deletes: true, files: [file('1', vector), file('2', vector)] }]);
    await expect(plan(twice)).rejects.toMatchObject({ code: 'INVALID_TABLE_DATA' });
  });
});

describe('pruning', () => {
  const long = (value: bigint): Uint8Array => encodeBound({ kind: 'long' }, value) ?? Buffer.alloc(0);
  const id = (value: bigint): Predicate => ({ kind: 'compare', op: 'eq', fieldId: 1, value });

  test('manifests by partition summaries, files by partition values and column bounds', async () => {
    const read: string[] = [];
    const io = tableIo(
      [
        { specId: 1, files: [file('a', { partition: { p: 'a' } }), file('b', { partition: { p: 'b' } })] },
        { specId: 1, files: [file('c', { partition: { p: 'c' } }), file('n', { partition: { p: null } })] },
        { files: [file('low', { bounds: [[1, long(1n), long(5n)]] }), file('unknown')] },
      ],
      read,
    );
    const eq = await plan(io, { kind: 'compare', op: 'eq', fieldId: 2, value: 'b' });
    expect(eq.files.map(({ path }) => nameOf(path))).toStrictEqual(['b', 'low', 'unknown']);
    expect(eq.files[0]?.constants).toStrictEqual({ 2: 'b' });
    expect(eq.report).toMatchObject({
      manifests: 3,
      manifestsPruned: 1,
      files: 6,
      filesPruned: 3,
      filesPrunedByPartition: 3,
      rows: 30,
      bytes: 300,
    });
    expect(read).not.toContain(`${LOCATION}/m1.avro`);
    const nulls = await plan(io, { kind: 'isNull', fieldId: 2 });
    expect(nulls.files.map(({ path }) => nameOf(path))).toStrictEqual(['n', 'low', 'unknown']);
    const above = await plan(io, id(6n));
    expect(above.files.map(({ path }) => nameOf(path))).toStrictEqual(['a', 'b', 'c', 'n', 'unknown']);
    expect(above.report).toMatchObject({ filesPruned: 1, filesPrunedByPartition: 0 });
  });

  test('deleted entries are gone, existing ones stay; a cached manifest is read once', async () => {
    const read: string[] = [];
    const io = tableIo([{ files: [file('gone', { status: 2 }), file('old', { status: 0, seq: 1n })] }], read);
    const cache = new LruManifestCache(1e6);
    for (let i = 0; i < 3; i++) {
      const planned = await plan(io, { kind: 'true' }, optionsOf(cache));
      expect(planned.files.map(({ path }) => nameOf(path))).toStrictEqual(['old']);
    }
    expect(read).toHaveLength(2);
  });

  test('row ids are inherited (format version 3)', async () => {
    const io = tableIo([
      {
        firstRowId: 100n,
        files: [
          file('a', { rows: 7 }),
          file('gone', { status: 2, rows: 1000 }),
          file('own', { rows: 5, extra: { first_row_id: 3n } }),
          file('b'),
        ],
      },
    ]);
    expect((await plan(io)).files.map(({ firstRowId }) => firstRowId)).toStrictEqual(['100', '3', '107']);
  });
});

test('a scan is counted from the list and the manifests in memory; no other is read', async () => {
  const read: string[] = [];
  const bounds = (from: bigint, to: bigint): NonNullable<FileRow['bounds']> => [[1, longBound(from), longBound(to)]];
  const longBound = (value: bigint): Uint8Array => must(encodeBound({ kind: 'long' }, value), 'a bound');
  const io = tableIo(
    [
      { files: [file('a', { bounds: bounds(1n, 5n) }), file('b', { rows: 30, bounds: bounds(6n, 9n) })] },
      { specId: 1, files: [file('c', { partition: { p: 'x' }, bounds: bounds(1n, 9n) })] },
    ],
    read,
  );
  const options = optionsOf(new LruManifestCache(1e6));
  const [snapshot] = metadata.snapshots.values();
  const summary = { 'total-files-size': '500', 'total-records': '50' };
  const table = { ...metadata, snapshots: new Map([[1n, { ...must(snapshot, 'a snapshot'), summary }]]) };
  const above: Predicate = { kind: 'compare', op: 'gt', fieldId: 1, value: 5n };
  const ofY: Predicate = { kind: 'compare', op: 'eq', fieldId: 2, value: 'y' };
  const count = (predicate: Predicate): Promise<ScanNumbers> => countFiles(io, table, 1n, predicate, options);
  expect(await count(above)).toEqual({ files: 3, rows: 50, bytes: 500 });
  expect(await count(ofY)).toEqual({ files: 2, rows: 40, bytes: 400 });
  expect(read).toEqual([`${LOCATION}/l.avro`]);
  await plan(io, { kind: 'true' }, options, table);
  read.length = 0;
  expect(await count(above)).toEqual({ files: 2, rows: 40, bytes: 200 });
  expect(read).toEqual([]);
});

describe('a cache that tables share gives each what its own reference says', () => {
  const UUID = 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6';
  const MANIFESTS: readonly ManifestRow[] = [
    { specId: 1, files: [file('a', { partition: { p: UUID } })] },
    { specId: 1, seq: 5n, deletes: true, files: [file('d', { content: 1, partition: { p: UUID } })] },
  ];
  type Other = {
    readonly changes?: JsonObject;
    readonly first?: Partial<ManifestRow>;
    readonly roots?: readonly string[];
  };
  /** Plans a table at the same paths twice: with the cache that the first table has filled, and with an empty one. */
  async function twice({ changes = {}, first = {}, roots = [LOCATION] }: Other): Promise<PlannedFiles[]> {
    const cache = new LruManifestCache(1e6);
    await plan(tableIo(MANIFESTS), { kind: 'true' }, optionsOf(cache));
    const io = tableIo(MANIFESTS.map((manifest, i) => (i === 0 ? { ...manifest, ...first } : manifest)));
    const other = readTableMetadata({ ...DOCUMENT, ...changes });
    const read = (manifestCache: LruManifestCache): Promise<PlannedFiles> =>
      plan(io, { kind: 'true' }, optionsOf(manifestCache, roots), other);
    return [await read(cache), await read(new LruManifestCache(1e6))];
  }
  const another = { 'table-uuid': 'v' };
  const snapshots = [{ ...(DOCUMENT['snapshots'] as readonly JsonObject[])[0], 'snapshot-id': 2 }];
  const specs = [{ 'spec-id': 1, fields: [{ 'source-id': 2, 'field-id': 1001, name: 'q', transform: 'identity' }] }];
  const schemas = [
    {
      'schema-id': 0,
      type: 'struct',
      fields: [
        { id: 1, name: 'id', required: false, type: 'long' },
        { id: 2, name: 'p', required: false, type: 'uuid' },
      ],
    },
  ];

  test.each<[string, Other]>([
    ['another table, its sequence number', { changes: another, first: { seq: 9n } }],
    ['another table, its row ids', { changes: another, first: { firstRowId: 500n } }],
    ['another snapshot', { changes: { 'current-snapshot-id': 2, snapshots }, first: { firstRowId: 500n } }],
    ['a table of the same id, its partition fields', { changes: { 'partition-specs': specs } }],
    ['a table of the same id, its types', { changes: { schemas } }],
  ])('%s', async (_what, other) => {
    const [warm, cold] = await twice(other);
    expect(warm).toStrictEqual(cold);
  });

  test('a tenant, and roots that are not the other one’s', async () => {
    const cache = new LruManifestCache(1e6);
    const read = (tenant: string, io: FileReader, root = LOCATION): Promise<PlannedFiles> =>
      plan(io, { kind: 'true' }, optionsOf(cache.of(tenant), [root]));
    const gone = { ...tableIo(MANIFESTS), read: (uri: string) => Promise.reject(new FileNotFound(uri)) };
    expect((await read('one', tableIo(MANIFESTS))).files).toHaveLength(1);
    expect((await read('one', gone)).files).toHaveLength(1);
    await expect(read('two', gone)).rejects.toMatchObject({ code: 'INVALID_TABLE_DATA' });
    await expect(read('one', gone, 'file:///w')).rejects.toMatchObject({ code: 'INVALID_TABLE_DATA' });
  });
});

describe('errors say what is wrong with a table', () => {
  test.each<[string, string, readonly ManifestRow[]]>([
    ['INVALID_TABLE_DATA', 'a file elsewhere', [{ files: [{ path: 'file:///etc/passwd' }] }]],
    ['INVALID_TABLE_DATA', 'a file that climbs out', [{ files: [file('../../etc/passwd')] }]],
    ['INVALID_TABLE_DATA', 'a delete file elsewhere', [{ deletes: true, files: [{ path: '/x', content: 1 }] }]],
    ['NOT_SUPPORTED', 'ORC', [{ files: [file('a', { format: 'ORC' })] }]],
    ['INVALID_TABLE_DATA', 'an unknown spec', [{ specId: 7, files: [file('a', { partition: { p: 'x' } })] }]],
    ['INVALID_TABLE_DATA', 'an unknown content', [{ files: [file('a', { content: 5 as 0 })] }]],
    [
      'INVALID_TABLE_DATA',
      'equality deletes by no column',
      [{ deletes: true, files: [file('a', { content: 2, extra: { equality_ids: [99] } })] }],
    ],
    ['NOT_SUPPORTED', 'encryption', [{ files: [file('a', { extra: { key_metadata: Buffer.from('k') as never } })] }]],
  ])('%s: %s', async (code, _what, manifests) => {
    await expect(plan(tableIo(manifests))).rejects.toMatchObject({ code });
  });

  test('a snapshot that the table does not have', async () => {
    const planned = planFiles(
      tableIo([]),
      metadata,
      5n,
      { kind: 'true' },
      optionsOf(new LruManifestCache(1)),
      () => undefined,
    );
    await expect(planned).rejects.toMatchObject({ code: 'INVALID_TABLE_DATA' });
  });
});

test('the cache keeps what was used last, within its limit, and loads once at a time', async () => {
  const cache = new LruManifestCache(100);
  let made = 0;
  const load = (key: string, bytes = 25): Promise<number> => cache.load(key, async () => ({ value: ++made, bytes }));
  expect(await Promise.all([load('a'), load('a')])).toStrictEqual([1, 1]);
  for (const key of ['b', 'c', 'd']) await load(key);
  expect(await load('a')).toBe(1);
  await load('e');
  expect(cache.bytes).toBe(100);
  expect(await load('a')).toBe(1);
  expect(await load('b')).toBe(6);
  await load('large', 26);
  expect(await load('large', 26)).toBe(8);
  await expect(cache.load('bad', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await load('bad')).toBe(9);
});
