import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { LruManifestCache } from '#shared/iceberg/manifest-cache.ts';
import { GuardedTableReader, type TableReader } from '#shared/iceberg/table-reader.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { WorkPool } from '#shared/thread/work-pool.ts';
import { callerOf } from '#test/support/api-fixtures.ts';
import { allowing } from '#test/support/decisions.ts';
import { inspectedTable, inspectorOf, type MadeSnapshot } from '#test/support/inspected-tables.ts';
import type { FoundTable } from '../catalog-client/loaded-tables.ts';
import type { Inspector } from './inspector.ts';

const MIB = 2 ** 20;
const PATH = { catalog: 'lake', namespace: 'a', table: 't' };
const asked = {
  caller: callerOf('t', 'p', allowing('table.describe', 'view.describe')),
  signal: new AbortController().signal,
};

let dir: string;
let pool: WorkPool;
let reads = 0;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'skein-inspect-'));
  pool = new WorkPool({
    threads: 1,
    heapBytes: 256 * MIB,
    timeoutMs: 20_000,
    kind: 'tables',
    tooComplex: 'TABLE_DATA_TOO_COMPLEX',
    settings: { fileBytes: 32 * MIB, cacheBytes: 64 * MIB },
    log: silentLogger,
  });
});
afterAll(async () => {
  await pool[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

function inspector(table: FoundTable, sumsBytesMax?: number): Inspector {
  const guarded = new GuardedTableReader({
    openStorage,
    manifestCaches: new LruManifestCache(8 * MIB),
    pool,
    fileListBytesMax: MIB,
  });
  const tables: Pick<TableReader, 'sums' | 'changes'> = {
    sums: (request, call) => {
      reads += 1;
      return guarded.sums(request, call);
    },
    changes: (request, call) => guarded.changes(request, call),
  };
  return inspectorOf(tables, () => table, sumsBytesMax);
}

const DAY_MS = 86_400_000;
const snapshot = (id: number, parent: number | null, manifests: MadeSnapshot['manifests'] = []): MadeSnapshot => ({
  id,
  parent,
  timestampMs: Date.UTC(2025, 0, 1) + id * DAY_MS,
  sequence: id,
  manifests,
});
/** January and February 1970, and the month before 1970. */
const FIRST = [
  [0, 10, 1_000],
  [1, 20, 70_000],
] as const;
const SECOND = [[-1, 5, 200 * MIB]] as const;
const MANAGES = ['MANAGE POLICIES'] as const;
const closed = (table: FoundTable): FoundTable => ({ ...table, policies: [{ kind: 'closed', name: 'p' }] });

describe('the sums of a table', () => {
  it('are those of the files of its snapshot, by size and by partition, and are read once', async () => {
    const table = await inspectedTable(join(dir, 'sums'), [snapshot(1, null, [FIRST, SECOND])], {
      'current-snapshot-id': 1,
    });
    const it = inspector(table);
    reads = 0;
    const files = await it.files(PATH, undefined, asked);
    expect(files).toMatchObject({
      snapshot_id: '1',
      hidden_by_policy: false,
      is_whole: true,
      data: { files: 3, rows: 35, bytes: 71_000 + 200 * MIB },
      position_deletes: { files: 0, rows: 0, bytes: 0 },
      data_manifests: { manifests: 2 },
      partition_fields: ['ts_month'],
      partitions: [
        { values: ['1969-12'], files: 1, rows: 5, bytes: 200 * MIB, delete_files: 0 },
        { values: ['1970-02'], files: 1, rows: 20 },
        { values: ['1970-01'], files: 1, rows: 10 },
      ],
      other_partitions: { partitions: 0 },
    });
    expect(files.sizes.map(({ below, files: count }) => [below, count])).toEqual([
      [64 * 1_024, 1],
      [256 * 1_024, 1],
      [MIB, 0],
      [4 * MIB, 0],
      [16 * MIB, 0],
      [64 * MIB, 0],
      [256 * MIB, 1],
      [1_024 * MIB, 0],
      [null, 0],
    ]);
    expect(await it.files(PATH, '1', asked)).toEqual(files);
    expect(reads).toBe(1);
  });

  it('of a table without a snapshot are nothing, which is known', async () => {
    const files = await inspector(await inspectedTable(join(dir, 'empty'), [])).files(PATH, undefined, asked);
    expect(files).toMatchObject({ snapshot_id: null, is_whole: true, data: { files: 0, rows: 0, bytes: 0 } });
  });

  it('of too many files are what the summary and the files that were read say, and say so', async () => {
    const months = Array.from({ length: 3_000 }, (_, i) => [i, 1, 1_000] as const);
    const table = await inspectedTable(join(dir, 'many'), [snapshot(1, null, [months])], { 'current-snapshot-id': 1 });
    const files = await inspector(table, 100_000).files(PATH, undefined, asked);
    expect(files).toMatchObject({ is_whole: false, data: { files: 3_000, rows: 3_000, bytes: 3_000_000 } });
    expect(files.partitions.length).toBeGreaterThan(100);
    expect(files.partitions.length).toBeLessThan(1_000);
  });

  it('name the largest 1,000 partitions, and are one sum of the others', async () => {
    const months = Array.from({ length: 1_200 }, (_, i) => [i, 1, 1_000 + i] as const);
    const table = await inspectedTable(join(dir, 'wide'), [snapshot(1, null, [months])], { 'current-snapshot-id': 1 });
    const files = await inspector(table).files(PATH, undefined, asked);
    expect(files.partitions).toHaveLength(1_000);
    expect(files.partitions[0]?.bytes).toBe(2_199);
    expect(files.other_partitions).toMatchObject({ partitions: 200, files: 200, rows: 200 });
  });

  it('are not told of a ref that the table does not have', async () => {
    const table = await inspectedTable(join(dir, 'ref'), [snapshot(1, null, [FIRST])], { 'current-snapshot-id': 1 });
    await expect(inspector(table).files(PATH, 'june', asked)).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' });
  });
});

test('a policy hides what tells of rows: null is not 0, and no file is read', async () => {
  const table = closed(
    await inspectedTable(join(dir, 'hidden'), [snapshot(1, null, [FIRST]), snapshot(2, 1, [FIRST, SECOND])], {
      'current-snapshot-id': 2,
    }),
  );
  const it = inspector(table);
  reads = 0;
  expect(await it.details(PATH, asked)).toMatchObject({ hidden_by_policy: true, rows: null, bytes: null, files: null });
  const page = await it.snapshots(PATH, { pageToken: undefined, limit: 10, isFolded: false }, asked);
  expect(page).toMatchObject({ hidden_by_policy: true, total: 2 });
  expect(page.snapshots[0]).toMatchObject({ total_rows: null, added_bytes: null, summary: {} });
  expect(await it.files(PATH, undefined, asked)).toMatchObject({ hidden_by_policy: true, data: null, partitions: [] });
  expect(await it.health(PATH, asked)).toEqual({ hidden_by_policy: true, is_whole: true, findings: [] });
  const changes = await it.changes(PATH, { from: '1', to: '2' }, asked);
  expect(changes).toMatchObject({ hidden_by_policy: true, rows: null, files: null, bytes: null, changes: null });
  expect(reads).toBe(0);
});

test('whoever manages policies sees what they hide, but for a table that is closed', async () => {
  const manager = { ...asked, caller: { ...asked.caller, claims: { ...asked.caller.claims, privileges: MANAGES } } };
  const table = await inspectedTable(join(dir, 'managed'), [snapshot(1, null, [FIRST])], { 'current-snapshot-id': 1 });
  const body = { name: 'p', id: 'p', version: '1', body: 'true', arguments: [], mappingTables: [] };
  const bound = inspector({ ...table, policies: [{ kind: 'row_access', ...body }] });
  expect(await bound.details(PATH, asked)).toMatchObject({ hidden_by_policy: true, bytes: null });
  expect(await bound.details(PATH, manager)).toMatchObject({ hidden_by_policy: false, files: 2 });
  expect((await bound.files(PATH, undefined, manager)).partitions).not.toEqual([]);
  expect(await inspector(closed(table)).details(PATH, manager)).toMatchObject({ hidden_by_policy: true, files: null });
});

test('who may not read the table is told of no partition', async () => {
  const table = {
    ...(await inspectedTable(join(dir, 'unread'), [snapshot(1, null, [FIRST]), snapshot(2, 1, [FIRST])], {
      'current-snapshot-id': 2,
    })),
    actions: new Set(['table.describe']),
  };
  const it = inspector(table);
  expect(await it.details(PATH, asked)).toMatchObject({ rows: 30, actions: ['table.describe'] });
  await expect(it.files(PATH, undefined, asked)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  await expect(it.health(PATH, asked)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  expect((await it.changes(PATH, { from: '1', to: '2' }, asked)).changes).toBeNull();
});

test('the details have the columns with their parts, and texts as they are', async () => {
  const table = await inspectedTable(join(dir, 'details'), [snapshot(1, null, [FIRST])], { 'current-snapshot-id': 1 });
  const details = await inspector(table).details(PATH, asked);
  expect(details).toMatchObject({
    owner: 'ann',
    comment: '<script>alert(1)</script>',
    rows: 30,
    files: 2,
    partition_expressions: ['month(ts)'],
    changed_at: '2025-01-02T00:00:00.000Z',
    columns_total: 6,
    is_protected: false,
  });
  expect(details.columns.map(({ id, parent_id: parent, name, type }) => [id, parent, name, type])).toEqual([
    [1, null, 'id', 'BIGINT'],
    [2, null, 'ts', 'TIMESTAMP'],
    [3, null, 'address', 'STRUCT<city: VARCHAR, lines: ARRAY<VARCHAR>>'],
    [4, 3, 'city', 'VARCHAR'],
    [5, 3, 'lines', 'ARRAY<VARCHAR>'],
    [6, 5, 'element', 'VARCHAR'],
  ]);
  expect(details.columns[0]).toMatchObject({ is_key: true, nullable: false, comment: 'the <b>key</b>' });
  expect(details.columns[3]).toMatchObject({ default: 'Graz', initial_default: null });
});

test('two snapshots differ by the files that one of them has', async () => {
  const table = await inspectedTable(
    join(dir, 'changes'),
    [snapshot(1, null, [FIRST]), snapshot(2, 1, [FIRST, SECOND]), snapshot(3, 2, [SECOND])],
    { 'current-snapshot-id': 3, refs: { june: { 'snapshot-id': 1, type: 'tag' } } },
  );
  const it = inspector(table);
  expect(await it.changes(PATH, { from: 'june', to: '2' }, asked)).toMatchObject({
    from: '1',
    to: '2',
    schema: [],
    rows: { before: 30, after: 35 },
    files: { before: 2, after: 3 },
    changes: {
      added: { files: 1, rows: 5, bytes: 200 * MIB },
      removed: { files: 0 },
      partitions: [{ values: ['1969-12'], added: { files: 1 }, removed: { files: 0 } }],
      other_partitions: 0,
    },
  });
  const back = await it.changes(PATH, { from: '2', to: '1' }, asked);
  expect(back.changes).toMatchObject({ added: { files: 0 }, removed: { files: 1, rows: 5 } });
});

test('health names what a statement mends, with figures', async () => {
  const small = Array.from({ length: 12 }, (_, i) => [i, 20_000, 1_000] as const);
  const table = await inspectedTable(join(dir, 'health'), [snapshot(1, null, [FIRST]), snapshot(2, 1, [small])], {
    'current-snapshot-id': 2,
  });
  const { findings } = await inspector(table).health(PATH, asked);
  expect(findings).toEqual([
    {
      code: 'small_files',
      figures: { files: 12, bytes: 12_000, of_files: 12, below_bytes: 64 * MIB },
      statement: 'OPTIMIZE "lake"."a"."t"',
    },
    {
      code: 'old_snapshots',
      figures: { expired: 1, expired_refs: 0, snapshots: 2 },
      statement: 'ALTER TABLE "lake"."a"."t" EXECUTE expire_snapshots',
    },
    { code: 'no_statistics', figures: { rows: 240_000, columns: 3 }, statement: 'ANALYZE "lake"."a"."t"' },
  ]);
});

test('a statement names a schema of several levels as one name', async () => {
  const small = Array.from({ length: 12 }, (_, i) => [i, 20_000, 1_000] as const);
  const table = await inspectedTable(join(dir, 'nested'), [snapshot(1, null, [small])], { 'current-snapshot-id': 1 });
  const nested = { ...table, name: { ...table.name, namespace: ['a', 'b'] } };
  const { findings } = await inspector(nested).health(PATH, asked);
  expect(findings.map(({ statement }) => statement)).toEqual(['OPTIMIZE "lake"."a.b"."t"', 'ANALYZE "lake"."a.b"."t"']);
});
