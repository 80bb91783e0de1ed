import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import type { Storage } from '#shared/storage/storage.ts';
import { limitsHere } from '../decode-limits.ts';
import { columnStats, type ManifestEntry, type ManifestFile } from '../manifest.ts';
import { readManifest, readManifestList } from '../read-manifest.ts';
import { ownManifestReader, type ManifestReader } from './rewrite-manifests.ts';
import type { Field } from '../type.ts';
import type { WrittenVersion } from '../manifest-schema.ts';
import { ManifestWriter } from './manifest-writer.ts';
import { ManifestMerging } from './merge-manifests.ts';

const field: Field = { id: 1, name: 'a', required: false, type: { kind: 'long' } };
const schema = { schemaId: 0, fields: [field], identifierFieldIds: [] };
const spec = {
  specId: 0,
  fields: [{ fieldId: 1000, name: 'a', sourceId: 1, transform: { kind: 'identity' as const } }],
};
const long = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(value));
  return bytes;
};
const dataFile = (i: number) => ({
  path: `${folder}/${i}.parquet`,
  recordCount: 10,
  sizeBytes: 100 + i,
  partition: [i % 7 === 0 ? null : BigInt(i)],
  columnSizes: new Map([[1, i]]),
  valueCounts: new Map([[1, 10]]),
  nullCounts: new Map([[1, 2]]),
  nanCounts: new Map(),
  lower: new Map([[1, long(i)]]),
  upper: new Map([[1, long(i + 1)]]),
  splitOffsets: [4],
});

let folder: string;
let storage: Storage;
beforeEach(async () => {
  folder = pathToFileURL(await mkdtemp(join(tmpdir(), 'skein-merge-'))).href;
  storage = openStorage(folder, FILE_CREDENTIAL);
});
afterEach(() => rm(new URL(folder), { recursive: true }));

const writerOf = (
  formatVersion: WrittenVersion,
  snapshotId: bigint,
  reader: ManifestReader = ownManifestReader(storage),
): ManifestWriter =>
  new ManifestWriter(storage, {
    formatVersion,
    schema,
    spec,
    snapshotId,
    folder,
    writeId: `w${snapshotId}`,
    targetBytes: 1e6,
    parents: {
      table: { location: folder, specs: [spec], fields: new Map([[1, field]]) },
      allowedRoots: [folder],
      reader,
    },
  });

/** The manifests of a table that got `count` files, each by a commit of its own. */
async function appended(version: WrittenVersion, count: number): Promise<readonly ManifestFile[]> {
  let manifests: readonly ManifestFile[] = [];
  for (let i = 1; i <= count; i++) {
    const writer = writerOf(version, BigInt(i));
    const added = await writer.writeAdded([dataFile(i)]);
    manifests = await listed(writer, BigInt(i), [...added, ...manifests]);
  }
  return manifests;
}

/** Manifests as they stand in the list of a snapshot. */
async function listed(
  writer: ManifestWriter,
  snapshotId: bigint,
  manifests: readonly ManifestFile[],
): Promise<readonly ManifestFile[]> {
  const ids = { snapshotId, parentSnapshotId: null, sequenceNumber: snapshotId, firstRowId: snapshotId * 10n };
  const { path } = await writer.writeList(ids, manifests);
  return (await readManifestList(storage, path, limitsHere())).value;
}

async function entriesOf(manifests: readonly ManifestFile[]): Promise<readonly object[]> {
  const entries: ManifestEntry[] = [];
  for (const manifest of manifests)
    for await (const batch of readManifest(storage, manifest, spec, () => field.type, limitsHere()))
      entries.push(...batch.entries);
  return entries
    .map(({ status: _status, file: { stats, ...file }, ...entry }) => {
      const { lower, upper, nullCount, valueCount } = columnStats(stats, 1, field.type);
      return { ...entry, file, stats: { lower, upper, nullCount, valueCount, size: stats.columnSizes?.find(1) } };
    })
    .toSorted((one, other) => (one.file.path < other.file.path ? -1 : 1));
}

describe.each([2, 3] as const)('in format version %i', (version) => {
  test('many small manifests become one with the same entries, numbers, statistics and row ids', async () => {
    const parent = await appended(version, 100);
    const writer = writerOf(version, 101n);
    const merging = new ManifestMerging({}, [folder], 1e6);
    const added = await writer.writeAdded([dataFile(101)]);
    const merged = await listed(writer, 101n, await merging.apply(writer, [...added, ...parent]));
    expect(merged).toHaveLength(2);
    const before = await listed(writer, 101n, [...added, ...parent]);
    expect(await entriesOf(merged)).toEqual(await entriesOf(before));
    expect(merged.find(({ existingFiles }) => existingFiles !== 0)).toMatchObject({
      existingFiles: 100,
      existingRows: 1_000,
      addedFiles: 0,
      deletedFiles: 0,
      sequenceNumber: 101n,
      minSequenceNumber: 1n,
      partitions: [{ containsNull: true }],
    });
  });
});

test('few stay as they are, also when the table says so, and so do those of other folders', async () => {
  const parent = await appended(2, 20);
  const writer = writerOf(2, 21n);
  const apply = (properties: Readonly<Record<string, string>>, root = folder) =>
    new ManifestMerging(properties, [root], 1e6).apply(writer, parent);
  expect(await apply({})).toEqual(parent);
  const few = { 'commit.manifest.min-count-to-merge': '20' };
  expect(await apply(few)).toHaveLength(1);
  expect(await apply({ ...few, 'commit.manifest-merge.enabled': 'false' })).toEqual(parent);
  expect(await apply(few, `${folder}/elsewhere`)).toEqual(parent);
});

test('a large manifest is not written again', async () => {
  const parent = await appended(2, 20);
  const bytes = parent.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0);
  const writer = writerOf(2, 21n);
  const few = { 'commit.manifest.min-count-to-merge': '2' };
  const made = await new ManifestMerging(few, [folder], bytes / 3).apply(writer, parent);
  expect(made.length).toBeGreaterThan(2);
  expect(made.length).toBeLessThan(6);
  const largest = made.toSorted((one, other) => other.lengthBytes - one.lengthBytes).slice(0, 1);
  expect(await new ManifestMerging(few, [folder], 100).apply(writer, largest)).toEqual(largest);
});

test('a later attempt takes what the first one merged, unless one of the merged manifests has gone', async () => {
  const parent = await appended(2, 10);
  const writer = writerOf(2, 11n);
  const few = { 'commit.manifest.min-count-to-merge': '10' };
  const merging = new ManifestMerging(few, [folder], 1e6);
  const [merged] = await merging.apply(writer, parent);
  const other = await writerOf(2, 12n).writeAdded([dataFile(12)]);
  expect(await merging.apply(writer, [...other, ...parent])).toEqual([...other, merged]);
  expect(await merging.apply(writer, parent.slice(1))).toEqual(parent.slice(1));
});

test('what is too much to read stays as it is', async () => {
  const parent = await appended(2, 3);
  const writer = writerOf(2, 4n, {
    ...ownManifestReader(storage),
    rewrite: () => Promise.reject(new SkeinError('TABLE_DATA_TOO_COMPLEX', 'it takes too long')),
  });
  const merging = new ManifestMerging({ 'commit.manifest.min-count-to-merge': '2' }, [folder], 1e6);
  expect(await merging.apply(writer, parent)).toEqual(parent);
});
