import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import type { Storage } from '#shared/storage/storage.ts';
import { limitsHere } from '../decode-limits.ts';
import type { DataFile, ManifestEntry, ManifestFile } from '../manifest.ts';
import { readManifest, readManifestList } from '../read-manifest.ts';
import { fileKey, ownManifestReader } from './rewrite-manifests.ts';
import type { Field } from '../type.ts';
import type { WrittenVersion } from '../manifest-schema.ts';
import { changeRows, type RowsChange } from './change-rows.ts';
import { ManifestWriter } from './manifest-writer.ts';
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
  folder = pathToFileURL(await mkdtemp(join(tmpdir(), 'skein-change-'))).href;
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

const mark = (name: string) => ({
  path: `${folder}/v.puffin`,
  format: 'puffin' as const,
  recordCount: 3,
  sizeBytes: 60,
  dataFile: `${folder}/${name}`,
  content: { offset: 4, lengthBytes: 20 },
});
const changed = (change: Partial<RowsChange>): RowsChange => ({
  removed: new Set(),
  removedDeletes: new Set(),
  rewritten: [],
  added: [],
  specId: 0,
  deletes: [],
  readAt: 2n,
  isolation: 'serializable',
  ...change,
});
const shown = (entries: readonly ManifestEntry[]): readonly string[] =>
  entries.map(({ file, status }) => `${file.path.slice(folder.length + 1)} ${status}`);

test('a file goes, another is written anew, a third loses rows by a vector that takes the place of the one it had', async () => {
  const standing = deleteFile('old.puffin', {
    format: 'puffin',
    referencedDataFile: `${folder}/c`,
    contentOffset: 4,
    contentSizeBytes: 9,
  });
  const parent = [...(await appended(3, 1n, ['a', 'b', 'c'])), await deleteManifest(3, [standing])];
  const writer = writerOf(3, 5n);
  const change = changeRows(
    changed({
      removed: new Set([`${folder}/a`, `${folder}/b`]),
      removedDeletes: new Set([fileKey({ path: `${folder}/old.puffin`, contentOffset: 4 })]),
      rewritten: [dataFile('b2')],
      added: [dataFile('new')],
      deletes: [mark('c')],
    }),
  );
  const made = await listed(writer, 5n, await change.manifests(writer, parent));
  const entries = await entriesOf(made);
  expect(shown(entries)).toEqual([
    'a deleted',
    'b deleted',
    'b2 added',
    'c existing',
    'new added',
    'old.puffin deleted',
    'v.puffin added',
  ]);
  expect(entries.map(({ sequenceNumber }) => sequenceNumber)).toEqual([1n, 1n, 2n, 1n, 5n, 2n, 5n]);
  expect(entries.at(-1)?.file).toMatchObject({
    content: 'position-deletes',
    format: 'puffin',
    recordCount: 3,
    sizeBytes: 60,
    referencedDataFile: `${folder}/c`,
    contentOffset: 4,
    contentSizeBytes: 20,
  });
  expect(change.operation).toBe('overwrite');
  expect(change.counts).toMatchObject({
    files: 2,
    records: 20,
    removed: { files: 2, records: 20, deleteFiles: 1, positionDeletes: 2 },
    deletes: { files: 1, positions: 3, bytes: 20, vectors: 1 },
  });
  expect(changeRows(changed({ deletes: [mark('c')] })).operation).toBe('delete');
});

const conflict = { code: 'COMMIT_CONFLICT' };

test('a file that is gone is a conflict, also when it only loses rows', async () => {
  const parent = await appended(3, 1n, ['a']);
  const attempt = (change: Partial<RowsChange>) => changeRows(changed(change)).manifests(writerOf(3, 5n), parent);
  await expect(attempt({ removed: new Set([`${folder}/z`]) })).rejects.toMatchObject(conflict);
  await expect(attempt({ deletes: [mark('z')] })).rejects.toMatchObject(conflict);
  await expect(attempt({ deletes: [mark('z')], isolation: 'snapshot' })).rejects.toMatchObject(conflict);
});

test('rows that came later are a conflict for a serializable statement alone', async () => {
  const parent = await appended(3, 4n, ['late'], await appended(3, 1n, ['a', 'b']));
  const attempt = (change: Partial<RowsChange>, snapshotId: bigint) =>
    changeRows(changed(change)).manifests(writerOf(3, snapshotId), parent);
  const removed = new Set([`${folder}/a`]);
  await expect(attempt({ removed }, 5n)).rejects.toMatchObject(conflict);
  await expect(attempt({ deletes: [mark('a')] }, 6n)).rejects.toMatchObject(conflict);
  expect(await attempt({ removed, isolation: 'snapshot' }, 7n)).toHaveLength(2);
  expect(await attempt({ removed, readAt: 4n }, 8n)).toHaveLength(2);
});

test('rows of the same file that were deleted later are a conflict, those of another are none', async () => {
  const gone = deleteFile('p', { referencedDataFile: `${folder}/a` });
  const parent = [...(await appended(2, 1n, ['a', 'b'])), await deleteManifest(2, [gone])];
  const attempt = (name: string, snapshotId: bigint) =>
    changeRows(changed({ removed: new Set([`${folder}/${name}`]), readAt: 1n })).manifests(
      writerOf(2, snapshotId),
      parent,
    );
  await expect(attempt('a', 5n)).rejects.toMatchObject(conflict);
  expect(await attempt('b', 6n)).toHaveLength(2);
});
