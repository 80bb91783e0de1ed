import type { ManifestFile } from '#shared/iceberg/manifest.ts';
import type { PartitionSpec } from '#shared/iceberg/partition-spec.ts';
import type { Schema } from '#shared/iceberg/schema.ts';
import type { NewDataFile } from '#shared/iceberg/write/data-file.ts';
import { encodeManifestList, type SnapshotIds } from '#shared/iceberg/write/write-manifest-list.ts';
import { ManifestEncoder, type EncodedManifest } from '#shared/iceberg/write/write-manifest.ts';

/** Manifests and manifest lists of format version 2, each in one call, for tests that make tables by hand. */

function encode(
  schema: Schema,
  spec: PartitionSpec,
  snapshotId: bigint,
  files: readonly NewDataFile[],
): EncodedManifest {
  const encoder = new ManifestEncoder({ formatVersion: 2, schema, spec, snapshotId });
  for (const file of files) encoder.add(file);
  return encoder.end();
}

export const writeManifest = (...args: Parameters<typeof encode>): Uint8Array => encode(...args).bytes;

export const newManifestFile = (
  schema: Schema,
  spec: PartitionSpec,
  snapshotId: bigint,
  manifest: { readonly path: string; readonly lengthBytes: number; readonly files: readonly NewDataFile[] },
): ManifestFile => ({
  ...encode(schema, spec, snapshotId, manifest.files).entry,
  path: manifest.path,
  lengthBytes: manifest.lengthBytes,
});

export const writeManifestList = (
  ids: Omit<SnapshotIds, 'firstRowId'>,
  manifests: readonly ManifestFile[],
): Uint8Array => encodeManifestList(2, { ...ids, firstRowId: 0n }, manifests).bytes;
