import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import type { Storage } from '#shared/storage/storage.ts';
import { limitsHere } from '../decode-limits.ts';
import type { DataFile, ManifestEntry, ManifestFile } from '../manifest.ts';
import { readManifest, readManifestList } from '../read-manifest.ts';
import { fileKey, ownManifestReader } from './rewrite-manifests.ts';
import type { Field } from '../type.ts';
import type { WrittenVersion } from '../manifest-schema.ts';
import { ManifestWriter } from './manifest-writer.ts';
import { replaceFiles, type Replacement } from './replace-files.ts';
import { ManifestEncoder } from './write-manifest.ts';

const field: Field = { id: 1, name: 'a', required: false, type: { kind: 'long' } };
const schema = { schemaId: 0, fields: [field], identifierFieldIds: [] };
const spec = { specId: 0, fields: [] };
const numbers = new Map([[1, 1]]);
const NO_VALUES = { columnSizes: numbers, valueCounts: numbers, nullCounts: numbers, nanCounts: numbers };
const dataFile = (name: string) => ({
  path: `${folder}/${name}`,
  recordCount: 10,
  sizeBytes: 100,
  partition: [],
  ...NO_VALUES,
  lower: new Map<number, Uint8Array>(),
  upper: new Map<number, Uint8Array>(),
  splitOffsets: [4],
});
const NO_STATS = {
  columnSizes: undefined,
  valueCounts: undefined,
  nullCounts: undefined,
  nanCounts: undefined,
  lower: undefined,
  upper: undefined,
};
const deleteFile = (name: string, more: Partial<DataFile>): DataFile => ({
  content: 'position-deletes',
  path: `${folder}/${name}`,
  format: 'parquet',
  specId: 0,
  partition: [],
  recordCount: 2,
  sizeBytes: 20,
  stats: NO_STATS,
  splitOffsets: [],
  equalityIds: [],
  sortOrderId: undefined,
  firstRowId: undefined,
  referencedDataFile: undefined,
  contentOffset: undefined,
  contentSizeBytes: undefined,
  ...more,
});

let folder: string;
let storage: Storage;
beforeEach(async () => {
  folder = pathToFileURL(await mkdtemp(join(tmpdir(), 'skein-replace-'))).href;
  storage = openStorage(folder, FILE_CREDENTIAL);
});
afterEach(() => rm(new URL(folder), { recursive: true }));

const writerOf = (formatVersion: WrittenVersion, snapshotId: bigint): ManifestWriter =>
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
      reader: ownManifestReader(storage),
    },
  });

async function listed(writer: ManifestWriter, snapshotId: bigint, manifests: readonly ManifestFile[]) {
  const ids = { snapshotId, parentSnapshotId: null, sequenceNumber: snapshotId, firstRowId: snapshotId * 100n };
  const { path } = await writer.writeList(ids, manifests);
  return (await readManifestList(storage, path, limitsHere())).value;
}

async function appended(
  version: WrittenVersion,
  snapshotId: bigint,
  names: readonly string[],
  before: readonly ManifestFile[] = [],
) {
  const writer = writerOf(version, snapshotId);
  return listed(writer, snapshotId, [...(await writer.writeAdded(names.map(dataFile))), ...before]);
}

/** A delete manifest as another writer has left it, of deletes that snapshot 2 added. */
async function deleteManifest(version: WrittenVersion, files: readonly DataFile[]): Promise<ManifestFile> {
  const target = { formatVersion: version, schema, spec, snapshotId: 2n };
  const encoder = new ManifestEncoder(target, { fields: [field], content: 'deletes' });
  for (const file of files) {
    encoder.addExisting({ status: 'added', snapshotId: 2n, sequenceNumber: 2n, fileSequenceNumber: 2n, file });
  }
  const { bytes, entry } = encoder.end();
  const path = `${folder}/deletes-${Math.random()}.avro`;
  await storage.write(path, bytes);
  return { ...entry, path, lengthBytes: bytes.length, sequenceNumber: 2n };
}

async function entriesOf(manifests: readonly ManifestFile[]): Promise<readonly ManifestEntry[]> {
  const entries: ManifestEntry[] = [];
  for (const manifest of manifests)
    for await (const batch of readManifest(storage, manifest, spec, () => field.type, limitsHere()))
      entries.push(...batch.entries);
  return entries.toSorted((one, other) => (one.file.path < other.file.path ? -1 : 1));
}

const replacement = (change: Partial<Replacement>): Replacement => ({
  operation: 'replace',
  removed: new Set([`${folder}/a`, `${folder}/c`]),
  removedDeletes: new Set(),
  added: [dataFile('new')],
  specId: 0,
  sequenceNumber: 2n,
  readAt: 2n,
  ...change,
});

