import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Json } from '#shared/json.ts';
import type { PartitionSpec } from '#shared/iceberg/partition-spec.ts';
import type { Schema } from '#shared/iceberg/schema.ts';
import type { NewDataFile } from '#shared/iceberg/write/data-file.ts';
import { newManifestFile, writeManifest, writeManifestList } from '#test/support/manifest-files.ts';
import { fileStorage } from '#test/support/file-storage.ts';
import { snapshot } from './catalog-requests.ts';

const COLUMNS: Schema = {
  schemaId: 0,
  fields: [{ id: 1, name: 'a', required: false, type: { kind: 'long' } }],
  identifierFieldIds: [],
};
const SPEC: PartitionSpec = { specId: 0, fields: [] };

/** Files of one snapshot, on disk: what a purge has to find. */
export type SnapshotFiles = {
  readonly manifest: string;
  readonly manifestList: string;
  readonly dataFiles: readonly string[];
  /** The update of a commit that adds the snapshot. */
  readonly update: object;
};

/** The manifest of so many files that are not there. */
export const manifestOfMany = (count: number, folder: string): Uint8Array =>
  writeManifest(
    COLUMNS,
    SPEC,
    1n,
    Array.from({ length: count }, (_, i): NewDataFile => ({ ...EMPTY_FILE, path: `${folder}/data/${i}.parquet` })),
  );

/** Writes the data files that are not there (of no use as Parquet), a manifest and a manifest list, of table format 2. */
export async function writeSnapshot(
  location: string,
  id: bigint,
  dataFiles: readonly string[],
  parent?: Json,
  sequence = 1,
): Promise<SnapshotFiles> {
  for (const path of dataFiles)
    if (!(await fileStorage.exists(path))) await fileStorage.write(path, Buffer.from('data'));
  const files = dataFiles.map((path): NewDataFile => {
    return { ...EMPTY_FILE, path, sizeBytes: statSync(fileURLToPath(path)).size };
  });
  const manifest = `${location}/metadata/${id}-m0.avro`;
  const bytes = writeManifest(COLUMNS, SPEC, id, files);
  await fileStorage.write(manifest, bytes);
  const entry = newManifestFile(COLUMNS, SPEC, id, { path: manifest, lengthBytes: bytes.length, files });
  const manifestList = `${location}/metadata/snap-${id}.avro`;
  const list = writeManifestList({ snapshotId: id, parentSnapshotId: null, sequenceNumber: BigInt(sequence) }, [entry]);
  await fileStorage.write(manifestList, list);
  const update = snapshot(location, id, parent, sequence) as { snapshot: object };
  return {
    manifest,
    manifestList,
    dataFiles,
    update: { ...update, snapshot: { ...update.snapshot, 'manifest-list': manifestList } },
  };
}

const EMPTY_FILE: Omit<NewDataFile, 'path'> = {
  recordCount: 1,
  sizeBytes: 4,
  partition: [],
  columnSizes: new Map(),
  valueCounts: new Map(),
  nullCounts: new Map(),
  nanCounts: new Map(),
  lower: new Map(),
  upper: new Map(),
  splitOffsets: [],
};
