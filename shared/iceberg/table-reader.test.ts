import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ByteBudget } from '#shared/byte-budget.ts';
import { tenantId } from '#shared/id.ts';
import { must } from '#shared/must.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { fileStorage } from '#test/support/file-storage.ts';
import { WorkPool } from '#shared/thread/work-pool.ts';
import { avroContainer, bomb, exponentialSchema, recordOf } from '#test/support/hostile-avro.ts';
import { longestTurnMs } from '#test/support/thread-cpu.ts';
import { FileListHold } from './file-list-hold.ts';
import { LruManifestCache } from './manifest-cache.ts';
import type { PlanTable } from './planning.ts';
import type { ScanRequest } from './scan-request.ts';
import type { Schema } from './schema.ts';
import { GuardedTableReader, type TableReader } from './table-reader.ts';
import type { NewDataFile } from './write/data-file.ts';
import { newManifestFile, writeManifest, writeManifestList } from '#test/support/manifest-files.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

const MIB = 2 ** 20;
const schema: Schema = {
  schemaId: 0,
  identifierFieldIds: [],
  fields: [{ id: 1, name: 'id', required: false, type: { kind: 'long' } }],
};
const spec = { specId: 0, fields: [] };
const call = { tableName: 'lake.a.b', signal: new AbortController().signal };

let dir: string;
let pool: WorkPool;
let budget: ByteBudget;