test.each([2, 3] as const)(
  'in format version %i files go, others keep their numbers, and new ones get the given one',
  async (version) => {
    const first = await appended(version, 1n, ['a', 'b']);
    const parent = await appended(version, 2n, ['c'], first);
    const before = await entriesOf(parent);
    const writer = writerOf(version, 5n);
    const change = replaceFiles(replacement({}));
    const made = await listed(writer, 5n, await change.manifests(writer, parent));
    const after = await entriesOf(made);
    expect(after.map(({ file, status }) => `${file.path.slice(folder.length + 1)} ${status}`)).toEqual([
      'a deleted',
      'b existing',
      'c deleted',
      'new added',
    ]);
    const [, kept, , added] = after;
    const {
      status: _status,
      file: { stats: _stats, ...file },
      ...numbersOfB
    } = must(before[1], 'a file');
    expect(kept).toMatchObject({ ...numbersOfB, file });
    expect(added).toMatchObject({ sequenceNumber: 2n, fileSequenceNumber: 5n, snapshotId: 5n });
    expect(new Set(made.map(({ minSequenceNumber }) => minSequenceNumber))).toEqual(new Set([1n, 2n, 5n]));
    expect(change.counts).toMatchObject({
      files: 1,
      records: 10,
      partitions: 1,
      removed: { files: 2, records: 20, bytes: 200 },
    });
  },
);

test('delete files go by path and place, and the others of their manifest stay', async () => {
  const vector = (name: string, contentOffset: number) =>
    deleteFile('v.puffin', {
      format: 'puffin',
      referencedDataFile: `${folder}/${name}`,
      contentOffset,
      contentSizeBytes: 9,
    });
  const deletes = await deleteManifest(3, [
    vector('a', 4),
    vector('b', 13),
    deleteFile('equal.parquet', { content: 'equality-deletes', equalityIds: [1] }),
  ]);
  const parent = [...(await appended(3, 1n, ['a', 'b', 'c'])), deletes];
  const writer = writerOf(3, 5n);
  const change = replaceFiles(
    replacement({ removedDeletes: new Set([fileKey({ path: `${folder}/v.puffin`, contentOffset: 4 })]) }),
  );
  const made = await listed(writer, 5n, await change.manifests(writer, parent));
  const left = await entriesOf(made.filter(({ content }) => content === 'deletes'));
  expect(
    left.map(({ status, file }) => [status, file.contentOffset, file.equalityIds, file.referencedDataFile]),
  ).toEqual([
    ['existing', undefined, [1], undefined],
    ['deleted', 4, [], `${folder}/a`],
    ['existing', 13, [], `${folder}/b`],
  ]);
  expect(change.counts.removed).toMatchObject({ files: 2, deleteFiles: 1, positionDeletes: 2, equalityDeletes: 0 });
});

test('a file that is gone is a conflict', async () => {
  const writer = writerOf(2, 5n);
  const gone = replaceFiles(replacement({ removed: new Set([`${folder}/a`, `${folder}/z`]) }));
  await expect(gone.manifests(writer, await appended(2, 1n, ['a']))).rejects.toMatchObject({
    code: 'COMMIT_CONFLICT',
    message: expect.stringContaining('1 of the files'),
  });
});

test('positions that were deleted since the files were read are a conflict; those of other files, and deletes by values, are none', async () => {
  const table = await appended(2, 1n, ['a', 'b', 'c']);
  let snapshotId = 4n;
  const attempt = async (file: DataFile, readAt = 1n): Promise<readonly ManifestFile[]> => {
    const parent = [...table, await deleteManifest(2, [file])];
    snapshotId += 1n;
    return replaceFiles(replacement({ readAt })).manifests(writerOf(2, snapshotId), parent);
  };
  await expect(attempt(deleteFile('p', { referencedDataFile: `${folder}/a` }))).rejects.toMatchObject({
    code: 'COMMIT_CONFLICT',
  });
  await expect(attempt(deleteFile('p', {}))).rejects.toMatchObject({ code: 'COMMIT_CONFLICT' });
  expect(await attempt(deleteFile('p', { referencedDataFile: `${folder}/a` }), 2n)).toHaveLength(3);
  expect(await attempt(deleteFile('p', { referencedDataFile: `${folder}/b` }))).toHaveLength(3);
  expect(await attempt(deleteFile('e', { content: 'equality-deletes', equalityIds: [1] }))).toHaveLength(3);
});