const startPool = (threads: number): WorkPool => {
  const settings = { fileBytes: 32 * MIB, cacheBytes: 64 * MIB };
  return new WorkPool({
    threads,
    heapBytes: 256 * MIB,
    timeoutMs: 20_000,
    kind: 'tables',
    tooComplex: 'TABLE_DATA_TOO_COMPLEX',
    settings,
    log: silentLogger,
  });
};

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'skein-reader-'));
  pool = startPool(2);
  budget = new ByteBudget(64 * MIB);
});
afterAll(async () => {
  await pool[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

const reader = (fileListBytesMax = 16 * MIB, threads = pool): TableReader =>
  new GuardedTableReader({
    openStorage,
    manifestCaches: new LruManifestCache(8 * MIB),
    pool: threads,
    fileListBytesMax,
  });

const int64 = (value: number): Uint8Array => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(value));
  return bytes;
};
const dataFile = (number: number): NewDataFile => ({
  path: `file://${dir}/data/${String(number).padStart(6, '0')}.parquet`,
  recordCount: 10,
  sizeBytes: 100,
  partition: [],
  columnSizes: new Map([[1, 8]]),
  valueCounts: new Map([[1, 10]]),
  nullCounts: new Map([[1, 0]]),
  nanCounts: new Map(),
  lower: new Map([[1, int64(number)]]),
  upper: new Map([[1, int64(number)]]),
  splitOffsets: [4],
});

/** Creates a table of manifests, each given as a number of files or as its bytes. */
async function tableOf(name: string, manifests: readonly (number | Uint8Array)[]): Promise<ScanRequest> {
  let number = 0;
  const listed = await Promise.all(
    manifests.map(async (manifest, i) => {
      const path = `file://${dir}/${name}-${i}.avro`;
      const count = typeof manifest === 'number' ? manifest : 1;
      const files = Array.from({ length: count }, () => dataFile(number++));
      const bytes = typeof manifest === 'number' ? writeManifest(schema, spec, 1n, files) : manifest;
      await fileStorage.write(path, bytes);
      return newManifestFile(schema, spec, 1n, { path, lengthBytes: bytes.length, files });
    }),
  );
  const manifestList = `file://${dir}/${name}-list.avro`;
  await fileStorage.write(
    manifestList,
    writeManifestList({ snapshotId: 1n, parentSnapshotId: null, sequenceNumber: 1n }, listed),
  );
  const table: PlanTable = {
    tableUuid: name,
    formatVersion: 2,
    location: `file://${dir}`,
    fields: new Map(schema.fields.map((field) => [field.id, field])),
    specs: [spec],
    defaultSpecId: 0,
    snapshots: new Map([
      [
        1n,
        {
          snapshotId: 1n,
          parentSnapshotId: null,
          sequenceNumber: 1n,
          timestampMs: 0,
          manifestList,
          manifests: [],
          summary: {},
          schemaId: 0,
        },
      ],
    ]),
  };
  return {
    tenant: tenantId('acme'),
    table,
    snapshotId: 1n,
    predicate: { kind: 'true' },
    allowedRoots: [`file://${dir}`],
    credential: FILE_CREDENTIAL,
    columnsNeeded: new Set(),
  };
}

test('a small table and a large one are read alike', async () => {
  const tables = reader();
  for (const sizes of [[3], [12_000, 10, 5_000]]) {
    const request = await tableOf(`t${sizes.length}`, sizes);
    const total = sizes.reduce((sum, one) => sum + one);
    // The first round reads the files, the second one the caches.
    for (let round = 0; round < 2; round++) {
      using hold = new FileListHold(budget, 'acme');
      const { files, report } = await tables.files(request, call, hold);
      expect(report).toMatchObject({ manifests: sizes.length, files: total, rows: total * 10 });
      expect(files.map(({ path }) => Number(path.slice(-14, -8)))).toEqual(Array.from({ length: total }, (_, i) => i));
      expect(files.at(-1)).toMatchObject({ recordCount: 10, rows: null, constants: {}, deletes: [], firstRowId: null });
      expect(budget.bytes).toBeGreaterThan(total * 100);
    }
    expect(budget.bytes).toBe(0);
    const one = { ...request, predicate: { kind: 'compare', op: 'eq', fieldId: 1, value: 2n } as const };
    using hold = new FileListHold(budget, 'acme');
    expect((await tables.files(one, call, hold)).files).toHaveLength(1);
    const columns = [{ fieldId: 1, type: { kind: 'long' } as const }, null];
    expect(await tables.columns(request, columns, call)).toEqual([
      { distinctMax: total, nulls: 0, lower: 0, upper: total - 1 },
      { distinctMax: null, nulls: null },
    ]);
  }
});

test('a manifest decoded for a tenant, here or in a thread, is not used for another tenant', async () => {
  await using threads = startPool(1);
  const tables = reader(undefined, threads);
  for (const [name, sizes] of Object.entries({ few: [3], many: [9_000, 10] })) {
    const request = await tableOf(name, sizes);
    const count = async (tenant: string): Promise<number> => {
      using hold = new FileListHold(budget, tenant);
      return (await tables.files({ ...request, tenant: tenantId(tenant) }, call, hold)).files.length;
    };
    const total = sizes.reduce((sum, one) => sum + one);
    expect(await count('acme')).toBe(total);
    for (const file of ['0', 'list']) await rm(join(dir, `${name}-${file}.avro`));
    expect(await count('acme')).toBe(total);
    await expect(count('globex')).rejects.toMatchObject({ code: 'INVALID_TABLE_DATA' });
  }
});

test('a list of files that is too long is refused, by its size and by what there is for one tenant', async () => {
  const request = await tableOf('long', [9_000]);
  using hold = new FileListHold(budget, 'acme');
  await expect(reader(100_000).files(request, call, hold)).rejects.toMatchObject({ code: 'TABLE_DATA_TOO_COMPLEX' });
  using small = new FileListHold(new ByteBudget(MIB), 'acme');
  await expect(reader().files(request, call, small)).rejects.toMatchObject({ code: 'TABLE_DATA_TOO_COMPLEX' });
});

/** Maximum time that a main thread may compute in one turn. */
const TURN_MS_MAX = 250;

test('hostile manifests are refused in time, eight at once too, and this thread goes on', async () => {
  const zeros = bomb('deflate', 512 * MIB);
  const hostile = [
    avroContainer(exponentialSchema(8, 6), [{ count: 1, bytes: new Uint8Array(10) }]),
    avroContainer(recordOf('int'), [{ count: 5, bytes: zeros }], 'deflate'),
  ];
  const requests = await Promise.all(
    hostile.map((bytes, i) =>
      tableOf(
        `hostile${i}`,
        Array.from({ length: 8 }, () => bytes),
      ),
    ),
  );
  const tables = reader();
  const rss = process.memoryUsage.rss();
  let errors: readonly unknown[] = [];
  const turnMs = await longestTurnMs(async () => {
    errors = await Promise.all(
      Array.from({ length: 8 }, async (_, i) => {
        using hold = new FileListHold(budget, 'acme');
        return tables.files(must(requests[i % 2], 'two tables'), call, hold).catch((error: unknown) => error);
      }),
    );
  });
  for (const [i, error] of errors.entries()) {
    expect(error).toMatchObject({
      code: 'TABLE_DATA_TOO_COMPLEX',
      message: expect.stringContaining(`${dir}/hostile${i % 2}-`) as string,
    });
  }
  expect(turnMs).toBeLessThan(TURN_MS_MAX * machineSlowness());
  expect(process.memoryUsage.rss() - rss).toBeLessThan(768 * MIB);
}, 60_000);
